#!/usr/bin/env python3
"""How many GPUs a drawn mix of served models takes, how many GPUs roles without their partners hold, what is lost when batch
jobs make room, and how near each other those are who talk: the tables of docs/serving-models.md.

    serving.py --binary build/release/bin/kaisched                                  # prints the tables
    serving.py --binary build/release/bin/kaisched --check docs/serving-models.md   # status 1 where the page differs
"""

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

GIB = 1 << 30
CARD = 80 * GIB
CARDS = 8  # of a node
BASE = "predicates,proportion,priority,nodeavailability,nodeplacement"

# Memory in GiB, then what a copy puts on its GPU at its busiest, in thousandths: compute, bandwidth of the memory.
MODELS = {
    "decode": (18, 150, 450),
    "prefill": (18, 600, 150),
    "vision": (6, 300, 120),
    "speech": (8, 350, 200),
    "embedding": (4, 120, 100),
    "reranker": (5, 220, 120),
    "rarely used": (20, 30, 60),
}
PODS = 240
SEED = 7
DRAWS = 20


def decide(binary, cluster, settings):
    """The decisions of a session."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps(cluster))
        words = [binary, "run", str(path), "--quiet", "--decisions", "-"]
        for name, value in settings.items():
            words += ["--set", f"{name}={value}"]
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["decision"]


def nodes(count):
    return [{"name": f"n{i:03}", "capacity": {"cpu": 128000, "gpu": CARDS * 1000, "pods": 250}, "gpu_memory": CARD}
            for i in range(count)]


# ---- models on shared GPUs ------------------------------------------------------------------------------------------


def mix():
    draw = random.Random(SEED)
    return [draw.choice(list(MODELS)) for _ in range(PODS)]


def packed(binary, kinds, settings, padding):
    """By device: the models on it. Every pod asks for its memory times `padding` percent."""
    cluster = {"schema": "kaisched-cluster/1", "queue": [{"name": "serving"}], "node": nodes(20), "pod_group": [], "pod": []}
    for i, kind in enumerate(kinds):
        memory, compute, bandwidth = MODELS[kind]
        cluster["pod_group"].append({"name": f"m{i:03}", "queue": "serving", "created": i + 1})
        cluster["pod"].append({
            "name": f"m{i:03}-0", "group": f"m{i:03}", "request": {"cpu": 1000},
            "gpu_memory": min(CARD, memory * GIB * padding // 100), "device_count": 1,
            "load": [f"compute:{compute}", f"bandwidth:{bandwidth}"]})
    devices = {}
    for one in decide(binary, cluster, settings):
        if one["kind"] != "bind":
            raise SystemExit(f"{one} has no place: more nodes are needed")
        devices.setdefault((one["node_name"], one["devices"][0]), []).append(kinds[int(one["pod_name"][1:4])])
    return devices


def slow_down(kinds):
    """Of the pod that is disturbed most: how often others want a resource when it does, in thousandths."""
    loads = [MODELS[kind][1:] for kind in kinds]
    sums = [sum(load[r] for load in loads) for r in range(2)]
    return max(sum(load[r] * (sums[r] - load[r]) for r in range(2)) for load in loads) // 1000


def fullest(kinds):
    return max(sum(MODELS[kind][r] for kind in kinds) for r in (1, 2))


def row_of(name, devices):
    over = sum(fullest(kinds) > 1000 for kinds in devices.values())
    worst = max(slow_down(kinds) for kinds in devices.values())
    return f"| {name} | {len(devices)} | {over} | {max(map(fullest, devices.values()))} | {worst / 10:.1f} % |"


def models(binary):
    kinds = mix()
    by_memory = {"parts": BASE}
    rows = ["| policy | GPUs | above what they can do | fullest, thousandths | slowed down most |", "|---|---:|---:|---:|---:|",
            row_of("memory alone", packed(binary, kinds, by_memory, 100))]
    for padding in range(105, 400, 5):
        devices = packed(binary, kinds, by_memory, padding)
        if all(fullest(on) <= 1000 for on in devices.values()):
            rows.append(row_of(f"memory alone, each model asking for {padding} % of its own", devices))
            break
    for most in (1000, 800):
        settings = {"parts": BASE + ",colocation", "colocation.most": most}
        rows.append(row_of(f"`colocation`, `colocation.most={most}`", packed(binary, kinds, settings, 100)))
    bound = max(-(-sum(MODELS[kind][1] for kind in kinds) // 1000), -(-sum(MODELS[kind][2] for kind in kinds) // 1000),
                -(-sum(MODELS[kind][0] for kind in kinds) // 80))
    rows.append(f"| no policy can do with less than | {bound} | 0 | | |")
    return rows


# ---- roles of serving graphs ----------------------------------------------------------------------------------------


def graphs(binary, in_units):
    """Over all draws: GPUs that are held beyond the gangs, those of roles without their partners, whole units."""
    held = stranded = whole = 0
    for seed in range(DRAWS):
        draw = random.Random(seed)
        cluster = {"schema": "kaisched-cluster/1", "queue": [{"name": "serving"}], "node": nodes(8), "pod_group": [],
                   "sub_group": [], "pod": []}
        roles = {}
        for g in range(8):
            name = f"g{g}"
            prefill, decode = draw.choice([(1, 2), (1, 3), (2, 3)])
            units = draw.randint(1, 6)
            cluster["pod_group"].append({"name": name, "queue": "serving", "created": g + 1})
            for role, unit, gpus in (("prefill", prefill, draw.choice([1, 2])), ("decode", decode, 1)):
                cluster["sub_group"].append({"group": name, "name": role, "min_member": unit, "unit": unit if in_units else 0})
                roles[f"{name}-{role}"] = (name, unit, gpus)
                for p in range(unit * (units + 1)):
                    cluster["pod"].append({"name": f"{name}-{role}-{p}", "group": name, "sub_group": role,
                                           "request": {"cpu": 1000, "gpu": 1000 * gpus}, "created": p + 1})
        pods = dict.fromkeys(roles, 0)
        for one in decide(binary, cluster, {"parts": BASE}):
            if one["kind"] == "bind":
                pods[one["pod_name"].rsplit("-", 1)[0]] += 1
        for g in range(8):
            mine = [(pods[role], unit, gpus) for role, (name, unit, gpus) in roles.items() if name == f"g{g}"]
            units = min(max(0, count - unit) // unit for count, unit, _ in mine)
            whole += units
            for count, unit, gpus in mine:
                held += max(0, count - unit) * gpus
                stranded += max(0, count - unit - units * unit) * gpus
    return held, stranded, whole


def units(binary):
    rows = ["| | GPUs held beyond the gangs | of roles without their partners | whole units |", "|---|---:|---:|---:|"]
    for name, in_units in (("one pod at a time", False), ("column `unit`", True)):
        held, stranded, whole = graphs(binary, in_units)
        rows.append(f"| {name} | {held} | {stranded} ({100 * stranded / held:.1f} %) | {whole} |")
    return rows


# ---- batch jobs that make room --------------------------------------------------------------------------------------


def jobs_of(seed):
    """Every fourth job is important, and shorter than the others."""
    draw = random.Random(seed)
    now = 0.0
    rows = ["job,submit,run_time,gpus,priority"]
    for i in range(200):
        now += draw.expovariate(1 / 720)
        urgent = draw.random() < 0.25
        run_time = draw.lognormvariate(0, 0.7) * (3600 if urgent else 4 * 3600)
        rows.append(f"j{i:03},{round(now)},{round(run_time)},{draw.choice([1, 1, 2, 4])},{90 if urgent else 50}")
    return "\n".join(rows) + "\n"


def played(binary, seed, parts):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.csv"
        path.write_text(jobs_of(seed))
        words = [binary, "simulate", str(path), "--nodes", "4x8", "--actions", "allocate,preempt", "--checkpoints", "2h",
                 "--set", f"parts={parts}", "--json"]
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def lost(binary):
    rows = ["| victims | GPU hours lost | evictions | mean hours until the end |", "|---|---:|---:|---:|"]
    victims = "nodeavailability,nodeplacement,sg-nodelocalgreedy,sg-multinodegang"
    for name, order in (("the youngest first", ""), ("part `lost_work`", "lost_work,")):
        told = [played(binary, seed, f"predicates,proportion,priority,{order}{victims}") for seed in range(10)]
        hours = sum(one["lost_gpu_hours"] for one in told)
        ends = sum(one["completion"]["mean"] for one in told) / len(told) / 3600
        rows.append(f"| {name} | {hours:.1f} | {sum(one['evictions'] for one in told)} | {ends:.2f} |")
    return rows


# ---- who talks goes together ------------------------------------------------------------------------------------------

PLACES = "predicates,proportion,priority,elastic,nodeavailability,gpusharingorder,gpupack,resourcetype,nominatednode"


def talk_of(binary, folder, rate):
    """Every other job talks."""
    path = folder / "jobs.csv"
    subprocess.run([binary, "workload", "generate", str(path), "--jobs", "800", "--sizes", "1:30,2:15,4:15,8:15,16:15,32:10",
                    "--run-times", "log-normal:1h:1.2", "--rhythm", "none", "--rate", str(rate), "--gpus-per-node", "2",
                    "--seed", str(SEED), "--quiet"], check=True)
    rows = path.read_text().splitlines()
    rows = [f"{row},{'model' if i == 0 else 'sweep' if i % 2 else 'llm'}" for i, row in enumerate(rows)]
    path.write_text("\n".join(rows) + "\n")
    return {name: (int(pods), model) for name, _, _, pods, _, model in (row.split(",") for row in rows[1:])}


def within(jobs, outcomes, model):
    """Percent of the GPU time of its jobs of several pods that jobs on one node had, in one rack, and in several."""
    times = [0.0] * 3
    for row in csv.DictReader(outcomes):
        pods, of = jobs[row["job"]]
        if pods > 1 and of == model:
            times[int(row["distance"])] += float(row["gpu_seconds"])
    return " | ".join(f"{100 * time / sum(times):.1f} %" for time in times)


def traffic(binary):
    rows = ["| GPUs in use | policy | talks: on a node | in a rack | farther | others: on a node | in a rack | farther |",
            "|---:|---|---:|---:|---:|---:|---:|---:|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        told = {"nodes": "48x8", "nodes_per_rack": 8, "actions": "allocate", "profiles": [{"model": "llm", "traffic": 2000}]}
        (folder / "play.json").write_text(json.dumps(told))
        for rate in (16, 26):
            jobs = talk_of(binary, folder, rate)
            for policy, parts, more in (("`nodeplacement`", "", []), ("`traffic`", "traffic,", []),
                                        ("`topology`, all jobs want a rack", "topology,", ["--near"]),
                                        ("both", "topology,traffic,", ["--near"])):
                words = [binary, "simulate", str(folder / "jobs.csv"), "--play", str(folder / "play.json"), *more, "--json",
                         "--set", f"parts={PLACES},{parts}nodeplacement", "--jobs", str(folder / "outcomes.csv")]
                said = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
                outcomes = (folder / "outcomes.csv").read_text().splitlines()
                rows.append(f"| {100 * said['utilisation_of_arrivals']:.0f} % | {policy} | {within(jobs, outcomes, 'llm')} | "
                            f"{within(jobs, outcomes, 'sweep')} |")
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", required=True, help="the program kaisched")
    arguments.add_argument("--tables", default="models,units,lost,traffic", help="which of them, the default is all: %(default)s")
    arguments.add_argument("--check", type=Path, help="the page that has the tables")
    told = arguments.parse_args()
    known = {"models": models, "units": units, "lost": lost, "traffic": traffic}
    tables = []
    for name in told.tables.split(","):
        tables += ([""] if tables else []) + known[name](told.binary)
    print("\n".join(tables))
    if told.check is None:
        return 0
    page = told.check.read_text(encoding="utf-8").splitlines()
    missing = [row for row in tables if row not in page]
    for row in missing:
        print(f"{told.check} lacks: {row}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
