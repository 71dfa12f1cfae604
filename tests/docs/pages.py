"""The Markdown pages of the project: their fenced snippets, links and headings. docs/testing.md says what fences mean."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(\s*)(`{3,})\s*([^`]*)$")


@dataclass
class Snippet:
    """One fenced block. `words` are those after the language: `no-run`, `output`, or the name of a file to write."""

    page: str
    line: int
    language: str
    words: list[str]
    text: str

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def runs(self) -> bool:
        return "no-run" not in self.words

    @property
    def file(self) -> str | None:
        return next((word for word in self.words if "." in word), None)


@dataclass
class Page:
    path: str
    text: str
    snippets: list[Snippet] = field(default_factory=list)
    prose: list[tuple[int, str]] = field(default_factory=list)  # numbered lines outside of fences

    def __post_init__(self) -> None:
        closing, body, opened = None, [], None
        for number, line in enumerate(self.text.splitlines(), 1):
            fence = FENCE.match(line)
            if closing is None and fence:
                closing, body, opened = fence[2], [], (number, fence[3].split())
            elif closing is not None and line.strip() == closing:
                words = opened[1] or [""]
                self.snippets.append(Snippet(self.path, opened[0], words[0], words[1:], "\n".join([*body, ""])))
                closing = None
            elif closing is None:
                self.prose.append((number, line))
            else:
                body.append(line)
        if closing is not None:
            raise ValueError(f"{self.path}:{opened[0]}: this fence is never closed")

    def outputs(self) -> dict[int, str]:
        """What a snippet prints, by its line, where the next fence of the page has the word `output`."""
        pairs = zip(self.snippets, self.snippets[1:])
        return {first.line: second.text for first, second in pairs if "output" in second.words}

    def anchors(self) -> set[str]:
        """Names of headings as GitHub makes them."""
        seen: dict[str, int] = {}
        found = set()
        for _, line in self.prose:
            heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
            if not heading:
                continue
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            again = seen.get(slug, 0)
            seen[slug] = again + 1
            found.add(slug if again == 0 else f"{slug}-{again}")
        return found

    def links(self) -> list[tuple[int, str]]:
        """Targets of links and pictures, with their lines."""
        found = []
        for number, line in self.prose:
            bare = re.sub(r"`[^`]*`", "", line)
            found += [(number, target) for target in re.findall(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", bare)]
            found += [(number, target) for target in re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", bare)]
        return found


def pages(root: Path = ROOT) -> list[Page]:
    """All pages that belong to the project, in order of their paths."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.md"],
        capture_output=True, text=True,
    )
    paths = [path for path in listed.stdout.split("\0") if path]
    if not paths:  # an unpacked archive
        paths = [str(path.relative_to(root)) for folder in (".", "docs/**") for path in root.glob(f"{folder}/*.md")]
    return [Page(path, (root / path).read_text(encoding="utf-8")) for path in sorted(set(paths)) if (root / path).exists()]


def as_promised(promised: str, said: str) -> bool:
    """Equal texts; `...` stands for anything in its line, a line with nothing else for any number of lines."""
    pattern = ""
    for line in promised.rstrip("\n").split("\n"):
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    return re.fullmatch(pattern, said.rstrip("\n") + "\n") is not None
