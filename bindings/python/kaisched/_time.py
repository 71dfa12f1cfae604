"""Times as they are told: seconds, texts such as ``1h30m``, time deltas."""

from __future__ import annotations

import datetime

import numpy as np

from kaisched import _core
from kaisched._errors import ArgumentError

Time = float | int | str | datetime.timedelta | np.timedelta64
"""A number of seconds, a text such as ``"90s"`` or ``"1h30m"``, or a time delta."""


def nanoseconds(told: Time, what: str) -> int:
    """A time in nanoseconds. ``what`` names it where it is none."""
    if isinstance(told, (datetime.timedelta, np.timedelta64)):
        told = np.timedelta64(told, "ns")
        if np.isnat(told) or told < np.timedelta64(0, "ns"):
            raise ArgumentError(f"{what}: expected a time from 0 on, got {told}")
        return int(told.astype(np.int64))
    if isinstance(told, (bool, np.bool_)) or not isinstance(told, (int, float, str, np.integer, np.floating)):
        raise ArgumentError(f"{what}: expected seconds, a text such as '1h30m' or a time delta, got {told!r}")
    text = (
        told
        if isinstance(told, str)
        else np.format_float_positional(told, trim="-")
        if isinstance(told, (float, np.floating))
        else str(told)
    )
    try:
        return int(_core.nanoseconds(text))
    except ArgumentError as e:
        raise ArgumentError(f"{what}: {e}") from None
