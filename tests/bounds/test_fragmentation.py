import random
from fractions import Fraction
from itertools import product

import pytest

from benchmarks.bounds import fragmentation
from benchmarks.bounds.inputs import GPU, InputError, Node, NodeType, Placement, Pod, PodClass

A2, B1 = NodeType("A", 2, 4000, 1000), NodeType("B", 1, 1000, 1000)
NODES = [Node("a", A2), Node("b", B1)]
CPU, HALF, PAIR = PodClass(1000, 0, 0, 0), PodClass(1000, 0, 1, 500), PodClass(1000, 0, 2, GPU, ("A",))
LARGE = PodClass(3000, 0, 1, GPU)
WEIGHTS = {CPU: Fraction(1, 10), HALF: Fraction(4, 10), PAIR: Fraction(2, 10), LARGE: Fraction(3, 10)}


def state(node, cpu, *gpus):
    return fragmentation.State(node, cpu, 1000, list(gpus))


@pytest.mark.parametrize(
    ("one", "useless"),
    [
        (state(NODES[0], 4000, 1000, 1000), {CPU: 2000}),
        (state(NODES[0], 4000, 1000, 400), {CPU: 1400, HALF: 400, PAIR: 1400, LARGE: 400}),
        (state(NODES[0], 2999, 1000, 1000), {CPU: 2000, LARGE: 2000}),
        (state(NODES[0], 999, 1000, 1000), {CPU: 2000, HALF: 2000, PAIR: 2000, LARGE: 2000}),
        (state(NODES[1], 1000, 1000), {CPU: 1000, PAIR: 1000, LARGE: 1000}),
        (state(NODES[1], 1000, 0), {}),
    ],
)
def test_what_a_typical_pod_cannot_use(one, useless):
    expected = sum((amount * WEIGHTS[wants] for wants, amount in useless.items()), Fraction(0))
    assert fragmentation.fragmented([one], WEIGHTS) == expected


def test_a_model_is_looked_at():
    foreign = {PodClass(0, 0, 1, 500, ("B", "C")): Fraction(1)}
    assert fragmentation.fragmented([state(NODES[0], 4000, 1000, 1000)], foreign) == 2000
    assert fragmentation.fragmented([state(NODES[1], 1000, 1000)], foreign) == 0


def test_what_nobody_can_avoid():
    # Pods without GPUs everywhere; on b also pairs, and those that want more CPU than it has.
    assert fragmentation.useless_share(A2, WEIGHTS) == Fraction(1, 10)
    assert fragmentation.useless_share(B1, WEIGHTS) == Fraction(6, 10)
    assert fragmentation.unavoidable([state(NODES[0], 0, 500, 0), state(NODES[1], 0, 1000)], WEIGHTS) == 50 + 600
    assert [fragmentation.least_with(NODES, idle, WEIGHTS) for idle in (0, 500, 2000, 2500, 3000)] == [0, 50, 200, 500, 800]
    assert fragmentation.least_with(NODES[::-1], 2500, WEIGHTS) == 500
    with pytest.raises(ValueError, match="1 milli-GPU more"):
        fragmentation.least_with(NODES, 3001, WEIGHTS)


def test_no_state_is_below_the_bounds():
    met = 0
    for cpu_a, cpu_b in product((0, 1000, 4000), (0, 1000)):
        for left in product((0, 250, 500, 1000), repeat=3):
            states = [state(NODES[0], cpu_a, *left[:2]), state(NODES[1], cpu_b, left[2])]
            measured = fragmentation.fragmented(states, WEIGHTS)
            unavoidable = fragmentation.unavoidable(states, WEIGHTS)
            assert measured >= unavoidable >= fragmentation.least_with(NODES, sum(left), WEIGHTS)
            met += sum(left) > 0 and measured == unavoidable
    assert met > 0  # an empty node a, for one


def test_typical_pods():
    many, some, few = PodClass(1, 7, 1, 500), PodClass(2, 0, 1, 500), PodClass(3, 0, 1, 500)
    listed = [many] * 60 + [few] * 20 + [some] * 16 + [CPU] * 4
    draw = random.Random(1)
    draw.shuffle(listed)
    found = fragmentation.typical([Pod(f"p{i}", wants) for i, wants in enumerate(listed)])
    # 96 of 100 are enough, and memory makes no class.
    assert found == {PodClass(1, 0, 1, 500): Fraction(60, 96), few: Fraction(20, 96), some: Fraction(16, 96)}
    # Of two that are as frequent the larger is kept.
    listed = [many] * 18 + [some] + [few]
    assert list(fragmentation.typical([Pod(f"p{i}", w) for i, w in enumerate(listed)])) == [PodClass(1, 0, 1, 500), few]


PODS = [Pod("half", HALF), Pod("pair", PAIR), Pod("cpu", CPU), Pod("memory", PodClass(0, 501, 0, 0))]


def test_placements_are_subtracted():
    placed = [Placement("half", "a", (1,)), Placement("half", "a", (1,)), Placement("cpu", "b", ())]
    first, second = fragmentation.state_after(NODES, PODS, placed)
    assert (first.cpu_milli, first.memory_mib, first.gpus) == (2000, 1000, [1000, 0])
    assert (second.cpu_milli, second.gpus) == (0, [1000])


@pytest.mark.parametrize(
    ("placed", "why"),
    [
        ([("who", "a", ())], "there is no such pod"),
        ([("half", "c", (0,))], "there is no node c"),
        ([("half", "a", ())], "1 different devices"),
        ([("pair", "a", (1, 1))], "2 different devices"),
        ([("half", "b", (1,))], "b has no device 1"),
        ([("half", "a", (0,))] * 3, "a has not enough left"),
        ([("cpu", "b", ())] * 2, "b has not enough left"),
        ([("memory", "b", ())] * 2, "b has not enough left"),
    ],
)
def test_placements_that_cannot_be(placed, why):
    with pytest.raises(InputError, match=f"placement of {placed[0][0]}: .*{why}"):
        fragmentation.state_after(NODES, PODS, [Placement(*one) for one in placed])
