#!/usr/bin/env python3
"""Clusters that are valid and hard: each has many of one thing, and nothing to evict.

  pathological.py list                        the cases, with their sizes
  pathological.py write CASE SIZE [FILE]      such a cluster as JSON; without a file to the standard output
  pathological.py time [CASE ...]             seconds of processor time of a run over growing sizes
  pathological.py check [CASE ...]            instructions (valgrind) of a run, and of one of twice the size: at most
                                              2.5 times as many

A run is `kaisched run`: reading, checking, one session, the report. Equal arguments give equal bytes.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_GROWTH = 2.5
SKIPPED = 77
CPU = 1000
GIB = 2**30
CASES = {}


def case(size, *arguments):
    """A maker of clusters. `size`: what `check` begins with; `arguments`: of `kaisched run`."""

    def add(make):
        CASES[make.__name__] = (make, size, arguments)
        return make

    return add


def nodes(count, labels=None, gpus=0, **more):
    """Nodes that are large enough for all pods of a case; `labels(i)`: those of node i."""
    capacity = {"cpu": 10**6 * CPU, "memory": 1000 * GIB, "pods": 10**6, "gpu": gpus * 1000}
    return [{"name": f"n{i}", "capacity": capacity, "labels": {"kubernetes.io/hostname": f"n{i}", **(labels(i) if labels else {})}, **more}
            for i in range(count)]


def jobs(count, pod=None, group=None, per_job=1):
    """Jobs of some pods in queue q; `pod(i)` and `group(i)`: further columns of the pods and the group of job i."""
    groups = [{"name": f"g{i}", "queue": "q", "min_member": per_job, **(group(i) if group else {})} for i in range(count)]
    pods = [{"name": f"p{i}-{k}", "group": f"g{i}", "request": {"cpu": CPU}, **(pod(i) if pod else {})}
            for i in range(count) for k in range(per_job)]
    return {"pod_group": groups, "pod": pods}


def cluster(**tables):
    return {"schema": "kaisched-cluster/1", "queue": [{"name": "q"}], **tables}


def zones(i):
    return {"zone": f"z{i % 5}", "rack": f"r{i % 10}"}


# ---- queues

@case(600, "--actions", "allocate")
def empty_queues(size):
    return cluster(queue=[{"name": "q"}] + [{"name": f"q{i}", "quota": {"gpu": 1000}} for i in range(size)], node=nodes(4, gpus=8), **jobs(4))


@case(240, "--actions", "allocate")
def queues_that_ask(size):
    """Each queue wants another amount, so the division satisfies one after the other."""
    return cluster(queue=[{"name": f"q{i}", "over_quota_weight": {"gpu": 1 + i % 7}} for i in range(size)],
                   node=nodes(2, gpus=size * 30),
                   **jobs(size, lambda i: {"request": {"cpu": CPU, "gpu": 1000 * (1 + i)}}, lambda i: {"queue": f"q{i}"}))


@case(240, "--actions", "allocate", "--mode", "compat")
def queues_that_ask_compat(size):
    return queues_that_ask(size)


@case(240, "--actions", "allocate")
def queue_priorities(size):
    return cluster(queue=[{"name": f"q{i}", "priority": i, "quota": {"gpu": 1000}} for i in range(size)], node=nodes(4, gpus=8),
                   **jobs(size, None, lambda i: {"queue": f"q{i}"}))


@case(180, "--actions", "allocate")
def two_levels_of_queues(size):
    """As many departments as there are teams in all."""
    departments = [{"name": f"d{i}", "quota": {"gpu": 2000}} for i in range(size)]
    teams = [{"name": f"t{i}", "parent": f"d{i}", "quota": {"gpu": 1000}} for i in range(size)]
    return cluster(queue=departments + teams, node=nodes(4, gpus=8), **jobs(size, None, lambda i: {"queue": f"t{i}"}))


# ---- pods that look at other pods

@case(90, "--actions", "allocate")
def anti_affinity(size):
    """Many terms a pod that select pods by many labels; few of them hold."""
    draw = random.Random(1)
    labels = [f"k{i}" for i in range(21)]
    return cluster(node=nodes(50, zones), **jobs(size, lambda i: {
        "labels": {key: f"w{draw.randrange(size)}" for key in labels},
        "anti_affinity": [f"zone: {key}=v{draw.randrange(size)}" for key in labels]}))


@case(180, "--actions", "allocate")
def anti_affinity_of_apps(size):
    """Replicas of many apps, each on another node."""
    return cluster(node=nodes(50, zones), **jobs(size, lambda i: {
        "labels": {"app": f"a{i // 10}", "pod": f"p{i}"}, "anti_affinity": [f"kubernetes.io/hostname: app=a{i // 10}"]}))


@case(180, "--actions", "allocate")
def anti_affinity_to_all(size):
    """One pod in a hundred stays away from all that have a label."""
    return cluster(node=nodes(50, zones), **jobs(size, lambda i: {
        "labels": {"app": f"a{i}"}, "anti_affinity": [f"rack: solo=yes{i}", "rack: app"] if i % 100 == 99 else [f"rack: solo=yes{i}"]}))


@case(180, "--actions", "allocate")
def affinity(size):
    return cluster(node=nodes(50, zones), **jobs(size, lambda i: {
        "labels": {"app": f"a{i // 4}"}, "affinity": [f"zone: app=a{i // 4}", "rack: app in (" + ",".join(f"a{i // 4 + k}" for k in range(4)) + ")"]}))


@case(180, "--actions", "allocate", "--preset", "kube-default")
def spread(size):
    """Each app has constraints of its own."""
    return cluster(node=nodes(50, zones), **jobs(size, lambda i: {
        "labels": {"app": f"a{i // 3}"},
        "spread": [f"1 zone: app=a{i // 3}", f"2 kubernetes.io/hostname: app=a{i // 3}", f"1 rack soft: app=a{i // 3}"]}))


@case(180, "--actions", "allocate", "--preset", "kube-default")
def preferences_for_pods(size):
    return cluster(node=nodes(50, zones), **jobs(size, lambda i: {
        "labels": {"app": f"a{i // 3}"}, "preferences": [f"10 zone: app=a{i // 3}", f"-5 kubernetes.io/hostname: app=a{i // 3 + 1}"]}))


@case(240, "--actions", "allocate")
def host_ports(size):
    return cluster(node=nodes(50), **jobs(size, lambda i: {"host_ports": [str(1000 + i % 60000), f"127.0.0.1:{1 + i % 1000}/UDP"] if i % 60 else ["80"]}))


# ---- pods and nodes

@case(300, "--actions", "allocate")
def classes_of_pods(size):
    """Each pod asks for another amount and other labels."""
    return cluster(node=nodes(20, zones), **jobs(size, lambda i: {
        "request": {"cpu": CPU + i}, "node_affinity": [f"rack in (r{i % 10},r{(i + 3) % 10},x{i})"], "tolerations": [f"t{i}"]}))


@case(1200, "--actions", "allocate")
def nodes_of_one_pod(size):
    return cluster(node=nodes(size, zones), **jobs(20, lambda i: {"node_selector": {"rack": f"r{i % 10}"}}))


@case(600, "--actions", "allocate")
def alternatives_and_taints(size):
    taints = [f"t{i}=v:NoSchedule" for i in range(size)]
    return cluster(node=nodes(4, zones, taints=taints), **jobs(4, lambda _: {
        "tolerations": taints, "node_affinity": [f"zone=x{i}" for i in range(size)] + ["zone in (z0,z1)"]}))


@case(1200, "--actions", "allocate")
def labels(size):
    many = {f"key{i}": f"value{i}" for i in range(size)}
    return cluster(node=nodes(2, lambda _: many), **jobs(2, lambda _: {"labels": many, "node_selector": many}))


@case(300, "--actions", "allocate")
def pods_that_share_devices(size):
    return cluster(node=nodes(8, gpus=8), **jobs(size, lambda i: {"request": {"cpu": CPU, "gpu": 100 + i % 400}, "device_count": 1}))


@case(300, "--actions", "allocate")
def jobs_that_never_start(size):
    """Each for a reason of its own: the report has a row for every job."""
    return cluster(node=nodes(20, zones), **jobs(size, lambda i: [
        {"node_selector": {"zone": f"x{i}"}}, {"request": {"cpu": 10**7 * CPU + i}}, {"obstacle": f"it waits for {i}"},
        {"affinity": [f"zone: app=x{i}"]}][i % 4]))


# ---- gangs

@case(480, "--actions", "allocate")
def one_gang(size):
    return cluster(node=nodes(20, zones), **jobs(1, per_job=size))


@case(180, "--actions", "allocate")
def sub_groups(size):
    """One job with many sub-groups of two pods."""
    made = cluster(node=nodes(20, zones), topology=[{"name": "t", "levels": ["zone", "rack"], "primary": True}],
                   pod_group=[{"name": "g", "queue": "q"}],
                   sub_group=[{"group": "g", "name": f"s{i}", "min_member": 2} for i in range(size)],
                   pod=[{"name": f"p{i}", "group": "g", "sub_group": f"s{i // 2}", "request": {"cpu": CPU}} for i in range(2 * size)])
    return made


@case(90, "--actions", "allocate")
def sub_groups_in_racks(size):
    """One job; each of its sub-groups needs a rack."""
    made = sub_groups(size)
    for one in made["sub_group"]:
        one.update(topology="t", required_level="rack")
    return made


@case(90, "--actions", "allocate", "--mode", "compat")
def sub_groups_in_racks_compat(size):
    return sub_groups_in_racks(size)


@case(240, "--actions", "allocate")
def depth_of_sub_groups(size):
    """Chains of a hundred: each sub-group has one child."""
    depth = 100
    groups = range(max(size // depth, 1))
    chain = [{"group": f"g{g}", "name": f"s{i}", **({"parent": f"s{i - 1}"} if i else {}), **({"min_member": 1} if i == depth - 1 else {})}
             for g in groups for i in range(depth)]
    return cluster(node=nodes(20), pod_group=[{"name": f"g{g}", "queue": "q"} for g in groups], sub_group=chain,
                   pod=[{"name": f"p{g}", "group": f"g{g}", "sub_group": f"s{depth - 1}", "request": {"cpu": CPU}} for g in groups])


@case(240, "--actions", "allocate")
def domains(size):
    """Each gang needs a rack; there are as many racks as gangs."""
    return cluster(node=nodes(size, lambda i: {"zone": f"z{i // 32}", "rack": f"r{i // 2}"}, gpus=8),
                   topology=[{"name": "t", "levels": ["zone", "rack"], "primary": True}],
                   **jobs(10, lambda _: {"request": {"cpu": CPU, "gpu": 8000}}, lambda _: {"topology": "t", "required_level": "rack"}, per_job=2))


@case(240, "--actions", "allocate")
def dependencies(size):
    """A chain of jobs that come one after the other."""
    return cluster(node=nodes(4), **jobs(size, None, lambda i: {"after": [f"ok:g{i - 1}"]} if i else {}))


# ---- devices

def claim_of(name, requests, count, **more):
    return ([{"name": name, "from_template": True, **more}],
            [{"name": f"{name}/{i}", "claim": name, "request": f"r{i}", "device_class": "gpu", "count": count, "position": i} for i in range(requests)])


def pools(count, devices):
    """One pool of devices of several models on each node."""
    return {"device_class": [{"name": "gpu", "selectors": ["device.driver == 'gpu.example.com'"]}],
            "resource_slice": [{"name": f"s{n}", "driver": "gpu.example.com", "pool": f"n{n}", "node": f"n{n}"} for n in range(count)],
            "slice_device": [{"name": f"s{n}-{d}", "slice": f"s{n}", "device": f"g{d}", "attributes": [f"gpu.example.com/model=string:m{d}"]}
                             for n in range(count) for d in range(devices)]}


@case(80, "--actions", "allocate")
def claims(size):
    """Each pod brings a claim of two devices."""
    made = [claim_of(f"c{i}", 2, 1) for i in range(size)]
    return cluster(node=nodes(4), **pools(4, 16), resource_claim=[c for claim, _ in made for c in claim],
                   claim_request=[r for _, requests in made for r in requests],
                   **jobs(size, lambda i: {"claims": [f"c{i}"]}))


@case(30, "--actions", "allocate")
def requests_of_a_claim(size):
    """More than a claim may have, of devices that all differ: there is none, and that is found within the budget."""
    claim, requests = claim_of("c", size, 32)
    return cluster(node=nodes(8), **pools(8, 40), resource_claim=claim, claim_request=requests, **jobs(1, lambda _: {"claims": ["c"]}))


# ---- what is around

@case(180, "--actions", "allocate")
def reservations(size):
    return cluster(now=0, node=nodes(20), reservation=[
        {"name": f"r{i}", "nodes": [f"n{i % 20}"], "start": 10**9 * (10 + 2 * i), "end": 10**9 * (11 + 2 * i), "queue": "q"} for i in range(size)],
        **jobs(20, None, lambda i: {"runtime_estimate": 10**9 * (5 + i)}))


@case(180, "--preset", "slurm-backfill")
def backfill(size):
    return cluster(now=0, node=nodes(20, gpus=8), **jobs(size, lambda i: {"request": {"cpu": CPU, "gpu": 8000}},
                                                        lambda i: {"runtime_estimate": 10**9 * (60 + i)}))


@case(180, "--preset", "volcano-default")
def volcano_queues(size):
    return cluster(queue=[{"name": f"q{i}"} for i in range(size)], node=nodes(4, gpus=size), **jobs(size, None, lambda i: {"queue": f"q{i}"}))


@case(180, "--preset", "yunikorn-default")
def yunikorn_queues(size):
    return cluster(queue=[{"name": f"q{i}"} for i in range(size)], node=nodes(4, gpus=size), **jobs(size, None, lambda i: {"queue": f"q{i}"}))


@case(180, "--preset", "kueue-classical")
def kueue_queues(size):
    return cluster(queue=[{"name": f"q{i}", "quota": {"cpu": 4 * CPU}} for i in range(size)], node=nodes(4, gpus=size), **jobs(size, None, lambda i: {"queue": f"q{i}"}))


# ---- commands ------------------------------------------------------------------------------------------------------

def fail(text):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(2)


def text_of(name, size):
    return json.dumps(CASES[name][0](size))


def command_of(binary, path, name):
    return [str(binary), "run", path, "-q", *CASES[name][2]]


def count_instructions(binary, name, size):
    """Of a whole run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cluster.json")
        Path(path).write_text(text_of(name, size))
        done = subprocess.run(["valgrind", "--tool=exp-bbv", "--bb-out-file=/dev/null", "--pc-out-file=/dev/null", *command_of(binary, path, name)],
                              capture_output=True, text=True)
    found = re.search(r"Total instructions: (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        fail(f"{name} of size {size}: {done.stderr[-1000:]}")
    return int(found.group(1))


def check(args):
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        sys.exit(SKIPPED)
    names = args.case or list(CASES)
    start = count_instructions(args.binary, "empty_queues", 1)  # what every run costs is not part of the growth
    failed = 0
    for name in names:
        size = CASES[name][1] * args.scale
        one, two = (count_instructions(args.binary, name, size * factor) - start for factor in (1, 2))
        growth = two / max(one, 1)
        failed += growth > MOST_GROWTH
        print(f"{name:<28}{size:>7}{one:>14}{two:>14}  {growth:.2f}{'  TOO MUCH' if growth > MOST_GROWTH else ''}", flush=True)
    print(f"{len(names) - failed} of {len(names)} cases cost at most {MOST_GROWTH} times the instructions when doubled")
    sys.exit(1 if failed else 0)


def cpu_seconds(command, seconds):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        fail(done.stderr.strip())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def time(args):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cluster.json")
        for name in args.case or CASES:
            size, line = CASES[name][1], ""
            for _ in range(args.steps):
                Path(path).write_text(text_of(name, size))
                spent = cpu_seconds(command_of(args.binary, path, name), args.seconds)
                line += f"  {size}: {'more' if spent is None else f'{spent:.2f}'}"
                size *= args.factor
                if spent is None:
                    break
            print(f"{name:<28}{line}", flush=True)


def write(args):
    text = text_of(args.case, args.size)
    if args.file is None:
        print(text)
    else:
        Path(args.file).write_text(text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verbs.add_parser("list").set_defaults(run=lambda _: print("\n".join(f"{name:<28}{size}" for name, (_, size, _) in CASES.items())))
    one = verbs.add_parser("write")
    one.add_argument("case", choices=CASES)
    one.add_argument("size", type=int)
    one.add_argument("file", nargs="?")
    one.set_defaults(run=write)
    for name, run in [("time", time), ("check", check)]:
        one = verbs.add_parser(name)
        one.add_argument("case", nargs="*")
        one.add_argument("--binary", type=Path, default=ROOT / "build" / "release" / "bin" / "kaisched")
        one.set_defaults(run=run)
        if name == "check":
            one.add_argument("--scale", type=int, default=1, help="times the sizes of the list")
        if name == "time":
            one.add_argument("--factor", type=int, default=4, help="from one size to the next")
            one.add_argument("--steps", type=int, default=4, help="number of sizes")
            one.add_argument("--seconds", type=float, default=60, help="most for one run")
    args = parser.parse_args()
    unknown = set(getattr(args, "case", None) or []) - set(CASES) if isinstance(getattr(args, "case", None), list) else set()
    if unknown:
        fail(f"no case named {', '.join(sorted(unknown))}")
    args.run(args)


if __name__ == "__main__":
    main()
