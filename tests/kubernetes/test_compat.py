"""What other parts of a cluster expect of a scheduler: gates, node pools, disruption budgets, autoscalers, Kueue, and the
conditions and events of KAI. The test plays the other part. One ctest entry per class."""

import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from clusters import gang, group, node, pod, queue  # noqa: E402
from fake_api import FakeApi  # noqa: E402
from test_program import Case  # noqa: E402

RUNS = "period: 300ms\nexplain_period: 100ms\nleader_election: {enabled: false}\n"


class CompatCase(Case):
    def events(self, api, reason=None, kind=None):
        made = [r.body for r in api.asked("POST", "/events$")]
        return [e for e in made if reason in (None, e["reason"]) and kind in (None, e["regarding"]["kind"])]

    def condition(self, api, name):
        """PodScheduled of a pod."""
        found = [c for c in api.get("pods", f"team/{name}")["status"].get("conditions", []) if c["type"] == "PodScheduled"]
        return found[0] if found else None

    def group_conditions(self, api, name):
        return api.get("podgroups", f"team/{name}").get("status", {}).get("schedulingConditions", [])

    def cycles(self, api, count=4):
        """Waits until so many things were decided since."""
        for i in range(count):
            name = f"tick-{time.monotonic_ns()}"
            api.put("pods", pod(name, 0))
            self.assert_until(api, lambda name=name: api.pods()[f"team/{name}"])


class Gates(CompatCase):
    def gated(self, made, *names):
        made["spec"]["schedulingGates"] = [{"name": name} for name in names]
        made["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]
        return made

    def test_a_gang_waits_for_gated_pods(self):
        with FakeApi() as api:
            self.fill(api)
            made, pods = gang("g", "q", 3)
            made["spec"]["schedulingBackoff"] = 1  # a condition would end it
            api.put("podgroups", made)
            for i, one in enumerate(pods):
                api.put("pods", self.gated(one, "example.com/data") if i else one)
            self.start(api, RUNS)
            self.assert_until(api, lambda: self.events(api, "NotReady"))
            self.cycles(api)
            told = self.events(api, "NotReady")
            self.assertEqual(len(told), 1)
            self.assertEqual((told[0]["regarding"]["kind"], told[0]["regarding"]["name"], told[0]["type"]), ("PodGroup", "g", "Normal"))
            self.assertIn("waiting for 2 pods", told[0]["note"])
            self.assertEqual(self.group_conditions(api, "g"), [])
            self.assertEqual(api.asked("PATCH", "pods/g-"), [])  # gated pods keep the condition of the API server
            for i in (1, 2):
                del pods[i]["spec"]["schedulingGates"]
                api.put("pods", pods[i])
                if i == 1:
                    self.assert_until(api, lambda: len(self.events(api, "NotReady")) == 2)
                    self.assertIn("waiting for 1 pod:", self.events(api, "NotReady")[1]["note"])
            self.assert_until(api, lambda: all(api.pods()[f"team/g-{i}"] for i in range(3)))

    def test_a_gang_that_is_still_being_made(self):
        with FakeApi() as api:
            self.fill(api)
            made, pods = gang("g", "q", 3)
            api.put("podgroups", made)
            api.put("pods", pods[0])
            self.start(api, RUNS)
            self.assert_until(api, lambda: self.events(api, "NotReady"))
            self.cycles(api)
            self.assertEqual(self.condition(api, "g-0"), None)  # a larger cluster would not help
            for one in pods[1:]:
                api.put("pods", one)
            self.assert_until(api, lambda: all(api.pods()[f"team/g-{i}"] for i in range(3)))


class Pools(CompatCase):
    def test_conditions_are_of_a_pool_each(self):
        with FakeApi() as api:
            label = {"kai.scheduler/node-pool": "a100"}
            api.put("nodes", node("n0", 8, labels=label))
            mine = queue("q", -1)
            mine["metadata"]["labels"] = label
            api.put("queues", mine)
            made, pods = gang("g", "q", 1, gpus=16)
            made["metadata"]["labels"] = label
            made["spec"]["schedulingBackoff"] = 1
            theirs = {"type": "UnschedulableOnNodePool", "nodePool": "h100", "message": "full", "transitionID": "4", "status": "True"}
            made["status"] = {"schedulingConditions": [theirs]}
            api.put("podgroups", made)
            api.put("pods", pods[0])
            self.start(api, "node_pool: a100\n" + RUNS)
            self.assert_until(api, lambda: len(self.group_conditions(api, "g")) == 2)
            theirs_now, mine_now = self.group_conditions(api, "g")
            self.assertEqual(theirs_now, theirs)
            self.assertEqual((mine_now["nodePool"], mine_now["transitionID"], mine_now["reason"]), ("a100", "5", "Unschedulable"))
            # It is given up here, until somebody has moved it to another pool.
            api.put("nodes", node("n1", 16, labels=label))
            self.cycle_of(api, label)
            self.assertEqual(api.pods()["team/g-0"], None)
            # Who moves groups between pools has come round, and says so by a newer condition.
            moved = api.get("podgroups", "team/g")
            moved["status"]["schedulingConditions"].append({**theirs, "transitionID": "6"})
            api.put("podgroups", moved)
            self.assert_until(api, lambda: api.pods()["team/g-0"] == "n1")

    def cycle_of(self, api, label):
        made, pods = gang(f"tick-{time.monotonic_ns()}", "q", 1)
        made["metadata"]["labels"] = label
        api.put("podgroups", made)
        api.put("pods", pods[0])
        self.assert_until(api, lambda: api.pods()[f"team/{pods[0]['metadata']['name']}"])

    def test_two_write_at_the_same_time(self):
        """What another pool's scheduler has written in between is not lost."""
        with FakeApi() as api:
            self.fill(api)
            made, pods = gang("g", "q", 1, gpus=16)
            api.put("podgroups", made)
            api.put("pods", pods[0])
            api.fail("PATCH", "podgroups/g/status$", 409)
            self.start(api, RUNS)
            self.assert_until(api, lambda: self.group_conditions(api, "g"))
            asked = api.asked("PATCH", "podgroups/g/status$")
            self.assertEqual(len(asked), 2)
            self.assertTrue(all(r.body["metadata"]["resourceVersion"] for r in asked))

    def test_a_group_that_runs_and_wants_more(self):
        """As KAI: pods beyond its minimum that wait do not make it unschedulable."""
        with FakeApi() as api:
            self.fill(api, gpus=2)
            made, pods = gang("g", "q", 3)
            made["spec"].update(minMember=2, schedulingBackoff=1)
            api.put("podgroups", made)
            for one in pods:
                api.put("pods", one)
            self.start(api, RUNS)
            self.assert_until(api, lambda: len([n for n in api.pods().values() if n]) == 2)
            self.cycles(api)
            self.assertEqual(self.group_conditions(api, "g"), [])


class Budgets(CompatCase):
    """`eviction: evict`; the API server refuses with 429 what a PodDisruptionBudget protects."""

    REFUSAL = b'{"kind": "Status", "status": "Failure", "message": "Cannot evict pod as it would violate the pod\'s disruption budget.", "reason": "TooManyRequests", "details": {"causes": [{"reason": "DisruptionBudget"}]}, "code": 429}'

    def cluster(self, api, protected):
        api.put("nodes", node("n0"))
        for one in (queue("top", 8), queue("a", 4, "top"), queue("b", 4, "top")):
            api.put("queues", one)
        for i in range(8):
            api.put("podgroups", group(f"a{i}", "a", 1))
            api.put("pods", pod(f"a{i}-0", 1, group=f"a{i}", on="n0"))
        made, pods = gang("b", "b", 3)
        api.put("podgroups", made)
        for one in pods:
            api.put("pods", one)
        api.fail("POST", f"pods/a[{protected}]-0/eviction$", (429, [("Content-Type", "application/json"), ("Retry-After", "1")], self.REFUSAL), times=1000)

    def gone(self, api):
        return {n for n in api.pods() if api.get("pods", n)["metadata"].get("deletionTimestamp")}

    def test_others_go_instead(self):
        for protected in ("0-3", "4-7"):
            with self.subTest(protected), FakeApi() as api:
                self.cluster(api, protected)
                self.start(api, RUNS + "eviction: evict\n")
                # Each victim that the budget protects is asked once at most; then others are found.
                self.assert_until(api, lambda: len(self.gone(api)) >= 3)
                self.cycles_of_nothing(api)
                self.assertEqual(len(self.gone(api)), 3)
                keep = {f"team/a{i}-0" for i in range(*((0, 4) if protected == "0-3" else (4, 8)))}
                self.assertEqual(self.gone(api) & keep, set())
                for i in range(8):
                    self.assertLessEqual(len(api.asked("POST", f"pods/a{i}-0/eviction")), 1)
                for name in self.gone(api):
                    api.delete("pods", name)
                self.assert_until(api, lambda: all(api.pods()[f"team/b-{i}"] for i in range(3)))

    def cycles_of_nothing(self, api):
        reads = api.version
        for i in range(3):
            api.put("nodes", node("n0", labels={"tick": str(i)}))
            time.sleep(0.4)
        self.assertGreater(api.version, reads)

    def test_nobody_may_go(self):
        with FakeApi() as api:
            self.cluster(api, "0-7")
            self.start(api, RUNS + "eviction: evict\n")
            self.assert_until(api, lambda: self.group_conditions(api, "b"))
            self.cycles_of_nothing(api)
            self.assertEqual(self.gone(api), set())
            for i in range(8):  # no loop that asks again and again
                self.assertLessEqual(len(api.asked("POST", f"pods/a{i}-0/eviction")), 1)


    def budget(self, name, ready, allowed):
        return {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": "team"},
            "spec": {"selector": {"matchLabels": {"app": name}}},
            "status": {"disruptionsAllowed": allowed, "desiredHealthy": ready - allowed, "currentHealthy": ready, "expectedPods": ready},
        }  # fmt: skip

    def guarded(self, api, web, db):
        """Two services of four pods, one pod a group, and a gang of three that is entitled to their GPUs."""
        api.served.add("poddisruptionbudgets")
        self.cluster(api, "9")
        for i in range(8):
            one = api.get("pods", f"team/a{i}-0")
            one["metadata"]["labels"] = {"app": "web" if i < 4 else "db"}
            one["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
            api.put("pods", one)
        api.put("poddisruptionbudgets", self.budget("web", 4, web))
        api.put("poddisruptionbudgets", self.budget("db", 4, db))

    def gone_of(self, api):
        gone = self.gone(api)
        return len(gone & {f"team/a{i}-0" for i in range(4)}), len(gone & {f"team/a{i}-0" for i in range(4, 8)})

    def test_victims_are_chosen_within_budgets(self):
        for allowed in ((1, 2), (2, 1), (0, 3)):
            with self.subTest(allowed), FakeApi() as api:
                self.guarded(api, *allowed)
                self.start(api, RUNS + "disruption_budgets: respect\n")
                self.assert_until(api, lambda: len(self.gone(api)) >= 3)
                self.cycles_of_nothing(api)  # the status of the budgets is that of before
                self.assertEqual(self.gone_of(api), allowed)
                for name in self.gone(api):
                    api.delete("pods", name)
                self.assert_until(api, lambda: all(api.pods()[f"team/b-{i}"] for i in range(3)))

    def test_who_waits_is_told_the_budget(self):
        with FakeApi() as api:
            self.guarded(api, 0, 2)
            self.start(api, RUNS + "disruption_budgets: respect\n")
            self.assert_until(api, lambda: self.group_conditions(api, "b"))
            self.cycles_of_nothing(api)
            self.assertEqual(self.gone(api), set())
            self.assertIn("disruption budget 'team/", self.group_conditions(api, "b")[0]["message"])
            api.put("poddisruptionbudgets", self.budget("web", 4, 1))
            self.assert_until(api, lambda: len(self.gone(api)) >= 3)
            self.cycles_of_nothing(api)
            self.assertEqual(self.gone_of(api), (1, 2))

    def test_budgets_are_not_read_unless_it_is_asked_for(self):
        with FakeApi() as api:
            self.guarded(api, 0, 0)
            self.start(api, RUNS)
            self.assert_until(api, lambda: len(self.gone(api)) >= 3)
            self.assertEqual(api.asked("GET", "poddisruptionbudgets"), [])


class Scaling(CompatCase):
    """What cluster-autoscaler and Karpenter look for: pods whose PodScheduled is False with the reason Unschedulable."""

    def test_pods_that_a_larger_cluster_would_start(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            for name, marks in (("scales", {}), ("stays", {"markUnschedulable": False})):
                made, pods = gang(name, "q", 2, gpus=4)
                made["spec"].update(marks)
                api.put("podgroups", made)
                for one in pods:
                    api.put("pods", one)
            self.start(api, RUNS)
            self.assert_until(api, lambda: self.condition(api, "scales-0") or self.condition(api, "scales-1"))
            self.assert_until(api, lambda: self.group_conditions(api, "stays"))
            self.cycles(api)
            told = [c for c in (self.condition(api, f"scales-{i}") for i in range(2)) if c]
            self.assertEqual({(c["status"], c["reason"]) for c in told}, {("False", "Unschedulable")})
            self.assertEqual(len(told), 2)
            self.assertEqual([self.condition(api, f"stays-{i}") for i in range(2)], [None, None])
            for name in ("n8", "n9"):
                api.put("nodes", node(name, 8))  # that the autoscaler brings
            self.assert_until(api, lambda: all(api.pods().values()))


class Kueue(CompatCase):
    """Kueue admits, kaisched places: the test is Kueue's controller."""

    GATES = ("kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology")

    def pods_of(self, name, count):
        made = []
        for i in range(count):
            one = pod(f"{name}-{i}", 1)
            one["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "user-queue", "kueue.x-k8s.io/podset": "main", "kueue.x-k8s.io/managed": "true"}
            one["metadata"]["annotations"] = {"kueue.x-k8s.io/podset-required-topology": "rack", "kueue.x-k8s.io/workload": name}
            one["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"uid-{name}", "controller": True}]
            one["spec"]["schedulingGates"] = [{"name": gate} for gate in self.GATES]
            made.append(one)
        return made

    def job(self, name, count):
        return {
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "team", "uid": f"uid-{name}", "labels": {"kueue.x-k8s.io/queue-name": "user-queue", "kai.scheduler/batch-min-member": str(count)}},
            "spec": {"parallelism": count, "completions": count, "template": {"spec": {}}},
        }  # fmt: skip

    def test_admitted_pods_are_placed_where_kueue_wants_them(self):
        with FakeApi() as api:
            for i in range(4):
                api.put("nodes", node(f"n{i}", 2, labels={"rack": f"r{i // 2}"}))
            api.put("queues", queue("default-queue", -1))
            api.put("jobs", self.job("train", 4))
            pods = self.pods_of("train", 4)
            for one in pods:
                api.put("pods", one)
            self.start(api, RUNS)
            self.cycles(api)
            self.assertEqual({api.pods()[f"team/train-{i}"] for i in range(4)}, {None})  # not admitted
            self.assertEqual(api.asked("PATCH", "pods/train-"), [])
            for gate in self.GATES:  # admission, then the assignment of a topology
                for one in pods:
                    one["spec"]["schedulingGates"] = [g for g in one["spec"]["schedulingGates"] if g["name"] != gate]
                    if gate == self.GATES[1]:
                        one["spec"]["nodeSelector"] = {"rack": "r1"}
                    api.put("pods", one)
            self.assert_until(api, lambda: all(api.pods()[f"team/train-{i}"] for i in range(4)))
            self.assertEqual({api.pods()[f"team/train-{i}"] for i in range(4)}, {"n2", "n3"})

    def test_pods_that_kueue_evicts(self):
        """It deletes them; nothing is bound again before it admits again."""
        with FakeApi() as api:
            api.put("nodes", node("n0", 2))
            api.put("queues", queue("default-queue", -1))
            api.put("jobs", self.job("first", 2))
            first = self.pods_of("first", 2)
            for one in first:
                one["spec"].pop("schedulingGates")
                api.put("pods", one)
            self.start(api, RUNS)
            self.assert_until(api, lambda: all(api.pods().values()))
            for i in range(2):
                api.delete("pods", f"team/first-{i}")
            api.put("jobs", self.job("second", 2))
            for one in [*self.pods_of("second", 2), *self.pods_of("first", 2)]:
                if "second" in one["metadata"]["name"]:
                    one["spec"].pop("schedulingGates")
                api.put("pods", one)
            self.assert_until(api, lambda: all(api.pods()[f"team/second-{i}"] for i in range(2)))
            self.assertEqual([api.pods()[f"team/first-{i}"] for i in range(2)], [None, None])


class Events(CompatCase):
    def test_evictions_say_for_whom(self):
        with FakeApi() as api:
            Budgets.cluster(self, api, "x")
            self.start(api, RUNS)
            self.assert_until(api, lambda: len(self.events(api, "Evict", "PodGroup")) == 3)
            for one in self.events(api, "Evict", "PodGroup"):
                self.assertEqual(
                    one["metadata"]["annotations"],
                    {"num-evicted-pods": "1", "evictor-pod-group-name": "b", "evictor-pod-group-namespace": "team", "evictor-action-type": "reclaim"},
                )  # fmt: skip
            self.assertEqual(len(self.events(api, "Evict", "Pod")), 3)
            self.assert_until(api, lambda: len({e["regarding"]["name"] for e in self.events(api, "Pipelined", "Pod")}) == 3)
            for name in [n for n in api.pods() if api.get("pods", n)["metadata"].get("deletionTimestamp")]:
                api.delete("pods", name)
            self.assert_until(api, lambda: len(self.events(api, "Scheduled", "Pod")) == 3)

    REFUSAL = Budgets.REFUSAL

    def test_names_of_any_length(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("pods", pod("p" * 253))
            self.start(api, RUNS)
            self.assert_until(api, lambda: self.events(api, "Scheduled"))
            self.assertLessEqual(len(self.events(api, "Scheduled")[0]["metadata"]["name"]), 253)


if __name__ == "__main__":
    unittest.main()
