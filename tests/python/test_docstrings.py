"""What is public is documented: help() and the manual are made of it."""

import inspect

import kaisched as ks


def test_everything_public_says_what_it_is():
    silent = []
    for name in ks.__all__:
        thing = getattr(ks, name)
        if isinstance(thing, (str, int)):
            continue
        if not inspect.getdoc(thing):
            silent.append(name)
        if not inspect.isclass(thing):
            continue
        foreign = set(dir(BaseException)) if issubclass(thing, BaseException) else set()
        for member in set(dir(thing)) - foreign:
            if not member.startswith("_") and not inspect.getdoc(getattr(thing, member)):
                silent.append(f"{name}.{member}")
    assert silent == []
