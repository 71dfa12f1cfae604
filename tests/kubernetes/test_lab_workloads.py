"""kaisched-kubernetes with the real controllers: pods that jobs, deployments and others make, kubelets that kwok plays. One ctest
entry per class."""

import time
from collections import Counter

from clusters import gang, group, node, pod, queue
from lab_case import QUICK, LabCase, condition, main

FREE = {"kai.scheduler/preemptibility": "preemptible"}


def template(gpus, ends_after=None):
    made = pod("", gpus)
    made["spec"].pop("terminationGracePeriodSeconds")
    notes = {"lab/ends-after": ends_after} if ends_after else {}
    return {"metadata": {"labels": {"app": "one"}, "annotations": notes}, "spec": {**made["spec"], "terminationGracePeriodSeconds": 0}}


def workload(kind, name, spec, version="apps/v1", annotations=None, labels=None):
    notes = {"name": name, "namespace": "team", "labels": {"kai.scheduler/queue": "q", **(labels or {})}, "annotations": annotations or {}}
    return {"apiVersion": version, "kind": kind, "metadata": notes, "spec": spec}


def deployment(name, replicas, gpus, **more):
    made = template(gpus)
    made["metadata"]["labels"]["app"] = name
    return workload("Deployment", name, {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": made}, **more)


def definition(group, version, kind, plural):
    """Whatever the controller of somebody else would say."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, of a test"}},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
                 "versions": [{"name": version, "served": True, "storage": True, "schema": schema}]},
    }  # fmt: skip


def owned_by(owner, one, **labels):
    one["metadata"]["ownerReferences"] = [
        {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": True}
    ]
    one["metadata"].setdefault("labels", {}).update(labels)
    return one


class Controllers(LabCase):
    controllers = True

    def running(self, prefix=""):
        return {name for name, one in self.lab.pods().items() if name.startswith(prefix) and one["status"]["phase"] == "Running"}

    def scale(self, kind, name, replicas):
        self.lab.patch(f"/apis/apps/v1/namespaces/team/{kind}/{name}", {"spec": {"replicas": replicas}})

    def test_jobs_follow_each_other(self):
        """Three jobs of two pods on two GPUs: each runs, ends, is collected, and the next one starts, whole."""
        self.create(node("n0", 2), queue("q", -1))
        for i in range(3):
            spec = {"parallelism": 2, "completions": 2, "ttlSecondsAfterFinished": 0, "template": template(1, "1s")}
            spec["template"]["spec"]["restartPolicy"] = "Never"
            self.create(workload("Job", f"j{i}", spec, "batch/v1", {"kai.scheduler/batch-min-member": "2"}))
        self.start()

        def over():
            self.assertEqual(self.overdrawn(), [])
            return not self.lab.items("/apis/batch/v1/namespaces/team/jobs") and not self.lab.pods()

        self.until(over)
        self.assertEqual(self.said().count(": bound to n0"), 6)

    def test_a_deployment(self):
        """Its pods are started one by one; one that is deleted comes again."""
        self.create(node("n0", 2), queue("q", -1), deployment("web", 3, 1))
        self.start()
        self.until(lambda: len(self.running("web")) == 2)
        waits = (set(self.lab.pods()) - self.running()).pop()
        self.until_explained()
        self.assert_sound()
        # Times of creation are whole seconds, and of two pods with the same one the first by name starts.
        created = self.lab.pods()[waits]["metadata"]["creationTimestamp"]
        self.until(lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) > created)
        self.remove(self.lab.pods()[self.running().pop()])
        self.until(lambda: len(self.lab.pods()) == 3 and waits in self.running() and len(self.running()) == 2)
        self.create(node("n1", 1))
        self.until(lambda: len(self.running("web")) == 3)
        self.assert_sound()

    def test_a_stateful_set(self):
        """The next pod is made when the last one runs."""
        made = template(1)
        spec = {"replicas": 3, "serviceName": "none", "selector": {"matchLabels": {"app": "one"}}, "template": made}
        self.create(node("n0", 2), node("n1", 2), queue("q", -1), workload("StatefulSet", "set", spec))
        self.start()
        self.until(lambda: self.running() == {"set-0", "set-1", "set-2"})
        self.assert_sound()

    def test_consolidation(self):
        """Two pods of 4 GPUs on two nodes of 8: one moves, so that a pod of 8 starts; its controller makes it anew."""
        self.create(node("n0"), node("n1"), queue("q", -1), deployment("a", 1, 4, labels=FREE))
        self.start()
        self.until(lambda: len(self.running("a")) == 1)
        first = next(iter(self.bound("a").values()))
        self.lab.patch(f"/api/v1/nodes/{first}", {"spec": {"unschedulable": True}})
        self.create(deployment("b", 1, 4, labels=FREE))
        self.until(lambda: len(self.running("b")) == 1)
        self.assertNotEqual(next(iter(self.bound("b").values())), first)
        self.lab.patch(f"/api/v1/nodes/{first}", {"spec": {"unschedulable": None}})
        self.create(group("large", "q", 1), pod("large-0", 8, group="large"))
        self.until(lambda: "large-0" in self.running() and len(self.running()) == 3)
        self.assert_sound()
        self.assertEqual(len(set(self.bound("a").values()) | set(self.bound("b").values())), 1)

    def test_a_budget_holds_pods_and_lets_them_go(self):
        """The same with a budget, whose status the controller writes: while both pods have to stay nobody moves, and who waits
        is told."""
        self.create(node("n0"), node("n1"), queue("q", -1))
        budget = {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "both", "namespace": "team"},
            "spec": {"minAvailable": 2, "selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}},
        }  # fmt: skip
        place = self.lab.place(budget)
        self.create(budget, deployment("a", 1, 4, labels=FREE))
        self.start(QUICK + "disruption_budgets: respect\neviction: evict\n")
        self.until(lambda: len(self.running("a")) == 1)
        first = next(iter(self.bound("a").values()))
        self.lab.patch(f"/api/v1/nodes/{first}", {"spec": {"unschedulable": True}})
        self.create(deployment("b", 1, 4, labels=FREE))
        self.until(lambda: len(self.running("b")) == 1)
        self.lab.patch(f"/api/v1/nodes/{first}", {"spec": {"unschedulable": None}})
        self.until(lambda: self.lab.ask("GET", place)["status"].get("currentHealthy") == 2)
        there = self.running()
        self.create(group("large", "q", 1), pod("large-0", 8, group="large"))
        self.until(lambda: "disruption budget 'team/both' allows 0" in condition(self.lab.pods()["large-0"], "PodScheduled").get("message", ""))
        self.until_quiet()
        self.assertEqual(self.running(), there)
        self.lab.patch(place, {"spec": {"minAvailable": 1}})
        self.until(lambda: "large-0" in self.running() and len(self.running()) == 3)
        self.assertEqual(len(there & self.running()), 1)
        self.assert_sound()

    def test_a_job_of_volcano(self):
        """minAvailable 4 of 6 pods: none with 3 GPUs, 5 with 5."""
        self.lab.create(definition("batch.volcano.sh", "v1alpha1", "Job", "jobs"))
        self.lab.until_served("/apis/batch.volcano.sh/v1alpha1/jobs")
        spec = {"minAvailable": 4, "tasks": [{"name": "worker", "replicas": 6}]}
        self.create(node("n0", 3), queue("q", -1))
        owner = self.lab.create(workload("Job", "vj", spec, "batch.volcano.sh/v1alpha1"))
        self.create(*(owned_by(owner, pod(f"vj-worker-{i}")) for i in range(6)))
        self.start()
        self.until_explained()
        self.assertEqual(self.bound(), {})
        self.create(node("n1", 2))
        self.until_bound("vj", 5)
        self.assert_sound()

    def test_a_cluster_of_ray(self):
        """The head waits for the two workers that the cluster needs."""
        self.lab.create(definition("ray.io", "v1", "RayCluster", "rayclusters"))
        self.lab.until_served("/apis/ray.io/v1/rayclusters")
        spec = {"workerGroupSpecs": [{"groupName": "gpu", "replicas": 4, "minReplicas": 2}]}
        self.create(node("n0", 1), queue("q", -1))
        owner = self.lab.create(workload("RayCluster", "ray", spec, "ray.io/v1"))
        head = owned_by(owner, pod("ray-head", 0), **{"ray.io/group": "headgroup", "ray.io/node-type": "head"})
        workers = [owned_by(owner, pod(f"ray-gpu-{i}"), **{"ray.io/group": "gpu", "ray.io/node-type": "worker"}) for i in range(4)]
        self.create(head, *workers)
        self.start()
        self.until_explained()
        self.assertEqual(self.bound(), {})
        self.create(node("n1", 2))
        self.until_bound("ray", 4)
        self.assertEqual(set(self.bound()) - {f"ray-gpu-{i}" for i in range(4)}, {"ray-head"})
        self.assert_sound()


class Nodes(LabCase):
    """What becomes of nodes: the controllers find out whether they live."""

    controllers = True
    controller_flags = ("--node-monitor-period=1s", "--node-monitor-grace-period=15s")
    kubelet_flags = ("--node-lease-duration-seconds=12",)

    def ready(self, name):
        return condition(self.lab.ask("GET", f"/api/v1/nodes/{name}"), "Ready")["status"]

    def test_a_node_that_goes(self):
        """What waits is not sent there any more, and starts where there is room."""
        lost = node("n1", 4)
        mine, pods = gang("g", "q", 8)
        self.create(node("n0", 4), lost, queue("q", -1), mine, *pods)
        self.start()
        self.until_bound("g", 8)
        self.assertEqual(Counter(self.bound().values()), {"n0": 4, "n1": 4})
        self.remove(lost)
        more, more_pods = gang("h", "q", 4)
        before = self.explained()
        self.create(more, *more_pods)
        self.until_explained(before)
        self.assertEqual(self.bound("h"), {})
        self.create(node("n2", 4))
        self.until_bound("h", 4)
        self.assertEqual(set(self.bound("h").values()), {"n2"})
        self.removed.update(name for name, where in self.bound("g").items() if where == "n1")  # the controllers collect them
        self.assertEqual(self.overdrawn(), [])

    def test_a_kubelet_that_is_silent(self):
        self.create(node("n0", 4), queue("q", -1), group("a", "q", 1), pod("a-0", group="a"))
        self.start()
        self.until_bound("a", 1)
        self.lab.stop("kubelets")
        self.until(lambda: self.ready("n0") == "Unknown")
        before = self.explained()
        self.create(group("b", "q", 1), pod("b-0", group="b"))
        self.until_explained(before)
        self.assertEqual(self.bound("b"), {})
        self.lab.start_kubelets(*self.kubelet_flags)
        self.until_bound("b", 1)
        self.assert_sound()


if __name__ == "__main__":
    main()
