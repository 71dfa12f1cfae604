"""The Python snippets of all pages do what they say. The snippets of one page share their names, as cells of a notebook."""

import io
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
from pages import Page, as_promised, pages  # noqa: E402

PAGES = [page for page in pages() if any(s.language == "python" and s.runs for s in page.snippets)]


def run(snippet: str, where: str, names: dict) -> str:
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(snippet, where, "exec"), names)
    return said.getvalue()


def test_there_are_pages() -> None:
    assert "README.md" in [page.path for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_snippets(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they print is what stands in the fence `output` below, else in the comments behind `print`."""
    monkeypatch.chdir(tmp_path)
    outputs, names = page.outputs(), {}
    for snippet in page.snippets:
        if snippet.language == "python" and snippet.runs:
            said = run(snippet.text, snippet.where, names)
            comments = re.findall(r"print\(.*\)\s+# (.*)", snippet.text)
            promised = outputs.get(snippet.line, "\n".join(comments))
            assert as_promised(promised, said), f"{snippet.where} printed:\n{said}"
        elif snippet.file:
            Path(snippet.file).write_text(snippet.text, encoding="utf-8")
