"""How much of the free GPUs is of no use to the pods that usually come, and how much of that no placement could avoid.

The measure is that of FGD (Weng et al., USENIX ATC 2023): of the free GPU of a node, what a typical pod cannot use, on
average over the typical pods; a pod without GPUs uses none. Memory is not looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .inputs import GPU, InputError, Node, NodeType, Placement, Pod, PodClass

TYPICAL_SHARE = Fraction(95, 100)


@dataclass
class State:
    """What is free on one node."""

    node: Node
    cpu_milli: int
    memory_mib: int
    gpus: list[int]


Weights = dict[PodClass, Fraction]


def typical(pods: Sequence[Pod]) -> Weights:
    """The most frequent classes, as few as have 95 % of the pods, with weights that add up to 1. Of equally frequent
    ones the larger comes first."""
    counted = Counter(_without_memory(pod.wants) for pod in pods)

    def rank(wants: PodClass) -> tuple[int, int, int, int, str]:
        return counted[wants], wants.cpu_milli, wants.gpu_milli, wants.num_gpu, "|".join(wants.gpu_models)

    kept: list[tuple[PodClass, int]] = []
    seen = 0
    for wants in sorted(counted, key=rank, reverse=True):
        count = counted[wants]
        if seen >= TYPICAL_SHARE * len(pods):
            break
        kept.append((wants, count))
        seen += count
    return {wants: Fraction(count, seen) for wants, count in kept}


def _without_memory(wants: PodClass) -> PodClass:
    return PodClass(wants.cpu_milli, 0, wants.num_gpu, wants.gpu_milli, wants.gpu_models)


def state_after(nodes: Sequence[Node], pods: Sequence[Pod], placements: Sequence[Placement]) -> list[State]:
    states = {
        node.name: State(node, node.type.cpu_milli, node.type.memory_mib, [GPU] * node.type.gpu_count) for node in nodes
    }
    known = {pod.name: pod.wants for pod in pods}
    for place in placements:
        if place.pod not in known:
            raise InputError(f"placement of {place.pod}: there is no such pod")
        if place.node not in states:
            raise InputError(f"placement of {place.pod}: there is no node {place.node}")
        wants, state = known[place.pod], states[place.node]
        if len(set(place.gpus)) != wants.num_gpu or len(place.gpus) != wants.num_gpu:
            raise InputError(f"placement of {place.pod}: gpu_ids: {wants.num_gpu} different devices are wanted")
        state.cpu_milli -= wants.cpu_milli
        state.memory_mib -= wants.memory_mib
        for gpu in place.gpus:
            if gpu >= len(state.gpus):
                raise InputError(f"placement of {place.pod}: gpu_ids: {place.node} has no device {gpu}")
            state.gpus[gpu] -= wants.gpu_milli
        if min(state.cpu_milli, state.memory_mib, *state.gpus, 0) < 0:
            raise InputError(f"placement of {place.pod}: {place.node} has not enough left")
    return list(states.values())


def fragmented(states: Sequence[State], weights: Weights) -> Fraction:
    """Milli-GPU of all nodes that a typical pod cannot use."""
    total = Fraction(0)
    for state in states:
        free = sum(state.gpus)
        for wants, weight in weights.items():
            total += weight * (free - _usable(state, wants))
    return total


def _usable(state: State, wants: PodClass) -> int:
    fitting = [left for left in state.gpus if left >= wants.gpu_milli]
    if not wants.num_gpu or wants.cpu_milli > state.cpu_milli or len(fitting) < wants.num_gpu:
        return 0
    if wants.gpu_models and state.node.type.gpu_model not in wants.gpu_models:
        return 0
    return sum(fitting)


def useless_share(kind: NodeType, weights: Weights) -> Fraction:
    """Of any free GPU on nodes of a type, however empty they are: what is of no use."""
    return sum(
        (weight for wants, weight in weights.items() if not wants.num_gpu or not wants.can_ever_run_on(kind)),
        Fraction(0),
    )


def unavoidable(states: Sequence[State], weights: Weights) -> Fraction:
    """Below this no placement comes that leaves the same amount free on each node."""
    return sum((sum(state.gpus) * useless_share(state.node.type, weights) for state in states), Fraction(0))


def least_with(nodes: Sequence[Node], idle: int, weights: Weights) -> Fraction:
    """Below this no placement comes that leaves `idle` milli-GPU free, on whichever nodes: the best are left first."""
    total = Fraction(0)
    for share, size in sorted((useless_share(node.type, weights), node.type.gpu_milli) for node in nodes):
        taken = min(idle, size)
        total += taken * share
        idle -= taken
    if idle > 0:
        raise ValueError(f"{idle} milli-GPU more than there are")
    return total
