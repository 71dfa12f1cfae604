"""The Python example of the README does what it says."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_python_example():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    assert blocks
    for block in blocks:
        promised = re.findall(r"print\(.*\)\s+# (.*)", block)
        said = io.StringIO()
        with redirect_stdout(said):
            exec(compile(block, "README.md", "exec"), {})
        assert said.getvalue().split("\n")[:-1] == promised
