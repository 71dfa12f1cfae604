"""Options, presets and sessions."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

from kaisched import _core
from kaisched._cluster import Cluster
from kaisched._policy import Policy, name_of

OptionValue = bool | int | float | str | list[str] | tuple[str, ...]


def options() -> list[dict[str, Any]]:
    """Name, type, default, bounds, choices, meaning and owner (``engine`` or ``cluster``) of every option."""
    return [dict(o) for o in _core.option_list()]


def _text(value: OptionValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(value)
    return repr(value) if isinstance(value, float) else str(value)


def _typed(type_name: str, text: str) -> OptionValue:
    if type_name == "boolean":
        return text == "true"
    if type_name == "integer":
        return int(text)
    if type_name == "number":
        return float(text)
    if type_name == "list":
        return text.split(",") if text else []
    return text


def _warn(texts: Iterable[str]) -> None:
    """Warns on behalf of the first caller outside of this package: there the old name is written."""
    package = __name__.partition(".")[0]
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    for text in texts:
        warnings.warn(text, DeprecationWarning, stacklevel=level)


class Engine(_core.Engine):
    """Options of a policy; runs it over snapshots. ``kaisched.options()`` says which options there are.

    ``policies``: objects of classes derived from ``Policy``, in front of the parts that the options list.
    """

    def __init__(
        self, preset: str = "kai", mode: str = "strict", policies: Iterable[Policy] = (), **options: OptionValue
    ) -> None:
        super().__init__()
        self.set("preset", preset)
        self.set("mode", mode)
        for name, value in options.items():
            self.set(name, value)
        for policy in reversed(list(policies)):
            self.add(policy)

    def add(self, policy: Policy) -> None:
        """Puts a policy in front of all parts: its order decides first, its filters and scores add to the others."""
        name = name_of(policy)
        self.add_policy(name, policy)
        parts = self.get("parts")
        assert isinstance(parts, list)
        self.set("parts", [name, *parts])

    def set(self, option: str, value: OptionValue) -> None:
        """Sets one option; ``preset`` replaces all others first.

        A name of the version before is taken for the present one, with a ``DeprecationWarning``.
        """
        known = len(self.warnings)
        self.set_text(option, _text(value))
        _warn(self.warnings[known:])

    def get(self, option: str) -> OptionValue:
        """Value of one option, in the type of the option."""
        text = self.get_text(option)
        name = _core.current_option(option)
        return _typed(next((o["type"] for o in _core.option_list() if o["name"] == name), "choice"), text)

    @property
    def options(self) -> dict[str, OptionValue]:
        """All options and their values."""
        return {o["name"]: self.get(o["name"]) for o in _core.option_list() if o["applies_to"] == "engine"}


def run(
    snapshot: _core.Snapshot | Cluster,
    now: int = 0,
    *,
    preset: str = "kai",
    policies: Iterable[Policy] = (),
    options: dict[str, OptionValue] | None = None,
) -> _core.Session:
    """Runs a policy over a snapshot at a time in nanoseconds: one session, with all its actions.

    ``options`` are set on top of ``preset``; ``kaisched.options()`` says which there are.
    """
    base = snapshot.snapshot() if isinstance(snapshot, _core.Cluster) else snapshot
    engine = Engine(preset, policies=policies)
    for name, value in (options or {}).items():
        engine.set(name, value)
    return engine.run(base, now)
