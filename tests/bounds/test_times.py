import random
from fractions import Fraction

import brute
import pytest

from benchmarks.bounds import times
from benchmarks.bounds.inputs import GPU, InputError, Job


def jobs(*rows):
    return [Job(f"j{i}", submit, run, gpus * GPU) for i, (submit, run, gpus) in enumerate(rows)]


def test_whoever_needs_least_goes_first():
    # The long one waits for both short ones, and is interrupted by the second.
    assert times.total_srpt([(0, 10), (0, 1), (3, 2)]) == 1 + 2 + 13
    # Equal lengths, an idle gap, and a release at the very end of another.
    assert times.total_srpt([(0, 2), (2, 2), (10, 1)]) == 2 + 2 + 1
    assert times.total_srpt([]) == 0


def test_srpt_is_the_best_of_everything_tried_on_one_machine():
    draw = random.Random(5)
    for _ in range(150):
        drawn = jobs(*[(draw.randint(0, 5), draw.randint(1, 4), 1) for _ in range(draw.randint(1, 5))])
        assert times.total_srpt([(job.submit, job.run_time) for job in drawn]) == brute.least_total_jct(drawn, 1)


def test_no_schedule_of_several_gpus_is_below_the_bounds():
    draw = random.Random(6)
    met = {"srpt": 0, "isolated": 0, "end": 0}
    for _ in range(150):
        gpus = draw.randint(1, 3)
        drawn = jobs(*[(draw.randint(0, 4), draw.randint(1, 3), draw.randint(1, gpus)) for _ in range(draw.randint(1, 5))])
        bound = times.bounds(drawn, gpus * GPU)
        least = Fraction(brute.least_total_jct(drawn, gpus), len(drawn))
        end = brute.least_last_end(drawn, gpus)
        assert bound.mean_isolated <= least and bound.mean_srpt <= least and bound.last_end <= end, drawn
        met["srpt"] += bound.mean_srpt == least > bound.mean_isolated
        met["isolated"] += bound.mean_isolated == least > bound.mean_srpt
        met["end"] += bound.last_end == end
    assert met["srpt"] > 25 and met["isolated"] > 25 and met["end"] > 90, met


def test_one_machine_of_all_gpus():
    bound = times.bounds(jobs((0, 6, 1), (0, 2, 3)), 3 * GPU)
    assert bound.work == 12 * GPU
    assert bound.mean_isolated == 4
    assert bound.mean_srpt == Fraction(2 + 4, 2)
    assert bound.mean_jct == 4
    assert bound.last_end == 6


def test_last_end():
    # Idle until 5, then work for all until 9; a job of one GPU that comes last is done at 10 at best.
    assert times.bounds(jobs((5, 4, 2)), 2 * GPU).last_end == 9
    assert times.bounds(jobs((5, 4, 2), (5, 2, 1)), 2 * GPU).last_end == 10
    assert times.bounds(jobs((0, 1, 1), (7, 3, 1)), 2 * GPU).last_end == 10
    # Work cannot be done before it is there: 1 is lost between the two.
    assert times.bounds(jobs((0, 2, 2), (3, 2, 2)), 2 * GPU).last_end == 5


def test_parts_of_gpus_are_work_too():
    half = [Job("a", 0, 4, GPU // 2), Job("b", 0, 4, GPU // 2), Job("c", 0, 4, GPU)]
    assert times.bounds(half, GPU).last_end == 8


def test_errors():
    with pytest.raises(InputError, match="job j1: gpus_total: more than the cluster has"):
        times.bounds(jobs((0, 1, 1), (0, 1, 3)), 2 * GPU)
    with pytest.raises(InputError, match="there are no jobs"):
        times.bounds([], GPU)
