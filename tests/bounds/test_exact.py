import random
from dataclasses import replace
from fractions import Fraction

import brute
import pytest

pytest.importorskip("highspy", reason="highspy is not installed: no exact packing (./dev test installs it)")

from benchmarks.bounds import exact
from benchmarks.bounds.inputs import InputError, Node, NodeType, Pod, PodClass
from benchmarks.bounds.packing import Packing

HALF, WHOLE, PAIR = PodClass(0, 0, 1, 500), PodClass(0, 0, 1, 1000), PodClass(0, 0, 2, 600)


def test_everything_tried_finds_no_more_and_no_less():
    draw = random.Random(11)
    below_the_linear_program = rejected = 0
    for _ in range(400):
        nodes, pods = brute.random_cluster(draw)
        result = exact.most_allocated(nodes, pods)
        most = brute.most_allocated(nodes, pods)
        assert (result.status, result.gpu_milli, result.bound_gpu_milli) == ("optimal", most, most), (nodes, pods)
        assert not exact.faults(result.layout, pods)
        below_the_linear_program += most < Packing(nodes, pods).most_allocated().gpu_milli
        rejected += most < result.offered_gpu_milli
    assert below_the_linear_program > 10 and rejected > 300, (below_the_linear_program, rejected)


def test_parts_of_a_pod_lie_on_different_devices():
    node = Node("n", NodeType("A", 3, 0, 0))
    # Liquid: 3,000 of 3,600. No two parts of 600 go on one device, so one pod leaves one device over.
    result = exact.most_allocated([node], [Pod("a", PAIR), Pod("b", PAIR), Pod("c", HALF), Pod("d", HALF)])
    assert result.gpu_milli == 1200 + 1000
    # Both parts of one pod beside a whole device would be 1,600.
    small = PodClass(0, 0, 2, 300)
    pair = Node("n", NodeType("A", 2, 0, 0))
    assert exact.most_allocated([pair], [Pod("a", small), Pod("b", small), Pod("c", WHOLE)]).gpu_milli == 1200


def test_a_layout_with_faults_is_no_result(monkeypatch):
    monkeypatch.setattr(exact, "faults", lambda layout, pods: ["too much of everything"])
    with pytest.raises(RuntimeError, match="too much of everything"):
        exact.most_allocated([Node("n", NodeType("A", 1, 0, 0))], [Pod("a", WHOLE)])


def test_a_limit_of_time_is_told():
    draw = random.Random(3)
    nodes = [Node(f"n{i}", NodeType("A", 8, 96000, 10**6)) for i in range(12)]
    pods = [
        Pod(f"p{i}", PodClass(draw.randint(1, 20) * 500, 1024, 1, draw.choice([1000, 810, 470, 390, 260, 190])))
        for i in range(130)
    ]
    result = exact.most_allocated(nodes, pods, time_limit_s=0.01)
    assert result.status == "time limit"
    assert result.gpu_milli < result.bound_gpu_milli <= min(result.offered_gpu_milli, result.capacity_gpu_milli)
    assert result.gap_percent == pytest.approx(100 * (1 - result.gpu_milli / result.bound_gpu_milli))


@pytest.mark.parametrize("limit", [-1.0, float("nan")])
def test_a_limit_that_is_none(limit):
    with pytest.raises(InputError, match="--time-limit"):
        exact.most_allocated([], [], time_limit_s=limit)


def test_a_drawn_instance():
    draw = random.Random(2)
    nodes = [Node(f"n{i}", NodeType("A", draw.randint(1, 8), 0, 0)) for i in range(30)]
    pods = [Pod("cpu", PodClass(1, 0, 0, 0)), Pod("half", HALF), Pod("whole", WHOLE)]
    some, asking = exact.drawn(nodes, pods, 4, Fraction(13, 10), 5)
    capacity = sum(node.type.gpu_milli for node in some)
    assert len({node.name for node in some}) == 4 and {pod.name for pod in asking} == {"cpu", "half", "whole"}
    assert 1.3 * capacity <= sum(pod.wants.gpu_total for pod in asking) < 1.3 * capacity + 1000
    assert (some, asking) == exact.drawn(nodes, pods, 4, Fraction(13, 10), 5)
    assert (some, asking) != exact.drawn(nodes, pods, 4, Fraction(13, 10), 6)
    for count, from_pods in ((0, pods), (31, pods), (4, pods[:1]), (4, [])):
        with pytest.raises(InputError, match=f"--draw: {count} nodes"):
            exact.drawn(nodes, from_pods, count, Fraction(1), 1)


def test_no_gpus_at_all():
    result = exact.most_allocated([Node("n", NodeType("", 0, 1000, 1000))], [Pod("a", PodClass(1, 1, 0, 0))])
    assert (result.status, result.gpu_milli, result.bound_gpu_milli, result.gap_percent) == ("optimal", 0, 0, 0)


LAYOUT = exact.OnNode(
    Node("n", NodeType("A", 2, 1000, 100)), {HALF: 2, WHOLE: 1}, {HALF: (2, 0)}
)
THREE = [Pod("a", HALF), Pod("b", HALF), Pod("c", WHOLE)]


def test_a_layout_without_faults():
    assert exact.faults([LAYOUT], THREE) == []


@pytest.mark.parametrize(
    ("change", "pods", "fault"),
    [
        ({}, THREE[:2], "1 of 0 pods"),
        ({"parts": {HALF: (1, 1)}}, THREE, "1 whole devices, 0 are free"),
        ({"parts": {HALF: (1, 0)}}, THREE, "in parts"),
        ({"pods": {HALF: 3}, "parts": {HALF: (3, 0)}}, [Pod("a", HALF)] * 3, "devices hold"),
        ({"pods": {PAIR: 1}, "parts": {PAIR: (2, 0)}}, [Pod("a", PAIR)], "in parts"),
        ({"pods": {WHOLE: 3}, "parts": {}}, [Pod("a", WHOLE)] * 3, "3 whole devices, 2 are free"),
        ({"pods": {PodClass(501, 0, 0, 0): 2}, "parts": {}}, [Pod("a", PodClass(501, 0, 0, 0))] * 2, "too much CPU"),
        ({"pods": {PodClass(0, 51, 0, 0): 2}, "parts": {}}, [Pod("a", PodClass(0, 51, 0, 0))] * 2, "too much memory"),
        ({"pods": {PodClass(0, 0, 3, 1000): 1}, "parts": {}}, [Pod("a", PodClass(0, 0, 3, 1000))], "can never run"),
        ({"pods": {PodClass(0, 0, 1, 1000, ("B",)): 1}, "parts": {}}, [Pod("a", PodClass(0, 0, 1, 1000, ("B",)))], "can never"),
    ],
)
def test_faults_of_a_layout_are_found(change, pods, fault):
    found = exact.faults([replace(LAYOUT, **change)], pods)
    assert any(fault in one for one in found), found
