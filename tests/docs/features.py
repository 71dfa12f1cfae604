"""Whether the rows of docs/features.md are answers, with tests that exist or reasons. test_docs.py asks."""

import re
from functools import cache
from pathlib import Path

import handbook

PAGE = "docs/features.md"
HEAD = "| feature | here | by | shown by | elsewhere |"
ANSWERS = ("yes", "partly", "no")
OTHERS = {"KAI", "HAMi", "Volcano", "YuniKorn", "Kueue", "kube", "Slurm", "HiveD", "Fluxion"}
FEWEST_WORDS = 5  # what a reason has at least


def rows(text: str) -> list[list[str]]:
    """Cells of the rows of all tables of features."""
    found, inside = [], False
    for line in text.splitlines():
        inside = line == HEAD or (inside and line.startswith("|"))
        if inside and line != HEAD and not line.startswith("|---"):
            found.append([cell.strip() for cell in line.strip().strip("|").split(" | ")])
    return found


@cache
def named_in_builds(root: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for folder in ("tests", "examples")
                     for path in sorted((root / folder).rglob("CMakeLists.txt")))


def is_run(link: str, root: Path) -> bool:
    """Whether a file below tests/ is there and holds tests: played, compiled, collected, or named by a build."""
    path = root / link
    if not link.startswith("tests/") or not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ks":
        return bool(re.fullmatch(r"tests/scenarios/\w+/\w+\.ks", link) and re.search(r"^\s*expect ", text, re.M))
    if {".cpp": "TEST_CASE(", ".py": "def test_"}.get(path.suffix, "\0") in text:
        return True
    return re.search(rf"(?<![\w.]){re.escape(path.name)}(?!\w)", named_in_builds(root)) is not None


def faults(text: str, known: handbook.Known, root: Path) -> list[str]:
    found, count, seen = [], dict.fromkeys(ANSWERS, 0), set()
    for row in rows(text):
        name = row[0]
        if len(row) != 5:
            found.append(f"{name}: has {len(row)} cells, not 5")
            continue
        _, answer, by, shown, elsewhere = row
        if name in seen:
            found.append(f"{name}: stands twice")
        seen.add(name)
        if answer not in ANSWERS:
            found.append(f"{name}: {answer} is no answer")
            continue
        count[answer] += 1
        found += [f"{name}: {what}" for what in wrong_answer(answer, by, shown, root)]
        found += [f"{name}: {what}" for what in handbook.misnamed(by, known)]
        systems = re.findall(r"\w+", re.sub(r"\bpartly\b", "", elsewhere))
        found += [f"{name}: {one} is none of the other systems" for one in systems if one not in OTHERS]
        found += [f"{name}: {one} stands twice" for one in sorted({one for one in systems if systems.count(one) > 1})]
    sums = f"{sum(count.values())} features: {count['yes']} yes, {count['partly']} partly, {count['no']} no."
    if sums not in text:
        found.append(f"the rows are {sums}")
    return found


def wrong_answer(answer: str, by: str, shown: str, root: Path) -> list[str]:
    links = re.findall(r"\]\(([^)]+)\)", shown)
    if answer == "no":
        found = [] if len(by.split()) >= FEWEST_WORDS else ["no without a reason"]
        return [*found, "no, and something shows it"] if links else found
    found = [] if links else ["nothing shows it"]
    found += [f"{link} is no file that tests run" for link in links if not is_run(link.removeprefix("../"), root)]
    if not re.search(r"\]\((?!\.\./tests/)|`", by):
        found.append("it does not say what does it")
    missing = re.search(r"\bMissing: (.+)", by)
    if answer == "partly" and (not missing or len(missing[1].split()) < 3):
        found.append("it does not say what is missing")
    if answer == "yes" and missing:
        found.append("yes, and something is missing")
    return found
