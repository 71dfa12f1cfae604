"""Resource claims (resource.k8s.io): devices that are allocated and reserved before a pod is bound, and given back if it is
not. One ctest entry per class."""

import time
import unittest

from clusters import node, pod, queue
from fake_api import FakeApi
from test_program import SHORT_LEASE, Case

DRIVER = "gpu.example.com"
PROTECTION = "resource.kubernetes.io/delete-protection"
RESOURCES = ("resourceclaims", "resourceclaimtemplates", "deviceclasses", "resourceslices")


def device_class(driver=DRIVER):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": driver},
            "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]}}  # fmt: skip


def device_slice(name, devices, driver=DRIVER):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{name}-gpus"},
            "spec": {"driver": driver, "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                     "devices": [{"name": f"gpu-{i}", "attributes": {"model": {"string": "l4"}}} for i in range(devices)]}}  # fmt: skip


def claim(name, count=1, driver=DRIVER, **metadata):
    """Of the queue that pods without a group are in."""
    labels = {"kai.scheduler/queue": "default-queue"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "team", "labels": labels, **metadata},
            "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": driver, "count": count}}]}}}  # fmt: skip


def claiming(name, claim=None, template=None):
    made = pod(name, gpus=0)
    entry = {"name": "gpu", "resourceClaimName": claim} if claim else {"name": "gpu", "resourceClaimTemplateName": template}
    made["spec"]["resourceClaims"] = [entry]
    return made


class ClaimCase(Case):
    RUNS = "period: 200ms\n"

    def fill_devices(self, api, devices=2, nodes=1, driver=DRIVER):
        api.served |= set(RESOURCES)
        for i in range(nodes):
            api.put("nodes", node(f"n{i}", 0))
            api.put("resourceslices", device_slice(f"n{i}", devices, driver))
        api.put("queues", queue("default-queue", -1))
        api.put("deviceclasses", device_class(driver))

    def devices(self, api, name):
        status = api.get("resourceclaims", f"team/{name}").get("status", {})
        return [f"{one['pool']}/{one['device']}" for one in status.get("allocation", {}).get("devices", {}).get("results", [])]

    def users(self, api, name):
        return [one["name"] for one in api.get("resourceclaims", f"team/{name}").get("status", {}).get("reservedFor", [])]

    def patches(self, api, name=""):
        return [r for r in api.asked("PATCH", f"/resourceclaims/{name}")]


class Reserved(ClaimCase):
    def test_devices_are_allocated_before_the_pod_is_bound(self):
        with FakeApi() as api:
            self.fill_devices(api)
            for name in ("a", "b", "c"):
                api.put("resourceclaims", claim(f"of-{name}"))
                api.put("pods", claiming(name, f"of-{name}"))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: len([on for on in api.pods().values() if on]) == 2)
            started = [name for name, on in sorted(api.pods().items()) if on]
            self.assertEqual(started, ["team/a", "team/b"])  # there are two devices
            given = self.devices(api, "of-a") + self.devices(api, "of-b")
            self.assertEqual(sorted(given), ["n0/gpu-0", "n0/gpu-1"])
            made = api.get("resourceclaims", "team/of-a")
            self.assertEqual(made["metadata"]["finalizers"], [PROTECTION])
            uid = api.get("pods", "team/a")["metadata"]["uid"]
            self.assertEqual(made["status"]["reservedFor"], [{"resource": "pods", "name": "a", "uid": uid}])
            self.assertEqual(made["status"]["allocation"]["devices"]["results"][0]["request"], "gpu")
            self.assertEqual(made["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0]["values"], ["n0"])
            first = [r.path.split("/")[-1] for r in api.changes() if "of-a" in r.path or r.path.endswith("/a/binding")]
            self.assertEqual(first, ["of-a", "status", "binding"])
            self.assertTrue(all(r.body["metadata"]["resourceVersion"] for r in self.patches(api)))
            self.assertEqual(self.users(api, "of-c"), [])
            self.assert_until(api, lambda: (api.get("pods", "team/c")["status"].get("conditions") or [{}])[0].get("reason") == "Unschedulable")

    def test_several_pods_of_one_claim(self):
        with FakeApi() as api:
            self.fill_devices(api, nodes=3, devices=1)
            api.put("resourceclaims", claim("shared", finalizers=["example.com/mine"]))
            for name in ("a", "b", "c"):
                api.put("pods", claiming(name, "shared"))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: all(api.pods().values()))
            self.assertEqual(len(set(api.pods().values())), 1)  # where the device is
            self.assertEqual(sorted(self.users(api, "shared")), ["a", "b", "c"])
            self.assertEqual(api.get("resourceclaims", "team/shared")["metadata"]["finalizers"], ["example.com/mine", PROTECTION])
            self.assertEqual(len([r for r in self.patches(api) if "allocation" in r.body.get("status", {})]), 1)

    def test_claims_of_templates_are_made_by_kubernetes(self):
        with FakeApi() as api:
            self.fill_devices(api)
            template = claim("one")
            api.put("resourceclaimtemplates", {**template, "kind": "ResourceClaimTemplate", "spec": {"spec": template["spec"]}})
            waits = claiming("a", template="one")
            api.put("pods", waits)
            self.start(api, self.RUNS)
            words = "spec.resourceClaims: gpu: Kubernetes has not made the claim yet"
            said = lambda: (api.get("pods", "team/a")["status"].get("conditions") or [{}])[0].get("message", "")  # noqa: E731
            self.assert_until(api, lambda: words in said())
            now = api.get("pods", "team/a")
            owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": now["metadata"]["uid"], "controller": True}
            api.put("resourceclaims", claim("a-gpu-x7nqw", ownerReferences=[owner]))
            now["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": "a-gpu-x7nqw"}]
            api.put("pods", now)
            self.assert_until(api, lambda: api.pods()["team/a"] == "n0")
            self.assertEqual(self.users(api, "a-gpu-x7nqw"), ["a"])
            self.assertEqual(api.asked("POST", "/resourceclaims"), [])


class Faults(ClaimCase):
    def test_what_is_not_bound_gives_back(self):
        with FakeApi() as api:
            self.fill_devices(api)
            api.put("resourceclaims", claim("mine"))
            api.put("pods", claiming("a", "mine"))
            api.fail("POST", "binding$", 409, times=3)
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: api.pods()["team/a"] == "n0")
            self.assertEqual(self.users(api, "mine"), ["a"])
            self.assertEqual(len(self.devices(api, "mine")), 1)
            changes = [(r.path.split("/")[-1], r.body.get("status", {}).get("allocation", "-") is None) for r in self.patches(api)]
            self.assertEqual(changes.count(("status", True)), 3)  # given back as often as it was refused
            self.assertEqual(api.get("resourceclaims", "team/mine")["metadata"]["finalizers"], [PROTECTION])

    def test_somebody_was_faster(self):
        with FakeApi() as api:
            self.fill_devices(api)
            for name in ("a", "b"):
                api.put("resourceclaims", claim(f"of-{name}"))
                api.put("pods", claiming(name, f"of-{name}"))
            api.fail("PATCH", "/resourceclaims/of-a/status", 409, times=2)
            api.fail("PATCH", "/resourceclaims/of-b$", 422)
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: all(api.pods().values()))
            self.assertNotEqual(self.devices(api, "of-a"), self.devices(api, "of-b"))
            self.assertIn("resource claim team/of-a: status 409: planted", self.log())

    def test_no_answer_gives_no_device_twice(self):
        for fault in ("lost", "drop", 503):
            for part in ("$", "/status$"):
                with FakeApi() as api, self.subTest(fault=fault, part=part):
                    self.fill_devices(api)
                    for name in ("a", "b"):
                        api.put("resourceclaims", claim(f"of-{name}"))
                        api.put("pods", claiming(name, f"of-{name}"))
                    api.fail("PATCH", f"/resourceclaims/of-a{part}", fault, times=2)
                    process = self.start(api, self.RUNS)
                    self.assert_until(api, lambda: all(api.pods().values()))
                    self.assertEqual(sorted(self.devices(api, "of-a") + self.devices(api, "of-b")), ["n0/gpu-0", "n0/gpu-1"])
                    self.assertEqual((self.users(api, "of-a"), self.users(api, "of-b")), (["a"], ["b"]))
                    self.assertFalse([r for r in self.patches(api) if r.body.get("status", {}).get("allocation", "-") is None])
                    process.kill()
                    process.wait()

    def test_a_device_on_its_way_is_nobody_elses(self):
        with FakeApi() as api:
            self.fill_devices(api, devices=1, driver="fpga.example.com")  # of which nodes have no number as they have of GPUs
            for name in ("a", "b"):
                api.put("resourceclaims", claim(f"of-{name}", driver="fpga.example.com"))
            api.fail("PATCH", "/resourceclaims/of-a/status$", "drop", times=10_000)
            api.put("pods", claiming("a", "of-a"))
            self.start(api, self.RUNS)
            tries = lambda: len(self.patches(api, "of-a/status"))  # noqa: E731
            self.assert_until(api, lambda: tries() > 1)
            api.put("pods", claiming("b", "of-b"))
            before = tries()
            self.assert_until(api, lambda: tries() > before + 4)
            self.assertEqual((self.devices(api, "of-b"), self.users(api, "of-b")), ([], []))
            with api.lock:
                api.faults.clear()
            self.assert_until(api, lambda: api.pods()["team/a"] == "n0")
            self.assertEqual((self.devices(api, "of-a"), api.pods()["team/b"]), (["n0/gpu-0"], None))

    def test_a_leader_that_dies_between_claim_and_binding(self):
        with FakeApi() as api:
            self.fill_devices(api, nodes=2)
            api.put("resourceclaims", claim("mine"))
            api.put("pods", claiming("a", "mine"))
            api.fail("POST", "binding$", ("wait", 60))
            first = self.start(api, self.RUNS + SHORT_LEASE)
            self.assert_until(api, lambda: api.asked("POST", "binding$"))
            given = self.devices(api, "mine")
            first.kill()
            first.wait()
            with api.lock:
                api.faults.clear()
            self.start(api, self.RUNS + SHORT_LEASE)
            self.assert_until(api, lambda: api.pods()["team/a"])
            self.assertEqual(self.devices(api, "mine"), given)
            self.assertEqual(api.pods()["team/a"], given[0].split("/")[0])
            self.assertEqual(self.users(api, "mine"), ["a"])

    def test_a_claim_that_is_gone_or_taken(self):
        with FakeApi() as api:
            self.fill_devices(api)
            doomed = claim("doomed")
            doomed["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            api.put("resourceclaims", doomed)
            api.put("pods", claiming("a", "doomed"))
            api.put("pods", claiming("b", "absent"))
            api.put("resourceclaims", claim("good"))
            api.put("pods", claiming("c", "good"))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: api.pods()["team/c"] == "n0")
            time.sleep(0.5)
            self.assertEqual((api.pods()["team/a"], api.pods()["team/b"]), (None, None))
            self.assertEqual(self.users(api, "doomed"), [])


if __name__ == "__main__":
    unittest.main()
