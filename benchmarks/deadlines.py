#!/usr/bin/env python3
"""How many deadlines are kept, by which policy: the table of docs/actions/backfill.md.

    deadlines.py --binary build/release/bin/kaisched                                    # prints the table
    deadlines.py --binary build/release/bin/kaisched --check docs/actions/backfill.md   # status 1 where the page differs

An invented workload is played. Three of four jobs should have ended after 1.2 to 8 times as long as they run; the others take what is left. Sessions know how
long jobs run: exactly, or up to three times too long. Whoever has a deadline and was not refused when he came was promised it.
"""

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

JOBS = 600
NODES = "8x8"
RATES = (8, 12)  # jobs in an hour; 64 GPUs are full with about 9
ESTIMATES = (("exact", "exact"), ("up to 3 times", "3"))
BASE = "predicates,proportion,priority,nodeavailability,nodeplacement"
BY_DEADLINE = "predicates,proportion,deadline,nodeavailability,nodeplacement"
POLICIES = (
    ("`allocate`, first come first", "allocate", {"parts": BASE}),
    ("part `deadline`", "allocate", {"parts": BY_DEADLINE}),
    ("with `deadline.realistic`", "allocate", {"parts": BY_DEADLINE, "deadline.realistic": "true"}),
    ("`backfill`, first come first", "backfill", {"parts": BASE}),
    ("`backfill`, part `deadline`, `deadline.realistic`", "backfill", {"parts": BY_DEADLINE, "deadline.realistic": "true"}),
    ("`backfill.deadlines`", "backfill", {"parts": BASE, "backfill.deadlines": "true"}),
)


def run(*words):
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True).stdout


def make_workload(binary, rate, path):
    run(binary, "workload", "generate", path, "--jobs", JOBS, "--seed", 3, "--rate", rate, "--sizes", "1:50,2:15,4:15,8:15,16:5",
        "--run-times", "log-normal:1h:1.2", "--rhythm", "none", "--quiet")
    draw = random.Random(rate)
    with path.open() as file:
        jobs = list(csv.DictReader(file))
    for job in jobs:
        factor = draw.choice((1.2, 2, 4, 8))
        has_one = draw.random() < 0.75
        job["deadline"] = f"{float(job['submit']) + factor * float(job['run_time']) + 1:.3f}" if has_one else ""
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, jobs[0].keys(), lineterminator="\n")
        out.writeheader()
        out.writerows(jobs)
    return jobs


def play(binary, workload, jobs, estimates, actions, settings, folder):
    """Jobs in time, too late and never; then hours that others waited, on average."""
    became = folder / "became.csv"
    words = [binary, "simulate", workload, "--nodes", NODES, "--estimates", estimates, "--actions", actions, "--jobs", became, "--quiet", "--json"]
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]
    report = json.loads(run(*words))
    with became.open() as file:
        ends = {row["job"]: row for row in csv.DictReader(file)}
    in_time = late = never = 0
    waits = []
    for job in jobs:
        row = ends[job["job"]]
        if not job["deadline"]:
            if row["start"]:
                waits.append(float(row["start"]) - float(job["submit"]))
        elif not row["start"]:
            never += 1
        elif row["end"] and float(row["end"]) <= float(job["deadline"]):
            in_time += 1
        else:
            late += 1
    return in_time, late, never, sum(waits) / len(waits) / 3600, report["utilisation_of_arrivals"]


def table(binary):
    lines = ["| jobs an hour | estimates | policy | in time | too late | not started | others wait | GPUs in use |", "|---:|---|---|---:|---:|---:|---:|---:|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rate in RATES:
            workload = folder / f"jobs-{rate}.csv"
            jobs = make_workload(binary, rate, workload)
            for told, estimates in ESTIMATES:
                for policy, actions, settings in POLICIES:
                    kept, late, never, wait, used = play(binary, workload, jobs, estimates, actions, settings, folder)
                    lines.append(f"| {rate} | {told} | {policy} | {kept} | {late} | {never} | {wait:.1f} h | {used:.0%} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--check", type=Path, metavar="PAGE", help="compare with the table of this page")
    told = parser.parse_args()
    made = table(told.binary)
    if told.check is None:
        print(made)
        return 0
    if made in told.check.read_text():
        return 0
    print(f"{told.check} does not have this table:\n{made}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
