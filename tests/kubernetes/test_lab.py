"""kaisched-kubernetes against a real API server: what is decided, beside a plain kube-scheduler where that shows the
difference. One ctest entry per class."""

import time
from collections import Counter

from clusters import gang, group, node, pod, queue
from lab_case import LabCase, condition, main


def priority_class(name, value):
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


class Textbook(LabCase):
    """The cases with which schedulers for gangs are explained."""

    def ten_gpus(self, scheduler):
        """10 free GPUs; a job of 5, and after it a gang of 8."""
        eight, pods = gang("eight", "q", 8, scheduler=scheduler)
        self.create(node("n0", 5), node("n1", 5), queue("q", 10), group("five", "q", 1), eight)
        self.create(pod("five-0", 5, group="five", scheduler=scheduler), *pods)

    def test_part_of_a_gang_holds_gpus_for_nothing(self):
        """kube-scheduler knows no gangs: 5 pods of 8 wait on their GPUs for others that find none."""
        self.lab.start_scheduler()  # before the pods, which it takes in the order in which they come
        self.ten_gpus("default-scheduler")
        self.until_bound("", 6)
        self.until(lambda: sum(condition(one, "PodScheduled").get("reason") == "Unschedulable" for one in self.lab.pods().values()) == 3)
        self.assertEqual(len(self.bound("eight-")), 5)
        self.assertEqual(self.partial(), ["eight"])

    def test_no_partial_gang(self):
        """One of the two starts, whole."""
        self.ten_gpus("kaisched")
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

    def two_gangs(self, scheduler):
        """12 free GPUs; two gangs of 8 whose pods come in turn."""
        both = [gang(name, "q", 8, scheduler=scheduler) for name in ("a", "b")]
        self.create(node("n0", 6), node("n1", 6), queue("q", -1), *(one for one, _ in both))
        for pair in zip(*(pods for _, pods in both), strict=True):
            self.create(*pair)

    def test_two_gangs_stop_each_other(self):
        """Neither gets its 8, and neither ends: a deadlock."""
        self.lab.start_scheduler()
        self.two_gangs("default-scheduler")
        self.until_bound("", 12)
        self.until_quiet()
        self.assertEqual(sorted(self.partial()), ["a", "b"])

    def test_two_gangs_start_one_after_the_other(self):
        self.two_gangs("kaisched")
        self.start()
        self.until_bound("", 8)
        self.assert_sound()
        first = next(iter(self.bound())).split("-")[0]
        for one in self.lab.pods().values():
            if one["metadata"]["name"].startswith(first):
                self.remove(one)
        self.until_bound("b" if first == "a" else "a", 8)
        self.assert_sound()

    def small_then_large(self, scheduler):
        """Two nodes of 8; eight jobs of 1 GPU, then one of 8."""
        self.create(node("n0"), node("n1"), queue("q", -1))
        for i in range(8):
            self.create(group(f"s{i}", "q", 1), pod(f"s{i}-0", 1, group=f"s{i}", scheduler=scheduler))

    def test_spreading_leaves_no_room_for_a_large_job(self):
        self.small_then_large("default-scheduler")
        self.lab.start_scheduler()
        self.until_bound("s", 8)
        self.assertEqual(set(self.bound("s").values()), {"n0", "n1"})
        self.create(group("large", "q", 1), pod("large-0", 8, group="large", scheduler="default-scheduler"))
        self.until_unschedulable("large-0")
        self.assertNotIn("large-0", self.bound())

    def test_packing_leaves_room_for_a_large_job(self):
        self.small_then_large("kaisched")
        self.start()
        self.until_bound("s", 8)
        self.assertEqual(len(set(self.bound("s").values())), 1)
        self.create(group("large", "q", 1), pod("large-0", 8, group="large"))
        self.until_bound("large", 1)
        self.assert_sound()

    def test_racks(self):
        """A gang that has to be in one rack waits until one has room for all of it, although the cluster has."""
        levels = [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
        self.create({"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "racks"}, "spec": {"levels": levels}})
        for rack in "ab":
            self.create(*(node(f"{rack}{i}", 4, labels={"rack": rack, "kubernetes.io/hostname": f"{rack}{i}"}) for i in range(2)))
        in_a, in_b = pod("in-a", 1, scheduler="another", on="a0"), pod("in-b", 1, scheduler="another", on="b1")
        mine, pods = gang("g", "q", 8)
        mine["spec"]["topologyConstraint"] = {"topology": "racks", "requiredTopologyLevel": "rack"}
        free, free_pods = gang("anywhere", "q", 2)
        self.create(queue("q", -1), in_a, in_b, mine, *pods)
        self.start()
        self.until_explained()
        self.assertEqual(self.bound("g-"), {})
        self.remove(in_b)
        self.until_bound("g-", 8)
        self.assertEqual({where[0] for where in self.bound("g-").values()}, {"b"})
        self.create(free, *free_pods)
        self.until_bound("anywhere", 2)
        self.assert_sound()


class Decisions(LabCase):
    def test_reclaim(self):
        self.create(node("n0"), queue("top", 8), queue("a", 4, "top"), queue("b", 4, "top"))
        for i in range(8):
            self.create(group(f"a{i}", "a", 1), pod(f"a{i}-0", 1, group=f"a{i}", on="n0"))
        mine, pods = gang("b", "b", 3)
        self.create(mine, *pods)
        self.start()
        self.until_bound("b-", 3)
        self.assert_sound()
        self.assertEqual(len(self.bound("a")), 5)  # not one more than had to

    def test_preemption(self):
        """In one queue the higher priority gets its GPUs from the lower, and no more than it needs."""
        self.create(node("n0"), queue("q", 8), priority_class("low", 40), priority_class("high", 60))
        for i in range(8):
            self.create(group(f"low{i}", "q", 1, priorityClassName="low"), pod(f"low{i}-0", 1, group=f"low{i}", on="n0"))
        mine, pods = gang("high", "q", 2)
        mine["spec"]["priorityClassName"] = "high"
        self.create(mine, *pods)
        self.start()
        self.until_bound("high", 2)
        self.assert_sound()
        self.assertEqual(len(self.bound("low")), 6)
        for name in ("low", "high"):
            self.lab.remove(priority_class(name, 0))

    def test_mig_slices(self):
        """Slices are counted one by one, beside whole GPUs."""
        sliced = node("n0", 1)
        sliced["status"]["allocatable"]["nvidia.com/mig-1g.10gb"] = "7"
        self.create(sliced, node("n1", 2), queue("q", -1))
        for i in range(8):
            small = pod(f"s{i}-0", 0, group=f"s{i}")
            for kind in ("requests", "limits"):
                small["spec"]["containers"][0]["resources"].setdefault(kind, {})["nvidia.com/mig-1g.10gb"] = "1"
            self.create(group(f"s{i}", "q", 1), small)
        self.create(group("whole", "q", 1), pod("whole-0", 2, group="whole"))
        self.once()
        self.assert_sound()
        self.assertEqual(Counter(self.bound("s").values()), {"n0": 7})
        self.assertEqual(self.bound("whole"), {"whole-0": "n1"})

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

    def test_pods_that_come_and_go(self):
        """What the watch tells is decided, and a pod that is gone makes room."""
        self.create(node("n0", 2), queue("q", -1))
        self.start()
        for turn in range(3):
            mine, pods = gang(f"g{turn}", "q", 2)
            self.create(mine, *pods)
            self.until_bound(f"g{turn}-", 2)
            self.assert_sound()
            for one in pods:
                self.remove(one)


class Scale(LabCase):
    def test_a_thousand_nodes(self):
        """5000 pods, half of them in gangs of 10, are bound on 1000 nodes. The time is printed, not judged."""
        self.lab.create(queue("q", -1))
        self.lab.create_all(node(f"n{i:04}", 8) for i in range(1000))
        objects = [gang(f"g{i:03}", "q", 10) for i in range(250)]
        self.lab.create_all(one for one, _ in objects)
        pods = [one for _, pods in objects for one in pods] + [pod(f"s{i:04}") for i in range(2500)]
        self.lab.create({**queue("default-queue", -1)})
        self.lab.create_all(pods)
        self.created = {one["metadata"]["name"] for one in pods}
        began = time.monotonic()
        self.start("period: 1s\n")
        self.until(lambda: self.said().count(": bound to ") == 5000, 600)
        print(f"5000 pods on 1000 nodes: {time.monotonic() - began:.1f} s from the start of the program to the last binding")
        self.assertEqual(len(self.bound()), 5000)
        self.assert_sound()


if __name__ == "__main__":
    main()
