#!/usr/bin/env python3
"""The working state of a session stays in parts with one job each: no class of src/framework has more than 40 public
functions or 30 data members.

Usage: check_parts.py ROOT
"""

import re
import sys
from pathlib import Path

MOST_FUNCTIONS = 40
MOST_MEMBERS = 30

CLASS = re.compile(r"^(class|struct) (\w+)\b[^;{}()]*\{", re.M)
NOT_COUNTED = ("using ", "friend ", "enum ", "struct ", "class ", "static_assert", "template")


def body_at(text: str, start: int) -> str:
    """What stands between the brace before `start` and its partner, with bodies inside taken out."""
    depth, kept, at = 1, [], start
    while depth > 0:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 1 and text[at] != "}":
            kept.append(text[at])
        elif depth == 1:
            kept.append(";")
        at += 1
    return "".join(kept)


def counts(body: str, public: bool) -> tuple[int, int]:
    functions = members = 0
    for piece in re.split(r";|\b(?=(?:public|private|protected):)", body):
        label = re.match(r"\s*(public|private|protected):", piece)
        if label:
            public = label[1] == "public"
            piece = piece[label.end() :]
        words = piece.strip()
        if not words or words.startswith(NOT_COUNTED):
            continue
        if "(" in words.split("=")[0]:
            functions += public
        else:
            members += 1
    return functions, members


def faults(text: str) -> list[str]:
    text = re.sub(r"//[^\n]*", "", text)
    found = []
    for one in CLASS.finditer(text):
        functions, members = counts(body_at(text, one.end()), one[1] == "struct")
        if functions > MOST_FUNCTIONS:
            found.append(f"{one[2]} has {functions} public functions, more than {MOST_FUNCTIONS}")
        if members > MOST_MEMBERS:
            found.append(f"{one[2]} has {members} data members, more than {MOST_MEMBERS}")
    return found


def self_test() -> None:
    functions = "".join(f"  int f{i}() const {{ return {{{i}}}; }}\n" for i in range(MOST_FUNCTIONS))
    members = "".join(f"  int m{i}_ = 0;\n" for i in range(MOST_MEMBERS))
    fits = f"class c {{\n public:\n{functions} private:\n  void g();\n{members}}};\n"
    assert faults(fits) == [], faults(fits)
    assert faults(fits.replace(" private:", "  int more();\n private:")) == ["c has 41 public functions, more than 40"]
    assert faults(fits.replace("  void g();", "  int m_;")) == ["c has 31 data members, more than 30"]


def main() -> int:
    self_test()
    status = 0
    headers = sorted((Path(sys.argv[1]) / "src" / "framework").glob("*.hpp"))
    assert headers, "there are no headers in src/framework"
    for path in headers:
        for fault in faults(path.read_text()):
            print(f"{path}: {fault}")
            status = 1
    if status == 0:
        print("every part of the working state is small")
    return status


if __name__ == "__main__":
    sys.exit(main())
