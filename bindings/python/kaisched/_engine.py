"""Options, presets and sessions."""

from __future__ import annotations

from typing import Any

from kaisched import _core

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


class Engine(_core.Engine):
    """Options of a policy; runs it over snapshots. ``kaisched.options()`` says which options there are."""

    def __init__(self, preset: str = "kai", mode: str = "strict", **options: OptionValue) -> None:
        super().__init__()
        self.set("preset", preset)
        self.set("mode", mode)
        for name, value in options.items():
            self.set(name, value)

    def set(self, option: str, value: OptionValue) -> None:
        """Sets one option; ``preset`` replaces all others first."""
        self.set_text(option, _text(value))

    def get(self, option: str) -> OptionValue:
        """Value of one option, in the type of the option."""
        text = self.get_text(option)
        return _typed(next((o["type"] for o in _core.option_list() if o["name"] == option), "choice"), text)

    @property
    def options(self) -> dict[str, OptionValue]:
        """All options and their values."""
        return {o["name"]: self.get(o["name"]) for o in _core.option_list() if o["applies_to"] == "engine"}
