"""Whether docs/explanations.md has every code that explanations give, with its number, and no other. test_docs.py asks."""

import re
from pathlib import Path

PAGE = "docs/explanations.md"
ENUMS = {
    "constraint": "decisions.hpp", "reason_scope": "decisions.hpp", "attempt_outcome": "decisions.hpp",
    "certificate_kind": "certificates.hpp", "certificate_assumption": "certificates.hpp",
    "change_kind": "remedies.hpp",
    "choice_rule": "choice.hpp", "choice_plan": "choice.hpp", "choice_flip_kind": "choice.hpp",
    "victim_rule": "victims.hpp", "spared_reason": "victims.hpp",
    "share_step_kind": "share_steps.hpp",
    "start_way": "what_if.hpp", "start_knowledge": "what_if.hpp",
}


def enumerators(text: str, name: str) -> list[tuple[str, int]]:
    """Those of an enumeration in the text of a header, with their numbers."""
    bare = re.sub(r"//[^\n]*", "", text)
    body = re.search(rf"\benum class {name}\b[^{{;]*{{([^}}]*)}};", bare)
    if not body:
        raise ValueError(f"there is no enumeration {name}")
    found: list[tuple[str, int]] = []
    for one in filter(None, (part.strip() for part in body[1].split(","))):
        word, _, number = (part.strip() for part in one.partition("="))
        found.append((word, int(number) if number else found[-1][1] + 1 if found else 0))
    return found


def known_in(root: Path) -> dict[str, list[tuple[str, int]]]:
    folder = root / "include/kaisched"
    return {name: enumerators((folder / header).read_text(encoding="utf-8"), name) for name, header in ENUMS.items()}


def faults(text: str, known: dict[str, list[tuple[str, int]]]) -> list[str]:
    """Rows stand in the order of their numbers below the line that names the enumeration."""
    part = re.search(r"^## Codes$(.*?)(?=^## |\Z)", text, re.S | re.M)
    if not part:
        return ["there is no section of codes"]
    found: list[str] = []
    said: dict[str, list[tuple[str, int]]] = {}
    rows: list[tuple[str, int]] | None = None
    for line in part[1].splitlines():
        if line.startswith("### "):
            rows = None
        elif named := re.match(r"`(\w+)` in \[(\w+\.hpp)\]\(\.\./include/kaisched/(\w+\.hpp)\)", line):
            if {named[2], named[3]} != {ENUMS.get(named[1])}:
                found.append(f"{named[1]}: there is no such enumeration in {named[2]}")
            rows = said.setdefault(named[1], [])
        elif line.startswith("|") and not re.match(r"\| code \| number \|", line) and not line.startswith("|---"):
            row = re.match(r"\| `(\w+)` \| (\d+) \| \S.* \|$", line)
            if row is None or rows is None:
                found.append(f"this row tells no code: {line}")
            else:
                rows.append((row[1], int(row[2])))
    for name, codes in known.items():
        told = said.get(name, [])
        found += [f"{name}: {code} {number} is missing" for code, number in codes if (code, number) not in told]
        found += [f"{name}: there is no {code} {number}" for code, number in told if (code, number) not in codes]
        if sorted(told) == sorted(codes) and told != codes:
            found.append(f"{name}: rows are not in the order of their numbers")
        if len(set(told)) != len(told):
            found.append(f"{name}: a row is there twice")
    return found
