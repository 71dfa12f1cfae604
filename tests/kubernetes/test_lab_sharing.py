"""Parts of GPUs and slices of MIG in the lab, under the documented rights, counted object by object. A stand-in of the kubelets
starts pods and says the devices of reservations: in time, late, wrongly, never."""

import contextlib
import json
import re
import threading
import urllib.error
from collections import Counter

from clusters import gang, node, pod, queue
from lab import KUBERNETES
from lab_case import LabCase, condition, main
from test_sharing import DEVICE, NAMESPACE, Book, groups_of, is_reservation, shared

WITHIN = 2  # seconds
SHARING = f"period: 300ms\nsettle: 100ms\nexplain_period: 100ms\nsharing: {{image: 'example.com/kaisched:1', allocation_timeout: {WITHIN}s}}\n"
STAND_INS = "kai-scale-adjust"
SLICE = "nvidia.com/mig-1g.10gb"


class Cluster:
    """What there is now, as Book reads it."""

    lock = contextlib.nullcontext()

    def __init__(self, lab):
        self.objects = {
            kind: {f"{one['metadata']['namespace']}/{one['metadata']['name']}": one for one in lab.items(f"/api/v1/{kind}")}
            for kind in ("pods", "configmaps")
        }  # fmt: skip

    def get(self, kind, name):
        return self.objects[kind][name]


class Kubelets(threading.Thread):
    """What `says` makes of the number of a reservation, counted as they come, is written into it; None writes nothing."""

    def __init__(self, case, says=lambda number: True):
        super().__init__()
        self.lab, self.token, self.says = case.lab, case.reporter, says
        self.over = threading.Event()
        self.seen = {}  # uid -> number

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()

    def run(self):
        while not self.over.wait(0.1):
            now = Cluster(self.lab)
            for name, one in now.objects["pods"].items():
                if one["spec"].get("nodeName") and one["status"]["phase"] == "Pending":
                    self.see(now, name, one)

    def see(self, now, name, one):
        path = "/api/v1/namespaces/{}/pods/{}".format(*name.split("/"))
        if is_reservation(one):
            said = self.says(self.seen.setdefault(one["metadata"]["uid"], len(self.seen)))
            if said is None:
                return
            # As the program in the reservation does it: with its own account.
            notes = {DEVICE: said if isinstance(said, str) else self.free(now, one["spec"]["nodeName"])}
            body = json.dumps({"metadata": {"annotations": notes}})
            if self.lab.exchange("PATCH", path, body, "application/merge-patch+json", self.token)[0] >= 300:
                return  # gone
        elif not self.is_configured(now, one):
            return
        with contextlib.suppress(urllib.error.HTTPError):
            self.lab.patch(f"{path}/status", {"status": {"phase": "Running"}})

    def free(self, now, here):
        given = {one["metadata"].get("annotations", {}).get(DEVICE) for one in now.objects["pods"].values() if is_reservation(one)}
        return next(name for name in (f"GPU-{here}-{i}" for i in range(8)) if name not in given)

    def is_configured(self, now, one):
        named = {ref["valueFrom"]["configMapKeyRef"]["name"] for ref in one["spec"]["containers"][0].get("env", [])}
        return all(f"{one['metadata']['namespace']}/{name}" in now.objects["configmaps"] for name in named)


class Sharing(Book, LabCase):
    audited = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rights = "/apis/rbac.authorization.k8s.io/v1"
        documents = [(KUBERNETES / f"rbac-{name}.yaml").read_text().split("\n---\n") for name in ("sharing", "scaling")]
        for text in documents[0][1:] + documents[1]:
            kind, space = re.search(r"(?m)^kind: (\w+)", text)[1], re.search(r"namespace: ([\w-]+)", text)
            found = {"apiVersion": re.search(r"(?m)^apiVersion: (\S+)", text)[1], "kind": kind, "metadata": {"namespace": space and space[1]}}
            cls.lab.send("POST", cls.lab.collection(found), text.encode(), "application/yaml")
        cls.lab.create({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"})
        cls.kubeconfig = cls.lab.account("sharer", "rbac.yaml", "rbac-sharing.yaml")
        for name, space in (("sharing", NAMESPACE), ("scaling", STAND_INS)):
            cls.lab.ask("POST", f"{rights}/namespaces/{space}/rolebindings", {
                "metadata": {"name": "sharer"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": f"kaisched-kubernetes-{name}"},
                "subjects": [{"kind": "ServiceAccount", "name": "sharer", "namespace": "kube-system"}],
            })  # fmt: skip
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{NAMESPACE}"
        cls.reporter = cls.lab.ask("POST", f"{account}/token", asked)["status"]["token"]

    def tearDown(self):
        super().tearDown()
        now = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        for path in (f"{NAMESPACE}/pods", f"{STAND_INS}/pods", "team/configmaps"):  # nobody collects them here
            self.lab.ask("DELETE", f"/api/v1/namespaces/{path}", now)
        self.assertEqual([what for what, status in self.asked("sharer") if status in (401, 403)], [])

    def book(self):
        """Parts of devices in hundredths, after everything else has been counted."""
        self.assert_sound()
        return self.check_book(Cluster(self.lab))

    def reserved(self):
        return self.reservations(Cluster(self.lab))

    def begin(self, config=SHARING):
        return self.start(config, self.kubeconfig)

    def test_parts_of_devices(self):
        """Two GPUs: two halves on one, a whole one, and a half that waits; it follows the whole one."""
        self.create(node("n0", 2), queue("default-queue", -1), shared("a"), shared("b"), pod("whole"))
        with Kubelets(self):
            self.begin()
            self.until(lambda: {"a", "b", "whole"} == set(self.lab.bound()))
            self.assertEqual(list(self.book().values()), [100])
            before = self.explained()
            self.create(shared("c"))
            self.until_explained(before)
            self.assertEqual(list(self.book().values()), [100])
            self.assertNotIn("c", self.lab.bound())
            self.remove(self.lab.pods()["whole"])
            self.until_bound("c", 1)
            self.assertEqual(sorted(self.book().values()), [50, 100])
            for name in "ab":
                self.remove(self.lab.pods()[name])
            self.until(lambda: len(self.reserved()) == 1)
            self.create(pod("next"))
            self.until_bound("next", 1)
            self.assertEqual(list(self.book().values()), [50])

    def test_a_gang_on_parts_of_several_devices(self):
        mine, _ = gang("g", "default-queue", 2)
        pods = [shared(f"g-{i}", "0.6", devices=2, group="g") for i in range(2)]
        self.create(node("n0", 3), queue("default-queue", -1), mine, *pods)
        with Kubelets(self):
            self.begin()
            self.until_explained()
            self.assertEqual((self.lab.bound(), self.reserved()), ({}, {}))  # one of them would fit
            self.create(node("n1", 2))
            self.until_bound("g", 2)
            self.assertEqual(list(self.book().values()), [60] * 4)
            self.assertEqual({len(groups_of(one)) for one in self.lab.pods().values()}, {2})

    def test_devices_that_are_told_wrongly_late_or_never(self):
        """A reservation that says nothing, one that says what is no device, one that says the device of another, one that says it too
        late; the pod is bound once, when the fifth says its own."""
        self.create(node("n0", 2), queue("default-queue", -1), shared("first", "0.9"))
        late = threading.Event()

        def says(number):
            if number in (0, 5):
                return True
            if number in (1, 4):
                return None if number == 1 or not late.is_set() else True
            return "no device" if number == 2 else "GPU-n0-0"

        with Kubelets(self, says):
            self.begin()
            self.until_bound("first", 1)
            self.create(shared("second", "0.9"))
            for word in (f"has not said its GPU within {WITHIN} s", "is no GPU", "is reserved by pod"):
                self.until(lambda: word in condition(self.lab.pods()["second"], "PodBound").get("message", ""))  # noqa: B023
                self.assert_sound()
                self.assertNotIn("second", self.lab.bound())
            self.until(lambda: self.said().count("has not said its GPU") == 2)
            late.set()
            self.until_bound("second", 1)
            self.until(lambda: condition(self.lab.pods()["second"], "PodBound").get("status") == "True")
            self.assertEqual(list(self.book().values()), [90, 90])
            self.assertEqual(len(self.reserved()), 2)
            self.assertEqual(self.said().count("team/second: bound to"), 1)

    def test_pods_that_an_autoscaler_sees(self):
        """One stands in for two halves until a node has come; then they start, and it has held nothing."""
        self.create(node("n0", 0), queue("default-queue", -1), shared("a"), shared("b"))
        with Kubelets(self):
            self.begin(SHARING + "scaling: {image: 'example.com/pause:1'}\n")
            self.until(lambda: [condition(one, "PodScheduled").get("reason") for one in self.lab.items(f"/api/v1/namespaces/{STAND_INS}/pods")] == ["Unschedulable"])
            self.create(node("n1", 1))
            self.until(lambda: set(self.lab.bound()) == {"a", "b"})
            self.until(lambda: not self.lab.items(f"/api/v1/namespaces/{STAND_INS}/pods"))
            self.assertEqual(list(self.book().values()), [100])

    def sliced(self, name, count):
        made = node(name, 0)
        made["status"]["allocatable"][SLICE] = str(count)
        return made

    def of_slice(self, one):
        one["spec"]["containers"][0]["resources"] = {kind: {"cpu": "1", SLICE: "1"} for kind in ("requests", "limits")}
        return one

    def test_slices_of_mig(self):
        """A gang of four slices on nodes of three and two, beside a part of a GPU; then the fifth slice, and one that is given back."""
        mine, pods = gang("g", "q", 4)
        self.create(self.sliced("n0", 3), node("n1", 1), queue("q", -1), queue("default-queue", -1))
        self.create(mine, *map(self.of_slice, pods), shared("part"))
        with Kubelets(self):
            self.begin()
            self.until_explained()
            self.until_bound("part", 1)
            self.assertEqual(self.bound("g-"), {})
            self.create(self.sliced("n2", 2))
            self.until_bound("g-", 4)
            self.assertEqual(list(self.book().values()), [50])
            before = self.explained()
            self.create(*(self.of_slice(pod(f"s{i}")) for i in range(2)))
            self.until_explained(before)
            self.assertEqual(Counter(self.bound().values()), {"n0": 3, "n1": 1, "n2": 2})
            self.remove(pods[0])
            self.until_bound("s", 2)
            self.assertEqual(self.overdrawn(), [])
            self.assertEqual(list(self.check_book(Cluster(self.lab)).values()), [50])


if __name__ == "__main__":
    main()
