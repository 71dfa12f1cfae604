"""kaisched-device-plugin --by-grant between a kubelet and an API server of the tests: it tells of the cards of its node, and
gives containers what the scheduler has chosen. One ctest entry per class."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
import uuid
from datetime import datetime, timedelta
from pathlib import Path

from clusters import node, pod
from fake_api import FakeApi
from test_extender import ALLOCATED, BOUND, LOCK, NODE, PHASE, TO_ALLOCATE, ExtenderCase, rfc3339, shared_pod
from test_program import Case
from test_webhook import WebhookCase, variables

PLUGIN = os.environ["KAISCHED_DEVICE_PLUGIN"]
KUBELET = os.environ["KAISCHED_TEST_KUBELET"]
AGENT = os.environ["KAISCHED_AGENT"]
REGISTER = "hami.io/node-nvidia-register"
HANDSHAKE = "hami.io/node-handshake"
GIVEN = "kaisched.io/given-"
GUARD = "/usr/lib/kaisched/libkaisched_guard_dlsym.so"
GIB = 1 << 30
NOT_FOUND, FAILED_PRECONDITION, UNAVAILABLE = 5, 9, 14


class Kubelet:
    def __init__(self, folder):
        self.process = subprocess.Popen([KUBELET, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.registered = None

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def wait(self):
        self.registered = json.loads(self.process.stdout.readline())

    def ask(self, **what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def grant(*devices):
    """One container's devices: (card, MiB, percent of cores)."""
    return "".join(f"{card},NVIDIA,{memory},{cores}:" for card, memory, cores in devices) + ";"


def granted_pod(name, *containers, init=(), on="n0", bound=0, **change):
    """A pod that the scheduler has bound; what each container was granted."""
    grants = "".join([*init, *containers])
    made = pod(name, gpus=0, scheduler="default-scheduler", on=on)
    made["status"]["phase"] = "Pending"
    made["metadata"]["uid"] = str(uuid.uuid4())
    made["metadata"]["annotations"] = {
        NODE: on, PHASE: "allocating", BOUND: str(int(time.time()) + bound), TO_ALLOCATE: grants, ALLOCATED: grants, **change,
    }  # fmt: skip
    made["spec"]["containers"] = [{"name": f"c{i}", "image": "none"} for i in range(len(containers))]
    if init:
        made["spec"]["initContainers"] = [{"name": f"i{i}", "image": "none"} for i in range(len(init))]
    return made


class GrantCase(Case):
    CARDS = [{"uuid": f"GPU-{i}", "minor": i, "memory": 40 * GIB, "numa": i, "model": "A100"} for i in range(2)]

    def cards(self, cards):
        made = self.folder / "cards.new"
        made.write_text(json.dumps({"cards": cards}))
        made.rename(self.folder / "cards.json")

    def start_plugin(self, api, *words):
        self.kubelet_folder = self.folder / "kubelet"
        self.kubelet_folder.mkdir(exist_ok=True)
        if not (self.folder / "cards.json").exists():
            self.cards(self.CARDS)
        if not hasattr(self, "plugin_log"):
            self.plugin_log = open(self.folder / "plugin.log", "a")
            self.addCleanup(self.plugin_log.close)
        told = [PLUGIN, "--cards", self.folder / "cards.json", "--folder", self.kubelet_folder, "--slices", "10", "--interval", "20",
                "--by-grant", "--node", "n0", "--kubeconfig", self.kubeconfig(api.url), "--node-interval", "200", "--no-device-nodes",
                *([] if "--patience" in words else ["--patience", "3000"]), *words]  # fmt: skip
        process = subprocess.Popen(list(map(str, told)), stderr=self.plugin_log)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def serve_node(self, api, *words):
        """Plugin and kubelet, once they know each other and the node is registered."""
        if not api.get("nodes", "n0"):
            api.put("nodes", node("n0", gpus=20))
        process = self.start_plugin(api, *words)
        self.kubelet = Kubelet(self.kubelet_folder)
        self.addCleanup(self.kubelet.end)
        self.kubelet.wait()
        self.assert_until(api, lambda: REGISTER in self.of_node(api))
        return process

    def words(self):
        text = (self.folder / "plugin.log").read_text()
        self.assertNotIn("token-that-nobody-may-see", text)
        return text

    def assert_until(self, api, condition, seconds=60):
        self.assertTrue(api.until(condition, seconds), self.words() if hasattr(self, "plugin_log") else "")

    def of_node(self, api):
        return api.get("nodes", "n0")["metadata"].get("annotations", {})

    def notes(self, api, name):
        return api.get("pods", f"team/{name}")["metadata"]["annotations"]

    def lock(self, api, owner, seconds_ago=1):
        with api.lock:
            text = f"{rfc3339(seconds_ago)},team,{owner}"
            api._change("PATCH", "nodes", "n0", None, {"metadata": {"annotations": {LOCK: text}}})

    def bound(self, api, name, *containers, **more):
        made = granted_pod(name, *containers, **more)
        api.put("pods", made)
        self.lock(api, name)
        return made

    def allocate(self, *ids):
        answer = self.kubelet.ask(allocate=[list(ids)])
        self.assertIn("containers", answer, self.words())
        return answer["containers"][0]

    def refused(self, code, *ids):
        answer = self.kubelet.ask(allocate=[list(ids)])
        self.assertEqual(answer.get("error"), code, answer)
        return answer["message"]


class Registration(GrantCase):
    def test_cards_are_told_as_hami_tells_them(self):
        with FakeApi() as api:
            self.serve_node(api)
            told = json.loads(self.of_node(api)[REGISTER])
            self.assertEqual(told[1], {"id": "GPU-1", "index": 1, "count": 10, "devmem": 40960, "devcore": 100, "type": "NVIDIA-A100",
                                       "numa": 1, "mode": "hami-core", "health": True})  # fmt: skip
            self.assertEqual([one["id"] for one in told], ["GPU-0", "GPU-1"])
            self.assertNotIn(HANDSHAKE, self.of_node(api))
            self.assertEqual(len(self.kubelet.ask(list=True)), 20)
            self.cards([{**self.CARDS[0], "healthy": False, "model": "NVIDIA H100", "numa": -1}])
            self.assert_until(api, lambda: len(json.loads(self.of_node(api)[REGISTER])) == 1)
            told = json.loads(self.of_node(api)[REGISTER])[0]
            self.assertEqual((told["health"], told["type"], told["numa"]), (False, "NVIDIA H100", 0))

    def test_nothing_is_written_twice(self):
        with FakeApi() as api:
            self.serve_node(api)
            before = len(api.asked("GET", "/nodes/n0$"))
            self.assert_until(api, lambda: len(api.asked("GET", "/nodes/n0$")) > before + 3)
            self.assertEqual(len(api.asked("PATCH", "/nodes/n0$")), 1)

    def test_questions_are_answered(self):
        asked = f"Requesting_{(datetime.now() - timedelta(seconds=20)).strftime('%Y-%m-%d %H:%M:%S')}"
        with FakeApi() as api:
            one = node("n0", gpus=20)
            one["metadata"]["annotations"] = {HANDSHAKE: asked}
            api.put("nodes", one)
            self.serve_node(api)
            self.assertRegex(self.of_node(api)[HANDSHAKE], r"^Reported \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")
            for text in (asked, "Deleted_2026-03-07 12:00:00"):
                with api.lock:
                    api._change("PATCH", "nodes", "n0", None, {"metadata": {"annotations": {HANDSHAKE: text}}})
                self.assert_until(api, lambda: self.of_node(api)[HANDSHAKE].startswith("Reported "))

    def test_what_is_written_meanwhile_stays(self):
        """The node changes between look and answer: the server refuses what was decided from the older one."""
        with FakeApi() as api:
            api.put("nodes", node("n0", gpus=20))
            api.fail("PATCH", "/nodes/n0$", ("wait", 1))
            self.start_plugin(api)
            self.assert_until(api, lambda: api.asked("PATCH", "/nodes/n0$"))
            with api.lock:
                api._change("PATCH", "nodes", "n0", None, {"metadata": {"annotations": {HANDSHAKE: "Requesting_x"}}})
            self.assert_until(api, lambda: REGISTER in self.of_node(api) and self.of_node(api)[HANDSHAKE].startswith("Reported"))
            told = [one for one in api.asked("PATCH", "/nodes/n0$") if REGISTER in one.body["metadata"]["annotations"]]
            self.assertEqual(len(told), 2)  # the first one was refused

    def test_a_server_that_comes_later(self):
        with FakeApi() as api:
            api.put("nodes", node("n0", gpus=20))
            api.fail("GET", "/nodes/n0$", 503, times=10)
            self.serve_node(api, "--patience", "300")
            self.assertEqual(self.words().count("planted"), 1)

    def test_no_such_node(self):
        with FakeApi() as api:
            self.start_plugin(api)
            self.assert_until(api, lambda: "node n0: there is none of this name" in self.words())
            api.put("nodes", node("n0", gpus=20))
            self.assert_until(api, lambda: REGISTER in self.of_node(api))

    def test_wrong_words(self):
        environment = {key: value for key, value in os.environ.items() if key != "NODE_NAME"}
        self.cards(self.CARDS)
        for words, expected in (
            (["--by-grant"], "--node or $NODE_NAME is required"),
            (["--guard", "/x"], "--guard requires --by-grant"),
            (["--by-grant", "--node", "n0", "--grants", "/x"], "--grants requires --ledgers"),
            (["--by-grant", "--node", "n0", "--grants", "/x", "--ledgers", "/y", "--caches", "/z"], "excludes"),
            (["--by-grant", "--node", "n0", "--kubeconfig", "/none"], "/none: cannot be read"),
            (["--ignore-xids", "13,x"], "'13,x' is no list of numbers"),
        ):
            done = subprocess.run([PLUGIN, "--cards", self.folder / "cards.json", *words], capture_output=True, text=True, env=environment, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(expected, done.stderr)


class Allocation(GrantCase):
    def test_the_scheduler_decides_and_not_the_kubelet(self):
        with FakeApi() as api:
            self.serve_node(api)
            self.bound(api, "a", grant(("GPU-1", 8192, 30)))
            got = self.allocate("GPU-0::4")
            self.assertEqual(got["envs"], {
                "NVIDIA_VISIBLE_DEVICES": "GPU-1", "CUDA_VISIBLE_DEVICES": "GPU-1", "CUDA_DEVICE_MEMORY_LIMIT_0": "8192m",
                "CUDA_DEVICE_SM_LIMIT": "30", "CUDA_DEVICE_SM_LIMIT_0": "30",
            })  # fmt: skip
            self.assertEqual(got["mounts"], {})
            notes = self.notes(api, "a")
            self.assertEqual((notes[TO_ALLOCATE], notes[PHASE], notes[GIVEN + "0"]), (";", "success", "GPU-0::4"))
            self.assertEqual(notes[ALLOCATED], grant(("GPU-1", 8192, 30)))
            self.assertNotIn(LOCK, self.of_node(api))

    def test_container_after_container(self):
        """Init containers first, those without devices passed over; the last one ends it."""
        with FakeApi() as api:
            self.serve_node(api)
            self.bound(api, "a", ";", grant(("GPU-1", 2000, 0), ("GPU-0", 3000, 20)), grant(("GPU-0", 4000, 0)), init=[grant(("GPU-1", 1000, 0))])
            self.assertEqual(self.allocate("GPU-0::0")["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], "1000m")
            notes = self.notes(api, "a")
            self.assertEqual(notes[PHASE], "allocating")
            self.assertEqual(notes[TO_ALLOCATE], ";;" + grant(("GPU-1", 2000, 0), ("GPU-0", 3000, 20)) + grant(("GPU-0", 4000, 0)))
            self.assertIn(LOCK, self.of_node(api))
            second = self.allocate("GPU-0::1", "GPU-0::2")["envs"]
            self.assertEqual(second["CUDA_VISIBLE_DEVICES"], "GPU-1,GPU-0")  # in the order of the grant: limits have numbers
            self.assertEqual((second["CUDA_DEVICE_MEMORY_LIMIT_0"], second["CUDA_DEVICE_MEMORY_LIMIT_1"]), ("2000m", "3000m"))
            self.assertEqual((second["CUDA_DEVICE_SM_LIMIT_0"], second["CUDA_DEVICE_SM_LIMIT_1"]), ("0", "20"))
            self.assertEqual(self.notes(api, "a")[PHASE], "allocating")
            self.assertEqual(self.allocate("GPU-0::3")["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], "4000m")
            self.assertEqual((self.notes(api, "a")[PHASE], self.notes(api, "a")[TO_ALLOCATE]), ("success", ";;;;"))
            self.assertNotIn(LOCK, self.of_node(api))

    def test_devices_of_other_vendors_are_waited_for(self):
        with FakeApi() as api:
            self.serve_node(api)
            self.bound(api, "a", grant(("GPU-0", 1000, 0)), **{"hami.io/dcu-devices-to-allocate": ";D-0,DCU,1,1:;"})
            self.allocate("GPU-0::0")
            self.assertEqual(self.notes(api, "a")[PHASE], "allocating")
            self.assertIn(LOCK, self.of_node(api))

    def test_the_guard_and_what_processes_share(self):
        with FakeApi() as api:
            caches = self.folder / "caches"
            self.serve_node(api, "--guard", "/usr/local/lib/kaisched", "--caches", caches)
            one = self.bound(api, "a", grant(("GPU-0", 1000, 0)), grant(("GPU-0", 40960, 100)), grant(("GPU-0", 40960, 50)))
            got = self.allocate("GPU-0::0")
            folder = caches / f"{one['metadata']['uid']}_c0"
            self.assertEqual(got["mounts"], {"/usr/lib/kaisched": ["/usr/local/lib/kaisched", True], "/run/kaisched/shared": [str(folder), False]})
            self.assertEqual((got["envs"]["LD_PRELOAD"], got["envs"]["CUDA_DEVICE_MEMORY_SHARED_CACHE"]), (GUARD, "/run/kaisched/shared/limits"))
            self.assertEqual(folder.stat().st_mode & 0o777, 0o777)
            whole = self.allocate("GPU-0::1")  # nothing to hold it to
            self.assertEqual(whole["mounts"], {})
            self.assertNotIn("LD_PRELOAD", whole["envs"])
            self.assertIn("LD_PRELOAD", self.allocate("GPU-0::2")["envs"])
            # Once the pod is gone, so is its folder; what is called otherwise stays.
            (caches / "train_0").mkdir()
            self.assertTrue(folder.exists())
            api.delete("pods", "team/a")
            self.assert_until(api, lambda: not folder.exists())
            self.assertTrue((caches / "train_0").exists())

    def test_what_the_pod_has_already(self):
        with FakeApi() as api:
            self.serve_node(api, "--guard", "/lib", "--caches", self.folder / "caches")
            one = granted_pod("a", grant(("GPU-0", 1000, 0)))
            one["spec"]["containers"][0]["volumeMounts"] = [{"name": "x", "mountPath": "/usr/lib/kaisched"}, {"name": "y", "mountPath": "/run/kaisched/shared"}]
            api.put("pods", one)
            self.assertEqual(self.allocate("GPU-0::0")["mounts"], {})
            one = granted_pod("b", grant(("GPU-0", 1000, 0)))
            one["spec"]["containers"][0]["env"] = [{"name": "CUDA_DISABLE_CONTROL", "value": "true"}]
            api.put("pods", one)
            self.assertNotIn("LD_PRELOAD", self.allocate("GPU-0::1")["envs"])
            api.put("pods", granted_pod("c", grant(("GPU-0", 1000, 0)), **{"kaisched.io/isolation": "false"}))
            self.assertNotIn("LD_PRELOAD", self.allocate("GPU-0::2")["envs"])

    def test_ledgers_of_the_agent(self):
        """The ledger is there before the container: what is mounted before would stay empty."""
        with FakeApi() as api:
            grants, ledgers = self.folder / "grants", self.folder / "ledgers"
            self.serve_node(api, "--grants", grants, "--ledgers", ledgers, "--patience", "60000")
            agent = subprocess.Popen([AGENT, "--grants", grants, "--ledgers", ledgers, "--node", "n0", "--interval", "100", "--quiet"])
            self.addCleanup(lambda: (agent.kill(), agent.wait()))
            one = granted_pod("a", grant(("GPU-1", 1000, 30), ("GPU-0", 0, 0)))
            one["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/priority": "0"}}
            api.put("pods", one)
            got = self.allocate("GPU-0::0", "GPU-0::1")
            tenant = f"{one['metadata']['uid']}_c0"
            self.assertEqual(sorted(file.name for file in (ledgers / tenant).iterdir()), ["limits", "usage"])
            self.assertEqual(got["mounts"], {"/run/kaisched/ledger": [str(ledgers / tenant), False]})
            self.assertEqual(got["envs"]["KAISCHED_LEDGER"], "/run/kaisched/ledger")
            self.assertEqual(json.loads((grants / f"{tenant}.json").read_text()), {
                "schema": "kaisched-grant/1", "tenant": tenant, "node": "n0", "mode": "strict", "devices": [
                    {"uuid": "GPU-1", "index": 1, "total_bytes": 40 * GIB, "memory_bytes": 1000 << 20, "core_permille": 300, "priority": 1},
                    {"uuid": "GPU-0", "index": 0, "total_bytes": 40 * GIB, "memory_bytes": None, "core_permille": 1000, "priority": 1}]})  # fmt: skip
            api.delete("pods", "team/a")
            self.assert_until(api, lambda: not list(grants.iterdir()) and not (ledgers / tenant).exists())

    def test_what_the_kubelet_is_advised(self):
        """Its books name the cards that the container will have."""
        with FakeApi() as api:
            self.serve_node(api)
            free = [f"GPU-{card}::{i}" for card in range(2) for i in range(3)]
            self.assertEqual(self.kubelet.ask(prefer={"available": free, "must": [], "size": 1}), {"ids": ["GPU-0::0"]})
            self.bound(api, "a", grant(("GPU-1", 1000, 0)))
            self.assertEqual(self.kubelet.ask(prefer={"available": free, "must": [], "size": 1}), {"ids": ["GPU-1::0"]})
            self.assertEqual(self.kubelet.ask(prefer={"available": free[:3], "must": [], "size": 1}), {"ids": ["GPU-0::0"]})
            self.assertEqual(self.kubelet.ask(prefer={"available": free, "must": ["GPU-0::1"], "size": 1}), {"ids": ["GPU-0::1"]})
            self.assertEqual(self.notes(api, "a")[PHASE], "allocating")


class Faults(GrantCase):
    def failed(self, api, name):
        self.assertEqual(self.notes(api, name)[PHASE], "failed")
        self.assertNotIn(LOCK, self.of_node(api))

    def test_nobody_waits(self):
        with FakeApi() as api:
            self.serve_node(api)
            api.put("pods", granted_pod("elsewhere", grant(("GPU-0", 1, 0)), on="n1"))
            api.put("pods", granted_pod("done", grant(("GPU-0", 1, 0)), **{PHASE: "success"}))
            over = granted_pod("over", grant(("GPU-0", 1, 0)))
            over["status"]["phase"] = "Failed"
            api.put("pods", over)
            self.assertIn("no pod on node n0 waits", self.refused(NOT_FOUND, "GPU-0::0"))
            self.assertEqual([one.path for one in api.asked("PATCH", "/pods/")], [])

    def test_what_cannot_be_given(self):
        instances = {"hami.io/vgpu-mig-allocations": "[]"}
        cases = (
            ("text", ["whatever;"], {}, FAILED_PRECONDITION, '"whatever;" cannot be read'),
            ("amount", ["GPU-0,NVIDIA,much,0:;"], {}, FAILED_PRECONDITION, "cannot be read"),
            ("negative", ["GPU-0,NVIDIA,-1,0:;"], {}, FAILED_PRECONDITION, "cannot be read"),
            ("none", [";"], {}, FAILED_PRECONDITION, "has no devices for a container"),
            ("count", [grant(("GPU-0", 1, 0), ("GPU-1", 1, 0))], {}, FAILED_PRECONDITION, "2 devices were chosen for its container, the kubelet asks for 1"),
            ("unknown", [grant(("GPU-9", 1, 0))], {}, NOT_FOUND, "there is no card 'GPU-9' here"),
            ("sick", [grant(("GPU-1", 1, 0))], {}, UNAVAILABLE, "card 'GPU-1' is not healthy"),
            ("place", [";", grant(("GPU-0", 1, 0))], {}, FAILED_PRECONDITION, "container 1, which it does not have"),
            ("instances", [grant(("GPU-0", 1, 0))], instances, FAILED_PRECONDITION, "instances are not made here"),
        )
        with FakeApi() as api:
            self.cards([self.CARDS[0], {**self.CARDS[1], "healthy": False}])
            self.serve_node(api)
            for name, grants, more, code, expected in cases:
                with self.subTest(name):
                    one = granted_pod(name, *grants, **more)
                    one["spec"]["containers"] = one["spec"]["containers"][:1]
                    api.put("pods", one)
                    self.lock(api, name)
                    message = self.refused(code, "GPU-0::0")
                    self.assertIn(expected, message)
                    if code == FAILED_PRECONDITION:
                        self.assertIn(f"pod team/{name}", message)
                    self.failed(api, name)
                    self.assertIn(f"pod team/{name}: gets no devices", self.words())
            # None of them is in the way of others.
            self.bound(api, "good", grant(("GPU-0", 1, 0)))
            self.allocate("GPU-0::0")

    def test_a_name_that_no_ledger_has(self):
        with FakeApi() as api:
            self.serve_node(api, "--grants", self.folder / "grants", "--ledgers", self.folder / "ledgers")
            one = granted_pod("a", grant(("GPU-0", 1, 0)))
            one["spec"]["containers"][0]["name"] = "c" * 43
            api.put("pods", one)
            self.assertIn("too long for a ledger, 42 letters at most", self.refused(3, "GPU-0::0"))
            self.failed(api, "a")

    def test_an_agent_that_is_not_there(self):
        with FakeApi() as api:
            self.serve_node(api, "--grants", self.folder / "grants", "--ledgers", self.folder / "ledgers", "--patience", "500")
            self.bound(api, "a", grant(("GPU-0", 1, 0)))
            self.assertIn("the agent has made no ledger there for 500ms", self.refused(UNAVAILABLE, "GPU-0::0"))
            self.failed(api, "a")

    def test_folders_that_cannot_be_made(self):
        with FakeApi() as api:
            self.serve_node(api, "--caches", "/proc/none")
            self.bound(api, "a", grant(("GPU-0", 1, 0)))
            self.assertIn("/proc/none", self.refused(13, "GPU-0::0"))
            self.failed(api, "a")

    def test_two_pods_at_once(self):
        """Without the node's lock: first the one that was bound first; numbers that fit one alone say which it is."""
        with FakeApi() as api:
            self.serve_node(api)
            api.put("pods", granted_pod("late", grant(("GPU-0", 2000, 0)), bound=-1))
            api.put("pods", granted_pod("soon", grant(("GPU-0", 1000, 0)), bound=-2))
            api.put("pods", granted_pod("pair", grant(("GPU-0", 3000, 0), ("GPU-1", 3000, 0)), bound=-3))
            self.assertEqual(self.allocate("GPU-0::0")["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], "1000m")
            self.assertEqual(self.allocate("GPU-0::1")["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], "2000m")
            self.assertEqual(self.allocate("GPU-0::2", "GPU-0::3")["envs"]["CUDA_DEVICE_MEMORY_LIMIT_1"], "3000m")
            for name in ("late", "soon", "pair"):
                self.assertEqual(self.notes(api, name)[PHASE], "success")

    def test_a_kubelet_that_did_not_hear(self):
        with FakeApi() as api:
            self.serve_node(api)
            self.bound(api, "a", grant(("GPU-0", 1000, 0)), grant(("GPU-0", 2000, 0)))
            first = self.allocate("GPU-0::0")
            self.assertEqual(self.allocate("GPU-0::0"), first)
            second = self.allocate("GPU-0::1")
            self.assertEqual(second["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], "2000m")
            self.assertEqual(self.allocate("GPU-0::1"), second)  # the pod is done; it is the same answer
            self.bound(api, "b", grant(("GPU-1", 3000, 0)))
            self.assertEqual(self.allocate("GPU-0::2")["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], "3000m")

    def test_devices_of_init_containers_come_again(self):
        with FakeApi() as api:
            self.serve_node(api)
            self.bound(api, "a", grant(("GPU-0", 2000, 0)), init=[grant(("GPU-0", 1000, 0))])
            self.assertEqual(self.allocate("GPU-0::0")["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], "1000m")
            self.assertEqual(self.allocate("GPU-0::0")["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], "2000m")

    def test_a_pod_that_changes_meanwhile(self):
        with FakeApi() as api:
            self.serve_node(api)
            self.bound(api, "a", grant(("GPU-0", 1000, 0)))
            api.fail("PATCH", "/pods/a$", 409)
            self.allocate("GPU-0::0")
            self.assertEqual(self.notes(api, "a")[PHASE], "success")

    def test_answers_that_are_lost(self):
        for what in ("lost", "drop", 503):
            with self.subTest(what), FakeApi() as api:
                process = self.serve_node(api)
                self.bound(api, "a", grant(("GPU-0", 1000, 0)), grant(("GPU-0", 2000, 0)))
                api.fail("PATCH", "/pods/a$", what)
                self.assertEqual(self.allocate("GPU-0::0")["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], "1000m")
                self.assertEqual(self.notes(api, "a")[TO_ALLOCATE], ";" + grant(("GPU-0", 2000, 0)))
                process.kill()
                self.kubelet.end()

    def test_the_server_is_not_there(self):
        """Without it nobody knows what was chosen: nothing is given, and nothing is lost."""
        with FakeApi() as api:
            self.serve_node(api, "--patience", "500")
            self.bound(api, "a", grant(("GPU-0", 1000, 0)))
            api.fail("GET", "/pods$", 503, times=1000)
            self.refused(UNAVAILABLE, "GPU-0::0")
            with api.lock:
                api.faults.clear()
            self.assertEqual(self.notes(api, "a")[PHASE], "allocating")
            self.allocate("GPU-0::0")

    def test_a_server_that_comes_back_in_time(self):
        with FakeApi() as api:
            self.serve_node(api, "--patience", "20000")
            self.bound(api, "a", grant(("GPU-0", 1000, 0)))
            api.fail("GET", "/pods$", "drop", times=3)
            self.allocate("GPU-0::0")

    def test_what_is_forbidden(self):
        with FakeApi() as api:
            self.serve_node(api)
            self.bound(api, "a", grant(("GPU-0", 1000, 0)))
            api.fail("PATCH", "/pods/a$", 403)
            self.assertIn("403", self.refused(13, "GPU-0::0"))
            self.failed(api, "a")


class Restarts(GrantCase):
    def test_between_two_containers(self):
        with FakeApi() as api:
            process = self.serve_node(api)
            self.bound(api, "a", grant(("GPU-0", 1000, 0)), grant(("GPU-1", 2000, 0)))
            self.allocate("GPU-0::0")
            process.send_signal(signal.SIGKILL)
            process.wait()
            known = self.words().count("registered nvidia.com/gpu")
            self.start_plugin(api)
            self.assert_until(api, lambda: self.words().count("registered nvidia.com/gpu") > known)
            self.assertEqual(self.allocate("GPU-0::1")["envs"]["CUDA_VISIBLE_DEVICES"], "GPU-1")
            self.assertEqual(self.notes(api, "a")[PHASE], "success")
            self.assertNotIn(LOCK, self.of_node(api))

    def test_locks_that_were_left(self):
        """Of pods that have their devices, or will never get any; not of those that wait."""
        with FakeApi() as api:
            self.serve_node(api)
            for name, phase, state, free in (("done", "success", "Running", True), ("waits", "allocating", "Pending", False),
                                             ("rejected", "allocating", "Failed", True)):  # fmt: skip
                one = granted_pod(name, grant(("GPU-0", 1000, 0)), **{PHASE: phase})
                one["status"]["phase"] = state
                api.put("pods", one)
                self.lock(api, name)
                if free:
                    self.assert_until(api, lambda: LOCK not in self.of_node(api))
                else:
                    before = len(api.asked("GET", "/nodes/n0$"))
                    self.assert_until(api, lambda: len(api.asked("GET", "/nodes/n0$")) > before + 3)
                    self.assertIn(LOCK, self.of_node(api))
            self.assertEqual(self.notes(api, "rejected")[PHASE], "failed")
            waits = pod("unbound", gpus=0)
            api.put("pods", waits)
            self.lock(api, "unbound")
            before = len(api.asked("GET", "/nodes/n0$"))
            self.assert_until(api, lambda: len(api.asked("GET", "/nodes/n0$")) > before + 3)
            self.assertIn(LOCK, self.of_node(api))


# What a container does first: how much there is, what fits, what does not.
TENANT = """
import ctypes, json
cuda = ctypes.CDLL("libcuda.so.1")
count, total, context, memory = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_void_p(), ctypes.c_uint64()
begun = [cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count)), cuda.cuDeviceTotalMem_v2(ctypes.byref(total), 0),
         cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)]
held = [cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size << 20)) for size in (256, 1024)]
print(json.dumps([begun, count.value, total.value >> 20, held]))
"""


class Loop(GrantCase, WebhookCase, ExtenderCase):
    notes = GrantCase.notes
    assert_until = ExtenderCase.assert_until

    def test_without_any_part_of_hami(self):
        """Webhook, extender and device plugin: from a pod that asks for a quarter of a card to a container that has it."""
        with FakeApi() as api:
            WebhookCase.serve(self, api, config="period: 300ms\nextender: {listen: '127.0.0.1:0', handshake: 200ms}\n")
            self.port = int(re.search(r"extender: listening on 127\.0\.0\.1:(\d+)", self.log())[1])
            self.serve_node(api, "--guard", "/usr/local/lib/kaisched", "--caches", self.folder / "caches")
            self.assert_until(api, lambda: "all objects are read" in self.log())
            # Who has registered is asked whether it lives, and answers.
            self.assert_until(api, lambda: len([r for r in api.asked("PATCH", "/nodes/n0$") if "Reported" in json.dumps(r.body)]) > 1)

            made = self.admitted(shared_pod("a", **{"nvidia.com/gpumem-percentage": 25, "nvidia.com/gpucores": 20}))
            self.add(api, made)
            self.assert_until(api, lambda: self.filter(api, "a", "n0")["NodeNames"] == ["n0"])
            self.assertEqual(self.bind(api, "a", "n0"), "")
            self.assertEqual(self.notes(api, "a")[PHASE], "allocating")
            self.assertIn(LOCK, self.of_node(api))

            got = self.allocate("GPU-0::3")
            card = re.match(r"([^,]+),", self.notes(api, "a")[ALLOCATED])[1]
            self.assertEqual((got["envs"]["CUDA_VISIBLE_DEVICES"], got["envs"]["CUDA_DEVICE_MEMORY_LIMIT_0"], got["envs"]["CUDA_DEVICE_SM_LIMIT"]), (card, "10240m", "20"))
            self.assertEqual(variables(made)["LD_PRELOAD"], GUARD)
            self.assertEqual(got["mounts"], {})  # the webhook has put it all there
            self.assertEqual(self.notes(api, "a")[PHASE], "success")
            self.assert_until(api, lambda: LOCK not in self.of_node(api))

            # The next one finds what is left, and the lock free.
            self.add(api, shared_pod("b", memory=35000))
            self.assertEqual(self.chosen(api, "b", "n0"), "n0")
            self.assertNotIn(card + ",", self.notes(api, "b")[ALLOCATED])
            self.assertEqual(self.bind(api, "b", "n0"), "")
            self.assertEqual(self.allocate("GPU-1::0")["mounts"]["/usr/lib/kaisched"], ["/usr/local/lib/kaisched", True])

    def tenant(self, got):
        """A program in the container, on the fake driver, with the guard of this build where the container would have it."""
        if not os.environ.get("KAISCHED_GUARD"):
            self.skipTest("no KAISCHED_GUARD")
        inside = dict(got["envs"])
        for path, (host, _) in got["mounts"].items():
            inside = {name: value.replace(path, host) for name, value in inside.items()}
        self.assertEqual(inside["LD_PRELOAD"], os.environ["KAISCHED_GUARD"])
        inside.update(LD_LIBRARY_PATH=os.environ["KAISCHED_FAKE_LIBRARIES"], KAISCHED_FAKE_DEVICES="40g;40g", PATH=os.environ["PATH"])
        done = subprocess.run([sys.executable, "-c", TENANT], env=inside, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_limit_holds_in_the_container(self):
        """By variables, and by a ledger of the agent: the guard says how much there is, and refuses what is more."""
        cards = [{**one, "uuid": f"GPU-00000000-0000-0000-0000-{i:012}"} for i, one in enumerate(self.CARDS)]
        guard = Path(os.environ.get("KAISCHED_GUARD", "/none/x")).parent
        grants, ledgers = self.folder / "grants", self.folder / "ledgers"
        for words in (["--caches", self.folder / "caches"], ["--grants", grants, "--ledgers", ledgers, "--patience", "60000"]):
            with self.subTest(words[0]), FakeApi() as api:
                self.cards(cards)
                process = self.serve_node(api, "--guard", guard, *words)
                if words[0] == "--grants":
                    agent = subprocess.Popen([AGENT, "--grants", grants, "--ledgers", ledgers, "--interval", "50", "--quiet"])
                    self.addCleanup(lambda agent=agent: (agent.kill(), agent.wait()))
                self.bound(api, "a", grant((cards[1]["uuid"], 1000, 0)))
                self.assertEqual(self.tenant(self.allocate(f"{cards[0]['uuid']}::0")), [[0, 0, 0, 0], 1, 1000, [0, 2]])
                process.kill()
                process.wait()
                self.kubelet.end()

    def test_a_card_that_breaks_is_not_chosen(self):
        with FakeApi() as api:
            ExtenderCase.serve(self, api)
            self.serve_node(api)
            self.cards([{**self.CARDS[0], "healthy": False}, self.CARDS[1]])
            self.assert_until(api, lambda: not json.loads(self.of_node(api)[REGISTER])[0]["health"])
            self.add(api, shared_pod("a", memory=1000))
            self.assert_until(api, lambda: self.filter(api, "a", "n0")["NodeNames"] == ["n0"] and "GPU-1," in self.notes(api, "a")[ALLOCATED])


if __name__ == "__main__":
    unittest.main()
