"""The notebooks of docs/notebooks run from top to bottom, each in an empty folder."""

import json
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient absent")
nbformat = pytest.importorskip("nbformat", reason="nbformat absent")
pytest.importorskip("ipykernel", reason="ipykernel absent")
pytest.importorskip("plotly", reason="plotly absent")

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 7
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for one in NOTEBOOKS:
        assert f"({one.name})" in page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_begin_with_a_question_and_hold_no_outputs(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown" and "?" in "".join(cells[0]["source"])
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None


@pytest.mark.filterwarnings("default")  # those of other people's packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_run(path, tmp_path):
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    for cell in book.cells:
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error"
            assert output.get("name") != "stderr", output
