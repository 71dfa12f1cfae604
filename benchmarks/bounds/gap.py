"""How far from a bound a policy is, in percent."""

from __future__ import annotations


def below(value: float, most: float) -> float:
    return 100 * (1 - value / most) if most else 0.0


def above(value: float, least: float) -> float:
    """`least` is above 0."""
    return 100 * (value / least - 1)
