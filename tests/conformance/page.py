#!/usr/bin/env python3
"""The tables of docs/conformance.md are what the recorded cases say: page.py PROGRAM [--update]

PROGRAM is kaisched_conformance. Without --update the page is only compared; where the recordings are absent the exit
status is 77.
"""

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
BEGIN = "<!-- recordings: begin -->\n"
END = "<!-- recordings: end -->\n"
SKIPPED = 77


def main(program, update):
    told = subprocess.run([program, "@conformance/kai", "--markdown"], stdout=subprocess.PIPE, text=True, check=False)
    if told.returncode != 0:
        print(told.stdout, end="")
        return told.returncode
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    renewed = before + BEGIN + told.stdout + END + after
    if update:
        PAGE.write_text(renewed, encoding="utf-8")
    elif renewed != page:
        print(f"{PAGE.name} says something else than the recordings: ./dev conformance --update-docs")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--update" in sys.argv[2:]))
