#!/usr/bin/env python3
"""The tables of docs/conformance.md are what the recorded cases say: page.py PROGRAM [--update]

PROGRAM is kaisched_conformance. Without --update the page is only compared; where the recordings are absent the exit
status is 77.
"""

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
# Folder of recordings, and what its tables stand between.
PARTS = {"kai": "recordings", "hami": "hami recordings", "kueue": "kueue recordings", "volcano": "volcano recordings"}
SKIPPED = 77


def main(program, update):
    page = PAGE.read_text(encoding="utf-8")
    renewed = page
    for folder, name in PARTS.items():
        command = [program, f"@conformance/{folder}", "--markdown"]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if told.returncode != 0:
            print(told.stdout, end="")
            return told.returncode
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
        before, rest = renewed.split(begin)
        after = rest.split(end)[1]
        renewed = before + begin + told.stdout + end + after
    if update:
        PAGE.write_text(renewed, encoding="utf-8")
    elif renewed != page:
        print(f"{PAGE.name} says something else than the recordings: ./dev conformance --update-docs")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--update" in sys.argv[2:]))
