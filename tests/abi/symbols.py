"""Compares the symbols that a shared library shows with a committed list; --update rewrites the list.

usage: symbols.py LIBRARY HEADER LIST [--nm NM] [--update]
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("header", type=Path)
    parser.add_argument("list", type=Path)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()

    command = [args.nm, "-D", "--defined-only", args.library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    shown = sorted({line.split()[-1].split("@")[0] for line in lines})
    if args.update:
        args.list.write_text("\n".join(shown) + "\n", encoding="utf-8")
    listed = args.list.read_text(encoding="utf-8").split()
    declared = sorted(re.findall(r"^KAISCHED_API[^;(]*?(\w+)\(", args.header.read_text(encoding="utf-8"), re.MULTILINE))

    faults = [f"shown, not listed: {s}" for s in shown if s not in listed]
    faults += [f"listed, not shown: {s}" for s in listed if s not in shown]
    faults += [f"listed, not in the header: {s}" for s in listed if s not in declared]
    faults += [f"in the header, not listed: {s}" for s in declared if s not in listed]
    print("\n".join(faults) or f"{len(shown)} symbols, as listed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
