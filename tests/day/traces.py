"""Makes the workload of a day from a public trace, in the form of docs/days.md.

    python3 traces.py SOURCE SHARED OUT [--jobs N] [--nodes N] [--seed N] [--program KAISCHED]

SOURCE is itp, philly, openb or pollux; SHARED is the folder with the reference data (docs/data.md). Arrivals are moved
together until the nodes have three times the work that they can do; the order and the shape of the jobs stay.
"""

import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

from generate import GPUS, Day, Draw, Job, Queue

SOURCES = ("itp", "philly", "openb", "pollux")
QUEUES = 4
LOAD = 300  # per cent: a few long jobs have most of the work, and the others are to meet


def rows(path):
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def itp(data, _program):
    """Jobs of all clusters: (submit s, run s, GPUs, thousandths of a GPU, cores, queue)."""
    for row in rows(data / "itp" / "itp_jobs.csv"):
        yield int(row["submit_s"]), int(row["duration_s"]), int(row["num_gpu"]), 1000, None, f"c{row['cluster']}"


def philly(data, _program):
    for row in rows(data / "philly" / "philly_jobs_pollux_subset.csv"):
        yield int(row["submit_s_since_2017-09-04"]), int(row["duration_s"]), int(row["num_gpu"]), 1000, None, row["vc"]


def openb(data, _program):
    for row in rows(data / "fgd" / "pods_default.csv"):
        if not row["scheduled_time"] or not row["deletion_time"]:
            continue
        run = int(float(row["deletion_time"])) - int(float(row["scheduled_time"]))
        yield (int(float(row["creation_time"])), run, int(row["num_gpu"]), int(row["gpu_milli"]), int(row["cpu_milli"]),
               row["qos"])  # fmt: skip


def pollux(data, program):
    """The run times follow from the profiles, which the program knows how to read."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "jobs.csv"
        subprocess.run([program, "workload", "convert", "--from", "pollux", "--part", "workload-1",
                        data / "pollux" / "workloads_load1.0.csv", out, "--profile", data / "pollux"],
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        for row in rows(out):
            yield int(float(row["submit"])), int(float(row["run_time"])), int(row["pods"]), 1000, None, row.get("model", "")


def shape(job, gpus, milli, cores):
    """Pods of at most a node; a power of two that divides the GPUs, so that all pods are equal."""
    if gpus == 0:
        job.cpu = min(max(cores or 1000, 1000), 64_000)
        return True
    if milli < 1000:
        job.gpu, job.cpu = milli, min(cores or 2000, 16_000)
        return True
    each = next(size for size in (8, 4, 2, 1) if gpus % size == 0)
    job.pods = job.least = gpus // each
    job.gpu, job.cpu = each * 1000, each * 8000
    return job.pods <= 16


def make_day(source, data, count, nodes, seed, program):
    draw = Draw(seed)
    nodes = max(4, nodes // 3) if source == "pollux" else nodes  # 160 jobs
    day = Day(nodes, 4 if nodes >= 16 else 2)
    gpus = nodes * GPUS
    day.queues = [Queue(f"q{q}", quota=gpus // QUEUES) for q in range(QUEUES)]
    taken = sorted(globals()[source](data, program))
    first = draw.below(max(1, len(taken) - 2 * count))
    names = {}
    for submit, run, want, milli, cores, queue in taken[first:]:
        number = names.setdefault(queue, len(names)) if len(names) < 64 else len(day.jobs)
        job = Job(f"j{len(day.jobs):04}", submit * 1000, max(run, 30) * 1000, f"q{number % QUEUES}")
        if len({name for name in names}) == 1:  # a trace without queues
            job.queue = f"q{len(day.jobs) % QUEUES}"
        if run <= 0 or want > gpus // QUEUES or not shape(job, want, milli, cores):
            continue
        job.checkpoints = int(draw.chance(50))
        day.jobs.append(job)
        if len(day.jobs) == count:
            break
    squeeze(day, gpus)
    return day


def squeeze(day, gpus):
    """Arrivals nearer to each other, so that the work that arrives is more than what the nodes can do."""
    start = day.jobs[0].submit
    work = sum(job.run * max(job.pods * job.gpu, 125) for job in day.jobs) // 1000
    span = max(1, day.jobs[-1].submit - start)
    length = work * 100 // (gpus * LOAD)
    for job in day.jobs:
        job.submit = (job.submit - start) * length // span


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", choices=SOURCES)
    parser.add_argument("shared", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", type=int, default=600)
    parser.add_argument("--nodes", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", default="build/release/bin/kaisched")
    told = parser.parse_args()
    day = make_day(told.source, told.shared / "data", told.jobs, told.nodes, told.seed, told.program)
    told.out.write_text("".join(line + "\n" for line in day.lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
