"""The most GPUs that a few nodes can give to a few pods, exactly, as a mixed integer program.

For each node: how many pods of each class, on which devices the parts of those that share lie, and which devices are
for pods that take whole ones. A time limit ends the search; then there is what was found and what cannot be passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from random import Random

import highspy

from .gap import below
from .inputs import GPU, InputError, Node, Pod, PodClass
from .packing import LAMBDAS, Packing, dual_feasible

INTEGRAL = 1e-6  # how far from whole numbers the solver's may be


@dataclass(frozen=True)
class OnNode:
    """What lies on one node: pods of each class, and for those that share devices how many parts on which device."""

    node: Node
    pods: dict[PodClass, int]
    parts: dict[PodClass, tuple[int, ...]]


@dataclass(frozen=True)
class Exact:
    status: str  # "optimal" or "time limit"
    gpu_milli: int  # found, and checked without the solver
    bound_gpu_milli: int  # which no policy passes, by the solver's word or by the proof of the linear program
    offered_gpu_milli: int
    capacity_gpu_milli: int
    seconds: float
    layout: list[OnNode]

    @property
    def gap_percent(self) -> float:
        return below(self.gpu_milli, self.bound_gpu_milli)


def faults(layout: Sequence[OnNode], pods: Sequence[Pod]) -> list[str]:
    """Why a layout is none: written without the program, in integers."""
    found = []
    there = Counter(pod.wants for pod in pods)
    for wants in sorted({wants for on in layout for wants in on.pods}):
        placed = sum(on.pods.get(wants, 0) for on in layout)
        if placed > there[wants]:
            found.append(f"{placed} of {there[wants]} pods {wants} are placed")
    for on in layout:
        kind, name = on.node.type, on.node.name
        load = [0] * kind.gpu_count
        whole = 0
        for wants, count in on.pods.items():
            if count < 0:
                found.append(f"{name}: {count} pods {wants}")
            if count and not wants.can_ever_run_on(kind):
                found.append(f"{name}: can never run {wants}")
            if wants.gpu_milli == GPU:
                whole += wants.num_gpu * count
                continue
            parts = on.parts.get(wants, (0,) * kind.gpu_count)
            if sum(parts) != wants.num_gpu * count or any(not 0 <= part <= count for part in parts):
                found.append(f"{name}: {count} pods {wants} in parts {parts}")
            load = [held + part * wants.gpu_milli for held, part in zip(load, parts)]
        if any(held > GPU for held in load):
            found.append(f"{name}: devices hold {load}")
        if whole > load.count(0):
            found.append(f"{name}: {whole} whole devices, {load.count(0)} are free")
        if sum(wants.cpu_milli * count for wants, count in on.pods.items()) > kind.cpu_milli:
            found.append(f"{name}: too much CPU")
        if sum(wants.memory_mib * count for wants, count in on.pods.items()) > kind.memory_mib:
            found.append(f"{name}: too much memory")
    return found


class _Program:
    def __init__(self, nodes: Sequence[Node], pods: Sequence[Pod]) -> None:
        self.highs = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.columns = 0
        self.nodes = nodes
        self.pods: list[dict[PodClass, int]] = []  # columns
        self.parts: list[dict[PodClass, list[int]]] = []
        there = Counter(pod.wants for pod in pods if pod.wants.num_gpu)
        for node in nodes:
            self._add_node(node, there)
        for wants, count in sorted(there.items()):
            self._at_most(count, [(column[wants], 1) for column in self.pods if wants in column])

    def _column(self, most: int, gain: int = 0) -> int:
        self.highs.addCol(-gain, 0, most, 0, [], [])
        self.highs.changeColIntegrality(self.columns, highspy.HighsVarType.kInteger)
        self.columns += 1
        return self.columns - 1

    def _at_most(self, limit: int, terms: list[tuple[int, int]], least: float = -highspy.kHighsInf) -> None:
        if terms:
            columns, factors = zip(*terms)
            self.highs.addRow(least, limit, len(terms), list(columns), [float(factor) for factor in factors])

    def _add_node(self, node: Node, there: Counter[PodClass]) -> None:
        kind = node.type
        # Devices for pods that take whole ones. They are alike, so those with lower indices come first.
        whole = [self._column(1) for _ in range(kind.gpu_count)]
        for one, next_one in zip(whole, whole[1:]):
            self._at_most(0, [(next_one, 1), (one, -1)])
        pods: dict[PodClass, int] = {}
        parts: dict[PodClass, list[int]] = {}
        for wants, count in sorted(there.items()):
            if wants.can_ever_run_on(kind):
                pods[wants] = self._column(count, wants.gpu_total)
        for wants, column in pods.items():
            if wants.gpu_milli < GPU:
                parts[wants] = [self._column(min(there[wants], GPU // wants.gpu_milli)) for _ in whole]
                self._at_most(0, [(part, 1) for part in parts[wants]] + [(column, -wants.num_gpu)], least=0)
                if wants.num_gpu > 1:  # no two parts of a pod on one device
                    for part in parts[wants]:
                        self._at_most(0, [(part, 1), (column, -1)])
        self._at_most(kind.cpu_milli, [(column, wants.cpu_milli) for wants, column in pods.items()])
        self._at_most(kind.memory_mib, [(column, wants.memory_mib) for wants, column in pods.items()])
        takes_whole = [(column, wants.num_gpu) for wants, column in pods.items() if wants.gpu_milli == GPU]
        if takes_whole:
            self._at_most(0, takes_whole + [(one, -1) for one in whole])
        for device, one in enumerate(whole):
            self._at_most(GPU, [(one, GPU)] + [(part[device], wants.gpu_milli) for wants, part in parts.items()])
        # Not needed, but the search ends sooner: the same cuts as in the linear program.
        for smallest in LAMBDAS:
            cut = [(column, wants.num_gpu * dual_feasible(wants.gpu_milli, smallest)) for wants, column in pods.items()]
            self._at_most(kind.gpu_milli, [(column, factor) for column, factor in cut if factor])
        self.pods.append(pods)
        self.parts.append(parts)

    def layout(self, values: Sequence[float]) -> list[OnNode]:
        return [
            OnNode(
                node,
                {wants: round(values[column]) for wants, column in pods.items()},
                {wants: tuple(round(values[column]) for column in columns) for wants, columns in parts.items()},
            )
            for node, pods, parts in zip(self.nodes, self.pods, self.parts)
        ]


def drawn(
    nodes: Sequence[Node], pods: Sequence[Pod], count: int, load: Fraction, seed: int
) -> tuple[list[Node], list[Pod]]:
    """A small instance of a large one: some nodes, and pods, any of them more than once, until they ask for `load`
    times the GPUs of these nodes."""
    if not 0 < count <= len(nodes) or not any(pod.wants.num_gpu for pod in pods):
        raise InputError(f"--draw: {count} nodes with pods for them cannot be drawn")
    draw = Random(seed)
    some = draw.sample(list(nodes), count)
    target = load * sum(node.type.gpu_milli for node in some)
    asking: list[Pod] = []
    asked = 0
    while asked < target:
        asking.append(draw.choice(pods))
        asked += asking[-1].wants.gpu_total
    return some, asking


def most_allocated(nodes: Sequence[Node], pods: Sequence[Pod], time_limit_s: float = 60.0) -> Exact:
    """Pods may be rejected, so those without GPUs are: they only take CPU and memory."""
    if not time_limit_s >= 0:  # the solver would ignore it
        raise InputError(f"--time-limit: {time_limit_s} is no time")
    program = _Program(nodes, pods)
    highs = program.highs
    highs.setOptionValue("threads", 1)  # the same search on every machine
    highs.setOptionValue("time_limit", float(time_limit_s))
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("mip_abs_gap", 1 - 10 * INTEGRAL)  # a whole milli-GPU
    capacity = sum(node.type.gpu_milli for node in nodes)
    offered = sum(pod.wants.gpu_total for pod in pods)
    if program.columns == 0:
        return Exact("optimal", 0, 0, offered, capacity, 0.0, program.layout([]))
    highs.run()
    status = highs.getModelStatus()
    info = highs.getInfo()
    ends = {highspy.HighsModelStatus.kOptimal: "optimal", highspy.HighsModelStatus.kTimeLimit: "time limit"}
    if status not in ends:
        raise RuntimeError(f"HiGHS: {status}")
    values = highs.getSolution().col_value if highs.getSolution().value_valid else [0.0] * program.columns
    layout = program.layout(values)
    wrong = faults(layout, pods)
    if wrong:
        raise RuntimeError("HiGHS found a layout that is none: " + "; ".join(wrong))
    found = sum(wants.gpu_total * count for on in layout for wants, count in on.pods.items())
    bound = Packing(nodes, pods).most_allocated().gpu_milli
    if info.mip_dual_bound > -highspy.kHighsInf:
        bound = min(bound, floor(-info.mip_dual_bound + INTEGRAL))
    if bound < found:
        raise RuntimeError(f"HiGHS: {found} milli-GPU found, {bound} should be the most")
    end = "optimal" if found == bound else ends[status]
    return Exact(end, found, bound, offered, capacity, highs.getRunTime(), layout)
