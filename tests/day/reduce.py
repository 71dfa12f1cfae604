"""Makes a day in which a rule is violated smaller, and writes the session of the violation as a scenario.

Used by days.py. By itself it is the question that `kaisched minimise --command` asks:

    python3 reduce.py holds RULE PROGRAM SCENARIO        exit status 0: the session still violates the rule
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_SECONDS = 90  # of one reduction
MOST_TRIALS = 600
ROUNDS = 6  # sessions, one after the other, after which a cluster has to be at rest
SESSION_RULES = ("rest", "net")  # what one cluster shows
EARLY_RULES = ("rest", "net", "idle", "quota", "accounts")  # what a day shows before it is over


class Player:
    """Plays and judges days with the settings of a row."""

    def __init__(self, host, check, settings, seconds=20):
        self.host, self.check, self.settings, self.seconds = host, check, settings, seconds

    def violation(self, day, rule, sessions=None):
        """(session, milliseconds) of the first violation of the rule in a day, or None.

        sessions: the day is broken off after so many, where what comes later does not matter.
        """
        settings = self.settings + ["restless=1"] if rule == "rest" else self.settings
        settings = settings + [f"sessions={sessions}"] if sessions and rule in EARLY_RULES else settings
        with tempfile.TemporaryDirectory() as scratch:
            file, log = Path(scratch) / "day", Path(scratch) / "log"
            file.write_text("".join(line + "\n" for line in day), encoding="utf-8")
            try:
                played = subprocess.run([self.host, file, log, *settings], timeout=self.seconds, capture_output=True, check=False)
                if played.returncode != 0:
                    return None
                judged = subprocess.run([self.check, file, log], timeout=self.seconds, capture_output=True, text=True, check=False)
            except subprocess.TimeoutExpired:
                return None
            for line in judged.stdout.splitlines():
                words = line.split(",")
                if words[0] == "violation" and words[1] == rule:
                    return int(words[2]), int(words[3])
        return None


class Reduction:
    def __init__(self, player, rule, day):
        self.player, self.rule, self.day = player, rule, day
        self.found = player.violation(day, rule)
        self.trials = 0
        self.until = time.monotonic() + MOST_SECONDS

    def tries(self, day):
        """Takes a smaller day if it violates the rule as well."""
        if self.trials >= MOST_TRIALS or time.monotonic() > self.until:
            return False
        self.trials += 1
        found = self.player.violation(day, self.rule, self.found[0])
        if found is None:
            return False
        self.day, self.found = day, found
        return True

    def leave_out(self, chosen):
        """Leaves out as many lines as it can of those that are chosen, half of them at first."""
        size = max(1, sum(map(chosen, self.day)) // 2)
        while True:
            at = 0
            while True:
                numbers = [n for n, line in enumerate(self.day) if chosen(line)]
                gone = set(numbers[at : at + size])
                if not gone:
                    break
                if not self.tries([line for n, line in enumerate(self.day) if n not in gone]):
                    at += size
            if size == 1:
                return
            size //= 2

    def run(self):
        if self.found is None:
            return
        self.tries([line for line in self.day if not late(line, self.found[1])])
        self.leave_out(lambda line: line.startswith("job,"))
        self.leave_out(lambda line: line.startswith("outage,"))
        self.leave_out(lambda line: line.startswith("node,"))
        self.leave_out(lambda line: line.startswith("job,"))
        self.leave_out(lambda line: line.startswith("queue,") and not is_used(line, self.day))


def late(line, now):
    return line.startswith("job,") and int(line.split(",")[2]) > now


def is_used(queue, day):
    name = queue.split(",")[1]
    return any((row[0] == "job" and row[4] == name) or (row[0] == "queue" and row[2] == name)
               for row in (line.split(",") for line in day))  # fmt: skip


def holds(rule, program, scenario):
    """Whether the cluster of a scenario, which ends with one `run`, shows a violation."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "case.ks"
        text = Path(scenario).read_text(encoding="utf-8").rstrip() + "\n"
        if text.count("\nrun\n") != 1:
            return False
        text += "expect nothing\n" if rule == "net" else "settle\nrun\n" * ROUNDS + "expect counts\n"
        file.write_text(text, encoding="utf-8")
        tested = subprocess.run([program, "test", file], capture_output=True, text=True, timeout=120, check=False).stdout
    if rule == "net":
        started = set(re.findall(r"found bind (\S+)", tested))
        return any(pod in started for pod in re.findall(r"found (?:evict|move) (\S+)", tested))
    return bool(re.search(r"found counts .*\b(bind|evict|move)=", tested))


def write_scenario(player, program, reduction, to, trials=3000):
    """The cluster of the session as a scenario; smaller still where one cluster shows the violation."""
    session = reduction.found[0]
    first = max(1, session - 19) if reduction.rule == "rest" else session
    day = to.with_suffix(".day")
    day.write_text("".join(line + "\n" for line in reduction.day), encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([player.host, day, Path(scratch) / "log", *player.settings, f"scenario_of={first}", f"scenario={to}"],
                       check=True, timeout=120)  # fmt: skip
    if reduction.rule not in SESSION_RULES or not to.exists() or not holds(reduction.rule, program, to):
        return
    question = f"{sys.executable} {Path(__file__).resolve()} holds {reduction.rule} {program} {{}}"
    small = to.with_suffix(".small.ks")
    try:
        done = subprocess.run([program, "minimise", to, "--command", question, "--trials", str(trials), "--out", small, "-q"],
                              timeout=300, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        return
    if done.returncode == 0 and small.exists():
        small.replace(to)


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] != "holds":
        sys.exit(__doc__)
    sys.exit(0 if holds(*sys.argv[2:]) else 1)
