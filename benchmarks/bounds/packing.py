"""How much of a stream of pods could be placed at all: a linear program over classes of pods and types of nodes.

Nodes of a type are poured into one, pods may be cut into pieces, so what the program cannot place no scheduler can.
Part of what makes packing hard, that a device is a bin of its own, comes back by dual feasible functions (Fekete and
Schepers, 2001): u(s) = 1 above 1 - l, 0 below l, s between. Its sum over what fits in one bin is never above 1.

The solver computes with doubles, so its word is not taken: what is reported is recomputed in integers from its dual
values, which make a proof whatever their error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import highspy

from .inputs import GPU, Node, NodeType, Pod, PodClass

LAMBDAS = tuple(range(50, 501, 50))  # milli-GPU
SCALE = 2**60  # dual values become integers by it


def dual_feasible(size: int, smallest: int) -> int:
    """u for pieces of a device, both in milli-GPU; `smallest` is l, at most half a device."""
    if size > GPU - smallest:
        return GPU
    return 0 if size < smallest else size


@dataclass(frozen=True)
class MostAllocated:
    """What a policy that may reject pods can allocate at most."""

    gpu_milli: int
    offered_gpu_milli: int
    capacity_gpu_milli: int
    seconds: float

    @property
    def percent(self) -> float:
        return 100 * self.gpu_milli / self.capacity_gpu_milli if self.capacity_gpu_milli else 0.0


@dataclass(frozen=True)
class Prefix:
    """How many of the first pods can be placed at most if none may be rejected."""

    pods: int
    gpu_milli: int
    arrived_pods: int
    capacity_gpu_milli: int
    seconds: float

    @property
    def percent(self) -> float:
        return 100 * self.gpu_milli / self.capacity_gpu_milli if self.capacity_gpu_milli else 0.0


class Packing:
    """The program for nodes and pods in the order of their arrival. Columns are how many pods of a class are on nodes
    of a type; a column more for each class is how many are left over."""

    def __init__(self, nodes: Sequence[Node], arrivals: Sequence[Pod]) -> None:
        self.types: list[tuple[NodeType, int]] = sorted(Counter(node.type for node in nodes).items())
        self.classes: list[PodClass] = sorted({pod.wants for pod in arrivals})
        index = {wants: i for i, wants in enumerate(self.classes)}
        self.arrivals = [index[pod.wants] for pod in arrivals]
        self.capacity = sum(kind.gpu_milli * count for kind, count in self.types)

        self._limits: list[int] = []  # of rows of capacity; rows of classes follow them
        self._columns: list[list[tuple[int, int]]] = []  # rows and what one pod takes of them
        self._class_of: list[int] = []  # columns to classes; the last ones are what is left over
        for kind, count in self.types:
            self._add_type(kind, count)
        self._class_of += range(len(self.classes))
        self._highs = self._program()

    def _add_type(self, kind: NodeType, count: int) -> None:
        first = len(self._limits)
        self._limits += [kind.cpu_milli * count, kind.memory_mib * count]
        self._limits += [kind.gpu_milli * count] * (1 + len(LAMBDAS))
        for number, wants in enumerate(self.classes):
            if not wants.can_ever_run_on(kind):
                continue
            takes = [wants.cpu_milli, wants.memory_mib, wants.gpu_total]
            takes += [wants.num_gpu * dual_feasible(wants.gpu_milli, smallest) for smallest in LAMBDAS]
            self._columns.append([(first + i, amount) for i, amount in enumerate(takes) if amount])
            self._class_of.append(number)

    def _program(self) -> highspy.Highs:
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        for limit in self._limits:
            highs.addRow(-highspy.kHighsInf, limit / GPU, 0, [], [])
        for _ in self.classes:
            highs.addRow(0, 0, 0, [], [])
        for column, number in zip(self._columns, self._class_of):
            places = [row for row, _ in column] + [len(self._limits) + number]
            highs.addCol(0, 0, highspy.kHighsInf, len(places), places, [amount / GPU for _, amount in column] + [1.0])
        for number in range(len(self.classes)):
            highs.addCol(0, 0, highspy.kHighsInf, 1, [len(self._limits) + number], [1.0])
        return highs

    def _solve(self, counts: Sequence[int], costs: Sequence[int]) -> int:
        """What is left over costs at least this, times SCALE, with `costs` of one pod of each class. Basis and factors
        of the last call are used again."""
        if not counts:
            return 0
        for number, count in enumerate(counts):
            self._highs.changeRowBounds(len(self._limits) + number, count, count)
            self._highs.changeColCost(len(self._columns) + number, costs[number])
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"HiGHS: {self._highs.getModelStatus()}")
        return self.proven(counts, costs, self._highs.getSolution().row_dual)

    def proven(self, counts: Sequence[int], costs: Sequence[int], duals: Sequence[float]) -> int:
        """Below this the cost cannot be, times SCALE, whatever the dual values are: y b + sum of min(0, c - y A) times
        the most that a column can be, for any y not positive for capacities (Neumaier and Shcherbina, 2004)."""
        height = len(self._limits)
        prices = [min(0, round(dual / GPU * SCALE)) for dual in duals[:height]]
        of_class = [round(dual * SCALE) for dual in duals[height:]]
        total = sum(price * limit for price, limit in zip(prices, self._limits))
        total += sum(price * count for price, count in zip(of_class, counts))
        for column, number in zip(self._columns, self._class_of):
            if counts[number]:
                reduced = -of_class[number] - sum(prices[row] * amount for row, amount in column)
                total += min(0, reduced) * counts[number]
        for number, count in enumerate(counts):
            total += min(0, costs[number] * SCALE - of_class[number]) * count
        return total

    def _counts(self, pods: int) -> list[int]:
        counted = Counter(self.arrivals[:pods])
        return [counted[number] for number in range(len(self.classes))]

    def _gpu_milli(self, pods: int) -> int:
        return sum(self.classes[number].gpu_total for number in self.arrivals[:pods])

    def most_allocated(self) -> MostAllocated:
        """Of all pods together."""
        start = perf_counter()
        counts = self._counts(len(self.arrivals))
        offered = self._gpu_milli(len(self.arrivals))
        left = self._solve(counts, [wants.gpu_total for wants in self.classes])
        # What is allocated is whole, so it is at most the whole part of what is not proven to be left.
        most = min(offered, self.capacity, offered - -(-left // SCALE))
        return MostAllocated(most, offered, self.capacity, perf_counter() - start)

    def prefix(self) -> Prefix:
        """Fewer pods are never harder to place, so bisection finds the first that are proven too many."""
        start = perf_counter()
        ones = [1] * len(self.classes)
        possible, impossible = 0, len(self.arrivals) + 1
        while impossible - possible > 1:
            middle = (possible + impossible) // 2
            left = self._solve(self._counts(middle), ones)
            if left > 0:
                impossible = middle
            else:
                possible = middle
        return Prefix(
            possible, self._gpu_milli(possible), len(self.arrivals), self.capacity, perf_counter() - start
        )
