"""A cluster of Volcano as its user meets it: what kubectl gives out, and the scheduler's own configuration."""

import json

from support import Case, main

API = "scheduling.volcano.sh/v1beta1"


def item(api, kind, name, spec=None, namespace=None, status=None, annotations=None, labels=None):
    metadata = {"name": name, "annotations": annotations or {}, "labels": labels or {}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec or {}, "status": status or {}}


def node(name, gpus, **labels):
    return item("v1", "Node", name, labels=labels,
                status={"allocatable": {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": str(gpus), "pods": "110"}})  # fmt: skip


def queue(name, state="Open", **spec):
    return item(API, "Queue", name, spec, status={"state": state})


def pod(name, group, gpus=1, on=None, **labels):
    spec = {"schedulerName": "volcano", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": str(gpus)}}}]}
    if on:
        spec["nodeName"] = on
    return item("v1", "Pod", name, spec, "team", {"phase": "Running" if on else "Pending"},
                {"scheduling.k8s.io/group-name": group}, labels)  # fmt: skip


def group(name, queue, members, **spec):
    return item(API, "PodGroup", name, {"queue": queue, "minMember": members, **spec}, "team")


class Volcano(Case):
    def decided(self, *items, options=()):
        """Nodes of pods that start; groups that wait, with the reason; pods that leave."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        told = json.loads(self.ok("run", "-", "--decisions", "-", *options, stdin=text))
        starts = {d["pod_name"][5:]: d["node_name"] for d in told["decision"] if d["kind"] in ("bind", "pipeline")}
        waits = {r["group_name"][5:]: r["text"] for r in told.get("reason", [])}
        return starts, waits, [d["pod_name"][5:] for d in told["decision"] if d["kind"] == "evict"]

    def test_gangs_in_queues(self):
        items = [
            node("n1", 4), queue("root"), queue("small", capability={"nvidia.com/gpu": "1"}), queue("big"), queue("shut", "Closed"),
            group("fits", "big", 2), pod("fits-0", "fits"), pod("fits-1", "fits"),
            group("limited", "small", 2), pod("limited-0", "limited"), pod("limited-1", "limited"),
            group("late", "shut", 1), pod("late-0", "late"),
            group("lost", "nowhere", 1), pod("lost-0", "lost"),
        ]  # fmt: skip
        starts, waits, gone = self.decided(*items, options=["--set", "preset=volcano-default"])
        self.assertEqual((starts, gone), ({"fits-0": "n1", "fits-1": "n1"}, []))
        self.assertEqual(sorted(waits), ["late", "limited"])
        self.assertEqual(waits["late"], "the queue 'shut' is closed")
        # The same objects under KAI's rules: the queues are as good as its own.
        starts, waits, _ = self.decided(*items)
        self.assertEqual(sorted(starts), ["fits-0", "fits-1"])

    def test_replicas_that_start_without_the_others(self):
        policy = [{"name": "decode", "subGroupSize": 2, "minSubGroups": 1, "matchLabelKeys": ["replica"]}]
        pods = [pod(f"d-{r}-{i}", "serve", replica=str(r)) for r in (0, 1) for i in (0, 1)]
        items = [node("n1", 3), queue("q"), group("serve", "q", 2, subGroupPolicy=policy), *pods]
        starts, _, _ = self.decided(*items, options=["--set", "preset=volcano-default"])
        self.assertEqual(sorted(starts), ["d-0-0", "d-0-1"])  # one pod of a replica is of no use
        for least in (2, 3):  # there is no room for the second, and no third
            policy[0]["minSubGroups"] = least
            starts, waits, _ = self.decided(*items, options=["--set", "preset=volcano-default"])
            self.assertEqual((starts, list(waits)), ({}, ["serve"]))
        items[0] = node("n1", 8)
        self.assertEqual(self.decided(*items, options=["--set", "preset=volcano-default"])[0], {})

    def test_networks(self):
        leaf = lambda name, nodes: item("topology.volcano.sh/v1alpha1", "HyperNode", name, {  # noqa: E731
            "tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": n}}} for n in nodes]})  # fmt: skip
        pods = [pod(f"t-{i}", "t", gpus=2) for i in range(2)]
        items = [node("a", 2), node("b", 2), node("c", 2), leaf("one", ["a"]), leaf("two", ["b", "c"]), queue("q"),
                 group("t", "q", 2, networkTopology={"mode": "hard", "highestTierAllowed": 1}), *pods]  # fmt: skip
        starts, _, _ = self.decided(*items, options=["--set", "preset=volcano-ai"])
        self.assertEqual(starts, {"t-0": "b", "t-1": "c"})

    def test_what_a_queue_gives_back(self):
        items = [node("n1", 2), queue("a", reclaimable=False), queue("b", deserved={"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "2"}),
                 group("a1", "a", 1), pod("a1-0", "a1", on="n1"), group("a2", "a", 1), pod("a2-0", "a2", on="n1"),
                 group("b1", "b", 1), pod("b1-0", "b1")]  # fmt: skip
        self.assertEqual(self.decided(*items, options=["--set", "preset=volcano-ai"])[2], [])
        items[1]["spec"]["reclaimable"] = True
        starts, _, gone = self.decided(*items, options=["--set", "preset=volcano-ai"])
        self.assertEqual((list(starts), len(gone)), (["b1-0"], 1))

    def test_its_configuration_over_its_objects(self):
        conf = self.file("volcano-scheduler.conf", """actions: "enqueue, allocate"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: drf, enableHierarchy: true}, {name: predicates}, {name: nodegroup, arguments: {strict: false}}]
""")
        told = json.loads(self.ok("import", conf, "--json"))
        self.assertEqual(told["left_out"], [])
        options = [f"--set={name}={value}" for name, value in told["options"].items()]
        wants = {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["gold"]}}
        items = [node("iron-1", 4), node("gold-1", 1, **{"volcano.sh/nodegroup-name": "gold"}), queue("rich", affinity=wants), queue("poor"),
                 group("r", "rich", 1), pod("r-0", "r"), pod("r-1", "r"), group("p", "poor", 1), pod("p-0", "p")]  # fmt: skip
        starts, _, _ = self.decided(*items, options=options)
        self.assertEqual(starts, {"r-0": "gold-1", "p-0": "iron-1"})


if __name__ == "__main__":
    main()
