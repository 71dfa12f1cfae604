"""When jobs can be done at best, for policies that never promise a GPU, or a part of one, to two jobs at a time.

Integers throughout: on one machine of G milli-GPU, times in nanoseconds / G are whole, so nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from .inputs import SECOND, InputError, Job


@dataclass(frozen=True)
class Times:
    """Nanoseconds; JCT is from the submission of a job to its end."""

    jobs: int
    work: int  # milli-GPU x ns
    mean_isolated: Fraction  # JCT if no job ever waited
    mean_srpt: Fraction  # JCT on one machine
    last_end: Fraction

    @property
    def mean_jct(self) -> Fraction:
        return max(self.mean_isolated, self.mean_srpt)


def seconds(nanoseconds: Fraction) -> float:
    return float(nanoseconds / SECOND)


def total_srpt(jobs: Sequence[tuple[int, int]]) -> int:
    """The least sum of times from release to completion on one machine that may interrupt, for (release, length):
    whoever has the shortest remaining time goes first (Schrage, 1968)."""
    waiting: list[int] = []  # remaining lengths; which job it is does not matter for the sum of ends
    total = now = 0
    for release, length in sorted(jobs):
        while waiting and now < release:
            shortest = heappop(waiting)
            if now + shortest <= release:
                now += shortest
                total += now
            else:
                heappush(waiting, now + shortest - release)
                now = release
        now = max(now, release)
        heappush(waiting, length)
    for length in sorted(waiting):
        now += length
        total += now
    return total - sum(release for release, _ in jobs)


def bounds(jobs: Sequence[Job], gpu_milli: int) -> Times:
    """The cluster as one machine: each job's work is done by all GPUs together, whatever its shape."""
    if not jobs:
        raise InputError("there are no jobs")
    for job in jobs:
        if job.gpu_milli > gpu_milli:
            raise InputError(f"job {job.name}: gpus_total: more than the cluster has")
    released = sorted((job.submit * gpu_milli, job.run_time * job.gpu_milli) for job in jobs)
    busy_until = 0
    for release, length in released:
        busy_until = max(busy_until, release) + length
    return Times(
        len(jobs),
        sum(length for _, length in released),
        Fraction(sum(job.run_time for job in jobs), len(jobs)),
        Fraction(total_srpt(released), len(jobs) * gpu_milli),
        max(Fraction(busy_until, gpu_milli), Fraction(max(job.submit + job.run_time for job in jobs))),
    )
