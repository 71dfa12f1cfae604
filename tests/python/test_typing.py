"""Types: stubs say what there is, and a strict checker accepts what users write."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kaisched as ks
from kaisched import _core

HERE = Path(__file__).parent
STUB = Path(ks.__file__).parent / "_core.pyi"
RECEIVERS = ("self", "cls")


def parameters(node: ast.FunctionDef) -> list[tuple[str, bool]]:
    """Names in the stub, and whether they have a default; those that collect others have a star."""
    a = node.args
    plain = [*a.posonlyargs, *a.args]
    defaults = [False] * (len(plain) - len(a.defaults)) + [True] * len(a.defaults)
    found = [(p.arg, d) for p, d in zip(plain, defaults, strict=True) if p.arg not in RECEIVERS]
    found += [(p.arg, d is not None) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return found + ([("**kwargs", False)] if a.kwarg else [])


def generated(function: object) -> list[tuple[str, bool]] | None:
    """The same of the signature that pybind11 makes."""
    first = (inspect.getdoc(function) or "").split("\n")[0]
    match = re.fullmatch(r"\w+\((.*)\) -> .*", first)
    if match is None:
        return None
    inside = re.sub(r"\[[^][]*\]", "", re.sub(r"\[[^][]*\]", "", re.sub(r"\[[^][]*\]", "", match[1])))
    found = []
    for part in inside.split(", "):
        name = part.split(":")[0].strip()
        if name not in ("", "*", "/", *RECEIVERS):
            found.append((name, "=" in part))
    return found


def test_stubs_have_the_parameters_that_functions_have():
    checked = 0
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        owner = getattr(_core, node.name, None) if isinstance(node, (ast.ClassDef, ast.FunctionDef)) else None
        functions = node.body if isinstance(node, ast.ClassDef) else [node] if isinstance(node, ast.FunctionDef) else []
        for one in functions:
            if not isinstance(one, ast.FunctionDef) or any(
                isinstance(d, ast.Name) and d.id == "property" for d in one.decorator_list
            ):
                continue
            made = generated(getattr(owner, one.name) if isinstance(node, ast.ClassDef) else owner)
            if made is None or one.name.startswith("__"):
                continue
            assert parameters(one) == [(n, d) for n, d in made], f"{node.name}.{one.name}"
            checked += 1
    assert checked > 60


def test_everything_has_a_docstring():
    for name in ks.__all__:
        thing = getattr(ks, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                    assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"


def checker(tmp_path: Path, *arguments: str) -> None:
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_strict_checker_accepts_programs(tmp_path):
    cache = HERE.parents[1] / "build" / "mypy"
    checker(tmp_path, "mypy", "--strict", f"--cache-dir={cache}", str(HERE / "typed_program.py"))


def test_stubs_are_those_of_the_module(tmp_path):
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\n[mypy-distributed.*,gymnasium.*,pandas.*,plotly.*,polars.*,pyarrow.*,ray.*,tqdm.*]\nignore_missing_imports = True\nfollow_imports = skip\n",
        encoding="utf-8",
    )
    checker(
        tmp_path,
        "mypy.stubtest",
        "kaisched",
        "--mypy-config-file=mypy.ini",
        "--ignore-unused-allowlist",
        f"--allowlist={HERE / 'stubtest_allowed.txt'}",
    )
