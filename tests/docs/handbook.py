"""Whether docs/handbook.md names what exists and shows what it names. test_docs.py asks."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

PAGE = "docs/handbook.md"
NEEDS = ["GPU model", "GPU memory", "NUMA", "MIG", "Barrier of several pods",
         "Load balance", "MIG match", "Latency tolerance", "Synchronisation", "Inference binding"]
POINTS = {"QueueSort", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind"}
TABLES = {"nodes": "node", "pods": "pod", "groups": "pod_group", "queues": "queue", "devices": "device"}
SPAN = r"\[?`[^`]+`(?:\]\([^)]*\))?"
TYPED = re.compile(rf"\b(part|option|action|column|status|decision|preset)s? ({SPAN}(?:(?:, | and ){SPAN})*)(?: of (\w+))?")


@dataclass
class Known:
    """What the program knows: names by their kind, columns by table, and what is in effect without being named."""

    names: dict[str, set[str]]
    columns: dict[str, set[str]]
    preset: set[str]

    def every(self) -> set[str]:
        return set().union(*self.names.values(), self.columns.keys())


def known_to(program: str) -> Known:
    def said(command: str) -> dict:
        return json.loads(subprocess.run([program, *command.split(), "--json"], capture_output=True, check=True, text=True).stdout)

    options = {option["name"]: option for option in said("options")["options"]}
    tables = {table["name"]: table for table in said("schema")["tables"]}
    columns = {name: {column["name"] for column in said(f"schema {name}")["tables"][0]["columns"]} for name in tables}

    def listed(table: str, column: str) -> set[str]:
        doc = next(c["doc"] for c in said(f"schema {table}")["tables"][0]["columns"] if c["name"] == column)
        return set(re.findall(r"\d+ (\w+)", doc))

    names = {
        "part": set(options["parts"]["values"]),
        "action": set(options["actions"]["values"]),
        "option": set(options),
        "column": set().union(*columns.values()),
        "status": listed("pod", "status"),
        "decision": listed("decision", "kind"),
        "preset": set(options["preset"]["values"]),
        "value": {value for option in options.values() for value in option.get("values", [])},
    }
    return Known(names, columns, set(re.split(r",\s*", options["parts"]["default"])))


def rows(text: str) -> list[list[str]]:
    """Cells of the rows whose first cell begins with a name in bold."""
    lines = [line for line in text.splitlines() if line.startswith("| **")]
    return [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in lines]


def code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def faults(text: str, known: Known, root: Path) -> list[str]:
    found = []
    table = rows(text)
    names = [re.match(r"\*\*(.+?)\*\*", row[0])[1] for row in table]
    found += [f"{name}: there is no such row" for name in NEEDS if name not in names]
    for name, row in zip(names, table):
        if len(row) != 4:
            found.append(f"{name}: has {len(row)} cells, not 4")
            continue
        _, points, here, shown = row
        found += [f"{name}: {point} is no extension point" for point in points.split(", ") if point not in POINTS]
        found += [f"{name}: {what}" for what in unknown(here, known)]
        links = re.findall(r"\]\((?:\.\./)([^)]+\.ks)\)", shown)
        if not links:
            found.append(f"{name}: no scenario shows it")
        texts = ""
        for link in links:
            if not re.fullmatch(r"tests/scenarios/\w+/\w+\.ks", link) or not (root / link).exists():
                found.append(f"{name}: {link} is no scenario that tests play")
                continue
            texts += re.sub(r"#.*", "", (root / link).read_text(encoding="utf-8"))
        for word in dict.fromkeys(code(here)):
            if word not in known.preset and not re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", texts):
                found.append(f"{name}: none of its scenarios has {word}")
    points = re.search(r"^## Extension points$(.*?)(?=^## |\Z)", text, re.S | re.M)
    found += [f"extension points: {point} is missing" for point in sorted(POINTS)
              if not points or not re.search(rf"^\| [^|]*\b{point}\b[^|]*\|", points[1], re.M)]
    header = (root / "capi/include/kaisched/kaisched.h").read_text(encoding="utf-8")
    for word in code(points[1]) if points else []:
        if not (re.search(rf"\b{re.escape(word)}\(", header) if word.startswith("kaisched_") else word in known.every()):
            found.append(f"extension points: {word} is no name of anything")
    return found


def unknown(cell: str, known: Known) -> list[str]:
    """Words of a cell that name nothing, or nothing of the kind that the word before says."""
    return [f"{word} is no name of anything" for word in code(cell) if "/" not in word and word not in known.every()] \
        + misnamed(cell, known)


def misnamed(cell: str, known: Known) -> list[str]:
    """Words of a cell that are not of the kind that the word before says."""
    found = []
    for kind, words, of in TYPED.findall(cell):
        there = known.columns[TABLES[of]] if kind == "column" and of in TABLES else known.names[kind]
        found += [f"{word} is no {kind}{f' of {of}' if kind == 'column' and of in TABLES else ''}"
                  for word in code(words) if word not in there]
    return found
