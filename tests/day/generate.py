"""Makes the workload of a day from a seed: nodes, queues, jobs and outages, in the form of docs/days.md.

    python3 generate.py SEED FEATURE,FEATURE,... OUT [--jobs N] [--nodes N]

The same seed and features give the same bytes on every machine: numbers are drawn by SplitMix64, and all arithmetic is
that of integers.
"""

import argparse
from dataclasses import dataclass, field

FEATURES = ("tree", "gangs", "elastic", "racks", "fractions", "cpu", "priorities", "fixed", "failures", "minimums",
            "within", "cells")  # fmt: skip
GPUS = 8  # of a node
CORES = 128
GIB = 1 << 30
MINUTE = 60_000
RUN_TIMES = [m * MINUTE for m in (2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 60, 90)]


class Draw:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed & (2**64 - 1)

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return z ^ (z >> 31)

    def below(self, n):
        return self.next() % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def one_of(self, values):
        return values[self.below(len(values))]

    def chance(self, percent):
        return self.below(100) < percent


@dataclass
class Queue:
    name: str
    parent: str = ""
    priority: int = 100
    weight: int = 1
    quota: int = 0  # GPUs
    limit: int = -1
    reclaim: int = -1
    preempt: int = -1

    def row(self):
        cores = CORES // GPUS
        return ["queue", self.name, self.parent, self.priority, self.weight, self.quota * cores * 1000,
                self.quota * 1000, -1 if self.limit < 0 else self.limit * cores * 1000,
                -1 if self.limit < 0 else self.limit * 1000, self.reclaim, self.preempt]  # fmt: skip


@dataclass
class Job:
    name: str
    submit: int
    run: int
    queue: str
    pods: int = 1
    least: int = 1
    gpu: int = 0  # thousandths, of each pod
    cpu: int = 0
    priority: int = 50
    preemptible: int = 1
    one_rack: int = 0
    checkpoints: int = 0

    def row(self):
        return ["job", self.name, self.submit, self.run, self.queue, self.priority, self.preemptible, self.pods, self.least,
                self.gpu, self.cpu, max(1, self.gpu // 250) * 4 * GIB, self.one_rack, self.checkpoints]  # fmt: skip


@dataclass
class Day:
    nodes: int
    racks: int
    queues: list = field(default_factory=list)
    jobs: list = field(default_factory=list)
    outages: list = field(default_factory=list)

    def lines(self):
        yield "day,1"
        for n in range(self.nodes):
            yield f"node,n{n:03},{GPUS},{CORES * 1000},{1024 * GIB},110,r{n * self.racks // self.nodes}"
        for row in [q.row() for q in self.queues] + [j.row() for j in self.jobs] + self.outages:
            yield ",".join(str(v) for v in row)


def make_queues(draw, features, gpus):
    """Quotas are handed out in full: what a queue asks for within its quota can be had."""
    queues = []
    if "tree" in features:
        halves = [gpus // 2, gpus - gpus // 2]
        for d, quota in enumerate(halves):
            queues.append(Queue(f"d{d}", quota=quota, weight=draw.between(1, 3)))
            teams = 2 + d
            for t in range(teams):
                queues.append(Queue(f"d{d}t{t}", f"d{d}", quota=quota // teams, weight=draw.between(1, 3)))
    else:
        for t, part in enumerate((50, 30, 20)):
            queues.append(Queue(f"t{t}", quota=gpus * part // 100, weight=draw.between(1, 3)))
    if "priorities" in features:
        queues[-1].priority = 110
    if draw.chance(50):
        queues[-1].limit = max(queues[-1].quota, gpus * 2 // 3)
    if "minimums" in features:
        for one in queues:
            if draw.chance(60):
                one.reclaim = draw.one_of((2, 5, 10)) * MINUTE
            if draw.chance(40):
                one.preempt = draw.one_of((2, 5, 10)) * MINUTE
    return queues


def shape(draw, features, job):
    """How many pods, and what each asks for."""
    kind = draw.below(100)
    if "cpu" in features and kind < 20:
        job.pods = job.least = draw.one_of((1, 1, 2, 4))
        job.cpu = draw.one_of((4, 8, 16, 32)) * 1000
    elif "fractions" in features and kind < 45:
        job.gpu = draw.one_of((250, 500, 500, 750))
        job.cpu = 2000
    elif "gangs" in features and kind < 70:
        job.pods = job.least = draw.one_of((2, 2, 3, 4, 4, 8))
        job.gpu = draw.one_of((1000, 2000, 4000, 8000)) if job.pods < 8 else draw.one_of((1000, 2000))
        job.cpu = job.gpu * 8
    else:
        job.gpu = draw.one_of((1, 1, 1, 2, 2, 4, 8)) * 1000
        job.cpu = job.gpu * 8
    if "elastic" in features and job.gpu in (1000, 2000) and draw.chance(50):
        job.pods = draw.between(2, 6)
        job.least = draw.between(1, job.pods)
    if "racks" in features and job.pods > 1 and draw.chance(60):
        job.one_rack = 1


def parents(queues, name):
    found = {q.name: q for q in queues}
    while name:
        yield found[name]
        name = found[name].parent


def fits(day, job, features):
    """Whether the job can start on the empty cluster, by its queues as well, though a node has failed.

    within: no job asks for more than the quota of its queue, for schedulers that start none that does. cells: no job asks
    for more than the whole nodes of the quota, one with a rack for no more than a node, for a scheduler that owns nodes.
    """
    within = "within" in features or "cells" in features
    total = job.pods * job.gpu
    per_rack = (day.nodes // day.racks - 1) * GPUS * 1000
    if total > (per_rack if job.one_rack else (day.nodes - 1) * GPUS * 1000):
        return False
    leaf = next(q for q in day.queues if q.name == job.queue)
    if "cells" in features and job.gpu:
        nodes = 1 if job.one_rack else leaf.quota // GPUS
        if job.pods > nodes * (GPUS * 1000 // max(job.gpu, 1000)):
            return False
    for q in parents(day.queues, job.queue):
        cores = CORES // GPUS
        if q.limit >= 0 and (total > q.limit * 1000 or job.pods * job.cpu > q.limit * cores * 1000):
            return False
        if (within or not job.preemptible) and (total > q.quota * 1000 or job.pods * job.cpu > q.quota * cores * 1000):
            return False
    return True


def make_jobs(draw, features, day, count):
    leaves = [q.name for q in day.queues if all(other.parent != q.name for other in day.queues)]
    gpus = day.nodes * GPUS
    submit = 0
    number = 0
    while number < count:
        job = Job(f"j{number:04}", submit, draw.one_of(RUN_TIMES), draw.one_of(leaves))
        shape(draw, features, job)
        if "priorities" in features:
            job.priority = draw.one_of((50, 50, 50, 60, 75))
        if "fixed" in features and draw.chance(20):
            job.preemptible, job.priority = 0, 100
        job.checkpoints = int(draw.chance(50))
        if not fits(day, job, features):
            continue
        day.jobs.append(job)
        number += 1
        # Work arrives a fifth faster than the nodes do it, in bursts.
        work = job.run * max(job.pods * job.gpu, 1000) // 1000
        submit += draw.below(2 * work * 5 // (gpus * 6) + 1) if draw.chance(70) else 0


def make_day(seed, features, jobs=150, nodes=8):
    draw = Draw(seed)
    day = Day(nodes, 2 if nodes < 16 else 4)
    day.queues = make_queues(draw, features, nodes * GPUS)
    make_jobs(draw, features, day, jobs)
    if "failures" in features:
        last = day.jobs[-1].submit
        at = last // 8
        while at < last:
            length = draw.between(2, 20) * MINUTE
            day.outages.append(["outage", f"n{draw.below(nodes):03}", at, at + length])
            at += length + last // 8 + draw.below(last // 8 + 1)
    return day


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("features", help="names joined by commas, or none; of: " + " ".join(FEATURES))
    parser.add_argument("out")
    parser.add_argument("--jobs", type=int, default=150)
    parser.add_argument("--nodes", type=int, default=8)
    told = parser.parse_args()
    features = set(told.features.split(",")) - {"none", ""}
    if features - set(FEATURES):
        parser.error(f"unknown features: {' '.join(sorted(features - set(FEATURES)))}")
    with open(told.out, "w", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in make_day(told.seed, features, told.jobs, told.nodes).lines())


if __name__ == "__main__":
    main()
