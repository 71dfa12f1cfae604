"""Runs tests against mutants: cheapest and deadliest first, until one fails."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

MEMORY = 4 << 30        # bytes of address space; a mutant that allocates without end is stopped
SLOWER = 5              # times the processor time of the unmutated run
LEAST_SECONDS = 3


@dataclass
class Test:
    name: str
    command: list
    folder: str
    environment: dict = field(default_factory=dict)
    fail_on: list = field(default_factory=list)
    will_fail: bool = False
    skip_status: int | None = None
    seconds: float = 0.0    # of processor time, unmutated


@dataclass
class Verdict:
    state: str              # killed, timeout, survived
    by: str = ""            # name of the test
    ran: tuple = ()         # names, in order
    reached: bool = False   # by any of the tests
    seconds: float = 0.0


def ctest_tests(build, labels, exclude_labels=("full",), skip=None):
    """Tests that ctest knows for a build folder, as far as they have one of `labels` and none of the excluded."""
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    tests = []
    for one in json.loads(listing.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in one.get("properties", [])}
        its_labels = set(properties.get("LABELS", []))
        if not its_labels & set(labels) or its_labels & set(exclude_labels) or "command" not in one:
            continue
        if skip and re.search(skip, one["name"]):
            continue
        tests.append(Test(
            name=one["name"], command=one["command"], folder=properties.get("WORKING_DIRECTORY", str(build)),
            environment=dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []) if "=" in pair),
            fail_on=properties.get("FAIL_REGULAR_EXPRESSION", []), will_fail=bool(properties.get("WILL_FAIL", False)),
            skip_status=properties.get("SKIP_RETURN_CODE")))
    return tests


class Runner:
    """Runs one test for one mutant. `run` may be called from several threads."""

    def __init__(self, scratch, environment=None):
        self.scratch = Path(scratch)
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.environment = environment or {}

    def run(self, test, mutant, reached=None):
        """-> ("passed" | "failed" | "timeout" | "skipped", processor seconds)"""
        limit = max(LEAST_SECONDS, SLOWER * test.seconds) if test.seconds else 600
        own = tempfile.mkdtemp(dir=self.scratch)  # two mutants must not write to one folder
        environment = {**os.environ, **self.environment, **test.environment, "KAISCHED_MUTANT": str(mutant), "TMPDIR": own}
        # Parameters of RapidCheck are one variable: those of the test and the seed of the campaign.
        rapidcheck = [of["RC_PARAMS"] for of in (test.environment, self.environment) if "RC_PARAMS" in of]
        if rapidcheck:
            environment["RC_PARAMS"] = " ".join(rapidcheck)
        if reached is not None:
            environment["KAISCHED_MUTANT_REACHED"] = str(reached)
        command = list(test.command)
        if any(word.startswith("--source-file=") for word in command):
            command.append("--abort-after=1")
        for i, word in enumerate(command[:-1]):
            if word == "--work":
                command[i + 1] = os.path.join(own, "work")

        def confine():
            seconds = int(limit) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(os.path.join(own, "output"), "w+b") as output:
            process = subprocess.Popen(command, cwd=test.folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=confine)
            late = threading.Event()

            def stop():
                late.set()
                os.killpg(process.pid, signal.SIGKILL)

            # The limit is one of processor time; this one is for what sleeps.
            timer = threading.Timer(60 + 20 * limit, stop)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
        shutil.rmtree(own, ignore_errors=True)
        seconds = usage.ru_utime + usage.ru_stime
        if late.is_set() or process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "timeout", seconds
        if test.skip_status is not None and process.returncode == test.skip_status:
            return "skipped", seconds
        failed = process.returncode != 0 or any(re.search(pattern, text) for pattern in test.fail_on)
        if test.will_fail:
            # An end by a signal is never what such a test waits for.
            failed = not failed or process.returncode < 0
        return ("failed" if failed else "passed"), seconds


class Campaign:
    """Judges mutants with a set of tests. Remembers between runs which test killed what, to try that one first."""

    def __init__(self, runner, tests, memory=None, jobs=2, say=print):
        self.runner, self.tests, self.jobs, self.say = runner, tests, jobs, say
        self.memory_file = Path(memory) if memory else None
        self.memory = {"tried": {}, "killed": {}}
        if self.memory_file and self.memory_file.exists():
            self.memory = json.loads(self.memory_file.read_text())
        self.lock = threading.Lock()

    def check_unmutated(self):
        """Every test must pass without a mutant; measures them. -> names of those that were skipped"""
        def one(test):
            return test, *self.runner.run(test, 0)
        skipped, failed = [], []
        with ThreadPoolExecutor(self.jobs) as pool:
            for test, state, seconds in pool.map(one, self.tests):
                test.seconds = max(seconds, 0.01)
                if state == "skipped":
                    skipped.append(test.name)
                elif state != "passed":
                    failed.append(f"{test.name} ({state})")
        if failed:
            raise RuntimeError("without any mutant these tests fail: " + ", ".join(failed))
        self.tests = [t for t in self.tests if t.name not in skipped]
        return skipped

    def order(self, file):
        """Most likely deaths per second first."""
        def merit(test):
            here, all_files = f"{file}|{test.name}", f"*|{test.name}"
            killed, tried = self.memory["killed"], self.memory["tried"]
            likely = (0.5 + 4 * killed.get(here, 0) + killed.get(all_files, 0)) / (
                2 + 4 * tried.get(here, 0) + tried.get(all_files, 0))
            return likely / (0.02 + test.seconds)
        with self.lock:
            return sorted(self.tests, key=lambda t: (-merit(t), t.name))

    def remember(self, file, test, killed):
        with self.lock:
            for key in (f"{file}|{test.name}", f"*|{test.name}"):
                self.memory["tried"][key] = self.memory["tried"].get(key, 0) + 1
                if killed:
                    self.memory["killed"][key] = self.memory["killed"].get(key, 0) + 1

    def judge(self, number, file):
        start = time.monotonic()
        reached = self.runner.scratch / f"reached-{number}"
        reached.unlink(missing_ok=True)
        ran, verdict = [], None
        for test in self.order(file):
            state, _ = self.runner.run(test, number, reached)
            ran.append(test.name)
            self.remember(file, test, state in ("failed", "timeout"))
            if state in ("failed", "timeout"):
                verdict = Verdict("killed" if state == "failed" else "timeout", test.name)
                break
        verdict = verdict or Verdict("survived")
        verdict.ran, verdict.reached, verdict.seconds = tuple(ran), reached.exists(), time.monotonic() - start
        reached.unlink(missing_ok=True)
        return verdict

    def run(self, mutants):
        """`mutants`: pairs of number and site. -> {number: verdict}"""
        verdicts = {}

        def one(pair):
            number, site = pair
            verdict = self.judge(number, site.file)
            with self.lock:
                verdicts[number] = verdict
                done = len(verdicts)
            by = f" by {verdict.by}" if verdict.by else ("" if verdict.reached else ", never reached")
            self.say(f"[{done}/{len(mutants)}] {site.id} {site.file}:{site.line} {site.operator}: {verdict.state}{by}"
                     f" ({verdict.seconds:.1f} s)")
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(one, mutants))
        if self.memory_file:
            self.memory_file.write_text(json.dumps(self.memory, sort_keys=True))
        return verdicts
