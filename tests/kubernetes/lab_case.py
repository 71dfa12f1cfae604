"""What tests in the lab share: a server for each class, kaisched-kubernetes started against it, and counting what is on the
nodes object by object."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from fractions import Fraction
from pathlib import Path

import lab as laboratory

PROGRAM = os.environ["KAISCHED_KUBERNETES"]
AUDIT = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, userGroups: ["system:serviceaccounts"]}
- {level: None}
"""
QUICK = "period: 500ms\nsettle: 100ms\n"  # cycles
LEASES = "leader_election: {lease_duration: 4s, renew_deadline: 2s, retry_period: 300ms}\n"
SCALES = {"m": Fraction(1, 1000), "k": 1000, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}


def amount(text):
    number, scale = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", str(text)).groups()
    return Fraction(number) * SCALES.get(scale, 1)


def requests_of(pod):
    held = Counter(pods=1)
    for one in pod["spec"]["containers"]:
        for name, value in one.get("resources", {}).get("requests", {}).items():
            held[name] += amount(value)
    return held


def condition(obj, kind):
    return next((one for one in obj.get("status", {}).get("conditions", []) if one["type"] == kind), {})


class LabCase(unittest.TestCase):
    audited = False  # what service accounts ask is kept, see asked()
    controllers = False  # kube-controller-manager, and kwok as kubelets
    controller_flags = ()
    kubelet_flags = ()
    lab_program = None

    @classmethod
    def setUpClass(cls):
        flags = []
        if cls.audited:
            cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
            (cls.folder / "policy.yaml").write_text(AUDIT)
            flags = [f"--audit-policy-file={cls.folder}/policy.yaml", f"--audit-log-path={cls.folder}/audit.log"]
        cls.lab = cls.enterClassContext(laboratory.Lab(cls.lab_program, *flags))
        cls.lab.prepare()
        if cls.controllers:
            cls.lab.start_controllers(*cls.controller_flags)
            cls.lab.start_kubelets(*cls.kubelet_flags)

    def setUp(self):
        self.created = set()  # names of pods, without those that controllers make
        self.removed = set()
        self.logs = []
        self.processes = []
        self.commands = []  # of these, with their logs

    def tearDown(self):
        for process in self.processes:
            laboratory.end(process)
        self.lab.stop("scheduler")
        self.lab.clear()

    # ---- playing ----

    def create(self, *objects):
        for one in objects:
            if self.controllers and one["kind"] == "Node":
                one["metadata"].setdefault("annotations", {})["kwok.x-k8s.io/node"] = "fake"
            self.lab.create(one)
            if one["kind"] == "Pod":
                self.created.add(one["metadata"]["name"])

    def remove(self, obj):
        self.lab.remove(obj)
        if obj["kind"] == "Pod":
            self.removed.add(obj["metadata"]["name"])

    def once(self, *words):
        done = subprocess.run([PROGRAM, "--kubeconfig", self.lab.kubeconfig, "--once", *words], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        file = self.lab.folder / f"{self.id()}-once.log"
        file.write_text(done.stderr)
        self.logs.append(file)
        return done.stdout

    def start(self, config=QUICK, kubeconfig=None, words=(), terms=LEASES):
        file = self.lab.folder / f"{self.id()}-{len(self.logs)}.yaml"
        file.write_text(config + terms)
        log = file.with_suffix(".log")
        self.logs.append(log)
        command = [PROGRAM, "--kubeconfig", kubeconfig or self.lab.kubeconfig, "--config", file, *words]
        self.processes.append(self.launch(command, log))
        self.commands.append((command, log))
        return self.processes[-1]

    @staticmethod
    def launch(command, log):
        with open(log, "a") as said:
            return subprocess.Popen(command, stderr=said)

    def start_again(self):
        """What a kubelet does: who has lost the lease, as happens where nothing gets its time, ends and is started again."""
        for i, (command, log) in enumerate(self.commands):
            if self.processes[i].poll() == 1 and log.read_text().rstrip().endswith("lost; nothing more is decided"):
                self.processes[i] = self.launch(command, log)

    def said(self):
        return "".join(log.read_text() for log in self.logs)

    def until(self, condition, seconds=180):
        end = time.monotonic() + seconds
        while not condition():
            self.start_again()
            if time.monotonic() > end:
                self.fail(f"not within {seconds} s; bound: {self.lab.bound()}\n{self.said()[-6000:]}\n{self.lab.log('scheduler')[-2000:]}")
            time.sleep(0.1)

    def bound(self, prefix=""):
        return {name: node for name, node in self.lab.bound().items() if name.startswith(prefix)}

    def until_bound(self, prefix, count):
        self.until(lambda: len(self.bound(prefix)) == count)

    def until_quiet(self, seconds=3):
        """Nothing has been bound for a while. Only for what cannot be waited for: that nothing more comes."""
        last, since = None, time.monotonic()
        while time.monotonic() < since + seconds:
            now = self.lab.bound()
            if now != last:
                last, since = now, time.monotonic()
            time.sleep(0.2)

    def until_unschedulable(self, name):
        """kube-scheduler has said that the pod waits."""
        self.until(lambda: condition(self.lab.pods()[name], "PodScheduled").get("reason") == "Unschedulable")

    def explained(self):
        """How often the program has said why a pod or group waits."""
        return sum(map(int, re.findall(r"cycle: .*?(\d+) explained", self.said())))

    def until_explained(self, since=0):
        self.until(lambda: self.explained() > since)

    # ---- rights ----

    @classmethod
    def asked(cls, name):
        """What the account has asked: ((group, resource, verb), status)."""
        with open(cls.folder / "audit.log") as log:
            events = [json.loads(line) for line in log if line.endswith("\n")]
        mine = [one for one in events if one["user"]["username"] == f"system:serviceaccount:kube-system:{name}" and "objectRef" in one]
        for one in mine:
            what = one["objectRef"]
            resource = what["resource"] + (f"/{what['subresource']}" if "subresource" in what else "")
            yield (what.get("apiGroup", ""), resource, one["verb"]), one["responseStatus"]["code"]

    # ---- counting ----

    def overdrawn(self):
        """(node, resource) of which pods that have not ended hold more than there is."""
        held = {}
        for one in self.lab.items("/api/v1/pods"):
            if one["spec"].get("nodeName") and one.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
                held.setdefault(one["spec"]["nodeName"], Counter()).update(requests_of(one))
        has = {one["metadata"]["name"]: one["status"]["allocatable"] for one in self.lab.items("/api/v1/nodes")}
        return sorted(
            (node, name) for node, what in held.items() if node in has for name, value in what.items() if value > amount(has[node].get(name, 0))
        )

    def partial(self):
        """Gangs of which fewer pods than they need are on nodes, but some."""
        members = Counter()
        for one in self.lab.pods().values():
            if one["spec"].get("nodeName") and not one["metadata"].get("deletionTimestamp"):
                members[one["metadata"].get("annotations", {}).get("pod-group-name")] += 1
        groups = self.lab.items("/apis/scheduling.run.ai/v2alpha2/podgroups")
        return [one["metadata"]["name"] for one in groups if 0 < members[one["metadata"]["name"]] < one["spec"]["minMember"]]

    def assert_sound(self):
        """No node is overdrawn, no gang there in part, no pod bound twice, and none gone that nobody sent away."""
        pods = self.lab.pods()
        self.assertEqual(self.overdrawn(), [])
        self.assertEqual(self.partial(), [])
        said = self.said()
        bindings = Counter(re.findall(r"pod (\S+): bound to", said))
        evicted = Counter(re.findall(r"pod (\S+): evicted", said))
        again = {name: n for name, n in bindings.items() if n > 1 + evicted[name] and name.removeprefix("team/") not in self.removed}
        self.assertEqual(again, {}, "bound twice")
        gone = self.created - self.removed - set(pods) - {name.removeprefix("team/") for name in evicted}
        self.assertEqual(gone, set(), "lost")
        return pods


def main():
    """Runs the tests of the program, or those that the command line names, if there is a lab."""
    try:
        LabCase.lab_program = laboratory.find()
    except laboratory.Absent as why:
        print(f"skipped: lab absent: {why}")
        sys.exit(0)
    unittest.main()
