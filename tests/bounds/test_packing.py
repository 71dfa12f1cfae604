import random
from itertools import combinations_with_replacement

import brute
import pytest

pytest.importorskip("highspy", reason="highspy is not installed: no bounds of packing (./dev test installs it)")

from benchmarks.bounds.inputs import Node, NodeType, Pod, PodClass
from benchmarks.bounds.packing import LAMBDAS, SCALE, Packing, dual_feasible

ROOMY = (10**6, 10**6)  # CPU and memory that never matter


def nodes(*counts, model="A", cpu=ROOMY[0], memory=ROOMY[1]):
    return [Node(f"n{i}", NodeType(model, count, cpu, memory)) for i, count in enumerate(counts)]


def pods(*wants):
    return [Pod(f"p{i}", PodClass(0, 0, *one)) for i, one in enumerate(wants)]


@pytest.mark.parametrize("smallest", LAMBDAS)
def test_what_fits_in_a_device_fits_by_every_dual_feasible_function(smallest):
    sizes = [1, 49, 50, 51, *range(100, 1001, 50), 449, 451, 499, 501, 549, 551, 999]
    for count in (1, 2, 3):
        for held in combinations_with_replacement(sizes, count):
            if sum(held) <= 1000:
                assert sum(dual_feasible(size, smallest) for size in held) <= 1000, held
    # Many small ones beside a large one: the small ones must not count when the large one counts as whole.
    assert dual_feasible(1001 - smallest, smallest) == 1000 and dual_feasible(smallest - 1, smallest) == 0


def test_more_than_half_a_device_takes_one():
    packing = Packing(nodes(2), pods((1, 600), (1, 600), (1, 600)))
    assert packing.most_allocated().gpu_milli == 1200
    assert packing.prefix().pods == 2
    # As a liquid all three would fit.
    assert 3 * 600 < packing.capacity


@pytest.mark.parametrize("smallest", range(50, 501, 50))
def test_large_ones_leave_no_room_for_small_ones(smallest):
    wants = [(1, 1001 - smallest)] * 2 + [(1, smallest)]
    assert Packing(nodes(2), pods(*wants)).prefix().pods == 2
    assert Packing(nodes(3), pods(*wants)).prefix().pods == 3


def test_every_part_of_a_pod_takes_a_device():
    assert Packing(nodes(2), pods((2, 600), (1, 600))).prefix().pods == 1
    assert Packing(nodes(3), pods((2, 600), (1, 600))).prefix().pods == 2


def test_half_devices_go_in_pairs_and_whole_ones_beside_none():
    packing = Packing(nodes(1, 1), pods((1, 1000), (1, 500), (1, 500), (1, 1)))
    assert packing.prefix().pods == 3
    assert packing.most_allocated().gpu_milli == 2000


@pytest.mark.parametrize(
    ("wants", "fits"),
    [
        (PodClass(1001, 0, 0, 0), False),
        (PodClass(1000, 0, 0, 0), True),
        (PodClass(0, 1025, 0, 0), False),
        (PodClass(0, 1024, 1, 1000), True),
        (PodClass(0, 0, 2, 1000), True),
        (PodClass(0, 0, 3, 1000), False),
        (PodClass(0, 0, 1, 1000, ("B", "C")), False),
        (PodClass(0, 0, 1, 1000, ("B", "A")), True),
        (PodClass(0, 0, 0, 0, ("B",)), True),
    ],
)
def test_what_no_node_can_run_ends_the_prefix(wants, fits):
    # Two nodes: amounts that two of them have together are of no use to one pod.
    packing = Packing(nodes(2, 2, cpu=1000, memory=1024), [Pod("p", wants)])
    assert packing.prefix().pods == int(fits)
    assert packing.most_allocated().gpu_milli == (wants.gpu_total if fits else 0)


def test_pods_without_gpus_count_for_the_prefix_and_can_be_rejected():
    packing = Packing(nodes(1, cpu=1000), [Pod("a", PodClass(600, 0, 0, 0)), Pod("b", PodClass(600, 0, 1, 1000))])
    assert packing.prefix().pods == 1 and packing.prefix().gpu_milli == 0
    assert packing.most_allocated().gpu_milli == 1000


def test_bounds_hold_against_everything_tried_and_are_not_idle():
    draw = random.Random(7)
    tight = {"most": 0, "prefix": 0, "most below capacity": 0, "prefix below all": 0}
    for _ in range(250):
        cluster, arrivals = brute.random_cluster(draw)
        packing = Packing(cluster, arrivals)
        most, prefix = packing.most_allocated(), packing.prefix()
        true_most, true_prefix = brute.most_allocated(cluster, arrivals), brute.prefix(cluster, arrivals)
        assert most.gpu_milli >= true_most, (cluster, arrivals)
        assert prefix.pods >= true_prefix, (cluster, arrivals)
        tight["most"] += most.gpu_milli == true_most
        tight["prefix"] += prefix.pods == true_prefix
        tight["most below capacity"] += most.gpu_milli < min(packing.capacity, sum(p.wants.gpu_total for p in arrivals))
        tight["prefix below all"] += prefix.pods < len(arrivals)
    # A bound that were always the trivial one would pass above; these are what it reaches on the drawn clusters.
    assert tight["most"] > 230 and tight["prefix"] > 240, tight
    assert tight["most below capacity"] > 100 and tight["prefix below all"] > 200, tight


def test_a_proof_does_not_depend_on_the_solver():
    """Whatever prices it gives, what they prove is true."""
    draw = random.Random(8)
    something = 0
    for _ in range(100):
        cluster, arrivals = brute.random_cluster(draw)
        packing = Packing(cluster, arrivals)
        counts = [sum(pod.wants == wants for pod in arrivals) for wants in packing.classes]
        costs = [wants.gpu_total for wants in packing.classes]
        left = sum(pod.wants.gpu_total for pod in arrivals) - brute.most_allocated(cluster, arrivals)
        for _ in range(20):
            of_rows = [draw.choice([0, 0, 0, 0.5, -1, -500]) for _ in range((3 + len(LAMBDAS)) * len(packing.types))]
            of_classes = [draw.uniform(-100, 3000) for _ in counts]
            proven = packing.proven(counts, costs, of_rows + of_classes)
            assert proven <= left * SCALE
            something += proven > 0
    assert something > 20


def test_without_any_proof_nothing_but_the_obvious_is_claimed(monkeypatch):
    monkeypatch.setattr(Packing, "proven", lambda *_: -(10**30))
    assert Packing(nodes(1), pods((1, 600), (1, 600))).most_allocated().gpu_milli == 1000
    assert Packing(nodes(2), pods((1, 600), (1, 600))).most_allocated().gpu_milli == 1200
    assert Packing(nodes(1), pods((1, 600), (1, 600))).prefix().pods == 2


def test_order_of_calls_does_not_matter():
    cluster, arrivals = nodes(2, 4), pods((1, 600), (2, 1000), (1, 300), (4, 1000), (1, 600), (1, 450))
    one, other = Packing(cluster, arrivals), Packing(cluster, arrivals)
    first = one.most_allocated().gpu_milli, one.prefix().pods
    second = other.prefix().pods, other.most_allocated().gpu_milli
    assert first == second[::-1]


def test_nothing_is_a_cluster_too():
    assert Packing([], pods((1, 1000))).prefix().pods == 0
    assert Packing([], pods((1, 1000))).most_allocated().gpu_milli == 0
    assert Packing(nodes(1), []).prefix().pods == 0
    assert Packing([], []).most_allocated().percent == 0
