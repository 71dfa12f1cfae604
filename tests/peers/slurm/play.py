#!/usr/bin/env python3
"""Plays a stream of jobs on a real Slurm with emulated nodes and asks kaisched for its decisions at the same moments.

    tests/peers/slurm/play.py --program build/release/bin/kaisched --seed 1 --jobs 40 --out recorded.ks

Slurm (`apt-get install slurm-wlm slurmctld slurmd munge`, root) runs in a folder of its own, with ports and a munge socket
of its own, and is ended again. Nodes are emulated by one slurmd each on this machine, their GPUs by empty files. The jobs
sleep. What Slurm did becomes a scenario: at each moment at which it started jobs, and some seconds after each event at
which it started none, there is a session over the same state, which must start the same jobs. `kaisched test` compares.
Moments at which events are too close to tell what Slurm knew are left out and counted.
"""

import argparse
import datetime
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GPUS, CPUS, CPUS_PER_GPU = 4, 16, 4
SECONDS_TO_DECIDE = 3
ORDERS = {
    # name: lines of slurm.conf, options of the preset that say the same
    "priority": ("PriorityWeightJobSize=0\n", "multifactor.size=0"),
    "size": ("PriorityWeightJobSize=1000\n", "multifactor.size=1000"),
    "small": ("PriorityWeightJobSize=1000\nPriorityFavorSmall=YES\n", "multifactor.size=1000 multifactor.small_first=true"),
}
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "sinfo")


class Peer:
    """A Slurm in a folder."""

    def __init__(self, folder, nodes, order, resolution, port):
        self.folder, self.nodes, self.started = Path(folder), nodes, []
        host = socket.gethostname().split(".")[0]
        (self.folder / "state").mkdir()
        lines = f"""ClusterName=peer
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SlurmctldPort={port}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0,bf_window=1440,bf_resolution={resolution}
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PriorityType=priority/multifactor
{ORDERS[order][0]}GresTypes=gpu
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
DebugFlags=Backfill
MinJobAge=86400
KillWait=2
CompleteWait=0
"""
        gres = ""
        for i in range(1, nodes + 1):
            (self.folder / f"spool.n{i:02}").mkdir()
            lines += (
                f"NodeName=n{i:02} NodeAddr=127.0.0.1 NodeHostname={host} Port={port + i} CPUs={CPUS} "
                f"RealMemory=64000 Gres=gpu:{GPUS} State=UNKNOWN\n"
            )
            gres += f"NodeName=n{i:02} Name=gpu File={folder}/gpu[0-{GPUS - 1}]\n"
        lines += f"PartitionName=all Nodes=n[01-{nodes:02}] Default=YES MaxTime=INFINITE State=UP\n"
        (self.folder / "slurm.conf").write_text(lines)
        (self.folder / "gres.conf").write_text(gres)
        for i in range(GPUS):
            (self.folder / f"gpu{i}").touch()
        (self.folder / "job.sh").write_text("#!/bin/sh\nexec sleep $1\n")
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.env = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "TZ": "UTC"}

    def call(self, *command):
        return subprocess.run(command, env=self.env, check=True, capture_output=True, text=True).stdout

    def start(self):
        f = self.folder
        self.spawn(
            "munged", "--foreground", "--force", f"--socket={f}/munge.sock", f"--key-file={f}/munge.key",
            f"--pid-file={f}/munge.pid", f"--log-file={f}/munge.log", f"--seed-file={f}/munge.seed",
        )  # fmt: skip
        self.wait_for(lambda: (f / "munge.sock").exists())
        self.spawn("slurmctld", "-D")
        for i in range(1, self.nodes + 1):
            self.spawn("slurmd", "-D", "-N", f"n{i:02}")
        self.wait_for(lambda: self.call("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(self.nodes))

    def spawn(self, *command):
        quiet = subprocess.DEVNULL
        self.started.append(subprocess.Popen(command, env=self.env, stdin=quiet, stdout=quiet, stderr=quiet))

    def wait_for(self, ready):
        for _ in range(120):
            time.sleep(0.5)
            try:
                if ready():
                    return
            except subprocess.CalledProcessError:
                pass  # slurmctld does not answer yet
        raise SystemExit(f"Slurm does not come up; its logs are in {self.folder}")

    def stop(self):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def make_stream(seed, count, nodes, order):
    """Jobs as (second of arrival, nodes, GPUs per node, limit in minutes, seconds of run time, priority)."""
    draw = random.Random(seed)
    at, stream = 0, []
    for i in range(count):
        at += draw.choice((0, 0, 1, 4, 9)) if i > count // 4 else 0
        # Jobs on several nodes use all of each: Slurm spreads them, one task to a node.
        several = draw.random() < 0.4
        limit = draw.choice((1, 1, 2, 2, 3, 4, 6))
        stream.append((
            at,
            draw.randint(2, nodes) if several else 1,
            GPUS if several else draw.choice((1, 1, 2, 4)),
            limit,
            min(limit * 60 - 10, draw.randint(8, 75)),
            draw.choice((100, 200, 300)) if order == "priority" else draw.randint(0, 300),
        ))
    return stream


def play(peer, stream, order):
    """What Slurm did: jobs as (name, submitted, started, ended, nodes)."""
    base, ids = time.time(), []
    for at, nodes, gpus, limit, run, priority in stream:
        time.sleep(max(0.0, base + at - time.time()))
        rank = (f"--priority={priority}",) if order == "priority" else (f"--nice={-priority}",)
        out = peer.call(
            "sbatch", "--parsable", "-N", str(nodes), "--ntasks-per-node=1", "-c", str(gpus * CPUS_PER_GPU),
            f"--gres=gpu:{gpus}", "-t", str(limit), "-o", "/dev/null", "-e", "/dev/null", *rank,
            str(peer.folder / "job.sh"), str(run),
        )  # fmt: skip
        ids.append(out.strip())
    while peer.call("squeue", "-h", "-t", "all", "-o", "%T").split().count("COMPLETED") < len(ids):
        time.sleep(2)
    told = {}
    for line in peer.call("scontrol", "show", "job", "-o").splitlines():
        field = dict(part.split("=", 1) for part in line.split() if "=" in part)
        on = peer.call("scontrol", "show", "hostnames", field["NodeList"]).split()
        told[field["JobId"]] = (*(seconds(field[key]) for key in ("SubmitTime", "StartTime", "EndTime")), on)
    return [(f"j{i + 1:03}", *told[one]) for i, one in enumerate(ids)]


def seconds(text):
    """Of a time as Slurm tells it, in UTC."""
    return int(datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp())


def runs_of(nodes):
    """Pods and nodes of a job as ranges of as many: n01, n02, n04 is [0-1] on n[01-02] and 2 on n04."""
    numbers, first = [int(n[1:]) for n in nodes], 0
    for k in range(1, len(numbers) + 1):
        if k < len(numbers) and numbers[k] == numbers[k - 1] + 1:
            continue
        if k - first == 1:
            yield str(first), nodes[first]
        else:
            yield f"[{first}-{k - 1}]", f"n[{numbers[first]:02}-{numbers[k - 1]:02}]"
        first = k


def scenario_of(stream, done, nodes, order, resolution, title):
    """The text of the scenario, how many moments it compares, and how many are left out."""
    base = min(job[1] for job in done) // 60 * 60  # Slurm rounds to whole minutes
    jobs = [(name, sub - base, start - base, end - base, on) for name, sub, start, end, on in done]
    shape = {job[0]: row for job, row in zip(jobs, stream, strict=True)}
    starts = sorted({job[2] for job in jobs})
    events = sorted({t for job in jobs for t in (job[1], job[3])})
    moments, blurred, i = [], 0, 0
    while i < len(starts):
        group = [starts[i]]
        while i + 1 < len(starts) and starts[i + 1] - group[-1] <= SECONDS_TO_DECIDE:
            i += 1
            group.append(starts[i])
        i += 1
        # What Slurm knew is clear where nothing else happened just before its last start, or between its starts.
        if any(group[0] - 1 < t <= group[-1] for t in events if t != group[0]) and len(group) > 1:
            blurred += 1
            continue
        moments.append((group[-1], group[0]))
    for k, t in enumerate(events):
        later = t + SECONDS_TO_DECIDE
        following = events[k + 1] if k + 1 < len(events) else later + 1
        if following > later and not any(t <= s <= later for s in starts):
            moments.append((later, None))
    option = (
        "option preset=slurm-backfill multifactor.age=0 multifactor.fair_share=0 multifactor.queue=0 "
        f"multifactor.priority=1 {ORDERS[order][1]} backfill.resolution={resolution}"
    )
    lines = [
        "# What a real Slurm started at these moments, and nothing else: written by tests/peers/slurm/play.py.",
        f'scenario 1 "{title}"',
        "rule Q29 J22 W10 W13",
        option,
        "",
    ]
    lines += [f"node n[01-{nodes:02}] gpu={GPUS} cpu={CPUS} memory=62Gi pods=110", "queue all", ""]
    there, running, gone = set(), set(), set()
    for now, since in sorted(moments, key=lambda m: m[0]):
        first = now if since is None else since  # jobs that started from then on wait in the session
        lines.append(f"now {now}s")
        for name, submitted, start, end, on in jobs:
            _, count, gpus, limit, _, priority = shape[name]
            pods = f"{name}-[0-{count - 1}]" if count > 1 else f"{name}-0"
            if submitted <= now and name not in there and end > first:
                there.add(name)
                lines.append(
                    f"pod_group {name} created={submitted}s priority={priority} runtime_estimate={limit}m "
                    f"min_member={count}"
                )
                lines.append(f"  pod {pods} group={name} gpu={gpus} cpu={gpus * CPUS_PER_GPU}")
            if start < first and name in there and name not in running and end > now:
                running.add(name)
                lines.append(f"change pod_group {name} last_start={start}s")
                lines += [f"change pod {name}-{k} node={n} status=running" for k, n in runs_of(on)]
            if end <= now and name in there and name not in gone:
                gone.add(name)
                lines += [f"remove pod {pods}", f"remove pod_group {name}"]
        lines.append("run")
        waits = [job for job in jobs if job[0] in there and job[0] not in running and job[0] not in gone]
        started = [job for job in waits if since is not None and since <= job[2] <= now]
        pods = sum(shape[job[0]][1] for job in started)
        lines.append(f"expect counts bind={pods} unschedulable={len(waits) - len(started)}" if waits else "expect nothing")
        lines += [f"expect pod {job[0]}-0 status=binding" for job in started]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n", len(moments), blurred


def main():
    say = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    say.add_argument("--program", default="build/release/bin/kaisched")
    say.add_argument("--seed", type=int, default=1)
    say.add_argument("--jobs", type=int, default=40)
    say.add_argument("--nodes", type=int, default=8)
    say.add_argument("--order", choices=sorted(ORDERS), default="priority")
    say.add_argument("--resolution", type=int, default=60, help="bf_resolution, seconds")
    say.add_argument("--port", type=int, default=26817)
    say.add_argument("--out", type=Path, help="keep the scenario")
    a = say.parse_args()
    missing = [p for p in PROGRAMS if shutil.which(p) is None]
    if missing or os.geteuid() != 0:
        print("skipped: needs root and", ", ".join(missing or PROGRAMS))
        return 0
    stream = make_stream(a.seed, a.jobs, a.nodes, a.order)
    with tempfile.TemporaryDirectory(prefix="slurm-peer-") as folder:
        peer = Peer(folder, a.nodes, a.order, a.resolution, a.port)
        try:
            peer.start()
            version = peer.call("scontrol", "--version").split()[-1]
            done = play(peer, stream, a.order)
        finally:
            peer.stop()
    title = f"Slurm {version}: {a.jobs} jobs on {a.nodes} nodes, order {a.order}, seed {a.seed}"
    text, compared, blurred = scenario_of(stream, done, a.nodes, a.order, a.resolution, title)
    out = a.out or Path(tempfile.mkstemp(suffix=".ks")[1])
    out.write_text(text)
    tested = subprocess.run([a.program, "test", str(out)], capture_output=True, text=True)
    print(tested.stdout + tested.stderr, end="")
    print(f"{title}: {compared} moments compared, {blurred} left out, in {out}")
    return tested.returncode


if __name__ == "__main__":
    sys.exit(main())
