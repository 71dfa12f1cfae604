"""kaisched-kubernetes among its neighbours in a real cluster: its rights, a plain kube-scheduler that it chooses devices for,
Prometheus. One ctest entry per class."""

import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import exposition
from clusters import gang, group, node, pod, queue
from lab import KUBERNETES, end, free_port
from lab_case import QUICK, LabCase, main
from test_extender import ALLOCATED, LOCK, PHASE, TO_ALLOCATE, shared_node, shared_pod
from test_lab_workloads import definition

# Rules of rbac.yaml that the test does not see used, and what for they are there.
UNUSED = {
    ("", "pods", "get"): "after a request that nobody answered",
    ("resource.k8s.io", "resourceclaims", "get"): "after a request that nobody answered",
    ("resource.k8s.io", "resourceclaims", "patch"): "no pod has claims here",
    ("resource.k8s.io", "resourceclaims/status", "patch"): "no pod has claims here",
    ("resource.k8s.io", "resourceclaims/binding", "update"): "the server asks for it itself when a status is written",
    ("resource.k8s.io", "resourceclaims/binding", "patch"): "the server asks for it itself when a status is written",
    ("scheduling.k8s.io", "workloads", "list"): "this server serves no workloads of its own",
    ("scheduling.k8s.io", "workloads", "watch"): "this server serves no workloads of its own",
    ("scheduling.k8s.io", "podgroups", "list"): "this server serves no workloads of its own",
    ("scheduling.k8s.io", "podgroups", "watch"): "this server serves no workloads of its own",
}


class Rights(LabCase):
    audited = True

    def watched(self):
        """(kind, version, plural) of all that the program looks for."""
        return re.findall(r'\{"(\w+)", "([\w./-]+)", "(\w+)", (?:true|false)\}', (KUBERNETES / "scheduler" / "api_server" / "resources.cpp").read_text())

    def test_the_role_is_enough_and_not_more(self):
        """All kinds exist; pods are bound, deleted, evicted, promised, explained. Nothing that is asked is forbidden, and what the
        role allows is used."""
        own = ("batch", "apps", "policy", "scheduling.k8s.io", "storage.k8s.io", "resource.k8s.io")
        kinds = [(kind, *version.split("/"), plural) for kind, version, plural in self.watched() if "/" in version]
        there = {(g, plural) for g, plural in (("scheduling.run.ai", "queues"), ("scheduling.run.ai", "podgroups"), ("kai.scheduler", "topologies"))}
        for kind, api_group, version, plural in kinds:
            if (api_group, plural) not in there and api_group not in own:
                self.lab.create(definition(api_group, version, kind, plural))
        for _, api_group, version, plural in kinds:
            if api_group not in own:
                self.lab.until_served(f"/apis/{api_group}/{version}/{plural}")
        kubeconfig = self.lab.account("kaisched", "rbac.yaml")
        for turn, eviction in enumerate(("delete", "evict")):
            with self.subTest(eviction=eviction):
                self.reclaim(f"r{turn}", kubeconfig, f"eviction: {eviction}\ndisruption_budgets: respect\n{QUICK}")
        asked = list(self.asked("kaisched"))
        self.assertEqual([what for what, status in asked if status in (401, 403)], [])
        used = {what for what, status in asked if status < 300 or status == 101}
        rules = self.lab.ask("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/kaisched-kubernetes")["rules"]
        allowed = {(g, resource, verb) for rule in rules for g in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]}
        self.assertEqual(used - allowed, set())
        self.assertEqual(allowed - used, set(UNUSED))

    def reclaim(self, name, kubeconfig, config):
        """A queue takes back what is its own, and a pod that is too large is told so."""
        self.create(node(name), queue(name, 8), queue(f"{name}a", 4, name), queue(f"{name}b", 4, name))
        for i in range(8):
            old = pod(f"{name}-a{i}", 1, group=f"{name}-a{i}", on=name)
            self.create(group(f"{name}-a{i}", f"{name}a", 1), old)
        self.create(group(f"{name}-huge", f"{name}b", 1), pod(f"{name}-huge", 99, group=f"{name}-huge"))
        before = self.explained()
        process = self.start(config, kubeconfig)
        self.until_explained(before)
        mine, pods = gang(f"{name}-b", f"{name}b", 3)
        self.create(mine, *pods)
        self.until_bound(f"{name}-b-", 3)
        self.assert_sound()
        end(process)


class Plugin:
    """What HAMi's device plugin does on its nodes: it answers that it lives, and says when a pod has got its devices."""

    def __init__(self, lab):
        self.lab = lab
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def run(self):
        while not self.over.wait(0.2):
            for one in self.lab.items("/api/v1/nodes"):
                if one["metadata"]["annotations"].get("hami.io/node-handshake", "").startswith("Requesting"):
                    self.note(f"/api/v1/nodes/{one['metadata']['name']}", {"hami.io/node-handshake": "Reported " + time.strftime("%Y-%m-%d %H:%M:%S")})
            for name, one in self.lab.pods().items():
                notes = one["metadata"].get("annotations", {})
                if notes.get(PHASE) == "allocating" and one["spec"].get("nodeName"):
                    self.note(f"/api/v1/namespaces/team/pods/{name}", {PHASE: "success", TO_ALLOCATE: None})
                    self.note(f"/api/v1/nodes/{one['spec']['nodeName']}", {LOCK: None})

    def note(self, path, notes):
        with contextlib.suppress(OSError):  # gone meanwhile
            self.lab.patch(path, {"metadata": {"annotations": notes}})


class Extender(LabCase):
    audited = True

    def held(self):
        """Card -> MiB that pods on nodes have."""
        held = Counter()
        for one in self.lab.pods().values():
            if one["spec"].get("nodeName"):
                for card, memory in re.findall(r"([^,:;]+),[^,]*,(\d+),\d+:", one["metadata"]["annotations"][ALLOCATED]):
                    held[card] += int(memory)
        return held

    def node_notes(self):
        return [one["metadata"]["annotations"] for one in self.lab.items("/api/v1/nodes")]

    def test_a_cluster_of_hami(self):
        """kube-scheduler asks the program for the devices of its pods: 5 pods of 16 GiB, 2 cards of 40 GiB."""
        self.create(*(shared_node(f"n{i}") for i in range(2)))
        kubeconfig = self.lab.account("extender", "rbac.yaml", "rbac-extender.yaml")
        port = free_port()
        self.start(f"{QUICK}extender: {{listen: '127.0.0.1:{port}', handshake: 1s}}\n", kubeconfig)
        self.until(lambda: "all objects are read" in self.said() and "extender: listening" in self.said())
        resources = [f"nvidia.com/{name}" for name in ("gpu", "gpumem", "gpucores", "gpumem-percentage")]
        self.lab.start_scheduler([{
            "urlPrefix": f"http://127.0.0.1:{port}", "filterVerb": "filter", "bindVerb": "bind", "nodeCacheCapable": True, "httpTimeout": "30s",
            "managedResources": [{"name": name, "ignoredByScheduler": True} for name in resources],
        }])  # fmt: skip
        with Plugin(self.lab):
            self.create(*(shared_pod(f"p{i}", memory=16384) for i in range(5)), shared_pod("half", memory=1, cores=50))
            self.until_bound("p", 4)
            self.until_bound("half", 1)
            waits = (set(self.lab.pods()) - set(self.bound())).pop()
            self.until_unschedulable(waits)
            held = self.held()
            self.assertEqual(len(held), 2)
            self.assertLessEqual(max(held.values()), 40960)
            self.assertEqual(sum(held.values()), 4 * 16384 + 1)
            self.remove(self.lab.pods()[next(iter(self.bound("p")))])
            self.until(lambda: waits in self.bound())
            self.assertLessEqual(max(self.held().values()), 40960)
            self.until(lambda: all(LOCK not in notes for notes in self.node_notes()))
            self.until(lambda: all(notes.get("hami.io/node-handshake", "").startswith("Reported") for notes in self.node_notes()))
        self.assertEqual(self.created - self.removed - set(self.bound()), set())
        self.assertEqual([what for what, status in self.asked("extender") if status in (401, 403)], [])


class Scrape(LabCase):
    def setUp(self):
        if not shutil.which("prometheus"):
            self.skipTest("prometheus absent")
        super().setUp()

    def query(self, words):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?query={quote(words)}", timeout=30) as answer:
            return [(one["metric"], float(one["value"][1])) for one in json.loads(answer.read())["data"]["result"]]

    def test_prometheus(self):
        """It takes every metric that is told, and knows what was bound."""
        target, self.port = free_port(), free_port()
        mine, pods = gang("g", "q", 4)
        self.create(node("n0"), queue("q", -1), mine, *pods)
        self.start(f"{QUICK}server: {{listen: '127.0.0.1:{target}'}}\n")
        self.until_bound("g", 4)
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        jobs = [{"job_name": "kaisched", "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}]
        (folder / "prometheus.yml").write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}))
        with open(folder / "log", "w") as log:
            process = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{self.port}"],
                stdout=log, stderr=log,
            )  # fmt: skip
        self.processes.append(process)

        def scraped():
            with contextlib.suppress(OSError):
                return [value for _, value in self.query("up")] == [1]

        self.until(scraped)
        self.until(lambda: sum(value for _, value in self.query('kaisched_decisions_total{kind="bind"}')) == 4)
        with urllib.request.urlopen(f"http://127.0.0.1:{target}/metrics", timeout=30) as answer:
            told = exposition.parse(answer.read().decode())
        self.until(lambda: set(told.series) <= {metric["__name__"] for metric, _ in self.query('{job="kaisched"}')})


if __name__ == "__main__":
    main()
