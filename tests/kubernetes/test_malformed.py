"""Objects of users that are wrong in every way: kaisched-kubernetes stays up, names each once, and schedules those of
everybody else. One ctest entry per class."""

import copy
import re
import resource
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from clusters import gang, group, node, pod, queue  # noqa: E402
from fake_api import FakeApi  # noqa: E402
from test_program import Case  # noqa: E402

RUNS = "period: 300ms\nleader_election: {enabled: false}\n"
SAFE_NAME = re.compile(r"left out: (.*)")
VALUES = (None, True, -1, 7, 1e300, 2**63, "", "text", "-1", "9" * 400, "1e999", "\x00\n\t", [], [None], ["x"], {}, {"": None}, [[[]]], {"name": {}})


def bad(made, name):
    made = copy.deepcopy(made)
    made["metadata"].update(name=name, namespace="bad")
    return made


def rich_pod():
    made = pod("p", 1, group="g")
    made["metadata"].update(
        labels={"kai.scheduler/queue": "q", "kai.scheduler/task-priority": "1", "kai.scheduler/subgroup-name": "s"},
        ownerReferences=[{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}],
        creationTimestamp="2026-01-01T00:00:00Z",
    )
    made["spec"].update(
        nodeSelector={"zone": "a"}, tolerations=[{"key": "k", "operator": "Exists", "effect": "NoSchedule"}], priorityClassName="train",
        schedulingGates=[{"name": "g"}], overhead={"cpu": "1"}, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        initContainers=[{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}],
        affinity={
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "host", "labelSelector": {"matchLabels": {"a": "b"}}}]},
        },
    )  # fmt: skip
    made["spec"]["containers"][0]["ports"] = [{"hostPort": 80, "containerPort": 80, "protocol": "TCP"}]
    made["status"] = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "m"}], "nominatedNodeName": "n"}
    return made


def rich_group():
    made = group("g", "q", 2, priorityClassName="train", preemptibility="preemptible", schedulingBackoff=1, stalenessGracePeriod="1m",
                 preemptionDelay="1m", markUnschedulable=True, minSubGroup=1,
                 topologyConstraint={"topology": "t", "requiredTopologyLevel": "rack", "preferredTopologyLevel": "host"},
                 subGroups=[{"name": "s", "minMember": 1, "parent": "r"}, {"name": "r", "minSubGroup": 1}])  # fmt: skip
    made["metadata"]["annotations"] = {"kai.scheduler/last-start-timestamp": "2026-01-01T00:00:00Z"}
    made["status"] = {"schedulingConditions": [{"type": "UnschedulableOnNodePool", "nodePool": "x", "transitionID": "1", "message": "m"}]}
    return made


def rich_job():
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "team", "labels": {"kai.scheduler/queue": "q"}},
        "spec": {"parallelism": 2, "completions": 2, "template": {"spec": {"containers": [{"name": "main"}]}}},
    }  # fmt: skip


def paths(value, at=()):
    """Every place in an object but its name and what the API server itself needs."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            if at + (key,) not in (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace")):
                yield from paths(inner, at + (key,))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from paths(inner, at + (i,))


def replaced(made, path, value):
    made = copy.deepcopy(made)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return made


class MalformedCase(Case):
    def good_pods_start(self, api, name, seconds=60):
        """Of another namespace, that come after all that is wrong. Returns the seconds until they were bound."""
        began = time.monotonic()
        made, pods = gang(name, "q", 2)
        api.put("podgroups", made)
        for one in pods:
            api.put("pods", one)
        self.assert_until(api, lambda: all(api.pods()[f"team/{name}-{i}"] for i in range(2)), seconds)
        return time.monotonic() - began

    def left_out(self):
        return SAFE_NAME.findall(self.log())


class Types(MalformedCase):
    def test_every_field_of_every_type(self):
        with FakeApi() as api:
            self.fill(api, nodes=2, gpus=64)
            process = self.start(api, RUNS)
            for plural, made in (("pods", rich_pod()), ("podgroups", rich_group()), ("jobs", rich_job())):
                number = 0
                for path in paths(made):
                    for value in VALUES:
                        api.put(plural, bad(replaced(made, path, value), f"{made['kind'].lower()}-{number}"))
                        number += 1
                self.assertGreater(number, 100)
                self.good_pods_start(api, f"after-{plural}", 120)
                self.assertIsNone(process.poll(), self.log()[-4000:])
            lines = self.left_out()
            self.assertGreater(len(lines), 50)
            self.assertEqual([line for line in set(lines) if lines.count(line) > 1], [])  # each once
            self.assertEqual([line for line in lines if "bad/" not in line], [])
            # All are listed again by a process that starts with them.
            process.kill()
            process.wait()
            again = self.start(api, RUNS)
            self.good_pods_start(api, "again", 120)
            self.assertIsNone(again.poll())

    def test_faults_name_object_and_field(self):
        with FakeApi() as api:
            self.fill(api)
            self.start(api, RUNS)
            wrong = (
                ("podgroups", rich_group(), ("spec", "minMember"), "many", "minMember"),
                ("podgroups", rich_group(), ("spec", "subGroups"), 7, "subGroups"),
                ("podgroups", rich_group(), ("spec", "stalenessGracePeriod"), "soon", "stalenessGracePeriod"),
                ("pods", rich_pod(), ("spec", "containers", 0, "resources", "requests", "cpu"), "much", "cpu"),
                ("pods", rich_pod(), ("spec", "tolerations"), "none", "tolerations"),
                ("pods", rich_pod(), ("spec", "containers", 0, "resources", "requests", "nvidia.com/gpu"), "-1", "gpu"),
            )
            for i, (plural, made, path, value, _) in enumerate(wrong):
                api.put(plural, bad(replaced(made, path, value), f"wrong-{i}"))
            self.good_pods_start(api, "g")
            for i, (*_, field) in enumerate(wrong):
                self.assert_until(api, lambda i=i, field=field: re.search(rf"left out: .*bad/wrong-{i}\b.*{field}", self.log()))

    def test_an_object_that_is_put_right(self):
        with FakeApi() as api:
            self.fill(api)
            self.start(api, RUNS)
            made, pods = gang("g", "q", 2)
            api.put("podgroups", replaced(made, ("spec", "minMember"), {"no": "number"}))
            for one in pods:
                api.put("pods", one)
            self.assert_until(api, lambda: "team/g" in "".join(self.left_out()))
            api.put("podgroups", made)
            self.assert_until(api, lambda: all(api.pods().values()))


class Forms(MalformedCase):
    def test_deep_and_unreadable(self):
        with FakeApi() as api:
            self.fill(api)
            api.raw = {"@deep@": b'{"a":' * 9000 + b"1" + b"}" * 9000, "@list@": b"[" * 100000 + b"]" * 100000, "@bytes@": b'"a\xff\xfe\xc0b"'}
            for i, what in enumerate(api.raw):
                made = rich_group()
                made["spec"]["anything"] = what
                api.put("podgroups", bad(made, f"raw-{i}"))
                job = rich_job()
                job["spec"]["template"] = what
                api.put("jobs", bad(job, f"raw-{i}"))
            process = self.start(api, RUNS)  # it lists them
            self.good_pods_start(api, "listed")
            for i, what in enumerate(api.raw):
                made = rich_group()
                made["spec"]["anything"] = what
                api.put("podgroups", bad(made, f"more-{i}"))  # it watches them come
            self.good_pods_start(api, "watched")
            for name in ("raw-0", "raw-1", "more-0", "more-1"):
                self.assert_until(api, lambda name=name: f"left out: PodGroup bad/{name}: more than 64 levels" in self.log())
            self.assertIsNone(process.poll())

    def test_large(self):
        with FakeApi() as api:
            self.fill(api)
            self.start(api, RUNS)
            long = "n" * 10000
            api.put("pods", bad(pod("p"), long))
            api.put("podgroups", bad(group("g", long, 1), "long-queue"))
            big = pod("p", annotations={"notes": "x" * 1_000_000, "pod-group-name": "y" * 100_000})
            api.put("pods", bad(big, "big"))
            many = pod("p")
            many["metadata"]["labels"] = {f"label-{i}": "v" * 60 for i in range(20000)}
            api.put("pods", bad(many, "many-labels"))
            wide = group("g", "q", 1, subGroups=[{"name": f"s{i}", "minMember": 1} for i in range(5000)])
            api.put("podgroups", bad(wide, "wide"))
            self.good_pods_start(api, "g", 120)
            self.assertLess(max(map(len, self.log().splitlines())), 5000)

    def test_what_messages_quote_makes_no_lines(self):
        with FakeApi() as api:
            self.fill(api)
            self.start(api, RUNS)
            lie = "1\nkaisched-kubernetes: pod team/x: bound to n0\x1b[2J"
            api.put("podgroups", bad(replaced(rich_group(), ("spec", "minMember"), lie), "liar"))
            odd = pod("p")
            odd["spec"]["containers"][0]["resources"]["requests"]["cpu"] = lie
            api.put("pods", bad(odd, "liar"))
            self.good_pods_start(api, "g")
            self.assert_until(api, lambda: "bad/liar" in self.log())
            self.assertNotRegex(self.log(), r"(?m)^kaisched-kubernetes: pod team/x")
            self.assertNotIn("\x1b", self.log())

    def test_circles(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("queues", queue("own-parent", 1, "own-parent"))
            api.put("queues", queue("hen", 1, "egg"))
            api.put("queues", queue("egg", 1, "hen"))
            circle = group("g", "q", 1, subGroups=[{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}])
            api.put("podgroups", bad(circle, "circle"))
            api.put("podgroups", bad(group("g", "own-parent", 1), "in-circle"))
            api.put("pods", bad(pod("p", group="in-circle"), "in-circle"))
            for one, other in (("x", "y"), ("y", "x"), ("self", "self")):
                job = bad(rich_job(), one)
                job["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": other, "uid": other, "controller": True}]
                api.put("jobs", job)
                member = bad(pod("p"), f"of-{one}")
                member["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": one, "uid": one, "controller": True}]
                api.put("pods", member)
            levels = [{"nodeLabel": "rack"}, {"nodeLabel": "rack"}, {"nodeLabel": ""}]
            api.put("topologies", {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "twice"}, "spec": {"levels": levels}})
            process = self.start(api, RUNS)
            self.good_pods_start(api, "g")
            self.assert_until(api, lambda: "own-parent" in "".join(self.left_out()))
            self.assertIsNone(process.poll())


class Many(MalformedCase):
    """One user creates very many objects."""

    COUNT = 5000  # test_a_hundred_thousand: by hand, with the argument of that name

    def flood(self, api, count, of):
        for i in range(count):
            plural, made = of(i)
            api.put(plural, made)

    def memory(self, process):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) // 1024

    def test_pods_that_wait(self):
        """What is said about them is said in turns, so that what others do is decided in between."""
        with FakeApi() as api:
            self.fill(api, gpus=64)
            process = self.start(api, RUNS)
            self.assert_until(api, lambda: "all objects are read" in self.log())
            self.flood(api, self.COUNT, lambda i: ("pods", bad(pod("p", 100), f"flood-{i}")))
            self.assert_until(api, lambda: len(api.asked("PATCH", "bad/pods/flood")) > 100, 120)
            took = self.good_pods_start(api, "g", 120)
            self.assertLess(len(api.asked("PATCH", "/bad/pods/flood")), self.COUNT)  # it did not wait for these
            api.put("pods", pod("mine", 200))  # nor does what is said to others
            self.assert_until(api, lambda: api.get("pods", "team/mine")["status"].get("conditions"), 120)
            self.assertLess(len(api.asked("PATCH", "/bad/pods/flood")), self.COUNT)
            print(f"\n{self.COUNT} pods: {took:.1f} s until others start, {self.memory(process)} MiB", file=sys.stderr)

    def test_objects_that_nobody_can_read(self):
        with FakeApi() as api:
            self.fill(api, gpus=64)
            process = self.start(api, RUNS)
            self.assert_until(api, lambda: "all objects are read" in self.log())
            wrong = replaced(rich_group(), ("spec", "minMember"), "many")
            self.flood(api, 1000, lambda i: ("podgroups", bad(wrong, f"flood-{i}")))
            self.good_pods_start(api, "g", 120)
            self.assert_until(api, lambda: len(self.left_out()) >= 1000)
            self.assertEqual(len(set(self.left_out())), len(self.left_out()))
            self.assertIsNone(process.poll())


if __name__ == "__main__":
    if sys.argv[1:] == ["test_a_hundred_thousand"]:
        Many.COUNT = 100_000
        sys.argv[1:] = ["Many.test_pods_that_wait"]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
