"""The package says the same as the library and as its stubs."""

import ast
import doctest
import importlib.resources
import pickle

import pytest

import kaisched as ks
from kaisched import _core, _errors


def test_one_exception_per_status():
    classes = {cls.code: cls for cls in ks.Error.__subclasses__()}
    statuses = {number: (name, text) for number, name, text in _core.status_list() if number != 0}
    assert classes.keys() == statuses.keys()
    for number, (name, text) in statuses.items():
        assert classes[number].__name__ == "".join(part.title() for part in name.split("_")) + "Error"
        assert classes[number].__doc__.rstrip(".").lower() == text.lower()
        assert getattr(ks, classes[number].__name__) is classes[number]


def test_exceptions_carry_code_and_subject():
    error = _errors.make(-21, "pod x", 7)
    assert (type(error), str(error), error.code, error.subject) == (ks.StaleIdError, "pod x", -21, 7)
    assert _errors.make(-12345, "", 0).code == -99
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.subject) == (ks.StaleIdError, "pod x", 7)
    with pytest.raises(ks.DuplicateError) as caught:
        ks.Cluster().apply(queues={"name": ["a", "a"]})
    assert caught.value.code == -23


def test_enumerations():
    assert [s.name.lower() for s in ks.PodStatus] == _core.pod_status_names()
    for kind in ks.DecisionKind:
        assert _core.decision_kind_name(kind) == kind.name.lower()


def test_version():
    assert ks.__version__.count(".") == 2


def test_the_example_in_the_documentation():
    assert doctest.testmod(ks).failed == 0
    assert doctest.testmod(ks).attempted > 3


def test_everything_public_is_listed():
    assert ks.__all__ == sorted(ks.__all__, key=lambda n: (not n.isupper(), n.startswith("_") or n[0].islower(), n))
    for name in ks.__all__:
        assert hasattr(ks, name)


def test_stubs_name_what_there_is():
    """Names in the stub of the extension module, and in its classes, are those of the module."""
    text = importlib.resources.files(ks).joinpath("_core.pyi").read_text(encoding="utf-8")
    assert importlib.resources.files(ks).joinpath("py.typed").is_file()

    def defined(body):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield node.name
            elif isinstance(node, ast.AnnAssign):
                yield node.target.id

    def public(thing):
        return {name for name in vars(thing) if not name.startswith("_")}

    module = ast.parse(text)
    assert set(defined(module.body)) == public(_core)
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            assert {n for n in defined(node.body) if n[0] != "_"} == public(getattr(_core, node.name)), node.name
