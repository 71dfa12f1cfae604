"""Compares the symbols that a shared library shows with a committed list that has the lifecycle of each; --update adds
new ones as unstable and keeps the others.

usage: symbols.py LIBRARY HEADER LIST [--cases FOLDER] [--wrapper HEADER...] [--version VERSION] [--nm NM] [--update]
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

LIFECYCLE = ("unstable", "stable", "deprecated", "removed")


def read(path):
    """Name -> (lifecycle, since), in the order of the file."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {name: (lifecycle, since) for name, lifecycle, since in lines}


def names_in(files):
    """All names of ours in some files, or None for no files."""
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return set(re.findall(r"\bkaisched_\w+\b", text)) if files else None


def faults_of(shown, declared, listed, version, called, wrapped):
    """What is wrong with the list; `called` are the names that the test cases use, `wrapped` those of the wrapper."""
    there = [name for name, (lifecycle, _) in listed.items() if lifecycle != "removed"]
    faults = [f"shown, not listed: {name}" for name in shown if name not in there]
    faults += [f"listed, not shown: {name}" for name in there if name not in shown]
    faults += [f"listed, not in the header: {name}" for name in there if name not in declared]
    faults += [f"in the header, not listed: {name}" for name in declared if name not in there]
    faults += ["the list is not in the order of names"] if list(listed) != sorted(listed) else []
    for name, (lifecycle, since) in listed.items():
        if lifecycle not in LIFECYCLE:
            faults.append(f"{name}: {lifecycle} is no lifecycle")
        if not re.fullmatch(r"\d+\.\d+", since) or [int(n) for n in since.split(".")] > version:
            faults.append(f"{name}: since {since}, and this is {version[0]}.{version[1]}")
    if called is not None:
        faults += [f"no case calls it: {name}" for name in there if name not in called]
    if wrapped is not None:
        faults += [f"the wrapper lacks it: {name}" for name in there if name not in wrapped]
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("header", type=Path)
    parser.add_argument("list", type=Path)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--wrapper", type=Path, nargs="+", default=[])
    parser.add_argument("--version", default=(Path(__file__).parents[2] / "VERSION").read_text(encoding="utf-8"))
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()

    version = [int(n) for n in args.version.strip().split(".")[:2]]
    command = [args.nm, "-D", "--defined-only", args.library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    shown = sorted({line.split()[-1].split("@")[0] for line in lines})
    if args.update:
        comments = [line for line in args.list.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        known = read(args.list)
        kept = {name: known.get(name, ("unstable", f"{version[0]}.{version[1]}")) for name in shown}
        kept |= {name: row for name, row in known.items() if row[0] == "removed"}
        rows = [f"{name} {lifecycle} {since}" for name, (lifecycle, since) in sorted(kept.items())]
        args.list.write_text("\n".join(comments + rows) + "\n", encoding="utf-8")
    declared = sorted(re.findall(r"^KAISCHED_API[^;(]*?(\w+)\(", args.header.read_text(encoding="utf-8"), re.MULTILINE))
    called = names_in(sorted(args.cases.glob("*.[ch]")) if args.cases else [])

    faults = faults_of(shown, declared, read(args.list), version, called, names_in(args.wrapper))
    print("\n".join(faults) or f"{len(shown)} symbols, as listed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
