"""Plays the host of examples/host_c with claims kept and forgotten, pods that take 0 to 5 ticks to stop, and several
seeds. What it prints is counted a second time from its log: places on nodes, what becomes of each pod, when it rests.

    host.py PROGRAM FIRST_SEED LAST_SEED
"""

import collections
import itertools
import re
import subprocess
import sys

GPUS = 8  # of a node
BUSY = 200  # ticks with jobs that come and end
MOST_RESTLESS = 40  # ticks after that
MOST_STOPS_AT_REST = 4  # of one pod while demand is constant
SUMMARY = re.compile(
    r"(\d+) starts, (\d+) failed, (\d+) stopped, (\d+) moves, (\d+) claims, (\d+) conflicts, rest after (\d+) ticks, "
    r"digest [0-9a-f]{16}"
)


class Fault(Exception):
    pass


def demand(condition: bool, what: str) -> None:
    if not condition:
        raise Fault(what)


class Pods:
    """What the lines of a log make of pods and nodes."""

    def __init__(self, end_ticks: int) -> None:
        self.end_ticks = end_ticks
        self.gpus: dict[str, int] = {}
        self.node: dict[str, int] = {}
        self.stopped_at: dict[str, int] = {}
        self.held: collections.Counter = collections.Counter()
        self.seen: collections.Counter = collections.Counter()
        self.late_stops: collections.Counter = collections.Counter()
        self.last_change = 0

    def leave_node(self, pod: str) -> None:
        self.held[self.node.pop(pod)] -= self.gpus[pod]

    def take(self, tick: int, what: str, pod: str, number: int) -> None:
        self.seen[what] += 1
        if what == "comes":
            demand(pod not in self.gpus, f"{pod} comes twice")
            self.gpus[pod] = number
            return
        demand(pod in self.gpus, f"{pod} is not there")
        self.last_change = tick
        if what == "runs":
            demand(pod not in self.node, f"{pod} starts twice")
            self.node[pod] = number
            self.held[number] += self.gpus[pod]
            demand(self.held[number] <= GPUS, f"node {number} holds {self.held[number]} GPUs at tick {tick}")
        elif what == "failed":
            demand(pod not in self.node, f"{pod} runs and fails to start")
        elif what == "stops":
            demand(pod in self.node and pod not in self.stopped_at, f"{pod} stops and does not run")
            self.stopped_at[pod] = tick
            self.late_stops[pod] += tick >= BUSY
        elif what == "waits":
            demand(tick == self.stopped_at.pop(pod, -1) + 1 + self.end_ticks, f"{pod} ends too early or too late")
            self.leave_node(pod)
        elif what == "leaves":
            demand(tick < BUSY, f"{pod} leaves while demand is constant")
            self.stopped_at.pop(pod, None)
            if pod in self.node:
                self.leave_node(pod)
            del self.gpus[pod]
        else:
            raise Fault(f"a line that says {what}")


def play(program: str, claims: str, end_ticks: int, seed: int) -> list[int]:
    """Counts of the summary, which agree with the log."""
    options = ["--claims", claims, "--end-ticks", str(end_ticks), "--seed", str(seed)]
    done = subprocess.run([program, *options, "--log", "yes"], capture_output=True, text=True, timeout=120)
    demand(done.returncode == 0, f"ended with {done.returncode}: {done.stderr.strip()}")
    *lines, last = done.stdout.splitlines()
    said = SUMMARY.fullmatch(last)
    demand(said is not None, f"the last line is {last!r}")
    counts = [int(one) for one in said.groups()]
    pods = Pods(end_ticks)
    for line in lines:
        tick, what, pod, number = line.split()
        pods.take(int(tick), what, pod, int(number))
    demand([pods.seen[what] for what in ("runs", "failed", "stops")] == counts[:3], "the log has other counts")
    rest = counts[6]
    demand(0 <= rest <= MOST_RESTLESS, f"rest after {rest} ticks")
    demand(pods.last_change <= BUSY + rest, f"something happens at tick {pods.last_change}, after {BUSY + rest}")
    demand(not pods.stopped_at, f"{sorted(pods.stopped_at)} have not ended")
    most = max(pods.late_stops.values(), default=0)
    demand(most <= MOST_STOPS_AT_REST, f"a pod is stopped {most} times while demand is constant")
    summary = subprocess.run([program, *options], capture_output=True, text=True, timeout=120).stdout if seed == 1 else None
    demand(summary in (None, last + "\n"), f"a second play prints {summary!r}")
    return counts


def main() -> int:
    program, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    faults = []
    sums = {"keep": [0] * 7, "forget": [0] * 7}
    for claims, end_ticks, seed in itertools.product(sums, range(6), range(first, last + 1)):
        try:
            counts = play(program, claims, end_ticks, seed)
            sums[claims] = [a + b for a, b in zip(sums[claims], counts)]
        except Fault as fault:
            faults.append(f"--claims {claims} --end-ticks {end_ticks} --seed {seed}: {fault}")
    print("claims: starts, failed, stopped, moves, claims, conflicts, ticks until rest")
    for claims, counts in sums.items():
        print(f"{claims}:", *counts)
        if not all(counts):
            faults.append(f"--claims {claims}: a kind of decision or of answer does not occur")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
