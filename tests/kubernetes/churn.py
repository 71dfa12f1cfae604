"""Two tenants at their limits on a real API server: each takes what the other leaves, until the other comes back. For N minutes jobs
come, run, are evicted and end; then the audit log of the server is judged (churn_audit.py).

    KAISCHED_KUBERNETES=build/release/bin/kaisched-kubernetes python3 tests/kubernetes/churn.py --minutes 15

Jobs follow from the seed: what they are and when they come. They are Kubernetes' own, with its controllers and kwok's kubelets; a
pod that is evicted is made anew, and begins anew. kaisched-kubernetes runs under a service account with the rights of rbac.yaml.
The exit status is 1 if a rule is violated.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
from collections import defaultdict
from pathlib import Path

import churn_audit
import lab as laboratory
from clusters import group, node, pod, queue

PROGRAM = os.environ.get("KAISCHED_KUBERNETES", "")
NODES, GPUS = 6, 8  # nodes, and what each of them has
QUOTA, LIMIT = 24, 40  # GPUs of each of the two tenants
CLASSES = {"low": 40, "normal": 50, "high": 75, "firm": 125}  # those of 100 and more may not be preempted
LOAD = 0.6  # of the cluster, by jobs that come one by one; the jobs with which a tenant comes back are more
BUSY = 0.85  # of that load, by the tenant whose turn it is
TURN = (25, 50)  # seconds
RUN = (8, 30)  # seconds
STOP = (0.2, 3)  # seconds that a pod takes to stop
LEAST = "kai.scheduler/batch-min-member"  # annotation of a job: the pods that its gang needs
STEP = 0.5  # seconds between two looks at what runs


# ---- drawing ----


def draw_job(draw, name, tenant, at):
    """Single pods, gangs, and bags of pods of which each runs for itself."""
    form = draw.choices(("single", "gang", "bag"), (60, 25, 15))[0]
    pods = 1 if form == "single" else draw.choice((2, 3, 4))
    gpus = draw.choices((1, 2, 4, 8), (40, 25, 20, 15))[0] if form == "single" else draw.choices((1, 2, 4), (50, 30, 20))[0]
    return {
        "name": name, "tenant": tenant, "at": round(at, 3), "pods": pods, "least": 1 if form == "bag" else pods, "gpus": gpus,
        "class": draw.choices(tuple(CLASSES), (30, 40, 20, 10))[0], "has_group": draw.random() < 0.5,
        "run": round(draw.uniform(*RUN), 1), "stop": round(draw.uniform(*STOP), 1),
    }  # fmt: skip


def draw_jobs(seed, length):
    """Jobs of so many seconds, in the order in which they come. The tenants take turns in asking for most of the cluster."""
    draw = random.Random(seed)
    jobs = []

    def add(tenant, at):
        jobs.append(draw_job(draw, f"{tenant}{len(jobs):04}", tenant, at))
        return jobs[-1]["pods"] * jobs[-1]["gpus"]

    probe = random.Random(0)
    work = sum(one["pods"] * one["gpus"] * one["run"] for one in (draw_job(probe, "", "", 0) for _ in range(1000))) / 1000  # GPU seconds of a job
    began, turn = 0.0, 0
    while began < length:
        ends = min(began + draw.uniform(*TURN), length)
        busy, other = ("a", "b") if turn % 2 == 0 else ("b", "a")
        asked = 0
        while asked < QUOTA:  # it comes back
            asked += add(busy, began)
        at = began
        while (at := at + draw.expovariate(LOAD * NODES * GPUS / work)) < ends:
            add(busy if draw.random() < BUSY else other, at)
        began, turn = ends, turn + 1
    return jobs


# ---- objects ----


def tenant_queue(name):
    made = queue(name, QUOTA, "top")
    made["spec"]["resources"]["gpu"]["limit"] = LIMIT
    return made


def objects_of(job):
    """A job with or without a `PodGroup` of its own; kaisched makes a group of the pods of one without."""
    notes = {"lab/leaves-after": f"{job['stop']}s"}
    if job["least"] == 1:
        notes["lab/ends-after"] = f"{job['run']}s"
    template = pod("", job["gpus"], annotations=notes)
    template["spec"].pop("terminationGracePeriodSeconds")
    template["spec"].update(restartPolicy="Never", priorityClassName=job["class"])
    labels = {"kai.scheduler/queue": job["tenant"], "priorityClassName": job["class"]}
    if job["has_group"]:
        yield group(job["name"], job["tenant"], job["least"], priorityClassName=job["class"])
        template["metadata"]["annotations"]["pod-group-name"] = job["name"]
    yield {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": job["name"], "namespace": "team", "labels": labels,
                     "annotations": {LEAST: str(job["least"])}},
        # By index, so that after an eviction one pod waits ten seconds for its successor, however many left.
        "spec": {"parallelism": job["pods"], "completions": job["pods"], "completionMode": "Indexed", "backoffLimitPerIndex": 1000,
                 "ttlSecondsAfterFinished": 5,
                 "template": {"metadata": {"annotations": template["metadata"]["annotations"]}, "spec": template["spec"]}},
    }  # fmt: skip


# ---- playing ----


class Gangs:
    """Ends the pods of a gang together, once all of them have run at the same time for so long. One that loses a pod begins anew; if
    that happens while its pods end, those that are left run alone."""

    def __init__(self, lab, jobs):
        self.lab = lab
        self.waiting = {job["name"]: job for job in jobs if job["least"] > 1}
        self.since = {}  # by name: all run
        self.over = {}  # their time is over
        self.alone = set()

    def look_after(self):
        pods = defaultdict(list)
        for name, one in self.lab.pods().items():
            if "deletionTimestamp" not in one["metadata"]:
                pods[one["metadata"]["labels"]["job-name"], one["status"]["phase"]].append(name)
        now = time.monotonic()
        for name, job in list(self.waiting.items()):
            if len(pods[name, "Running"]) < job["pods"]:
                self.since.pop(name, None)
            elif now >= self.since.setdefault(name, now) + job["run"]:
                self.over[name] = self.waiting.pop(name)
        for name, job in self.over.items():
            for one in pods[name, "Running"]:
                self.change(f"/api/v1/namespaces/team/pods/{one}", {"metadata": {"annotations": {"lab/ends-after": "0s"}}})
            if pods[name, "Pending"] and name not in self.alone:
                self.alone.add(name)
                self.change(f"/apis/batch/v1/namespaces/team/jobs/{name}", {"metadata": {"annotations": {LEAST: "1"}}})
                if job["has_group"]:
                    self.change(f"/apis/scheduling.run.ai/v2alpha2/namespaces/team/podgroups/{name}", {"spec": {"minMember": 1}})

    def change(self, path, body):
        with contextlib.suppress(urllib.error.HTTPError):  # it is gone meanwhile
            self.lab.patch(path, body)


class Scheduler:
    """kaisched-kubernetes, started again where it has lost its lease, as a kubelet does."""

    def __init__(self, lab, log, words=()):
        self.command = [PROGRAM, "--kubeconfig", lab.account("kaisched", "rbac.yaml"), *words]
        self.log = log
        self.starts = 0
        self.start()

    def start(self):
        self.starts += 1
        with open(self.log, "a") as said:
            self.process = subprocess.Popen(self.command, stderr=said)

    def look_after(self):
        if self.process.poll() is None:
            return
        if self.process.returncode != 1:
            raise RuntimeError(f"kaisched-kubernetes ended with {self.process.returncode}:\n{self.log.read_text()[-3000:]}")
        self.start()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        laboratory.end(self.process)


def until_quiet(file, seconds=5, most=120):
    """Nothing has been added to the file for a while: the scheduler has written all its events, which come after all else."""
    size, since, until = -1, time.monotonic(), time.monotonic() + most
    while time.monotonic() < min(since + seconds, until):
        if (now := file.stat().st_size) != size:
            size, since = now, time.monotonic()
        time.sleep(0.2)


def is_complete(job):
    return any(one["type"] == "Complete" and one["status"] == "True" for one in job.get("status", {}).get("conditions", []))


def set_up(lab, nodes):
    """Nodes, tenants, and the parts of Kubernetes that make pods, run and remove them."""
    lab.prepare()
    for name, value in CLASSES.items():
        lab.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
    for name in nodes:
        made = node(name, GPUS)
        made["metadata"]["annotations"] = {"kwok.x-k8s.io/node": "fake"}
        lab.create(made)
    lab.create(queue("top", NODES * GPUS))
    for tenant in "ab":
        lab.create(tenant_queue(tenant))
    lab.start_controllers()
    lab.start_kubelets()


def play(program, folder, seed, minutes, patience, words=()):
    """`words` are for the command line of the scheduler. Leaves audit.log, jobs.json and scheduler.log in the folder.
    @return how often the scheduler was started."""
    jobs = draw_jobs(seed, 60 * minutes)
    nodes = {f"n{i}": GPUS for i in range(NODES)}
    (folder / "jobs.json").write_text(json.dumps({"seed": seed, "nodes": nodes, "jobs": jobs}, indent=1))
    (folder / "policy.yaml").write_text(churn_audit.POLICY)
    audit = (f"--audit-policy-file={folder}/policy.yaml", f"--audit-log-path={folder}/audit.log", "--audit-log-maxsize=4096")
    with laboratory.Lab(program, *audit) as lab:
        set_up(lab, nodes)
        scheduler = Scheduler(lab, folder / "scheduler.log", words)
        gangs = Gangs(lab, jobs)

        def look_after():
            scheduler.look_after()
            gangs.look_after()

        try:
            began = time.monotonic()
            for job in jobs:
                while (wait := began + job["at"] - time.monotonic()) > 0:
                    look_after()
                    time.sleep(min(wait, STEP))
                for one in objects_of(job):
                    lab.create(one)
            until = time.monotonic() + patience
            while time.monotonic() < until and not all(map(is_complete, lab.items("/apis/batch/v1/namespaces/team/jobs"))):
                look_after()
                time.sleep(STEP)
            until_quiet(folder / "audit.log")
        finally:
            scheduler.stop()
    return scheduler.starts


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--minutes", type=float, default=15, help="in which jobs come (default: %(default)s)")
    words.add_argument("--seed", type=int, default=1, help="of the jobs (default: %(default)s)")
    words.add_argument("--within", type=float, default=churn_audit.WITHIN, help="seconds from an eviction to its start (default: %(default)s)")
    words.add_argument("--patience", type=float, default=1200, help="seconds for the jobs that are left in the end (default: %(default)s)")
    words.add_argument("--keep", type=Path, help="folder for the audit log, the jobs and what the scheduler says")
    words.add_argument("--config", type=Path, help="of kaisched-kubernetes (default: none, which are its default options)")
    given = words.parse_args()
    if not PROGRAM:
        words.error("KAISCHED_KUBERNETES names no program")
    try:
        program = laboratory.find()
    except laboratory.Absent as why:
        print(f"lab absent: {why}", file=sys.stderr)
        sys.exit(2)
    folder = given.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "audit.log").unlink(missing_ok=True)
    (folder / "scheduler.log").unlink(missing_ok=True)
    starts = play(program, folder.resolve(), given.seed, given.minutes, given.patience, ("--config", given.config) if given.config else ())
    status = churn_audit.tell(churn_audit.read(folder, given.within))
    print(f"{given.minutes:g} minutes of seed {given.seed}; the scheduler was started {starts} time{'s' * (starts != 1)}")
    if not given.keep:
        shutil.rmtree(folder)
    sys.exit(status)


if __name__ == "__main__":
    main()
