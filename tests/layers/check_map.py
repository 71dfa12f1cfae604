"""The maps of the tree are true: each folder is on its map, and each path that a map names exists."""

import re
import sys
import tempfile
from pathlib import Path

CODE = re.compile(r"`([^`\s]+)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
# The README of an example has a table `folder` with each folder that is directly in it, and in these folders of it.
EXAMPLES = {"examples/cuda_isolation": [], "examples/kubernetes": ["scheduler"]}


def table_cells(text, column):
    """The cells of one column of all tables of a page."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [row[column] for row in rows if len(row) > column and not set(row[0].strip()) <= {"-"}]


def folders_below(root, top):
    return {p.relative_to(root).as_posix() for p in (root / top).rglob("*") if p.is_dir() and any(c.is_file() for c in p.iterdir()) and "__pycache__" not in p.parts}


def named(text):
    return set(CODE.findall(text))


def check_architecture(root):
    """Folders of schedulers are on a page of their own below that of the scheduler."""
    told = {name for name in named((root / "docs/architecture.md").read_text(encoding="utf-8")) if name.startswith("src/")}
    told = {name for name in told if not Path(name).suffix}
    there = {name for name in folders_below(root, "src") if not re.fullmatch(r"src/schedulers/\w+/(rules|cycle)", name)}
    return [f"docs/architecture.md: {name} is not on it" for name in sorted(there - told)] + \
           [f"docs/architecture.md: there is no folder {name}" for name in sorted(told - there - {"src/policy", "src/schedulers"}) if not (root / name).is_dir()]


def check_tests(root):
    told = {cell.strip().strip("`") for cell in table_cells((root / "tests/README.md").read_text(encoding="utf-8"), 0)} - {"folder"}
    there = {p.name for p in (root / "tests").iterdir() if p.is_dir() and p.name != "__pycache__" and any(p.rglob("*.*"))}
    return [f"tests/README.md: {name} is not on it" for name in sorted(there - told)] + \
           [f"tests/README.md: there is no folder {name}" for name in sorted(told - there)]


def check_paths(root):
    """What src/README.md and those of the schedulers name is there: a path, or the name of files without their suffix."""
    wrong = []
    pages = [root / "src/README.md", *sorted((root / "src/schedulers").rglob("README.md"))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        column = 1 if page.parent.name != "schedulers" else 0
        names = {name for cell in table_cells(text, column) for name in named(cell)} | set(LINK.findall(text))
        for name in sorted(n for n in names if "/" in n and not n.startswith("pkg/")):
            target = page.parent / name
            if not target.exists() and not any(target.parent.glob(target.name + ".*")):
                wrong.append(f"{page.relative_to(root)}: there is no {name}")
    return wrong


def folders_of_table(text):
    """The names in the first column of the tables of a page that begin with `folder`."""
    found, inside = set(), False
    for line in text.splitlines():
        first = line.strip().strip("|").split("|")[0].strip() if line.startswith("|") else ""
        if inside and first and not set(first) <= {"-"}:
            found.add(re.match(r"\[?`?([^]`]*)", first)[1])
        inside = first == "folder" or (inside and first != "")
    return found


def check_examples(root):
    wrong = []
    for example, deeper in EXAMPLES.items():
        top = root / example
        told = folders_of_table((top / "README.md").read_text(encoding="utf-8"))
        folders = [p for part in ("", *deeper) for p in (top / part).iterdir() if p.is_dir() and p.name != "__pycache__"]
        there = {p.relative_to(top).as_posix() for p in folders if any(c.is_file() for c in p.rglob("*"))}
        wrong += [f"{example}/README.md: {name} is not on it" for name in sorted(there - told)]
        wrong += [f"{example}/README.md: there is no folder {name}" for name in sorted(told - there)]
    return wrong


def scan(root):
    return check_architecture(root) + check_tests(root) + check_paths(root) + check_examples(root)


def self_test():
    """A small tree is true; each fault that is planted is found."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def write(name, text):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")

        write("docs/architecture.md", "| a | b |\n|---|---|\n| `src/base` | x |\n| `src/schedulers` | `src/schedulers/y` |\n")
        write("tests/README.md", "| folder | what |\n|---|---|\n| `unit` | x |\n")
        write("tests/unit/a.cpp", "")
        write("src/base/a.cpp", "")
        write("src/schedulers/README.md", "[y](y/README.md)\n")
        write("src/schedulers/y/README.md", "| a | b |\n|---|---|\n| x | `rules/a` |\n")
        write("src/schedulers/y/rules/a.hpp", "")
        write("src/README.md", "| a | b |\n|---|---|\n| x | `base/a.cpp` |\n")
        kubernetes = "| folder | a |\n|---|---|\n| [scheduler](scheduler/main.cpp) | x |\n| `scheduler/watch` | x |\n\n| file | a |\n|---|---|\n| b.yaml | x |\n"
        write("examples/kubernetes/README.md", kubernetes)
        write("examples/kubernetes/scheduler/main.cpp", "")
        write("examples/kubernetes/scheduler/watch/deeper/a.cpp", "")
        write("examples/cuda_isolation/README.md", "| folder | a |\n|---|---|\n| shim | x |\n")
        write("examples/cuda_isolation/shim/bench/a.c", "")
        assert scan(root) == [], scan(root)
        write("src/model/a.cpp", "")
        write("tests/cli/a.py", "")
        write("src/README.md", "| a | b |\n|---|---|\n| x | `base/b.cpp` |\n")
        write("examples/kubernetes/scheduler/cycle/a.cpp", "")
        write("examples/kubernetes/README.md", kubernetes.replace("scheduler/watch", "scheduler/watches"))
        write("examples/cuda_isolation/ledger/a.c", "")
        found = scan(root)
        assert len(found) == 7, found
    print("7 planted faults found, none invented")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = scan(Path(sys.argv[1]))
    print("\n".join(found) or "the maps are true")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
