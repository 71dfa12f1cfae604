"""Whether the rows of docs/guarantees.md name what holds them: sources, property tests and fuzz targets. test_docs.py asks."""

import re
from pathlib import Path

import features
from pages import Page

PAGE = "docs/guarantees.md"
HEAD = "| | promise | held by | property | fuzz |"
PROMISED = ("**Promise.** ", "**Where it ends", "hy.** ")  # what every section has


def rows(text: str) -> list[list[str]]:
    found, inside = [], False
    for line in text.splitlines():
        inside = line == HEAD or (inside and line.startswith("|"))
        if inside and line != HEAD and not line.startswith("|---"):
            found.append([cell.strip() for cell in line.strip().strip("|").split(" | ")])
    return found


def links(cell: str) -> list[str]:
    return [link.removeprefix("../") for link in re.findall(r"\]\(([^)#]+)\)", cell)]


def draws_cases(link: str, root: Path) -> bool:
    """A test that tries many cases: with RapidCheck, or with dice of its own."""
    return features.is_run(link, root) and bool(re.search(r"rc::check|seeded_dice|random_", (root / link).read_text(encoding="utf-8")))


def wrong_cells(held: str, shown: str, fuzzed: str, root: Path) -> list[str]:
    found = [f"{what} is missing" for what, cell in (("a source", held), ("a property test", shown), ("a fuzz target", fuzzed))
             if not links(cell)]
    found += [f"{link} is no source" for link in links(held) if not (link.startswith("src/") and (root / link).is_file())]
    found += [f"{link} is no property test" for link in links(shown) if not draws_cases(link, root)]
    found += [f"{link} is no fuzz target" for link in links(fuzzed)
              if not (re.fullmatch(r"tests/fuzz/fuzz_\w+\.cpp", link) and (root / link).is_file()
                      and "LLVMFuzzerTestOneInput" in (root / link).read_text(encoding="utf-8"))]
    return found


def faults(text: str, root: Path) -> list[str]:
    found = []
    anchors = Page(PAGE, text).anchors()
    for number, row in enumerate(rows(text), 1):
        name = f"G{number}"
        if len(row) != 5 or row[0] != name:
            found.append(f"row {number}: is not {name} with 5 cells")
            continue
        _, promise, held, shown, fuzzed = row
        anchor = re.match(r"\[[^\]]+\]\(#(g\d+-[^)]+)\)", promise)
        if not anchor or anchor[1] not in anchors or not anchor[1].startswith(f"{name.lower()}-"):
            found.append(f"{name}: its promise leads to no section")
        found += [f"{name}: {what}" for what in wrong_cells(held, shown, fuzzed, root)]
        section = re.search(rf"^## {name}: .*?(?=^## )", text, re.M | re.S)
        found += [f"{name}: its section lacks {what.strip('* ')}" for what in PROMISED if not section or what not in section[0]]
    return found
