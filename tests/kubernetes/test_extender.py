"""kaisched-kubernetes as the extender of a plain kube-scheduler, spoken to as that one speaks (k8s.io/kube-scheduler
extender/v1): choosing devices, writing them as HAMi does, locks of nodes, binding. One ctest entry per class."""

import http.client
import json
import re
import ssl
import subprocess
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone

from clusters import lease, node, pod
from fake_api import FakeApi
from test_program import Case

LOCK = "hami.io/mutex.lock"
NODE, TIME = "hami.io/vgpu-node", "hami.io/vgpu-time"
PHASE, BOUND = "hami.io/bind-phase", "hami.io/bind-time"
TO_ALLOCATE, ALLOCATED = "hami.io/vgpu-devices-to-allocate", "hami.io/vgpu-devices-allocated"


def shared_node(name, cards=1, memory=40960, kind="NVIDIA-A100", notes=None, **changes):
    """A node whose plugin has registered cards, each for ten sharers."""
    made = node(name, gpus=10 * cards)
    records = [
        {"id": f"GPU-{name}-{i}", "index": i, "count": 10, "devmem": memory, "devcore": 100, "type": kind, "numa": 0,
         "mode": "hami-core", "health": True, **changes} for i in range(cards)
    ]  # fmt: skip
    made["metadata"]["annotations"] = {"hami.io/node-nvidia-register": json.dumps(records), **(notes or {})}
    return made


def shared_pod(name, memory=None, cores=None, count=1, scheduler="default-scheduler", **limits):
    made = pod(name, gpus=0, scheduler=scheduler)
    ask = {"nvidia.com/gpu": count, "nvidia.com/gpumem": memory, "nvidia.com/gpucores": cores, **limits}
    made["spec"]["containers"][0]["resources"] = {"limits": {key: str(value) for key, value in ask.items() if value is not None}}
    return made


def rfc3339(seconds_ago):
    return (datetime.now(timezone.utc) - timedelta(seconds=seconds_ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def uid(api, name):
    return api.get("pods", f"team/{name}")["metadata"]["uid"]


class ExtenderCase(Case):
    """A program with an extender. `filter` and `bind` ask it as kube-scheduler does."""

    def serve(self, api, more="", config="period: 300ms\n", words=""):
        text = f"{config}extender:\n  listen: 127.0.0.1:0\n{more}"
        process = self.start(api, text)
        self.assert_until(api, lambda: "all objects are read" in self.log() and "extender: listening" in self.log())
        self.port = int(re.findall(r"extender: listening on 127\.0\.0\.1:(\d+)", self.log())[-1])
        return process

    def ask(self, path, body, raw=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", path, body if raw else json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            self.assertEqual(answer.status, 200, text)
            return json.loads(text)
        finally:
            connection.close()

    def add(self, api, one):
        api.put("pods", one)
        return api.get("pods", f"team/{one['metadata']['name']}")

    def filter(self, api, name, *nodes, **more):
        return self.ask("/filter", {"Pod": api.get("pods", f"team/{name}"), "Nodes": None, "NodeNames": list(nodes), **more})

    def chosen(self, api, name, *nodes):
        answer = self.filter(api, name, *nodes)
        self.assertEqual(answer["Error"], "", answer)
        self.assertEqual(len(answer["NodeNames"]), 1, answer)
        return answer["NodeNames"][0]

    def bind(self, api, name, where, pod_uid=None):
        return self.ask("/bind", {"PodName": name, "PodNamespace": "team", "PodUID": pod_uid or uid(api, name), "Node": where})["Error"]

    def notes(self, api, name):
        return api.get("pods", f"team/{name}")["metadata"].get("annotations", {})

    def granted(self, api):
        """Card -> MiB, of all pods that name any."""
        used = {}
        with api.lock:
            pods = list(api.objects["pods"].values())
        for one in pods:
            for grant in re.findall(r"([^,:;]+),[^,]*,(\d+),\d+:", one["metadata"].get("annotations", {}).get(ALLOCATED, "")):
                used[grant[0]] = used.get(grant[0], 0) + int(grant[1])
        return used


class Filter(ExtenderCase):
    def test_devices_are_written_as_hami_writes_them(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            api.put("nodes", shared_node("n1"))
            api.put("nodes", node("cpu", gpus=0))
            self.serve(api)
            made = shared_pod("a", memory=8192, cores=30)
            made["spec"]["containers"].insert(0, {"name": "log", "image": "none"})
            self.add(api, made)
            began = int(time.time())
            where = self.chosen(api, "a", "n0", "n1", "cpu")
            obj = api.get("pods", "team/a")
            self.assertEqual(obj["metadata"]["labels"][NODE], where)
            notes = obj["metadata"]["annotations"]
            self.assertEqual(notes[NODE], where)
            self.assertTrue(began <= int(notes[TIME]) <= time.time())
            for key in (TO_ALLOCATE, ALLOCATED):
                self.assertEqual(notes[key], f";GPU-{where}-0,NVIDIA,8192,30:;")
            self.assertNotIn(PHASE, notes)
            self.assertNotIn("nodeName", obj["spec"])
            # As HAMi by default: the same node again, and the card that has least
            self.add(api, shared_pod("b", memory=8192))
            self.assertEqual(self.chosen(api, "b", "n0", "n1"), where)

    def test_pods_that_ask_for_no_devices_pass_untouched(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            self.add(api, pod("plain", gpus=0, scheduler="default-scheduler"))
            self.add(api, shared_pod("other", count=None, **{"example.com/fpga": 1}))
            for name in ("plain", "other"):
                before = api.get("pods", f"team/{name}")
                answer = self.filter(api, name, "n0", "unknown")
                self.assertEqual((answer["NodeNames"], answer["Error"]), (["n0", "unknown"], ""))
                self.assertEqual((answer["FailedNodes"], answer["FailedAndUnresolvableNodes"]), ({}, {}))
                self.assertEqual(api.get("pods", f"team/{name}"), before)

    def test_nodes_as_objects(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            self.add(api, shared_pod("a", memory=30000))
            self.add(api, shared_pod("b", memory=30000))
            sent = {"metadata": {}, "items": [{k: v for k, v in shared_node("n0").items() if k not in ("kind", "apiVersion")}]}
            first = self.filter(api, "a", Nodes=sent, NodeNames=None)
            self.assertEqual(first["Error"], "")
            self.assertIsNone(first["NodeNames"])
            self.assertEqual([one["metadata"]["name"] for one in first["Nodes"]["items"]], ["n0"])
            self.assertEqual(first["Nodes"]["items"][0]["metadata"]["annotations"], shared_node("n0")["metadata"]["annotations"])
            second = self.filter(api, "b", Nodes=sent, NodeNames=None)  # who has what is known all the same
            self.assertEqual(second["Nodes"]["items"], [])
            self.assertIn("n0", second["FailedNodes"])

    def test_fields_in_any_case(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            one = self.add(api, shared_pod("a", memory=1000))
            answer = self.ask("/filter", {"pod": one, "nodenames": ["n0"]})
            self.assertEqual((answer["NodeNames"], answer["Error"]), (["n0"], ""))

    def test_reasons_of_nodes(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("full"))
            api.put("nodes", shared_node("small", memory=8192))
            api.put("nodes", shared_node("closed", notes={"hami.io/device-cordon": "GPU-closed-0"}))
            api.put("nodes", node("cpu", gpus=0))
            self.serve(api)
            self.add(api, shared_pod("first", memory=40000))
            self.assertEqual(self.chosen(api, "first", "full"), "full")
            self.add(api, shared_pod("a", memory=20000))
            answer = self.filter(api, "a", "full", "small", "closed", "cpu", "unknown")
            self.assertEqual((answer["NodeNames"], answer["Error"]), ([], ""))
            reasons = {**answer["FailedNodes"], **answer["FailedAndUnresolvableNodes"]}
            self.assertEqual(sorted(reasons), ["closed", "cpu", "full", "small", "unknown"])
            self.assertIn("short of gpu", answer["FailedNodes"]["full"])
            self.assertIn("CardInsufficientMemory", answer["FailedNodes"]["small"])
            self.assertIn("no devices", answer["FailedAndUnresolvableNodes"]["unknown"])
            self.assertEqual(sorted(answer["FailedAndUnresolvableNodes"]), ["cpu", "unknown"])
            self.assertNotIn(NODE, self.notes(api, "a"))

    def test_nobody_has_registered_devices(self):
        with FakeApi() as api:
            api.put("nodes", node("n0"))
            self.serve(api)
            self.add(api, shared_pod("a", memory=1000))
            answer = self.filter(api, "a", "n0")
            self.assertEqual(answer["NodeNames"], [])
            self.assertIn("no node has registered devices", answer["FailedAndUnresolvableNodes"]["n0"])

    def test_what_pods_of_others_have_counts(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0", cards=2))
            there = shared_pod("there", memory=40000)
            there["spec"]["nodeName"] = "n0"
            there["status"]["phase"] = "Running"
            there["metadata"]["annotations"] = {ALLOCATED: "GPU-n0-1,NVIDIA,40000,0:;"}
            api.put("pods", there)
            self.serve(api)
            self.add(api, shared_pod("a", memory=20000))
            self.chosen(api, "a", "n0")
            self.assertIn("GPU-n0-0,", self.notes(api, "a")[ALLOCATED])

    def test_a_pod_is_asked_about_again(self):
        """Its first devices are free for its second decision, and what is no longer is taken away."""
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            api.put("nodes", shared_node("n1"))
            self.serve(api)
            self.add(api, shared_pod("a", memory=30000))
            self.assertEqual(self.chosen(api, "a", "n0"), "n0")
            with api.lock:
                api._change("PATCH", "pods", "team/a", None, {"metadata": {"annotations": {PHASE: "failed", BOUND: "1"}}})
            self.assertEqual(self.chosen(api, "a", "n0"), "n0")
            self.assertNotIn(PHASE, self.notes(api, "a"))
            self.assertNotIn(BOUND, self.notes(api, "a"))
            self.assertEqual(self.chosen(api, "a", "n1"), "n1")
            self.add(api, shared_pod("b", memory=30000))
            self.assertEqual(self.chosen(api, "b", "n0"), "n0")
            self.assertEqual(self.filter(api, "a", "n0")["NodeNames"], [])
            self.assertEqual([key for key in self.notes(api, "a") if key.startswith("hami.io/")], [])
            self.assertNotIn(NODE, api.get("pods", "team/a")["metadata"]["labels"])
            self.add(api, shared_pod("c", memory=30000))
            self.assertEqual(self.chosen(api, "c", "n1"), "n1")

    def test_what_is_taken_back_is_free_at_once(self):
        """Whatever the watch still has to tell of it."""
        with FakeApi() as api:
            for name in ("n0", "n1"):
                api.put("nodes", shared_node(name))
            self.serve(api)
            self.add(api, shared_pod("b", memory=30000))
            self.assertEqual(self.chosen(api, "b", "n0"), "n0")
            self.add(api, shared_pod("a", memory=30000))
            self.assertEqual(self.chosen(api, "a", "n1"), "n1")
            self.add(api, shared_pod("c", memory=30000))
            self.assertEqual(self.filter(api, "c", "n0", "n1")["NodeNames"], [])
            time.sleep(0.3)
            api.silent = True
            self.assertEqual(self.filter(api, "a", "n0")["NodeNames"], [])
            self.assertEqual(self.chosen(api, "c", "n1"), "n1")

    def test_what_is_taken_back(self):
        """Times of vendors as well, and what a device plugin has written."""
        left = {"mthreads.com/predicate-time": "1", "predicate-time": "1", "kaisched.io/given-0": "GPU-n0-0::1", TO_ALLOCATE: ";"}
        with FakeApi() as api:
            api.put("nodes", shared_node("n0", memory=1000))
            self.serve(api)
            made = shared_pod("a", memory=8000)
            made["metadata"]["annotations"] = {**left, "example.com/mine": "1"}
            made["metadata"]["labels"] = {NODE: "n0", "app": "train"}
            self.add(api, made)
            self.assertEqual(self.filter(api, "a", "n0")["NodeNames"], [])
            metadata = api.get("pods", "team/a")["metadata"]
            self.assertEqual((metadata["annotations"], metadata["labels"]), ({"example.com/mine": "1"}, {"app": "train"}))
            made = shared_pod("b", memory=500)
            made["metadata"]["annotations"] = dict(left)
            self.add(api, made)
            self.assertEqual(self.chosen(api, "b", "n0"), "n0")
            self.assertEqual([key for key in ("mthreads.com/predicate-time", "kaisched.io/given-0") if key in self.notes(api, "b")], [])

    def test_policies_of_pods(self):
        with FakeApi() as api:
            for name in ("n0", "n1"):
                api.put("nodes", shared_node(name))
            self.serve(api)
            self.add(api, shared_pod("a", memory=1000))
            first = self.chosen(api, "a", "n0", "n1")
            spread = shared_pod("b", memory=1000)
            spread["metadata"]["annotations"] = {"hami.io/node-scheduler-policy": "spread"}
            self.add(api, spread)
            self.assertNotEqual(self.chosen(api, "b", "n0", "n1"), first)


class Faults(ExtenderCase):
    def test_what_is_no_question(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            for path in ("/filter", "/bind"):
                deep = '{"Pod": ' + "[" * 100000 + "]" * 100000 + "}"
                for body, expected in (("", "no JSON object"), ("[1]", "no JSON object"), ("{", "no JSON object"), ("{}", ""),
                                       (deep, "more than 64 levels")):  # fmt: skip
                    self.assertIn(expected, self.ask(path, body, raw=True)["Error"] or self.fail(f"{path} {body}"))
            good = {"metadata": {"name": "a", "namespace": "team", "uid": "u"}, "spec": {"containers": []}}
            for args, expected in (
                ({"Pod": good}, "Nodes, NodeNames"),
                ({"Pod": {"metadata": {}}, "NodeNames": []}, "Pod/metadata/namespace: is missing"),
                ({"Pod": good, "NodeNames": [1]}, "NodeNames: expected texts"),
                ({"Pod": good, "Nodes": {"items": 1}}, "Nodes.items: expected a list"),
                ({"Pod": good, "Nodes": {"items": [{}]}}, "nodes with names"),
            ):
                self.assertIn(expected, self.ask("/filter", args)["Error"])
            self.assertIn("PodName", self.ask("/bind", {"PodNamespace": "team", "Node": "n0"})["Error"])
            self.assertEqual(self.ask("/prioritize", {}), [])

    def test_bad_objects_are_errors_and_hurt_nobody_else(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            broken = shared_node("broken")
            broken["metadata"]["annotations"]["hami.io/node-nvidia-register"] = "[{"
            api.put("nodes", broken)
            bad = shared_pod("bad", memory=1000)
            bad["spec"]["nodeName"] = "n0"
            bad["metadata"]["annotations"] = {ALLOCATED: "GPU-n0-0,NVIDIA,lots,0:;"}
            api.put("pods", bad)
            self.serve(api)
            self.add(api, shared_pod("a", memory="much"))
            self.assertIn('found "much"', self.filter(api, "a", "n0", "broken")["Error"])
            self.add(api, shared_pod("a", **{"nvidia.com/gpumem-percentage": 300}))
            never = self.filter(api, "a", "n0", "broken")["FailedAndUnresolvableNodes"]
            self.assertEqual(sorted(never), ["broken", "n0"])
            self.assertIn("is 300, expected from 0 to 100", never["n0"])
            self.add(api, shared_pod("b", memory=1000))
            self.assertEqual(self.chosen(api, "b", "n0", "broken"), "n0")

    def test_the_server_refuses_the_decision(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            self.add(api, shared_pod("a", memory=30000))
            self.add(api, shared_pod("b", memory=30000))
            api.fail("PATCH", "/pods/a$", 403)
            self.assertIn("403", self.filter(api, "a", "n0")["Error"])
            self.assertEqual(self.chosen(api, "b", "n0"), "n0")  # the devices are free again

    def test_no_answer_keeps_the_devices(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            self.add(api, shared_pod("a", memory=30000))
            self.add(api, shared_pod("b", memory=30000))
            api.fail("PATCH", "/pods/a$", "drop")
            self.assertNotEqual(self.filter(api, "a", "n0")["Error"], "")
            self.assertEqual(self.filter(api, "b", "n0")["NodeNames"], [])
            self.assertEqual(self.chosen(api, "a", "n0"), "n0")

    def test_who_does_not_lead_decides_nothing(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            api.put("leases", lease("another", seconds=60))
            self.start(api, "leader_election: {lease_duration: 60s}\nextender: {listen: '127.0.0.1:0'}\n")
            self.assert_until(api, lambda: "extender: listening" in self.log())
            self.port = int(re.search(r"extender: listening on 127\.0\.0\.1:(\d+)", self.log())[1])
            self.add(api, shared_pod("a", memory=1000))
            self.assert_until(api, lambda: "another leads" in self.filter(api, "a", "n0")["Error"])
            self.assertIn("another leads", self.bind(api, "a", "n0"))
            self.assertEqual(api.changes(), [])

    def test_configuration(self):
        for text, expected in (
            ("extender: {}\n", "extender: listen: is missing"),
            ("extender: {listen: here}\n", "extender.listen: expected an address"),
            ("extender: {listen: ':1', resources: x}\n", "extender.resources: expected a list"),
            ("extender: {listen: ':1', engine: {preset: nothing}}\n", "extender.engine: preset:"),
            ("extender: {listen: ':1', key: a.pem}\n", "one without the other"),
        ):
            file = self.folder / "bad.yaml"
            file.write_text(text)
            done = self.run_program("--config", file)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(expected, done.stderr)
        with FakeApi() as api:
            words = ("--kubeconfig", self.kubeconfig(api.url))
            self.assertIn("--extender: expected an address", self.run_program("--extender", "x", *words).stderr)
            done = self.run_program("--extender", "127.0.0.1:0", "--dry-run", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("not with --dry-run", done.stderr)

    def test_over_tls_with_certificates_of_clients(self):
        if subprocess.run(["openssl", "version"], capture_output=True).returncode:
            self.skipTest("openssl absent")
        for name in ("server", "client"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                            "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
                            "-keyout", self.folder / f"{name}.key", "-out", self.folder / f"{name}.pem"], check=True, capture_output=True)  # fmt: skip
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api, "  certificate: server.pem\n  key: server.key\n  client_ca: client.pem\n")
            self.add(api, shared_pod("a", memory=1000))
            body = json.dumps({"Pod": api.get("pods", "team/a"), "NodeNames": ["n0"]})

            def ask(with_certificate):
                context = ssl.create_default_context(cafile=self.folder / "server.pem")
                if with_certificate:
                    context.load_cert_chain(self.folder / "client.pem", self.folder / "client.key")
                connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=context)
                try:
                    connection.request("POST", "/filter", body)
                    return json.loads(connection.getresponse().read())
                finally:
                    connection.close()

            with self.assertRaises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
                ask(False)
            self.assertEqual(ask(True)["NodeNames"], ["n0"])


class Concurrency(ExtenderCase):
    def test_nothing_is_given_twice(self):
        """Sixteen ask at once for a third of one of four cards each; the watch tells nothing meanwhile."""
        with FakeApi() as api:
            for i in range(2):
                api.put("nodes", shared_node(f"n{i}", cards=2))
            self.serve(api)
            with api.lock:
                api.silent = True
            for i in range(16):  # nor does it tell of these pods
                self.add(api, shared_pod(f"p{i}", memory=13000))
            answers = {}

            def ask(i):
                answers[i] = self.filter(api, f"p{i}", "n0", "n1")

            threads = [threading.Thread(target=ask, args=(i,)) for i in range(16)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            self.assertEqual([a["Error"] for a in answers.values()], [""] * 16)
            self.assertEqual(sum(len(a["NodeNames"]) for a in answers.values()), 12)
            used = self.granted(api)
            self.assertEqual(sorted(used.values()), [39000] * 4)
            with api.lock:
                api.silent = False
                api.lock.notify_all()
            self.add(api, shared_pod("last", memory=13000))
            self.assert_until(api, lambda: len(api.asked("GET", "/pods$")) > 0)
            self.assertEqual(self.filter(api, "last", "n0", "n1")["NodeNames"], [])

    def test_cycles_of_its_own_go_by_it(self):
        """Whole GPUs of the program's own pods and parts of the extender's, at once, on the same cards."""
        with FakeApi() as api:
            api.put("nodes", shared_node("n0", cards=4))
            self.serve(api, config="period: 100ms\nsettle: 0ms\n")
            for i in range(6):
                self.add(api, shared_pod(f"p{i}", memory=30000))
            answers = [self.filter(api, f"p{i}", "n0") for i in range(6)]
            self.assertEqual([len(a["NodeNames"]) for a in answers], [1, 1, 1, 1, 0, 0])
            self.assertEqual(sorted(self.granted(api).values()), [30000] * 4)
            self.add(api, pod("whole", gpus=1))
            time.sleep(1)
            self.assertIsNone(api.pods()["team/whole"])

    def test_what_a_cycle_decided_before_is_decided_anew(self):
        """While one pod of a cycle is being bound, devices of the node are given away: the next pod of the cycle waits for
        another one, because what it was decided from is no longer so."""
        with FakeApi() as api:
            self.fill(api, nodes=0)
            api.put("nodes", shared_node("n0"))
            self.serve(api, config="period: 300ms\nsettle: 500ms\n")
            api.fail("POST", "/pods/p0/binding$", ("wait", 2))
            self.add(api, shared_pod("a", memory=1000))
            for name in ("p0", "p1"):
                self.add(api, pod(name, gpus=0))
            self.assert_until(api, lambda: api.asked("POST", "/pods/p0/binding$"))
            self.assertEqual(self.chosen(api, "a", "n0"), "n0")
            self.assert_until(api, lambda: api.pods()["team/p1"] == "n0")
            self.assertIn("pod team/p1: bind to n0: devices there were given away since this was decided", self.log())


class Prioritize(ExtenderCase):
    def test_points(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0", memory=4096))
            api.put("nodes", shared_node("n1"))
            self.serve(api)
            one = self.add(api, shared_pod("a", memory=8192))
            self.assertEqual(self.ask("/prioritize", {"Pod": one, "NodeNames": ["n0", "n1"]}), [{"Host": "n0", "Score": 0}, {"Host": "n1", "Score": 10}])
            self.assertEqual(self.notes(api, "a"), {})
            self.chosen(api, "a", "n1")
            one = api.get("pods", "team/a")
            self.assertEqual(self.ask("/prioritize", {"Pod": one, "NodeNames": ["n1"]}), [{"Host": "n1", "Score": 10}])
            plain = self.add(api, pod("plain", gpus=0, scheduler="default-scheduler"))
            self.assertEqual(self.ask("/prioritize", {"Pod": plain, "NodeNames": ["n0"]}), [{"Host": "n0", "Score": 0}])


class Bind(ExtenderCase):
    def placed(self, api, *names, memory=1000, where="n0"):
        for name in names:
            self.add(api, shared_pod(name, memory=memory))
            self.assertEqual(self.chosen(api, name, where), where)

    def lock(self, api, name="n0"):
        return api.get("nodes", name)["metadata"]["annotations"].get(LOCK)

    def set_lock(self, api, text, name="n0"):
        with api.lock:
            api._change("PATCH", "nodes", name, None, {"metadata": {"annotations": {LOCK: text}}})

    def test_lock_phase_binding(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            self.placed(api, "a")
            began = int(time.time())
            self.assertEqual(self.bind(api, "a", "n0"), "")
            self.assertEqual(api.pods()["team/a"], "n0")
            notes = self.notes(api, "a")
            self.assertEqual(notes[PHASE], "allocating")
            self.assertTrue(began <= int(notes[BOUND]) <= time.time())
            self.assertRegex(self.lock(api), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,team,a$")
            asked = [(r.method, r.path.rsplit("/", 1)[1]) for r in api.changes() if "/pods/a" in r.path or r.path.endswith("/n0")]
            self.assertEqual(asked[-3:], [("PATCH", "n0"), ("PATCH", "a"), ("POST", "binding")])
            self.assertEqual(self.bind(api, "a", "n0"), "")  # kube-scheduler asks again if it heard no answer
            self.assertIn("is on n0 already", self.bind(api, "a", "n1"))

    def test_pods_without_devices_need_no_lock(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            self.add(api, pod("plain", gpus=0, scheduler="default-scheduler"))
            self.assertEqual(self.bind(api, "plain", "n0"), "")
            self.assertEqual(api.pods()["team/plain"], "n0")
            self.assertIsNone(self.lock(api))

    def test_what_may_not_be_bound(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            api.put("nodes", shared_node("n1"))
            self.serve(api)
            self.placed(api, "a")
            self.assertIn("its devices are those of n0", self.bind(api, "a", "n1"))
            self.assertIn("another one", self.bind(api, "a", "n0", pod_uid="other"))
            self.assertIn("404", self.ask("/bind", {"PodName": "no", "PodNamespace": "team", "PodUID": "u", "Node": "n0"})["Error"])
            self.add(api, shared_pod("unasked", memory=1000))
            self.assertIn("no devices have been chosen", self.bind(api, "unasked", "n0"))
            with api.lock:
                api._change("PATCH", "pods", "team/a", None, {"metadata": {"annotations": {TIME: str(int(time.time()) - 250)}}})
            self.assertIn("too long ago", self.bind(api, "a", "n0"))
            self.assertEqual(set(api.pods().values()), {None})
            self.assertIsNone(self.lock(api))

    def test_a_locked_node_is_waited_for(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api, "  lock_wait: 10s\n")
            self.placed(api, "a", "b")
            self.assertEqual(self.bind(api, "a", "n0"), "")
            answer = []
            waiting = threading.Thread(target=lambda: answer.append(self.bind(api, "b", "n0")))
            waiting.start()
            time.sleep(0.7)
            self.assertIsNone(api.pods()["team/b"])
            self.set_lock(api, None)  # as the plugin does once a has its devices
            waiting.join()
            self.assertEqual(answer, [""])
            self.assertTrue(self.lock(api).endswith(",team,b"))

    def test_a_lock_that_stays(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api, "  lock_wait: 300ms\n")
            self.placed(api, "a", "b")
            self.assertEqual(self.bind(api, "a", "n0"), "")
            held = self.lock(api)
            self.assertIn("locked for pod team/a", self.bind(api, "b", "n0"))
            self.assertEqual(self.notes(api, "b")[PHASE], "failed")
            self.assertEqual((self.lock(api), api.pods()["team/b"]), (held, None))

    def test_locks_that_nobody_holds_any_more(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api, "  lock_wait: 200ms\n")
            self.placed(api, "a", "b", "c", "d")
            self.set_lock(api, f"{rfc3339(301)},team,d")  # older than five minutes
            self.assertEqual(self.bind(api, "a", "n0"), "")
            self.set_lock(api, f"{rfc3339(5)},team,gone")  # its pod is not there
            self.assertEqual(self.bind(api, "b", "n0"), "")
            self.set_lock(api, f"{rfc3339(5)},team,c")  # its own
            self.assertEqual(self.bind(api, "c", "n0"), "")
            self.set_lock(api, rfc3339(5))  # the old form
            self.assertIn("locked", self.bind(api, "d", "n0"))
            self.set_lock(api, "whatever")
            self.assertIn('"whatever" is no lock', self.bind(api, "d", "n0"))
            self.set_lock(api, rfc3339(301))
            self.assertEqual(self.bind(api, "d", "n0"), "")

    def test_the_lock_of_a_binding_that_takes_long(self):
        """It is nobody else's, however old it is, and young again before the pod is bound."""
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api, "  lock_wait: 300ms\n", config="leader_election: {lease_duration: 60s, renew_deadline: 10s}\n")
            self.placed(api, "a", "b")
            api.fail("PATCH", "/pods/a$", ("wait", 3))
            answer = []
            binding = threading.Thread(target=lambda: answer.append(self.bind(api, "a", "n0")))
            before = len(api.asked("PATCH", "/pods/a$"))
            binding.start()
            self.assert_until(api, lambda: len(api.asked("PATCH", "/pods/a$")) > before)
            self.set_lock(api, f"{rfc3339(301)},team,a")
            self.assertIn("locked for pod team/a", self.bind(api, "b", "n0"))
            binding.join()
            self.assertEqual(answer, [""])
            since = datetime.strptime(self.lock(api).split(",")[0], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
            self.assertLess((datetime.now(timezone.utc) - since).total_seconds(), 120)
            self.set_lock(api, f"{rfc3339(301)},team,a")  # nobody is binding any more
            self.assertEqual(self.bind(api, "b", "n0"), "")

    def test_a_lock_that_was_taken_away(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api, config="leader_election: {lease_duration: 60s, renew_deadline: 10s}\n")
            self.placed(api, "a")
            api.fail("PATCH", "/pods/a$", ("wait", 2))
            answer = []
            binding = threading.Thread(target=lambda: answer.append(self.bind(api, "a", "n0")))
            before = len(api.asked("PATCH", "/pods/a$"))
            binding.start()
            self.assert_until(api, lambda: len(api.asked("PATCH", "/pods/a$")) > before)
            self.set_lock(api, f"{rfc3339(0)},team,b")
            binding.join()
            self.assertIn("was taken away", answer[0])
            self.assertIsNone(api.pods()["team/a"])
            self.assertTrue(self.lock(api).endswith(",team,b"))

    def test_its_own_lock_is_renewed(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            self.placed(api, "a")
            self.set_lock(api, f"{rfc3339(290)},team,a")
            self.assertEqual(self.bind(api, "a", "n0"), "")
            since = datetime.strptime(self.lock(api).split(",")[0], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
            self.assertLess((datetime.now(timezone.utc) - since).total_seconds(), 120)

    def test_a_binding_that_fails_leaves_no_lock(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            self.placed(api, "a")
            api.fail("POST", "binding$", 409)
            self.assertIn("409", self.bind(api, "a", "n0"))
            self.assertIsNone(self.lock(api))
            self.assertEqual(self.notes(api, "a")[PHASE], "failed")
            self.assertEqual(self.chosen(api, "a", "n0"), "n0")
            self.assertEqual(self.bind(api, "a", "n0"), "")

    def test_a_binding_without_an_answer_keeps_the_lock(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api)
            self.placed(api, "a")
            api.fail("POST", "binding$", "lost")
            self.assertNotEqual(self.bind(api, "a", "n0"), "")
            self.assertTrue(self.lock(api).endswith(",team,a"))
            self.assertEqual(self.bind(api, "a", "n0"), "")

    def test_two_that_lock_at_once(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            self.serve(api, "  lock_wait: 200ms\n")
            names = [f"p{i}" for i in range(4)]
            self.placed(api, *names)
            answers = []
            threads = [threading.Thread(target=lambda n=n: answers.append(self.bind(api, n, "n0"))) for n in names]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            self.assertEqual(answers.count(""), 1, answers)
            self.assertEqual([n for n, where in api.pods().items() if where], [f"team/{self.lock(api).rsplit(',', 1)[1]}"])


class Handshake(ExtenderCase):
    KEY = "hami.io/node-handshake"

    def said(self, api, name="n0", key=KEY):
        return api.get("nodes", name)["metadata"]["annotations"].get(key, "")

    @staticmethod
    def text(word, seconds_ago):
        return f"{word}_{(datetime.now() - timedelta(seconds=seconds_ago)).strftime('%Y-%m-%d %H:%M:%S')}"

    def test_who_has_answered_is_asked_again(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0", notes={self.KEY: "Reported 2026-03-07 12:00:00"}))
            api.put("nodes", shared_node("new"))
            api.put("nodes", node("plain"))
            recent = self.text("Requesting", 20)
            api.put("nodes", shared_node("asked", notes={self.KEY: recent}))
            self.serve(api, "  handshake: 200ms\n")
            self.assert_until(api, lambda: self.said(api).startswith("Requesting_") and self.said(api, "new").startswith("Requesting_"))
            asked = datetime.strptime(self.said(api), "Requesting_%Y-%m-%d %H:%M:%S")
            self.assertLess(abs((datetime.now() - asked).total_seconds()), 30)
            time.sleep(1)
            self.assertEqual(self.said(api), asked.strftime("Requesting_%Y-%m-%d %H:%M:%S"))
            self.assertEqual(self.said(api, "asked"), recent)
            self.assertNotIn(self.KEY, api.get("nodes", "plain")["metadata"].get("annotations", {}))

    def test_who_does_not_answer_and_offers_nothing_is_given_up(self):
        with FakeApi() as api:
            late = {self.KEY: self.text("Requesting", 61)}
            api.put("nodes", shared_node("offers", notes=late))
            dead = shared_node("dead", notes=late)
            dead["status"]["allocatable"]["nvidia.com/gpu"] = "0"
            api.put("nodes", dead)
            self.serve(api, "  handshake: 200ms\n")
            self.assert_until(api, lambda: self.said(api, "dead").startswith("Deleted_"))
            self.assertEqual(self.said(api, "offers"), late[self.KEY])
            self.add(api, shared_pod("a", memory=1000))
            self.assert_until(api, lambda: self.filter(api, "a", "dead")["NodeNames"] == [])
            self.assertEqual(self.chosen(api, "a", "dead", "offers"), "offers")
            time.sleep(0.5)
            self.assertTrue(self.said(api, "dead").startswith("Deleted_"))
            back = api.get("nodes", "dead")
            back["status"]["allocatable"]["nvidia.com/gpu"] = "10"
            api.put("nodes", back)
            self.assert_until(api, lambda: self.said(api, "dead").startswith("Requesting_"))

    def test_an_answer_is_not_written_over(self):
        """It comes while the question is on its way, and the watch tells nothing of it."""
        with FakeApi() as api:
            api.put("nodes", shared_node("n0", notes={self.KEY: "Reported 1"}))
            api.fail("PATCH", "/nodes/n0$", ("wait", 2))
            self.serve(api, "  handshake: 200ms\n", config="leader_election: {lease_duration: 60s, renew_deadline: 10s}\n")
            self.assert_until(api, lambda: api.asked("PATCH", "/nodes/n0$"))
            with api.lock:
                api.silent = True
                api._change("PATCH", "nodes", "n0", None, {"metadata": {"annotations": {self.KEY: "Reported 2"}}})
            self.assert_until(api, lambda: len(api.asked("PATCH", "/nodes/n0$")) > 3)
            self.assertEqual(self.said(api), "Reported 2")
            self.assertNotIn("409", self.log())
            with api.lock:
                api.silent = False
                api.lock.notify_all()
            self.assert_until(api, lambda: self.said(api).startswith("Requesting_"))

    def test_questions_do_not_outlive_the_lease(self):
        with FakeApi() as api:
            api.put("nodes", shared_node("n0"))
            api.fail("PATCH", "/nodes/n0$", ("wait", 50))
            self.serve(api, "  handshake: 200ms\n", config="leader_election: {lease_duration: 31s, renew_deadline: 30s}\n")
            self.assert_until(api, lambda: "node n0: handshakes: " in self.log(), 25)

    def test_vendors_have_annotations_of_their_own(self):
        with FakeApi() as api:
            made = node("n0", gpus=0)
            made["metadata"]["annotations"] = {
                "hami.io/node-dcu-register": "D-0,4,8192,100,DCU-Z100,0,true:",
                "hami.io/node-register-Ascend910B3": "[]",
                "hami.io/node-MR-V100-register": "[]",
                "hami.io/node-amd-register": "[]",
                "hami.io/node-handshake-dcu": self.text("Requesting", 90),
            }
            made["status"]["allocatable"]["hygon.com/dcunum"] = "4"
            api.put("nodes", made)
            self.serve(api, "  handshake: 200ms\n")
            for key in ("Ascend910B3", "MR-V100"):
                self.assert_until(api, lambda key=key: self.said(api, key=f"{self.KEY}-{key}").startswith("Requesting_"))
            self.assertEqual(self.said(api, key=f"{self.KEY}-dcu"), made["metadata"]["annotations"]["hami.io/node-handshake-dcu"])
            self.assertEqual(sorted(k for k in api.get("nodes", "n0")["metadata"]["annotations"] if "handshake" in k),
                             [f"{self.KEY}-Ascend910B3", f"{self.KEY}-MR-V100", f"{self.KEY}-dcu"])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
