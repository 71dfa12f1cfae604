import random
from fractions import Fraction

import pytest

from benchmarks.bounds import fairness


def test_max_min():
    assert fairness.max_min(12, [2, 8, 10]) == [2, 5, 5]
    assert fairness.max_min(12, [2, 3, 4]) == [2, 3, 4]
    assert fairness.max_min(10, [10, 10, 1], [1, 2, 1]) == [3, 6, 1]
    assert fairness.max_min(10, [7, 0, 10, 10]) == [Fraction(10, 3), 0, Fraction(10, 3), Fraction(10, 3)]
    assert fairness.max_min(0, [7, 1]) == [0, 0]
    assert fairness.max_min(5, []) == []


def test_nobody_can_get_more_without_somebody_poorer_getting_less():
    """What defines max-min shares: nothing is left that somebody wants, and who is not satisfied has the most per weight."""
    draw = random.Random(4)
    contended = 0
    for _ in range(500):
        demands = [draw.randint(0, 9) for _ in range(draw.randint(1, 6))]
        weights = [draw.randint(1, 4) for _ in demands]
        capacity = draw.randint(0, 30)
        shares = fairness.max_min(capacity, demands, weights)
        assert all(0 <= share <= demand for share, demand in zip(shares, demands))
        assert sum(shares) == min(capacity, sum(demands))
        for share, demand, weight in zip(shares, demands, weights):
            if share < demand:
                assert share / weight == max(other / of for other, of in zip(shares, weights))
                contended += 1
    assert contended > 300


def test_scale_does_not_matter():
    huge = 10**30
    assert fairness.max_min(10 * huge, [10 * huge, 10 * huge, huge], [1, 2, 1]) == [3 * huge, 6 * huge, huge]


@pytest.mark.parametrize(
    "arguments", [(-1, [1]), (1, [-1]), (1, [1], [0]), (1, [1], [-1]), (1, [1], []), (1, [1, 2], [1])]
)
def test_bad_numbers(arguments):
    with pytest.raises(ValueError, match="weights"):
        fairness.max_min(*arguments)


def test_deviation():
    apart = fairness.deviation([6, 3, 1], [4, 4, 2])
    assert apart == fairness.Deviation(largest_lack=Fraction(1, 2), misplaced=Fraction(2, 10))
    # What nobody has is misplaced as well; what is more than due is no lack.
    assert fairness.deviation([4, 0, 9], [4, 4, 0]) == fairness.Deviation(Fraction(1), Fraction(1, 2))
    assert fairness.deviation([1, 2], [1, 2]) == fairness.Deviation(Fraction(0), Fraction(0))
    assert fairness.deviation([], []) == fairness.deviation([3], [0]) == fairness.Deviation(Fraction(0), Fraction(0))
    with pytest.raises(ValueError, match="as many"):
        fairness.deviation([1], [1, 2])


def test_jain():
    assert fairness.jain([3, 3, 3]) == 1
    assert fairness.jain([5, 0, 0, 0]) == Fraction(1, 4)
    assert fairness.jain([1, 2, 3]) == Fraction(36, 42)
    assert fairness.jain([Fraction(1, 10**9), Fraction(2, 10**9), Fraction(3, 10**9)]) == Fraction(36, 42)
    assert fairness.jain([0, 0]) == fairness.jain([]) == 1
