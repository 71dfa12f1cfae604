#!/usr/bin/env python3
"""Renews what consoles of pages print, after decisions or reports have changed: renew.py PROGRAM [PAGE...].

Lines keep their places and elisions: each line is replaced by the most similar one of the real output, in order. Where
that guess is poor the line stays, and the tests say so. Read the diff.
"""

import os
import re
import sys
import tempfile
from difflib import SequenceMatcher
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from pages import ROOT, Page, as_promised, pages
from test_docs import shell

POOR = 0.7


def alike(a: str, b: str) -> float:
    """Similarity of what does not vary: words, not figures and bars."""
    a, b = (re.sub(r"[\d.,█▒━┅◆┃·░▓ ]+", " ", line) for line in (a, b))
    return SequenceMatcher(None, a, b).ratio()


def renewed(promised: str, said: str) -> str:
    if as_promised(promised, said):
        return promised
    lines, at, found = said.rstrip("\n").split("\n"), 0, []
    for line in promised.rstrip("\n").split("\n"):
        if "..." not in line:
            best = max(range(at, len(lines)), key=lambda i: (alike(line, lines[i]), -i), default=None)
            if best is not None and alike(line, lines[best]) >= POOR:
                line, at = lines[best].rstrip(), best + 1
        found.append(line)
    return "\n".join([*found, ""])


def renew(page: Page) -> str:
    """The text of a page after its consoles were played."""
    text = page.text
    with tempfile.TemporaryDirectory() as folder:
        for snippet in page.snippets:
            if not snippet.runs:
                continue
            if snippet.language != "console":
                if snippet.file:
                    Path(folder, snippet.file).write_text(snippet.text, encoding="utf-8")
                continue
            after = ""
            for block in re.split(r"^(?=\$ )", snippet.text, flags=re.M):
                line, newline, promised = block.partition("\n")
                if line.startswith("$ ") and promised:
                    done = shell(line[2:], folder)
                    promised = renewed(promised, done.stdout + done.stderr)
                elif line.startswith("$ "):
                    shell(line[2:], folder)
                after += line + newline + promised
            text = text.replace(snippet.text, after)
    return text


def main(program: str, names: list[str]) -> None:
    os.environ["KAISCHED_PROGRAM"] = program
    for page in pages():
        if names and page.path not in names:
            continue
        text = renew(page)
        if text != page.text:
            (ROOT / page.path).write_text(text, encoding="utf-8")
            print(f"renewed {page.path}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
