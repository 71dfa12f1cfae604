#!/usr/bin/env python3
"""Writes the C and C++ snippets of all pages as programs: compiled.py FOLDER. Prints `LANGUAGE NAME PAGE`, a line each.

A snippet without `main` is the body of one, with the tables of prelude.hpp at hand as `tables` and a time as `now_ns`.
A snippet with the name of a file is that file, for the programs to include; two pages cannot have one of the same name.
A file that is right already is left alone, so that nothing is compiled for nothing.
"""

import re
import sys
from pathlib import Path

from pages import ROOT, Page, Snippet, pages

LANGUAGES = {"c": "c", "cpp": "cpp", "c++": "cpp"}
BODY = """{includes}
#include "prelude.hpp"

int main() {{
  const std::vector<kaisched::table> owned = small_cluster();
  const std::vector<kaisched::table_view> tables(views(owned));
  [[maybe_unused]] const std::int64_t now_ns = 0;
{body}}}
"""


def programs(page: Page) -> list[tuple[str, Snippet]]:
    """Snippets to compile, with the names of their programs."""
    stem = re.sub(r"\W", "_", page.path.removesuffix(".md"))
    chosen = [s for s in page.snippets if s.language in LANGUAGES and s.runs and not s.file]
    return [(f"{stem}_{number}", snippet) for number, snippet in enumerate(chosen, 1)]


def headers(page: Page) -> list[Snippet]:
    """Snippets with the name of a file: programs of that page include them."""
    return [s for s in page.snippets if s.language in LANGUAGES and s.runs and s.file]


def source(snippet: Snippet) -> str:
    if LANGUAGES[snippet.language] == "c" or re.search(r"\bint main\(", snippet.text):
        return snippet.text
    lines = snippet.text.splitlines()
    includes = "\n".join(line for line in lines if line.startswith("#include"))
    return BODY.format(includes=includes, body="".join(f"{line}\n" for line in lines if not line.startswith("#include")))


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, str] = {}

    def write(name: str, text: str, where: str) -> None:
        if name in written:
            sys.exit(f"{where}: there is a {name} already: {written[name]}")
        written[name] = where
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            (folder / name).write_text(text, encoding="utf-8")

    for page in pages(ROOT):
        for snippet in headers(page):
            write(snippet.file, snippet.text, snippet.where)
        for name, snippet in programs(page):
            language = LANGUAGES[snippet.language]
            write(f"{name}.{language}", source(snippet), snippet.where)
            print(language, name, page.path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
