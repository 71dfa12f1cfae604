"""What is fair when many want more than there is, and how far from that shares are: integers in, fractions out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


def max_min(capacity: int, demands: Sequence[int], weights: Sequence[int] | None = None) -> list[Fraction]:
    """Weighted max-min shares by filling water: everybody gets the same per weight until satisfied. No share can grow
    without one that is smaller per weight shrinking."""
    weights = [1] * len(demands) if weights is None else weights
    if len(weights) != len(demands):
        raise ValueError("as many weights as demands are needed")
    if capacity < 0 or min(demands, default=0) < 0 or min(weights, default=1) <= 0:
        raise ValueError("weights are positive, nothing else is negative")
    left = Fraction(capacity)
    weight_left = sum(weights)
    shares = [Fraction(0)] * len(demands)
    for i in sorted(range(len(demands)), key=lambda i: Fraction(demands[i], weights[i])):
        shares[i] = min(Fraction(demands[i]), left * weights[i] / weight_left)
        left -= shares[i]
        weight_left -= weights[i]
    return shares


@dataclass(frozen=True)
class Deviation:
    """Of shares from the fair ones."""

    largest_lack: Fraction  # the worst part of a fair share that somebody does not have
    misplaced: Fraction  # the part of all fair shares that lies with the wrong ones or with nobody


def deviation(shares: Sequence[int | Fraction], fair: Sequence[int | Fraction]) -> Deviation:
    if len(shares) != len(fair):
        raise ValueError("as many shares as fair shares are needed")
    lacks = [(max(Fraction(0), Fraction(due) - Fraction(has)), Fraction(due)) for has, due in zip(shares, fair)]
    total = sum((due for _, due in lacks), Fraction(0))
    return Deviation(
        max((lack / due for lack, due in lacks if due), default=Fraction(0)),
        sum((lack for lack, _ in lacks), Fraction(0)) / total if total else Fraction(0),
    )


def jain(values: Sequence[int | Fraction]) -> Fraction:
    """(sum x)^2 / (n sum x^2): 1 if all are equal, 1/n if one has everything; 1 if there is nothing to share."""
    exact = [Fraction(value) for value in values]
    squares = sum((value * value for value in exact), Fraction(0))
    return sum(exact, Fraction(0)) ** 2 / (len(exact) * squares) if squares else Fraction(1)
