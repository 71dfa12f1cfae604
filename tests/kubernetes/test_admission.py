"""Groups that others have to agree to, and Jobs that wait without pods. One ctest entry per class."""

import time
import unittest

from clusters import group, node, pod, queue
from fake_api import FakeApi
from test_program import Case

CHECKS = "kaisched.io/checks"
MARK = "kaisched.io/place-held"
HELD = "kaisched.io/PlaceHeld"


def job(name, pods, gpus=1, held=True, **metadata):
    """Suspended, and for this program to resume."""
    notes = {"kaisched.io/suspend": "managed"} if held else {}
    notes.update(metadata.pop("annotations", {}))
    template = pod("template", gpus)
    labels = {"kai.scheduler/queue": "q", **metadata.pop("labels", {})}
    return {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": "team", "annotations": {"kai.scheduler/batch-min-member": str(pods), **notes},
                     "labels": labels, "creationTimestamp": "2026-01-01T00:00:00Z", **metadata},
        "spec": {"suspend": True, "parallelism": pods, "completions": pods,
                 "template": {"metadata": {"labels": {"app": name}}, "spec": template["spec"]}},
        "status": {},
    }  # fmt: skip


class AdmissionCase(Case):
    RUNS = "period: 200ms\nsuspended_jobs: start\n"

    def suspended(self, api, name):
        return api.get("jobs", f"team/{name}")["spec"]["suspend"]

    def controller(self, api, name, only=None):
        """What the controller of Jobs does with a Job that is not suspended: makes its pods, with names of its own."""
        of = api.get("jobs", f"team/{name}")
        for i in range(of["spec"]["parallelism"] if only is None else only):
            made = pod(f"{name}-{'xyzuvw'[i]}")
            made["spec"] = dict(of["spec"]["template"]["spec"])
            made["metadata"]["labels"] = dict(of["spec"]["template"]["metadata"]["labels"])
            made["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": name,
                                                    "uid": of["metadata"]["uid"], "controller": True}]  # fmt: skip
            if f"team/{made['metadata']['name']}" not in api.objects["pods"]:
                api.put("pods", made)

    def run_pods(self, api, *names):
        for name in names:
            one = api.get("pods", f"team/{name}")
            one["status"]["phase"] = "Running"
            api.put("pods", one)

    def reasons(self, api, kind):
        return [r.body["reason"] for r in api.asked("POST", "/events") if r.body["regarding"]["kind"] == kind]

    def rest(self, api, cycles=3):
        """Long enough for some cycles."""
        time.sleep(0.25 * cycles)


class Checks(AdmissionCase):
    def conditions(self, api, name):
        return {one["type"]: one["status"] for one in api.get("pods", f"team/{name}")["status"].get("conditions", [])}

    def test_a_place_is_held_until_all_agree(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            gang = group("train", "q", 2)
            gang["metadata"]["annotations"] = {CHECKS: "budget, license"}
            api.put("podgroups", gang)
            for i in range(2):
                api.put("pods", pod(f"train-{i}", group="train"))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: all(self.conditions(api, f"train-{i}").get(HELD) == "True" for i in range(2)))
            said = [one for one in api.get("pods", "team/train-0")["status"]["conditions"] if one["type"] == HELD]
            self.assertEqual(said[0]["message"], "a place on n0 is held until these agree: budget, license")
            # Nobody else gets the devices, however long it takes, and who is alone in agreeing starts nobody.
            api.put("podgroups", group("other", "q", 1))
            api.put("pods", pod("other", group="other"))
            now = api.get("podgroups", "team/train")
            now["metadata"]["annotations"][CHECKS] = "license"
            api.put("podgroups", now)
            self.assert_until(api, lambda: self.conditions(api, "other").get("PodScheduled") == "False")
            self.rest(api)
            self.assertFalse(any(api.pods().values()))
            self.assertEqual(api.asked("POST", "/binding"), [])
            now = api.get("podgroups", "team/train")
            now["metadata"]["annotations"][CHECKS] = ""
            api.put("podgroups", now)
            self.assert_until(api, lambda: api.pods()["team/train-0"] == "n0" and api.pods()["team/train-1"] == "n0")
            self.assertIsNone(api.pods()["team/other"])

    def test_who_gives_up_leaves_the_place_to_others(self):
        with FakeApi() as api:
            self.fill(api, gpus=1)
            waits = group("train", "q", 1)
            waits["metadata"]["annotations"] = {CHECKS: "budget"}
            api.put("podgroups", waits)
            api.put("pods", pod("train", group="train"))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: self.conditions(api, "train").get(HELD) == "True")
            api.put("podgroups", group("other", "q", 1))
            api.put("pods", pod("other", group="other"))
            self.rest(api)
            self.assertIsNone(api.pods()["team/other"])
            api.delete("pods", "team/train")
            self.assert_until(api, lambda: api.pods()["team/other"] == "n0")

    def test_a_more_important_one_takes_the_place(self):
        with FakeApi() as api:
            self.fill(api, gpus=1)
            api.put("priorityclasses", {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 90})
            waits = group("train", "q", 1)
            waits["metadata"]["annotations"] = {CHECKS: "budget"}
            api.put("podgroups", waits)
            api.put("pods", pod("train", group="train"))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: self.conditions(api, "train").get(HELD) == "True")
            api.put("podgroups", group("other", "q", 1, priorityClassName="high"))
            api.put("pods", pod("other", group="other"))
            # As it goes for pods of groups that wait for nobody: the pod leaves, and its owner makes another one.
            self.assert_until(api, lambda: "deletionTimestamp" in api.get("pods", "team/train")["metadata"])
            api.delete("pods", "team/train")
            self.assert_until(api, lambda: api.pods()["team/other"] == "n0")

    IMPATIENT = AdmissionCase.RUNS + "checks_timeout: 700ms\nchecks_retry: 2s\n"

    def test_a_place_is_not_held_for_ever(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            waits = group("train", "q", 2)
            waits["metadata"]["annotations"] = {CHECKS: "budget"}
            api.put("podgroups", waits)
            for i in range(2):
                api.put("pods", pod(f"train-{i}", group="train"))
            self.start(api, self.IMPATIENT)
            self.assert_until(api, lambda: all(self.conditions(api, f"train-{i}").get(HELD) == "True" for i in range(2)))
            api.put("podgroups", group("other", "q", 1))
            api.put("pods", pod("other", group="other"))
            self.assert_until(api, lambda: api.pods()["team/other"] == "n0")
            self.assertIn("these have not agreed for 0.7 s: budget", self.log())
            self.assert_until(api, lambda: all(self.conditions(api, f"train-{i}")[HELD] == "False" for i in range(2)))
            # Who agrees later finds the group where it was, when its time has come again and there is room.
            waits = api.get("podgroups", "team/train")
            waits["metadata"]["annotations"][CHECKS] = ""
            api.put("podgroups", waits)
            api.delete("pods", "team/other")
            self.assert_until(api, lambda: api.pods()["team/train-0"] == "n0" and api.pods()["team/train-1"] == "n0")

    def test_a_job_that_nobody_agrees_to_lets_others_start(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            api.put("jobs", job("train", 2, annotations={CHECKS: "budget"}))
            self.start(api, self.IMPATIENT)
            self.assert_until(api, lambda: MARK in api.get("jobs", "team/train")["metadata"]["annotations"])
            api.put("podgroups", group("other", "q", 2))
            for i in range(2):
                api.put("pods", pod(f"other-{i}", group="other"))
            self.assert_until(api, lambda: api.pods()["team/other-0"] == "n0" and api.pods()["team/other-1"] == "n0")
            self.assert_until(api, lambda: MARK not in api.get("jobs", "team/train")["metadata"]["annotations"])
            self.assertTrue(self.suspended(api, "train"))
            # Again in line when its time has come: with room it is held for the budget once more.
            for i in range(2):
                api.delete("pods", f"team/other-{i}")
            self.assert_until(api, lambda: MARK in api.get("jobs", "team/train")["metadata"]["annotations"])

    def test_once_does_not_wait_for_others(self):
        with FakeApi() as api:
            self.fill(api, gpus=1)
            waits = group("train", "q", 1)
            waits["metadata"]["annotations"] = {CHECKS: "budget"}
            api.put("podgroups", waits)
            api.put("pods", pod("train", group="train"))
            self.once(api, config=self.RUNS)
            self.assertFalse(any(api.pods().values()))


class Jobs(AdmissionCase):
    def test_a_job_is_resumed_when_there_is_room(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            api.put("jobs", job("first", 2))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: not self.suspended(api, "first"))
            # Its places are its own until its pods are there: the second one stays without pods.
            api.put("jobs", job("second", 2))
            self.rest(api)
            self.assertTrue(self.suspended(api, "second"))
            self.controller(api, "first", only=1)
            self.assert_until(api, lambda: api.pods().get("team/first-x") == "n0")
            self.rest(api)
            self.assertTrue(self.suspended(api, "second"))
            self.controller(api, "first")
            self.assert_until(api, lambda: api.pods().get("team/first-y") == "n0")
            self.run_pods(api, "first-x", "first-y")
            self.rest(api)
            self.assertTrue(self.suspended(api, "second"))
            self.assertIn("Suspended", self.reasons(api, "Job"))
            self.assertIn("Resumed", self.reasons(api, "Job"))
            # It ends, and the next one has its turn.
            over = api.get("jobs", "team/first")
            over["status"] = {"succeeded": 2, "conditions": [{"type": "Complete", "status": "True"}]}
            api.put("jobs", over)
            for name in ("first-x", "first-y"):
                api.delete("pods", f"team/{name}")
            self.assert_until(api, lambda: not self.suspended(api, "second"))
            self.assertEqual([r for r in api.asked("PATCH", "/pods/") if "planned" in r.path], [])
            self.assertEqual([r for r in api.changes() if "planned" in r.path], [])

    def test_one_that_does_not_say_so_is_left_alone(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            api.put("jobs", job("mine", 1, held=False))
            api.put("jobs", job("other", 1))
            other = api.get("jobs", "team/other")
            other["spec"]["template"]["spec"]["schedulerName"] = "default-scheduler"
            api.put("jobs", other)
            api.put("jobs", job("last", 1))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: not self.suspended(api, "last"))
            self.rest(api)
            self.assertTrue(self.suspended(api, "mine"))
            self.assertTrue(self.suspended(api, "other"))

    def test_without_the_setting_nobody_is_resumed(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            api.put("jobs", job("first", 1))
            self.once(api)
            self.assertTrue(self.suspended(api, "first"))

    def test_it_waits_for_those_who_have_to_agree(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            api.put("jobs", job("first", 2, annotations={CHECKS: "budget"}))
            self.start(api, self.RUNS)
            marked = lambda: api.get("jobs", "team/first")["metadata"]["annotations"].get(MARK)  # noqa: E731
            self.assert_until(api, lambda: marked() == "true")
            api.put("jobs", job("second", 1))
            self.rest(api)
            self.assertTrue(self.suspended(api, "first"))
            self.assertTrue(self.suspended(api, "second"))
            self.assertIn("PlaceHeld", self.reasons(api, "Job"))
            now = api.get("jobs", "team/first")
            del now["metadata"]["annotations"][CHECKS]
            api.put("jobs", now)
            self.assert_until(api, lambda: not self.suspended(api, "first"))
            self.assertIsNone(marked())
            self.rest(api)
            self.assertTrue(self.suspended(api, "second"))

    def test_a_held_place_that_is_lost_is_told(self):
        with FakeApi() as api:
            self.fill(api, gpus=1)
            api.put("priorityclasses", {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 90})
            api.put("jobs", job("first", 1, annotations={CHECKS: "budget"}))
            self.start(api, self.RUNS)
            marked = lambda: api.get("jobs", "team/first")["metadata"]["annotations"].get(MARK)  # noqa: E731
            self.assert_until(api, lambda: marked() == "true")
            api.put("jobs", job("urgent", 1, labels={"priorityClassName": "high"}))
            self.assert_until(api, lambda: not self.suspended(api, "urgent"))
            self.assert_until(api, lambda: marked() is None)
            self.assertTrue(self.suspended(api, "first"))
            self.assertIn("PlaceLost", self.reasons(api, "Job"))

    def test_a_job_that_loses_all_pods_is_suspended(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            api.put("priorityclasses", {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 90})
            api.put("jobs", job("first", 2))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: not self.suspended(api, "first"))
            self.controller(api, "first")
            self.assert_until(api, lambda: all(api.pods().values()))
            self.run_pods(api, "first-x", "first-y")
            api.put("jobs", job("urgent", 2, labels={"priorityClassName": "high"}))
            self.assert_until(api, lambda: self.suspended(api, "first"))
            # The controller removes the pods; this program asks for none of them.
            self.assertEqual(api.asked("DELETE", "/pods/"), [])
            for name in ("first-x", "first-y"):
                api.delete("pods", f"team/{name}")
            self.assert_until(api, lambda: not self.suspended(api, "urgent"))
            self.controller(api, "urgent")
            self.assert_until(api, lambda: all(api.pods().values()))
            self.rest(api)
            self.assertTrue(self.suspended(api, "first"))

    def test_requests_that_fail_are_made_again(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            api.fail("PATCH", "/jobs/", 409, times=2)
            api.fail("PATCH", "/jobs/", 500, times=1)
            api.fail("PATCH", "/jobs/", "drop", times=1)
            api.fail("PATCH", "/jobs/", "lost", times=1)
            api.put("jobs", job("first", 2))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: not self.suspended(api, "first"))
            api.put("jobs", job("second", 1))
            self.rest(api)
            self.assertTrue(self.suspended(api, "second"))
            self.controller(api, "first")
            self.assert_until(api, lambda: [on for on in api.pods().values() if on] == ["n0", "n0"])

    def test_pods_that_cannot_be_made_keep_it_suspended(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            claiming = job("first", 1, gpus=0)
            claiming["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
            api.put("jobs", claiming)
            api.put("jobs", job("second", 1))
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: not self.suspended(api, "second"))
            self.assertTrue(self.suspended(api, "first"))
            self.assertIn("stays suspended: spec.resourceClaims: gpu: Kubernetes has not made the claim yet", self.log())


if __name__ == "__main__":
    unittest.main()
