"""Pods that share GPUs: reservations, labels and config maps of KAI's kind, counted object by object. A stand-in of the
kubelets reports the devices. One ctest entry per class."""

import os
import signal
import subprocess
import threading
import unittest

from clusters import group, node, pod
from fake_api import FakeApi
from test_program import Case
from test_webhook import GUARD, WebhookCase, mounts, variables

NAMESPACE = "kai-resource-reservation"
GROUP = "runai-gpu-group"
DEVICE = "run.ai/reserve_for_gpu_index"
SHARING = "period: 300ms\nleader_election: {enabled: false}\nsharing:\n  image: example.com/kaisched:1\n"


def shared(name, part="0.5", memory=None, devices=None, limits=False, **more):
    """As the webhook leaves it."""
    prefix = f"{name}-bcdfghj-shared-gpu"
    notes = {"runai/shared-gpu-configmap": prefix, **({"gpu-memory": memory} if memory else {"gpu-fraction": part})}
    if devices:
        notes["gpu-fraction-num-devices"] = str(devices)
    made = pod(name, 0, annotations={**notes, **more.pop("annotations", {})}, **more)
    names = ["NVIDIA_VISIBLE_DEVICES", "GPU_PORTION"] + (["GPU_MEMORY_LIMIT"] if limits else [])
    made["spec"]["containers"][0]["env"] = [{"name": key, "valueFrom": {"configMapKeyRef": {"name": f"{prefix}-0", "key": key}}} for key in names]
    return made


def groups_of(one):
    return sorted({value for key, value in one["metadata"].get("labels", {}).items() if key == GROUP or key.startswith(GROUP + "/")})


def is_reservation(one):
    return one["metadata"]["namespace"] == NAMESPACE


class Kubelets(threading.Thread):
    """Start what is on their nodes and give each reservation a device that no other pod has."""

    def __init__(self, api, says=None):
        super().__init__(daemon=True)
        self.api, self.says, self.over = api, says, False
        self.tried = set()  # uids

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join()

    def run(self):
        while not self.over and not self.api.closing:
            with self.api.lock:
                for name, one in list(self.api.objects["pods"].items()):
                    self.see(name, one)
                self.api.lock.wait(0.05)

    def see(self, name, one):
        here = one["spec"].get("nodeName")
        if not here or one.get("status", {}).get("phase") in ("Running", "Failed", "Succeeded"):
            return
        kept = one.get("status", {})  # conditions that a scheduler has set
        others = [p for p in self.api.objects["pods"].values() if p["spec"].get("nodeName") == here]
        if is_reservation(one):
            if one["metadata"]["uid"] not in self.tried and self.says:
                said = self.says(one)
                if said is None:
                    return
            else:
                said = True
            self.tried.add(one["metadata"]["uid"])
            capacity = int(self.api.objects["nodes"][here]["status"]["allocatable"]["nvidia.com/gpu"])
            wholes = sum(int(p["spec"]["containers"][0]["resources"]["requests"].get("nvidia.com/gpu", 0)) for p in others if not is_reservation(p))
            given = {p["metadata"].get("annotations", {}).get(DEVICE) for p in others if is_reservation(p)}
            free = [f"GPU-{here}-{i}" for i in range(wholes, capacity) if f"GPU-{here}-{i}" not in given]
            if said is False or not free:
                return self.api.put("pods", {**one, "status": {**kept, "phase": "Failed", "reason": "UnexpectedAdmissionError"}})
            notes = {**one["metadata"].get("annotations", {}), DEVICE: said if isinstance(said, str) else free[0]}
            return self.api.put("pods", {**one, "metadata": {**one["metadata"], "annotations": notes}, "status": {**kept, "phase": "Running"}})
        if all(ref["valueFrom"]["configMapKeyRef"]["name"] in {m["metadata"]["name"] for m in self.api.objects["configmaps"].values()}
               for ref in one["spec"]["containers"][0].get("env", [])):  # fmt: skip
            self.api.put("pods", {**one, "status": {**kept, "phase": "Running"}})


class Book:
    """Who has which part of which device."""

    def reservations(self, api):
        with api.lock:
            return {groups_of(one)[0]: one for one in api.objects["pods"].values() if is_reservation(one)}

    def users(self, api):
        with api.lock:
            return {name: one for name, one in api.objects["pods"].items() if not is_reservation(one)}

    def map_of(self, api, name, part=""):
        return api.get("configmaps", f"team/{name}-bcdfghj-shared-gpu-0{part}")

    def check_book(self, api):
        """No device is given to more than it has, and everybody knows the device that was reserved."""
        reserved = self.reservations(api)
        devices = [(one["spec"]["nodeName"], one["metadata"]["annotations"].get(DEVICE)) for one in reserved.values()]
        self.assertEqual(len(devices), len(set(devices)))
        used = {}
        for name, one in self.users(api).items():
            on = one["spec"].get("nodeName")
            if not on or not one["metadata"].get("annotations", {}).get("runai/shared-gpu-configmap"):
                continue
            groups = groups_of(one)
            self.assertTrue(groups, name)
            expected = [reserved[group]["metadata"]["annotations"][DEVICE] for group in groups]
            data = self.map_of(api, one["metadata"]["name"])["data"]
            self.assertEqual(sorted(data["NVIDIA_VISIBLE_DEVICES"].split(",")), sorted(expected))
            for group in groups:
                self.assertEqual(reserved[group]["spec"]["nodeName"], on)
                used[group] = used.get(group, 0) + round(100 * float(data["GPU_PORTION"]))
        self.assertLessEqual(max(used.values(), default=0), 100, used)
        return used


class ShareCase(Book, Case):
    def bound(self, api, *names):
        pods = self.users(api)
        return all(pods[f"team/{name}"]["spec"].get("nodeName") for name in names)

    def condition(self, api, name, kind="PodBound"):
        return next((one for one in api.get("pods", f"team/{name}")["status"].get("conditions", []) if one["type"] == kind), None)


class Sharing(ShareCase):
    def test_two_on_one_device_and_the_third_elsewhere(self):
        with FakeApi() as api, Kubelets(api):
            self.fill(api, nodes=1, gpus=2)
            for name in "abc":
                api.put("pods", shared(name))
            self.start(api, SHARING)
            self.assert_until(api, lambda: self.bound(api, *"abc"))
            self.assertEqual(sorted(self.check_book(api).values()), [50, 100])
            one = next(iter(self.reservations(api).values()))
            self.assertEqual(one["metadata"]["labels"]["app"], "kai-resource-reservation")
            self.assertEqual(one["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"], "true")
            self.assertRegex(one["metadata"]["name"], "^gpu-reservation-n0-[0-9a-f]{16}$")
            spec = one["spec"]
            self.assertEqual((spec["nodeName"], spec["runtimeClassName"], spec["serviceAccountName"]), ("n0", "nvidia", NAMESPACE))
            container = spec["containers"][0]
            self.assertEqual((container["image"], container["command"]), ("example.com/kaisched:1", ["kaisched-reservation"]))
            self.assertEqual(container["resources"], {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}})
            bound = api.get("pods", "team/a")
            self.assertEqual(bound["metadata"]["annotations"]["received-resource-type"], "Fraction")
            made = self.map_of(api, "a")
            self.assertEqual((made["data"]["GPU_PORTION"], made["data"]["RUNAI_NUM_OF_GPUS"]), ("0.50", "0.50"))
            self.assertEqual(made["metadata"]["ownerReferences"][0]["uid"], bound["metadata"]["uid"])
            self.assertEqual(self.map_of(api, "a", "-evar")["data"], {})

    def test_several_devices(self):
        with FakeApi() as api, Kubelets(api):
            self.fill(api, nodes=1, gpus=2)
            api.put("pods", shared("a", devices=2))
            api.put("pods", shared("b", devices=2, part="0.4"))
            api.put("pods", shared("c"))
            self.start(api, SHARING)
            self.assert_until(api, lambda: self.bound(api, "a", "b"))
            self.assertEqual(sorted(self.check_book(api).values()), [90, 90])
            labels = api.get("pods", "team/a")["metadata"]["labels"]
            self.assertEqual({key for key, value in labels.items()}, {f"{GROUP}/{value}" for value in labels.values()})
            self.assert_until(api, lambda: self.condition(api, "c", "PodScheduled"))
            self.assertFalse(self.bound(api, "c"))

    def test_amounts_of_memory_and_limits(self):
        with FakeApi() as api, Kubelets(api):
            api.put("nodes", node("n0", 1, labels={"nvidia.com/gpu.memory": "81559"}))
            self.fill(api, nodes=0)
            api.put("pods", shared("a", memory="20000", limits=True))
            api.put("pods", shared("b", part="0.25", limits=True))
            self.start(api, SHARING + "  cdi: true\n")
            self.assert_until(api, lambda: self.bound(api, "a", "b"))
            self.assertEqual(self.map_of(api, "a")["data"]["GPU_MEMORY_LIMIT"], "20000m")
            self.assertEqual(self.map_of(api, "b")["data"]["CUDA_DEVICE_MEMORY_LIMIT"], f"{81559 // 4}m")
            self.assertEqual(self.map_of(api, "a")["data"]["NVIDIA_VISIBLE_DEVICES"], "k8s.device-plugin.nvidia.com/gpu=GPU-n0-0")

    def test_a_limit_that_nobody_knows(self):
        with FakeApi() as api, Kubelets(api):
            self.fill(api, gpus=1)
            api.put("pods", shared("a", limits=True))
            self.start(api, SHARING)
            self.assert_until(api, lambda: self.condition(api, "a"))
            self.assertIn("nvidia.com/gpu.memory is missing", self.condition(api, "a")["message"])
            self.assertFalse(self.bound(api, "a"))

    def test_a_pod_without_the_webhook_and_a_cluster_without_sharing(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("pods", pod("plain", 0, annotations={"gpu-fraction": "0.5"}))
            api.put("pods", shared("a"))
            self.once(api, config=SHARING.split("sharing")[0])
            self.assertIn("not given away here", self.condition(api, "a", "PodScheduled")["message"])
        with FakeApi() as api, Kubelets(api):
            self.fill(api)
            api.put("pods", pod("plain", 0, annotations={"gpu-fraction": "0.5"}))
            api.put("pods", shared("a"))
            self.once(api, config=SHARING)  # waits for the device
            self.assertTrue(self.bound(api, "a"))
            self.assertIn("came in without the webhook", self.condition(api, "plain", "PodScheduled")["message"])

    def test_a_gang_goes_on_where_it_waits(self):
        late = threading.Event()
        with FakeApi() as api, Kubelets(api, says=lambda one: True if one["spec"]["nodeName"] != "n1" or late.is_set() else None):
            self.fill(api, nodes=2, gpus=1)
            self.add_gang(api, "g", "q", 0)
            api.put("podgroups", {**api.get("podgroups", "team/g"), "spec": {"queue": "q", "minMember": 4}})
            for i in range(4):
                api.put("pods", shared(f"g-{i}", group="g"))
            self.start(api, SHARING)
            self.assert_until(api, lambda: sum(self.bound(api, f"g-{i}") for i in range(4)) == 2)
            api.put("nodes", node("n2", 1))
            api.put("pods", pod("other"))  # the thread that decides waits for nobody
            self.assert_until(api, lambda: self.bound(api, "other"))
            self.assertEqual(sum(self.bound(api, f"g-{i}") for i in range(4)), 2)
            late.set()
            self.assert_until(api, lambda: self.bound(api, *(f"g-{i}" for i in range(4))))
            self.assertEqual(sorted(self.check_book(api).values()), [100, 100])
            self.assertEqual(len(api.asked("POST", "pods/g-./binding")), 4)

    def test_somebody_elses_config_map(self):
        with FakeApi() as api, Kubelets(api):
            self.fill(api, gpus=1)
            foreign = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "team", "name": "a-bcdfghj-shared-gpu-0"}, "data": {"mine": "1"}}
            api.put("configmaps", foreign)
            api.put("pods", shared("a"))
            self.start(api, SHARING)
            self.assert_until(api, lambda: self.condition(api, "a"))
            self.assertIn("is there and not the pod's", self.condition(api, "a")["message"])
            self.assertEqual(self.map_of(api, "a")["data"], {"mine": "1"})
            self.assertFalse(self.bound(api, "a"))

    def test_what_failed_is_undone(self):
        with FakeApi() as api, Kubelets(api):
            self.fill(api, gpus=1)
            api.put("pods", shared("a"))
            api.fail("POST", "pods/a/binding", 403, times=1000)
            process = self.start(api, SHARING)
            self.assert_until(api, lambda: len(api.asked("POST", "pods/a/binding")) > 1)
            process.send_signal(signal.SIGSTOP)
            deleted = [r.path.rsplit("/", 1)[1] for r in api.asked("DELETE", "/configmaps/")]
            self.assertEqual(deleted[:2], ["a-bcdfghj-shared-gpu-0-evar", "a-bcdfghj-shared-gpu-0"])
            order = [r for r in api.changes() if r.path.endswith(("pods/a", "configmaps")) or "/configmaps/" in r.path]
            first = next(i for i, r in enumerate(order) if r.method == "DELETE")
            self.assertEqual([r.method for r in order[first : first + 3]], ["DELETE", "DELETE", "PATCH"])
            self.assertEqual(set(order[first + 2].body["metadata"]["labels"].values()), {None})
            process.send_signal(signal.SIGCONT)


class Reservations(ShareCase):
    def test_the_last_user_takes_it_along(self):
        with FakeApi() as api, Kubelets(api):
            self.fill(api, gpus=1)
            api.put("pods", shared("a"))
            api.put("pods", shared("b"))
            self.start(api, SHARING)
            self.assert_until(api, lambda: self.bound(api, "a", "b"))
            kept = self.reservations(api)
            api.delete("pods", "team/a")
            api.put("pods", pod("whole"))
            self.assert_until(api, lambda: self.condition(api, "whole", "PodScheduled"))
            self.assertEqual(kept.keys(), self.reservations(api).keys())
            done = api.get("pods", "team/b")
            done["status"] = {"phase": "Succeeded"}
            api.put("pods", done)
            self.assert_until(api, lambda: not self.reservations(api))
            self.assert_until(api, lambda: self.bound(api, "whole"))
            removal = api.asked("DELETE", NAMESPACE)
            self.assertEqual([r.body["gracePeriodSeconds"] for r in removal], [0])
            self.assertEqual(removal[0].body["preconditions"]["uid"], next(iter(kept.values()))["metadata"]["uid"])

    def test_nobody_reports_a_device(self):
        with FakeApi() as api:
            self.fill(api, nodes=2, gpus=1)
            api.put("nodes", node("n1", 0))
            api.put("pods", shared("a"))
            api.put("pods", shared("b"))
            self.start(api, SHARING + "  allocation_timeout: 1s\n")
            self.assert_until(api, lambda: self.reservations(api))
            api.put("pods", pod("other", 0))
            self.assert_until(api, lambda: self.bound(api, "other"))
            self.assert_until(api, lambda: self.condition(api, "a") and self.condition(api, "b"))
            told = self.condition(api, "a")
            self.assertEqual((told["status"], told["reason"]), ("False", "BindingError"))
            self.assertRegex(told["message"], "bind to n0: pod .* has not said its GPU within 1 s")
            self.assert_until(api, lambda: "BindingError" in {r.body["reason"] for r in api.asked("POST", "/events$")})
            self.assert_until(api, lambda: api.asked("DELETE", NAMESPACE))
            self.assertEqual(api.asked("POST", "pods/[ab]/binding"), [])
            with Kubelets(api):  # and is decided anew
                self.assert_until(api, lambda: self.bound(api, "a", "b"))
                self.assertEqual(list(self.check_book(api).values()), [100])
                self.assert_until(api, lambda: self.condition(api, "a")["status"] == "True")

    def test_a_device_that_is_none(self):
        for said, expected in (("two words", "is no GPU"), ("GPU-n0-0", "is reserved by pod")):
            with self.subTest(said), FakeApi() as api, Kubelets(api, says=lambda one, said=said: said):
                self.fill(api, gpus=2)
                api.put("pods", shared("a", part="0.9"))
                api.put("pods", shared("b", part="0.9"))
                self.start(api, SHARING)
                self.assert_until(api, lambda: self.condition(api, "a") or self.condition(api, "b"))
                told = self.condition(api, "a") or self.condition(api, "b")
                self.assertIn(expected, told["message"])
                self.assertFalse(self.bound(api, "a", "b"))
                self.check_book_of_bound(api)

    def check_book_of_bound(self, api):
        devices = [self.map_of(api, name)["data"]["NVIDIA_VISIBLE_DEVICES"] for name in "ab" if self.bound(api, name)]
        self.assertEqual(len(devices), len(set(devices)))

    def test_a_kubelet_that_refuses_it(self):
        refused = []
        with FakeApi() as api, Kubelets(api, says=lambda one: refused.append(1) or len(refused) > 1):
            self.fill(api, gpus=1)
            api.put("pods", shared("a"))
            self.start(api, SHARING)
            self.assert_until(api, lambda: self.bound(api, "a"))
            self.assertIn("has ended", self.log())
            self.assertEqual(len(self.check_book(api)), 1)

    def test_somebody_deletes_it(self):
        for orphans in ("delete", "keep"):
            with self.subTest(orphans), FakeApi() as api, Kubelets(api):
                self.fill(api, gpus=2)
                api.put("pods", shared("a"))
                other = shared("k", part="0.9", on="n0", scheduler="kai-scheduler")  # its scheduler may delete it
                other["metadata"]["labels"] = {GROUP: "gone"}
                api.put("pods", other)
                process = self.start(api, SHARING + f"  orphans: {orphans}\n")
                self.assert_until(api, lambda: api.get("pods", "team/a")["status"].get("phase") == "Running")
                api.delete("pods", next(name for name in api.pods() if name.startswith(NAMESPACE)))
                self.assert_until(api, lambda: "NoReservation" in {r.body["reason"] for r in api.asked("POST", "/events$")})
                deleted = [r.path for r in api.asked("DELETE", "/pods/")]
                self.assertEqual([path.rsplit("/", 1)[1] for path in deleted], ["a"] if orphans == "delete" else [])
                process.kill()

    def test_a_pod_that_goes_while_it_waits(self):
        with FakeApi() as api:
            self.fill(api, gpus=1)
            api.put("pods", shared("a"))
            self.start(api, SHARING)
            self.assert_until(api, lambda: self.reservations(api))
            api.delete("pods", "team/a")
            self.assert_until(api, lambda: not self.reservations(api))
            self.assertEqual(api.asked("POST", "binding$"), [])

    def test_answers_that_are_lost(self):
        for method, path, fault in (
            ("POST", f"{NAMESPACE}/pods$", "lost"), ("POST", f"{NAMESPACE}/pods$", "drop"), ("POST", f"{NAMESPACE}/pods$", 500),
            ("PATCH", "pods/a$", "lost"), ("PATCH", "pods/a$", 503), ("POST", "/configmaps$", "lost"), ("POST", "/configmaps$", "drop"),
            ("POST", "pods/a/binding$", "lost"), ("POST", "pods/a/binding$", "drop"),
        ):  # fmt: skip
            with self.subTest(f"{method} {path} {fault}"), FakeApi() as api, Kubelets(api):
                self.fill(api, gpus=1)
                api.put("pods", shared("a"))
                api.fail(method, path, fault)
                process = self.start(api, SHARING)
                self.assert_until(api, lambda: self.bound(api, "a"))
                self.assertEqual(list(self.check_book(api).values()), [50])
                self.assertEqual(len(self.reservations(api)), 1)
                process.kill()

    def test_another_pod_has_its_name(self):
        with FakeApi() as api, Kubelets(api):
            self.fill(api, gpus=1)
            api.put("pods", shared("a"))
            process = self.start(api, SHARING)
            self.assert_until(api, lambda: self.bound(api, "a"))
            process.kill()
            name = next(name for name in api.pods() if name.startswith(NAMESPACE))
        with FakeApi() as api:
            self.fill(api, gpus=1)
            squatter = pod(name.split("/")[1], 0, scheduler="none")
            squatter["metadata"]["namespace"] = NAMESPACE
            api.put("pods", squatter)
            api.put("pods", shared("a"))
            self.start(api, SHARING)
            self.assert_until(api, lambda: self.condition(api, "a"))
            self.assertIn("is no reservation of group", self.condition(api, "a")["message"])

    def test_a_binder_of_kai_is_left_alone(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            for group in ("used", "unused"):
                one = pod(f"gpu-reservation-n0-{group}", 1, on="n0", scheduler="none", annotations={DEVICE: f"GPU-{group}"})
                one["metadata"].update(namespace=NAMESPACE, labels={"app": NAMESPACE, GROUP: group})
                api.put("pods", one)
            request = {"apiVersion": "scheduling.run.ai/v1alpha2", "kind": "BindRequest", "metadata": {"namespace": "team", "name": "x"},
                       "spec": {"podName": "x", "selectedNode": "n0", "selectedGPUGroups": ["used"]}}  # fmt: skip
            api.put("bindrequests", request)
            self.start(api, SHARING)
            self.assert_until(api, lambda: set(self.reservations(api)) == {"used"})


class Crash(ShareCase):
    def test_killed_at_every_change(self):
        """The first scheduler dies when its k-th change is made, and the second has to find its way."""
        for k in range(1, 40):
            with self.subTest(k), FakeApi() as api, Kubelets(api):
                if not self.killed_at(api, k):
                    return self.assertGreater(k, 12)
        self.fail("there is no last change")

    def killed_at(self, api, k):
        self.fill(api, gpus=2)
        for name in "abc":
            api.put("pods", shared(name))
        first = self.start(api, SHARING)
        api.stop = first.kill
        api.cut = (k, True)
        self.assert_until(api, lambda: first.poll() is not None or self.bound(api, *"abc"))
        killed = first.poll() is not None
        if not killed:  # there are fewer changes
            first.kill()
            first.wait()
            api.cut = None
        second = self.start(api, SHARING)
        self.assert_until(api, lambda: self.bound(api, *"abc"))
        self.assertEqual(sorted(self.check_book(api).values()), [50, 100])
        self.assert_until(api, lambda: len(self.reservations(api)) == 2)
        self.assertEqual(len(api.asked("POST", "binding$")), 3)
        for name in "abc":
            api.delete("pods", f"team/{name}")
        self.assert_until(api, lambda: not self.reservations(api))
        second.kill()
        second.wait()
        return killed

    def test_killed_while_it_removes(self):
        for done in (True, False):
            with self.subTest(done), FakeApi() as api, Kubelets(api):
                self.fill(api, gpus=1)
                api.put("pods", shared("a"))
                first = self.start(api, SHARING)
                self.assert_until(api, lambda: api.get("pods", "team/a")["status"].get("phase") == "Running")
                api.stop = first.kill
                api.cut = (1, done)
                api.delete("pods", "team/a")
                self.assert_until(api, lambda: first.poll() is not None)
                second = self.start(api, SHARING)
                api.put("pods", pod("whole"))
                self.assert_until(api, lambda: not self.reservations(api) and self.bound(api, "whole"))
                second.kill()


class Scaling(ShareCase):
    """Pods that stand in for those that ask for parts, so that an autoscaler sees what they need."""

    STAND_INS = SHARING + "scaling: {image: example.com/pause:1, cool_down: 0s}\n"
    SPACE = "kai-scale-adjust"

    def stand_ins(self, api):
        """By name of the pod that they stand in for."""
        with api.lock:
            mine = [one for one in api.objects["pods"].values() if one["metadata"]["namespace"] == self.SPACE]
            return {one["metadata"]["annotations"]["shared-gpu-pod-name"]: one for one in mine if one["spec"]["schedulerName"] == "kaisched-scaling"}

    def until_they_stand(self, api, *names):
        """The stand-ins are these, and a cycle later still."""
        self.assert_until(api, lambda: set(self.stand_ins(api)) == set(names))
        self.until_a_cycle(api)
        self.assertEqual(set(self.stand_ins(api)), set(names))

    def until_a_cycle(self, api):
        """Whatever is bound, a pod that starts was decided after now."""
        name = f"tick-{api.version}"
        api.put("pods", pod(name, 0))
        self.assert_until(api, lambda: self.bound(api, name))
        name = f"tick-{api.version}"
        api.put("pods", pod(name, 0))
        self.assert_until(api, lambda: self.bound(api, name))

    def devices(self, api):
        return {name: int(one["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]) for name, one in self.stand_ins(api).items()}

    def test_as_many_devices_as_all_of_them_need(self):
        """Three halves: two devices. When nodes have come the pods start, and the stand-ins go."""
        with FakeApi() as api, Kubelets(api):
            self.fill(api, gpus=0)
            for name in "abc":
                api.put("pods", shared(name))
            self.start(api, self.STAND_INS)
            self.until_they_stand(api, "a", "b")
            one = self.stand_ins(api)["a"]
            self.assertEqual(one["metadata"]["labels"], {"app": "scaling-pod", "hami.io/webhook": "ignore"})
            self.assertEqual(one["metadata"]["annotations"]["shared-gpu-pod-namespace"], "team")
            container = one["spec"]["containers"][0]
            self.assertEqual(container["resources"], {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}})
            self.assertEqual((container["image"], set(container)), ("example.com/pause:1", {"name", "image", "resources"}))
            told = one["status"]["conditions"][0]
            self.assertEqual((told["type"], told["status"], told["reason"]), ("PodScheduled", "False", "Unschedulable"))
            self.assertIn("pod team/a", told["message"])
            api.put("nodes", node("n1", 2))
            self.assert_until(api, lambda: self.bound(api, *"abc"))
            self.until_they_stand(api)
            self.assertEqual(sorted(self.check_book(api).values()), [50, 100])
            self.assertEqual({name: on for name, on in api.pods().items() if name.startswith(self.SPACE)}, {})

    def test_where_the_pod_may_run_and_what_it_asks_for(self):
        term = {"topologyKey": "zone", "labelSelector": {}}
        affinity = {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{**term}, {**term, "namespaces": ["other"]}],
                                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {**term}}]},
        }  # fmt: skip
        one = shared("a" * 253, "0.3", devices=2)
        one["spec"].update({"nodeSelector": {"kind": "gpu"}, "tolerations": [{"operator": "Exists"}], "affinity": affinity})
        one["spec"]["initContainers"] = [{"name": "first", "image": "none", "resources": {"requests": {"memory": "1Gi"}}, "restartPolicy": "Always"}]
        one["spec"]["containers"].append({"name": "log", "image": "none", "resources": {"requests": {"cpu": "2"}}})
        with FakeApi() as api:
            self.fill(api, gpus=0)
            api.put("pods", one)
            self.start(api, self.STAND_INS)
            self.assert_until(api, lambda: self.stand_ins(api))
            made = next(iter(self.stand_ins(api).values()))
            self.assertLessEqual(len(made["metadata"]["name"]), 253)
            spec = made["spec"]
            self.assertEqual([spec[key] for key in ("nodeSelector", "tolerations")], [{"kind": "gpu"}, [{"operator": "Exists"}]])
            required, preferred = (spec["affinity"]["podAntiAffinity"][f"{word}DuringSchedulingIgnoredDuringExecution"] for word in ("required", "preferred"))
            self.assertEqual([one["namespaces"] for one in required], [["team"], ["other"]])
            self.assertEqual(preferred[0]["podAffinityTerm"]["namespaces"], ["team"])
            self.assertEqual([one["resources"]["requests"] for one in spec["containers"]], [{"cpu": "1", "nvidia.com/gpu": "2"}, {"cpu": "2"}])
            self.assertEqual([(one["resources"]["requests"], one["restartPolicy"]) for one in spec["initContainers"]], [({"memory": "1Gi"}, "Always")])
            names = [one["name"] for part in ("containers", "initContainers") for one in spec[part]]
            self.assertEqual(len(names), len(set(names)))

    def test_several_devices_and_amounts_of_memory(self):
        """a counts as 0.1 of a device, b as 0.4 on two: one for a would do for both, but has not two devices."""
        with FakeApi() as api:
            self.fill(api, gpus=0)
            api.put("pods", shared("a", memory="1000"))
            api.put("pods", shared("b", "0.2", devices=2))
            api.put("pods", shared("c", memory="1000"))
            self.start(api, self.STAND_INS)
            self.until_they_stand(api, "a", "b")
            self.assertEqual(self.devices(api), {"a": 1, "b": 2})

    def test_a_pod_that_is_gone_and_one_of_its_name(self):
        with FakeApi() as api:
            self.fill(api, gpus=0)
            api.put("pods", shared("a"))
            theirs = pod("theirs", 1, scheduler="kai-scheduler")
            theirs["metadata"].update({"namespace": self.SPACE, "labels": {"app": "scaling-pod"}})
            api.put("pods", theirs)
            self.start(api, self.STAND_INS.replace("0s", "2s"))
            self.assert_until(api, lambda: self.stand_ins(api))
            first = self.stand_ins(api)["a"]
            api.delete("pods", "team/a")
            api.put("pods", shared("a"))
            self.assert_until(api, lambda: "a" in self.stand_ins(api) and self.stand_ins(api)["a"]["metadata"]["uid"] != first["metadata"]["uid"])
            removal, = api.asked("DELETE", self.SPACE)
            self.assertEqual(removal.body["preconditions"]["uid"], first["metadata"]["uid"])
            self.assertGreater(api.asked("POST", self.SPACE)[-1].at - removal.at, 1.9)  # cool_down
            self.assertIn(f"{self.SPACE}/theirs", api.pods())

    def test_pods_for_which_a_larger_cluster_does_nothing(self):
        """Groups that wait for pods of theirs, groups that want no larger cluster, whole GPUs, and programs without the section."""
        for config in (self.STAND_INS, SHARING):
            with self.subTest(config), FakeApi() as api:
                self.fill(api, gpus=0)
                for name, spec in (("few", {"minMember": 3}), ("stays", {"minMember": 1, "markUnschedulable": False})):
                    api.put("podgroups", group(name, "q", spec.pop("minMember"), **spec))
                    api.put("pods", shared(f"{name}-0", group=name))
                api.put("pods", pod("whole"))
                if config == SHARING:
                    api.put("pods", shared("plain"))
                self.start(api, config)
                self.assert_until(api, lambda: self.condition(api, "whole", "PodScheduled"))
                self.until_they_stand(api)

    def test_what_was_not_said_is_said_later(self):
        with FakeApi() as api:
            self.fill(api, gpus=0)
            api.put("pods", shared("a"))
            api.fail("POST", f"{self.SPACE}/pods", 500)
            api.fail("PATCH", f"{self.SPACE}/pods/", 500)
            self.start(api, self.STAND_INS)
            self.assert_until(api, lambda: "conditions" in self.stand_ins(api).get("a", {}).get("status", {}))
            self.assertEqual([len(api.asked(method, self.SPACE)) for method in ("POST", "PATCH", "DELETE")], [2, 2, 0])


class Settings(ShareCase):
    def test_fields(self):
        for text, expected in (
            ("sharing: {}", "sharing: image: is missing"), ("sharing: {image: ''}", "sharing.image: may not be empty"),
            ("sharing: {image: a, allocation_timeout: 10ms}", "sharing.allocation_timeout: at least 1000 ms"),
            ("sharing: {image: a, orphans: adopt}", 'sharing.orphans: expected delete or keep, found "adopt"'),
            ("sharing: {image: a, imgae: b}", "sharing.imgae: unknown field"),
            ("scaling: {}", "scaling: image: is missing"),
            ("scaling: {image: a, memory_percent: 0}", "scaling.memory_percent: expected a number from 1 to 100"),
            ("scaling: {image: a, cool_down: soon}", "scaling.cool_down: expected a time"),
            ("scaling: {image: a, namespace: ''}", "scaling.namespace: may not be empty"),
        ):  # fmt: skip
            done = self.run_program("--config", self.config(text + "\n"))
            self.assertEqual(done.returncode, 2)
            self.assertIn(expected, done.stderr)


class Admission(WebhookCase):
    CONFIG = "sharing: {image: example.com/kaisched:1}\n"

    def test_references_to_what_the_binder_will_write(self):
        with FakeApi() as api:
            self.serve(api, "  isolation: false\n", config=self.CONFIG)
            one = pod("train.a", 0, annotations={"gpu-fraction": "0.5"})
            one["spec"]["containers"][0]["env"] = [{"name": "GPU_PORTION", "value": "1"}]
            made = self.admitted(one)
            prefix = made["metadata"]["annotations"]["runai/shared-gpu-configmap"]
            self.assertRegex(prefix, "^train-a-[a-z0-9]{7}-shared-gpu$")
            self.assertEqual(variables(made), {key: {"configMapKeyRef": {"name": f"{prefix}-0", "key": key}}
                                               for key in ("NVIDIA_VISIBLE_DEVICES", "RUNAI_NUM_OF_GPUS", "GPU_PORTION")})  # fmt: skip
            self.assertEqual(made["spec"]["containers"][0]["envFrom"], [{"configMapRef": {"name": f"{prefix}-0-evar", "optional": False}}])
            self.assertEqual(made["spec"]["volumes"], [{"name": f"{prefix}-0-vol", "configMap": {"name": f"{prefix}-0"}}])
            self.assertEqual(made["spec"]["runtimeClassName"], "nvidia")
            self.assertEqual(self.admitted(made), made)  # asked again, nothing changes
            other = pod("b", 0, scheduler="kai-scheduler", annotations={"gpu-fraction": "0.5"})
            self.assertEqual(self.admitted(other), other)

    def test_the_container_that_is_named(self):
        with FakeApi() as api:
            self.serve(api, "  isolation: false\n", config=self.CONFIG)
            one = pod("a", 0, annotations={"gpu-memory": "4096", "gpu-fraction-container-name": "prepare"})
            one["spec"]["initContainers"] = [{"name": "first", "image": "none"}, {"name": "prepare", "image": "none"}]
            made = self.admitted(one)
            prefix = made["metadata"]["annotations"]["runai/shared-gpu-configmap"]
            self.assertEqual(variables(made, 1, "initContainers")["GPU_PORTION"]["configMapKeyRef"]["name"], f"{prefix}-i1")
            self.assertEqual(made["spec"]["containers"], one["spec"]["containers"])
            one["metadata"]["annotations"]["gpu-fraction-container-name"] = "nobody"
            self.assertIn('no container "nobody"', self.respond(one)["status"]["message"])

    def test_limits(self):
        with FakeApi() as api:
            self.serve(api, config=self.CONFIG)
            made = self.admitted(pod("a", 0, annotations={"gpu-fraction": "0.5"}))
            self.assertEqual(variables(made)["LD_PRELOAD"], GUARD)
            self.assertEqual(variables(made)["GPU_MEMORY_LIMIT"]["configMapKeyRef"]["key"], "GPU_MEMORY_LIMIT")
            self.assertIn("/usr/lib/kaisched", mounts(made))
            self.assertEqual(self.admitted(made), made)
            free = pod("a", 0, annotations={"gpu-fraction": "0.5", "kaisched.io/isolation": "false"})
            self.assertNotIn("LD_PRELOAD", variables(self.admitted(free)))

    def test_what_nobody_can_have(self):
        with FakeApi() as api:
            self.serve(api, "  isolation: false\n", config=self.CONFIG)
            for notes, gpus, expected in (
                ({"gpu-fraction": "1"}, 0, 'gpu-fraction: expected a number between 0 and 1, found "1"'),
                ({"gpu-memory": "2Gi"}, 0, 'gpu-memory: expected a number of MiB, found "2Gi"'),
                ({"gpu-fraction": "0.5", "gpu-memory": "1"}, 0, "only one of them"),
                ({"gpu-fraction": "0.5"}, 1, "not together with a part"),
                ({"gpu-fraction": "0.5", "gpu-fraction-num-devices": "0"}, 0, "expected a number of devices"),
            ):
                response = self.respond(pod("a", gpus, annotations=notes))
                self.assertFalse(response["allowed"])
                self.assertIn(expected, response["status"]["message"])


class Reporter(ShareCase):
    """The program inside a reservation."""

    def report(self, api, devices="8g"):
        kept = self.kubeconfig(api.url)
        environment = {**os.environ, "KAISCHED_FAKE_DEVICES": devices, "POD_NAMESPACE": NAMESPACE, "POD_NAME": "keeper"}
        words = [os.environ["KAISCHED_RESERVATION"], "--kubeconfig", kept, "--nvml", os.environ["KAISCHED_FAKE_NVML"]]
        return subprocess.Popen(list(map(str, words)), env=environment, stderr=subprocess.PIPE, text=True)

    @classmethod
    def setUpClass(cls):
        if not os.environ.get("KAISCHED_FAKE_NVML"):
            raise unittest.SkipTest("skipped: no stand-in for NVML")

    def keeper(self, api):
        one = pod("keeper", 1, on="n0")
        one["metadata"]["namespace"] = NAMESPACE
        api.put("pods", one)

    def test_it_reports_and_stays(self):
        with FakeApi() as api:
            self.keeper(api)
            process = self.report(api)
            self.addCleanup(process.kill)
            seen = lambda: api.get("pods", f"{NAMESPACE}/keeper")["metadata"]["annotations"].get(DEVICE, "")  # noqa: E731
            self.assert_until(api, seen)
            self.assertRegex(seen(), "^GPU-")
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=30), 0)

    def test_why_it_does_not(self):
        with FakeApi() as api:
            for devices, expected in (("8g;8g", "2 GPUs are to be seen here, not one"), ("8g", "not found")):
                process = self.report(api, devices)  # there is no such pod
                self.assertEqual(process.wait(timeout=60), 1)
                self.assertIn(expected, process.stderr.read())


if __name__ == "__main__":
    unittest.main()
