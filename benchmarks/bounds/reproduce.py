"""Our bounds beside those that are known for public inputs: of FGD's workloads and of Muri's traces.

The folder of data has fgd/ (nodes.csv, pods_*.csv, arrivals_*.txt, bounds.csv) and muri/ (trace*.csv,
lower_bounds.csv).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from . import fragmentation, gap, times
from .inputs import GPU, SECOND, Job, Placement, Row, read_arrivals, read_nodes, read_placements, read_pods, rows

MURI_GPUS = 64
MURI_FACTOR = 1015  # thousandths: how much longer than in the trace an iteration takes in Muri's simulator


@dataclass(frozen=True)
class Compared:
    case: str
    what: str
    ours: float
    expected: float
    half_digit: float  # half of the last digit that the expected number has

    @property
    def difference(self) -> float:
        return self.ours - self.expected

    @property
    def equal(self) -> bool:
        return abs(self.difference) <= self.half_digit * (1 + 1e-6)


@dataclass(frozen=True)
class Case:
    name: str
    numbers: list[Compared]
    seconds: float  # of the bounds alone
    below_bound: dict[str, float]  # per policy, how many % its figure is from the bound


def compared(case: str, what: str, ours: float, row: Row, column: str) -> Compared:
    text = row.name(column)
    digits = len(text.partition(".")[2])
    return Compared(case, what, ours, float(row.real(column)), 0.5 * 10**-digits)


def fgd(folder: Path, workloads: Sequence[str] = (), seeds: Sequence[str] = ()) -> Iterator[Case]:
    """All cases of bounds.csv, or those of some workloads and seeds. First failures of policies stand there as well."""
    from .packing import Packing  # the other bounds do without the solver

    nodes = read_nodes(folder / "nodes.csv")
    columns = ["workload", "seed", "lp_dff_max_alloc_pct_at_130", "lp_prefix_pods", "lp_prefix_gpu_pct"]
    first_fail = "first_fail_gpu_pct_"
    for row in rows(folder / "bounds.csv", columns):
        workload, seed = row.name("workload"), row.name("seed")
        if (workloads and workload not in workloads) or (seeds and seed not in seeds):
            continue
        # The four lists with models differ in them alone, so they arrive in the order of the default one.
        arrivals = "default" if workload.startswith("gpuspec") else workload
        pods = read_arrivals(folder / f"arrivals_{arrivals}.txt", seed, read_pods(folder / f"pods_{workload}.csv"))
        start = perf_counter()
        packing = Packing(nodes, pods)
        prefix, most = packing.prefix(), packing.most_allocated()
        taken = perf_counter() - start
        name = f"{workload} {seed}"
        yield Case(
            name,
            [
                compared(name, "most allocated, %", most.percent, row, columns[2]),
                compared(name, "prefix, pods", prefix.pods, row, columns[3]),
                compared(name, "prefix, %", prefix.percent, row, columns[4]),
            ],
            taken,
            {
                column.removeprefix(first_fail): gap.below(float(row.real(column)), prefix.percent)
                for column in row.columns()
                if column.startswith(first_fail)
            },
        )


def fgd_fragmentation(folder: Path) -> Iterator[Case]:
    """After recorded placements: the measure must be right before a bound of it says anything."""
    nodes, pods = read_nodes(folder / "nodes.csv"), read_pods(folder / "pods_default.csv")
    weights = fragmentation.typical(pods)
    for row in rows(folder / "golden_final_state.csv", ["workload", "policy", "seed", "frag_gpu_milli"]):
        name = f"{row.name('workload')}_s{row.name('seed')}_{row.name('policy')}"
        path = folder / f"golden_placements_{name}.csv"
        if row.name("workload") != "default" or not path.exists():
            continue
        # Copies of pods, which make the list longer, have the name of the original and a number.
        placed = [Placement(one.pod.partition("-tuned-")[0], one.node, one.gpus) for one in read_placements(path)]
        start = perf_counter()
        states = fragmentation.state_after(nodes, pods, placed)
        measured = fragmentation.fragmented(states, weights)
        unavoidable = fragmentation.unavoidable(states, weights)
        yield Case(
            name,
            [compared(name, "fragmented, mGPU", float(measured), row, "frag_gpu_milli")],
            perf_counter() - start,
            {row.name("policy"): gap.above(float(measured), float(unavoidable))} if unavoidable else {},
        )


def muri_jobs(path: Path) -> list[Job]:
    """Work is iterations, whatever the column of durations says."""
    return [
        Job(
            row.name("job_id"),
            row.scaled("submit_ms", SECOND // 1000),
            row.number("iterations") * row.scaled("iter_ms", MURI_FACTOR * SECOND // 10**6),
            row.number("num_gpu", least=1) * GPU,
        )
        for row in rows(path, ["job_id", "submit_ms", "iterations", "iter_ms", "num_gpu"])
    ]


def muri(folder: Path) -> Iterator[Case]:
    columns = ["trace", "total_gpu_seconds", "lb_jct_mean_isolated_s", "lb_jct_srpt_aggregate_s", "lb_makespan_s"]
    achieved = "best_nonpacking_jct_s(SRSF)"
    for row in rows(folder / "lower_bounds.csv", [*columns, achieved]):
        trace = row.name("trace")
        start = perf_counter()
        bound = times.bounds(muri_jobs(folder / f"{trace}.csv"), MURI_GPUS * GPU)
        taken = perf_counter() - start
        best = times.seconds(bound.mean_jct)
        yield Case(
            trace,
            [
                compared(trace, "work, GPU-s", bound.work / GPU / SECOND, row, columns[1]),
                compared(trace, "mean isolated, s", times.seconds(bound.mean_isolated), row, columns[2]),
                compared(trace, "mean SRPT, s", times.seconds(bound.mean_srpt), row, columns[3]),
                compared(trace, "last end, s", times.seconds(bound.last_end), row, columns[4]),
            ],
            taken,
            {"SRSF": gap.above(float(row.real(achieved)), best)} if best else {},
        )
