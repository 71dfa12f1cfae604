"""Everything tried: slow oracles for small inputs. They know nothing of programs, classes or types."""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations

from benchmarks.bounds.inputs import GPU, Job, Node, NodeType, Pod, PodClass


def random_cluster(draw: random.Random, most_pods: int = 6) -> tuple[list[Node], list[Pod]]:
    kinds = [
        NodeType(draw.choice("AB"), draw.randint(0, 2), draw.randint(1, 6) * 1000, draw.randint(1, 6) * 1024)
        for _ in range(draw.randint(1, 2))
    ]
    nodes = [Node(f"n{i}", draw.choice(kinds)) for i in range(draw.randint(1, 3))]
    pods = []
    for i in range(draw.randint(1, most_pods)):
        count = draw.choice([0, 1, 1, 1, 1, 2])
        part = draw.choice([1000, 1000, 600, 500, 450, 350, 300, 250]) if count else 0
        models = draw.choice([(), (), (), ("A",), ("A", "B"), ("C",)])
        pods.append(Pod(f"p{i}", PodClass(draw.randint(0, 3) * 1000, draw.randint(0, 3) * 1024, count, part, models)))
    return nodes, pods


def _places(nodes: list[Node], free: tuple, pod: PodClass):
    for i, node in enumerate(nodes):
        cpu, memory, gpus = free[i]
        if pod.cpu_milli > cpu or pod.memory_mib > memory:
            continue
        if pod.num_gpu and pod.gpu_models and node.type.gpu_model not in pod.gpu_models:
            continue
        for chosen in combinations(range(len(gpus)), pod.num_gpu):
            if all(gpus[g] >= pod.gpu_milli for g in chosen):
                left = tuple(g - pod.gpu_milli if j in chosen else g for j, g in enumerate(gpus))
                # Devices of a node are alike, so only how full they are matters.
                yield free[:i] + ((cpu - pod.cpu_milli, memory - pod.memory_mib, tuple(sorted(left))),) + free[i + 1 :]


def _empty(nodes: list[Node]) -> tuple:
    return tuple((n.type.cpu_milli, n.type.memory_mib, (GPU,) * n.type.gpu_count) for n in nodes)


def most_allocated(nodes: list[Node], pods: list[Pod]) -> int:
    @cache
    def best(index: int, free: tuple) -> int:
        if index == len(pods):
            return 0
        wants = pods[index].wants
        taken = [wants.num_gpu * wants.gpu_milli + best(index + 1, after) for after in _places(nodes, free, wants)]
        return max([best(index + 1, free), *taken])

    return best(0, _empty(nodes))


def prefix(nodes: list[Node], pods: list[Pod]) -> int:
    """How many of the first pods fit together, whoever decides and whatever is known before."""
    @cache
    def fits(index: int, count: int, free: tuple) -> bool:
        return index == count or any(fits(index + 1, count, after) for after in _places(nodes, free, pods[index].wants))

    return max(count for count in range(len(pods) + 1) if fits(0, count, _empty(nodes)))


def least_total_jct(jobs: list[Job], gpus: int) -> int:
    """Jobs run whole time steps on that many GPUs, may be interrupted at any, and lose nothing by it."""
    sizes = [job.gpu_milli // GPU for job in jobs]

    @cache
    def cost(now: int, remaining: tuple[int, ...]) -> int:
        alive = [i for i, left in enumerate(remaining) if left]
        if not alive:
            return 0
        here = [i for i in alive if jobs[i].submit <= now]
        least = None
        for count in range(len(here) + 1):
            for chosen in combinations(here, count):
                if sum(sizes[i] for i in chosen) > gpus or (here and not chosen):
                    continue
                after = tuple(left - (i in chosen) for i, left in enumerate(remaining))
                # Each job that has come and not ended pays for this step.
                this = len(here) + cost(now + 1, after)
                least = this if least is None else min(least, this)
        assert least is not None
        return least

    return cost(0, tuple(job.run_time for job in jobs))


def least_last_end(jobs: list[Job], gpus: int) -> int:
    sizes = [job.gpu_milli // GPU for job in jobs]

    @cache
    def end(now: int, remaining: tuple[int, ...]) -> int:
        if not any(remaining):
            return now
        here = [i for i, left in enumerate(remaining) if left and jobs[i].submit <= now]
        ends = []
        for count in range(len(here) + 1):
            for chosen in combinations(here, count):
                if sum(sizes[i] for i in chosen) <= gpus and (chosen or not here):
                    ends.append(end(now + 1, tuple(left - (i in chosen) for i, left in enumerate(remaining))))
        return min(ends)

    return end(0, tuple(job.run_time for job in jobs))
