"""kaisched-kubernetes against a real API server. After each test what is on the nodes is counted object by object."""

import os
import subprocess
import sys
import time
import unittest
import urllib.error
from collections import Counter
from pathlib import Path

import lab as laboratory
from clusters import gang, group, node, pod, queue

PROGRAM = os.environ["KAISCHED_KUBERNETES"]
CRDS = Path(__file__).resolve().parents[2] / "examples" / "kubernetes" / "crds"


def gpus_of(pod):
    return sum(int(c["resources"].get("requests", {}).get("nvidia.com/gpu", 0)) for c in pod["spec"]["containers"])


class InTheLab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(laboratory.Lab(cls.lab_program))
        cls.lab.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        for file in sorted(CRDS.glob("*.yaml")):
            cls.lab.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", file.read_bytes(), "application/yaml")
        end = time.monotonic() + 30
        for path in ("scheduling.run.ai/v2/queues", "scheduling.run.ai/v2alpha2/podgroups", "kai.scheduler/v1alpha1/topologies"):
            while True:
                try:
                    cls.lab.items(f"/apis/{path}")
                    break
                except urllib.error.HTTPError:
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.1)

    def setUp(self):
        self.expected = {}
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.lab.clear()

    # ---- playing ----

    def create(self, *objects):
        for one in objects:
            self.lab.create(one)

    def once(self, *words):
        done = subprocess.run([PROGRAM, "--kubeconfig", self.lab.kubeconfig, "--once", *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def start(self, config="period: 500ms\nsettle: 100ms\n"):
        file = self.lab.folder / "config.yaml"
        file.write_text(config + "leader_election: {lease_duration: 4s, renew_deadline: 2s, retry_period: 300ms}\n")
        log = open(self.lab.folder / "program.log", "w")
        process = subprocess.Popen([PROGRAM, "--kubeconfig", self.lab.kubeconfig, "--config", file], stderr=log)
        log.close()
        self.processes.append(process)
        return process

    def until(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            log = self.lab.folder / "program.log"
            self.assertLess(time.monotonic(), end, f"{self.lab.bound()}\n{log.read_text() if log.exists() else ''}")
            time.sleep(0.1)

    # ---- counting ----

    def assert_sound(self):
        """No node holds more than it has, and no gang is there in part."""
        pods = self.lab.pods()
        held = Counter()
        members = Counter()
        for one in pods.values():
            if one["spec"].get("nodeName"):
                held[one["spec"]["nodeName"]] += gpus_of(one)
                members[one["metadata"].get("annotations", {}).get("pod-group-name")] += 1
        for one in self.lab.items("/api/v1/nodes"):
            name = one["metadata"]["name"]
            self.assertLessEqual(held[name], int(one["status"]["allocatable"]["nvidia.com/gpu"]), name)
        for one in self.lab.items("/apis/scheduling.run.ai/v2alpha2/podgroups"):
            there = members[one["metadata"]["name"]]
            self.assertTrue(there == 0 or there >= one["spec"]["minMember"], f"{one['metadata']['name']}: {there} pods")
        return pods

    # ---- tests ----

    def test_no_partial_gang(self):
        """10 free GPUs, a gang of 8 and a job of 5: one of them starts, whole."""
        eight, pods = gang("eight", "q", 8)
        self.create(node("n0", 5), node("n1", 5), queue("q", 10), eight, *pods, group("five", "q", 1), pod("five-0", 5, group="five"))
        self.once()
        self.assert_sound()
        bound = self.lab.bound()
        self.assertIn(sorted(Counter(name.split("-")[0] for name in bound).items()), ([("eight", 8)], [("five", 1)]), bound)
        self.assertEqual(len(self.lab.pods()), 9)
        waits = "five" if "eight-0" in bound else "eight"
        status = self.lab.ask("GET", f"/apis/scheduling.run.ai/v2alpha2/namespaces/team/podgroups/{waits}")["status"]
        self.assertEqual(status["schedulingConditions"][0]["type"], "UnschedulableOnNodePool")
        events = self.lab.items("/apis/events.k8s.io/v1/namespaces/team/events")
        self.assertEqual(len([e for e in events if e["reason"] == "Scheduled"]), len(bound))

    def test_binpack(self):
        self.create(node("n0"), node("n1"), queue("q", -1))
        for i in range(4):
            self.create(group(f"g{i}", "q", 1), pod(f"g{i}-0", 2, group=f"g{i}"))
        self.once()
        self.assertEqual(len(set(self.lab.bound().values())), 1)
        self.assertEqual(len(self.lab.bound()), 4)

    def test_reclaim(self):
        self.create(node("n0"), queue("top", 8), queue("a", 4, "top"), queue("b", 4, "top"))
        for i in range(8):
            self.create(group(f"a{i}", "a", 1), pod(f"a{i}-0", 1, group=f"a{i}", on="n0"))
        mine, pods = gang("b", "b", 3)
        self.create(mine, *pods)
        self.start()
        self.until(lambda: len([n for n in self.lab.bound() if n.startswith("b-")]) == 3)
        self.assert_sound()
        self.assertEqual(len([n for n in self.lab.bound() if n.startswith("a")]), 5)  # not one more than had to

    def test_pods_of_others_are_usage(self):
        self.create(node("n0"), queue("q", -1), pod("theirs", 6, scheduler="another", on="n0"), pod("waits", scheduler="another"))
        for i in range(4):
            self.create(group(f"g{i}", "q", 1), pod(f"g{i}-0", group=f"g{i}"))
        self.once()
        self.assert_sound()
        self.assertEqual(len(self.lab.bound()), 3)
        self.assertNotIn("waits", self.lab.bound())

    def test_a_dry_run_writes_nothing(self):
        mine, pods = gang("g", "q", 4)
        self.create(node("n0"), queue("q", -1), mine, *pods, group("h", "q", 1), pod("h-0", 9, group="h"))
        before = self.versions()
        self.assertEqual(self.once("--dry-run").count("bind team/g-"), 4)
        self.assertEqual(self.versions(), before)

    def versions(self):
        """All that a scheduler could have written to."""
        paths = ("/api/v1/nodes", "/api/v1/namespaces/team/pods", "/apis/scheduling.run.ai/v2alpha2/podgroups", "/apis/events.k8s.io/v1/namespaces/team/events")
        return {(o["metadata"]["uid"], o["metadata"]["resourceVersion"]) for path in paths for o in self.lab.items(path)}

    def test_a_restart_in_the_middle_of_a_gang(self):
        mine, pods = gang("g", "q", 24)
        self.create(*(node(f"n{i}") for i in range(3)), queue("q", -1), mine, *pods)
        first = self.start()
        self.until(lambda: len(self.lab.bound()) >= 1, 30)
        first.kill()
        first.wait()
        before = self.lab.bound()
        self.start()
        self.until(lambda: len(self.lab.bound()) == 24)
        self.assert_sound()
        self.assertEqual({name: self.lab.bound()[name] for name in before}, before)

    def test_pods_that_come_and_go(self):
        """What the watch tells is decided, and a pod that is gone makes room."""
        self.create(node("n0", 2), queue("q", -1))
        self.start()
        for turn in range(3):
            mine, pods = gang(f"g{turn}", "q", 2)
            self.create(mine, *pods)
            self.until(lambda turn=turn: len([n for n in self.lab.bound() if n.startswith(f"g{turn}-")]) == 2)
            self.assert_sound()
            for one in pods:
                self.lab.ask("DELETE", f"/api/v1/namespaces/team/pods/{one['metadata']['name']}")


if __name__ == "__main__":
    try:
        InTheLab.lab_program = os.environ.get("KAISCHED_LAB") or laboratory.build()
    except laboratory.Absent as why:
        print(f"skipped: lab absent: {why}")
        sys.exit(0)
    unittest.main()
