"""How many pods per second are bound against a real API server, by kaisched-kubernetes and by a plain kube-scheduler, one after the
other on this machine, and what of that is deciding. For who measures; no test.

    KAISCHED_KUBERNETES=build/release/bin/kaisched-kubernetes python3 tests/kubernetes/bench_lab.py --nodes 1000 --pods 5000
"""

import argparse
import contextlib
import os
import subprocess
import time
import urllib.request

import lab as laboratory
from clusters import node, pod

PROGRAM = os.environ["KAISCHED_KUBERNETES"]
PHASES = ("gather", "read", "decide", "act")


def scrape(url):
    with urllib.request.urlopen(url, timeout=60, context=laboratory.UNSIGNED if url.startswith("https") else None) as answer:
        return answer.read().decode().splitlines()


def total(lines, name, *labels):
    mine = [line for line in lines if line.startswith((name + "{", name + " ")) and all(label in line for label in labels)]
    return sum(float(line.rsplit(" ", 1)[1]) for line in mine)


class Ours:
    name, scheduler = "kaisched-kubernetes", "kaisched"

    def start(self, lab):
        port = laboratory.free_port()
        file = lab.folder / "config.yaml"
        file.write_text(f"server: {{listen: '127.0.0.1:{port}'}}\nleader_election: {{enabled: false}}\n")
        with open(lab.folder / "program.log", "w") as log:
            self.process = subprocess.Popen([PROGRAM, "--kubeconfig", lab.kubeconfig, "--config", file], stderr=log)
        self.url = f"http://127.0.0.1:{port}/metrics"
        self.log = lab.folder / "program.log"

    def bound(self):
        return self.log.read_text().count(": bound to ")

    def stop(self):
        laboratory.end(self.process)

    def times(self):
        while "cycle: " not in self.log.read_text().rsplit(": bound to ", 1)[1]:  # it writes events first
            time.sleep(0.25)
        seen = scrape(self.url)
        return {phase: total(seen, "kaisched_cycle_seconds_sum", f'phase="{phase}"') for phase in PHASES}


class Theirs:
    scheduler = "default-scheduler"

    def __init__(self, name, **connection):
        self.name, self.connection = name, connection

    def start(self, lab):
        self.url = f"https://127.0.0.1:{lab.start_scheduler(**self.connection)}/metrics"

    def bound(self):
        return total(scrape(self.url), "scheduler_schedule_attempts_total", 'result="scheduled"')

    def stop(self):
        pass

    def times(self):
        seen = scrape(self.url)
        deciding = total(seen, "scheduler_scheduling_algorithm_duration_seconds_sum")
        return {"decide": deciding, "binding, pods added up": total(seen, "scheduler_framework_extension_point_duration_seconds_sum", 'extension_point="Bind"')}


def measure(who, program, nodes, pods):
    with laboratory.Lab(program) as lab:
        lab.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        lab.create_all(node(f"n{i:04}") for i in range(nodes))
        lab.create_all(pod(f"p{i:05}", scheduler=who.scheduler) for i in range(pods))
        began = time.monotonic()
        who.start(lab)
        first = last = None
        done = 0
        while done < pods:
            time.sleep(0.25)
            with contextlib.suppress(OSError):
                done = who.bound()
            last = time.monotonic()
            if done and first is None:
                first, before = last, done
        rate = (pods - before) / (last - first) if last > first else float("nan")
        times = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in who.times().items())
        print(f"{who.name}: {rate:.0f} pods/s from the first binding to the last; all {last - began:.1f} s from the start of the program; {times}", flush=True)
        who.stop()


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--nodes", type=int, default=1000)
    words.add_argument("--pods", type=int, default=5000)
    given = words.parse_args()
    program = laboratory.find()
    print(f"{given.nodes} nodes of 8 GPUs, {given.pods} pods of 1; load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for who in (Ours(), Theirs("kube-scheduler as it comes"), Theirs("kube-scheduler, 5000 requests/s allowed", qps=5000, burst=5000)):
        measure(who, program, given.nodes, given.pods)


if __name__ == "__main__":
    main()
