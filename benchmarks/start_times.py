"""How often forecasts of starts come true: the tables of docs/forecasts.md.

    python3 benchmarks/start_times.py [--data FOLDER] [--json FILE]

A workload is played. At points in time the cluster is made as it stood then, and `kaisched.forecast` is asked about jobs that wait, with run times
learnt from jobs that had ended by then. What it said is compared with when they started in the play. With --data the second workload is made from
`itp/itp_jobs.csv` of docs/data.md. What users estimate is invented, as no trace at hand has it. The same arguments print the same numbers.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

import kaisched as ks
from kaisched import forecast

SECOND = 10**9
COVERAGE = 0.9
FIRST = 50  # jobs that have ended before the first question
USUAL = np.array([0.25, 0.5, 1, 2, 4, 8, 12, 24, 48, 72, 168, 336, 720, 1440]) * 3600  # what people ask for


def with_estimates(workload, seed):
    """Nine in ten ask for one to ten times what they need, rounded up to a usual time; one in ten thinks that it takes less than it does."""
    draws = np.random.default_rng(seed)
    run_time = workload.run_time
    asked = run_time * 10 ** draws.random(len(run_time))
    asked = USUAL[np.minimum(np.searchsorted(USUAL, asked), len(USUAL) - 1)]
    short = draws.random(len(run_time)) < 0.1
    asked = np.where(short, run_time * draws.uniform(0.3, 1, len(run_time)), asked)
    return ks.Workload(dict(workload.jobs) | {"estimate": np.ceil(np.maximum(asked, 1))})


def cluster_at(run, when, queue="default"):
    """The cluster of a play at a time in seconds, before it decides then, and the jobs that wait for their first start. GPUs of pods are whole."""
    jobs, told, stays = run.jobs, run.workload.jobs, run.intervals
    come = told["submit"] <= when
    gpus = np.asarray(told["gpus"])
    if (gpus != np.floor(gpus)).any():
        raise ks.UnsupportedError("cluster_at: parts of GPUs")
    count = told.get("pods", np.ones(len(gpus), np.int64))
    created = np.rint(told["submit"] * SECOND).astype(np.int64)
    places = defaultdict(list)
    since = {}
    for row in np.flatnonzero((stays["start"] <= when) & (when < stays["end"])).tolist():
        job, pods = int(stays["job"][row]), int(stays["pods"][row])
        devices = [bit for bit in range(64) if int(stays["devices"][row]) >> bit & 1]
        each = len(devices) // pods
        places[job] += [(run.nodes["node"][stays["node"][row]], devices[i * each:(i + 1) * each]) for i in range(pods)]
        since[job] = min(since.get(job, when), float(stays["start"][row]))
    rows = [job for job in np.flatnonzero(come).tolist() if job in places or not jobs["start"][job] <= when]
    groups = {
        "name": [jobs["job"][job] for job in rows],
        "queue": [jobs["queue"][job] or queue for job in rows],
        "created": created[rows],
        "min_member": np.asarray(count)[rows],
        "last_start": [round(since[job] * SECOND) if job in since else ks.UNSET for job in rows],
        "runtime_estimate": [round(t * SECOND) if t == t else ks.UNSET for t in np.asarray(told.get("estimate", run.workload.run_time * np.nan))[rows]],
    }
    pods = defaultdict(list)
    for job in rows:
        for i in range(int(count[job])):
            node, devices = places[job][i] if job in places else ("", [])
            pods["name"].append(f"{jobs['job'][job]}-{i}")
            pods["group"].append(jobs["job"][job])
            pods["created"].append(int(created[job]))
            pods["request"].append([0, 0, int(1000 * gpus[job]), 1])
            pods["status"].append(int(ks.PodStatus.RUNNING if node else ks.PodStatus.PENDING))
            pods["node"].append(node)
            pods["devices"].append(devices)
    made = ks.Cluster()
    made.apply(nodes=run.cluster.table("node"), queues=run.cluster.table("queue"))
    if rows:
        made.apply(pod_groups=groups, pods=pods)
    return made, [jobs["job"][job] for job in rows if job not in places]


def questions(workload, nodes, policy, most, scenarios, first=FIRST, policy_actions=False, **told):
    """Each job that has to wait, or some of them, is asked about once, when it has come. Rows: when, low, median, high, point, the two bounds (waits
    in seconds), how long it was, and how long it would have been had nobody come later."""
    engine = ks.Engine(actions=["allocate"]) if policy == "kai" else policy
    run = ks.simulate(workload, nodes=nodes, policy=engine)
    begin = np.sort(run.jobs["end"])[first]
    waited = np.flatnonzero((run.jobs["wait"] > 0) & (workload.submit > begin))
    found = []
    for row in waited[np.unique(np.linspace(0, len(waited) - 1, min(most, len(waited))).astype(int))].tolist():
        when = float(workload.submit[row])
        cluster, _ = cluster_at(run, when)
        said = forecast.starts(cluster, [run.jobs["job"][row]], forecast.RunTimes.of_run(run, when, **told), now=round(when * SECOND), engine=engine,
                               scenarios=scenarios, seed=row, ends=2000, policy_actions=policy_actions)
        alone = ks.simulate(workload.select(workload.submit <= when), nodes=nodes, policy=engine)
        point = said.point[0] / SECOND - when if said.point[0] >= 0 else np.inf
        found.append([when, *said.waits[0], point, *said.bounds[0], run.jobs["start"][row] - when, alone.jobs["start"][row] - when])
    return np.array(found), run


def part(values):
    return float(np.mean(values)) if len(values) else float("nan")


def hours(values):
    """Mean of those that are bounded."""
    return part(values[np.isfinite(values)]) / 3600


def summary(asked):
    when, low, median, high, point, first, last, wait, alone = asked.T

    def covered(least, most, true):
        return part((least <= true) & (true <= most))

    said = {
        "questions": len(asked),
        "wait_h": hours(wait),
        "point_error_h": hours(np.abs(point - wait)),
        "median_error_h": hours(np.abs(median - wait)),
        "covered": covered(low, high, wait),
        "earlier": part(wait < low),
        "later": part(wait > high),
        "width_h": hours(high - low),
        "covered_if_nobody_came": covered(low, high, alone),
        "bounds_covered": covered(first, last, wait),
        "bounds_width_h": hours(last - first),
    }
    # Learnt from what was asked in the first half of the questions and had started when the second half began.
    begin = when[len(when) // 2]
    past, later = when + wait <= begin, when >= begin
    by = forecast.margin(low[past], high[past], wait[past], COVERAGE)
    least, most = forecast.widen(low[later], high[later], by)
    return said | {
        "learnt_from": int(past.sum()),
        "margin": by,
        "later_questions": int(later.sum()),
        "later_covered": covered(low[later], high[later], wait[later]),
        "later_width_h": hours(high[later] - low[later]),
        "calibrated_covered": covered(least, most, wait[later]),
        "calibrated_width_h": hours(most - least),
    }


def workloads(data):
    invented = ks.Workload.generate(1200, seed=11, model="itp", jobs_per_hour=8, sizes="1:50,2:10,4:10,8:20,16:10", queues=3)
    yield "invented", with_estimates(invented, 1), "20x8"
    if data:
        trace = ks.Workload.read(Path(data) / "itp" / "itp_jobs.csv", "itp", part="3")
        yield "ITP", with_estimates(trace.select(slice(0, 1200)).shift(), 2), "20x8"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of docs/data.md")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--questions", type=int, default=60, help="most jobs of a play that are asked about")
    parser.add_argument("--scenarios", type=int, default=60)
    told = parser.parse_args(arguments)
    results = []
    for name, workload, nodes in workloads(told.data):
        for policy, near, backfills in (("fifo-skip", 100, False), ("fifo-skip", 0, False), ("kai", 100, False), ("easy", 100, False), ("easy", 100, True)):
            asked, run = questions(workload, nodes, policy, told.questions, told.scenarios, policy_actions=backfills, near=near)
            results.append({"workload": name, "policy": policy, "near": near, "policy_actions": backfills, "utilisation": run.metrics["utilisation_of_span"]} | summary(asked))
            if len(results) == 1:
                print("| " + " | ".join(results[0]) + " |\n" + "|---" * len(results[0]) + "|")
            print("| " + " | ".join(f"{v:.3g}" if isinstance(v, float) else str(v) for v in results[-1].values()) + " |", flush=True)
    if told.json:
        told.json.write_text(json.dumps({"schema": "kaisched-start-times/1", "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
