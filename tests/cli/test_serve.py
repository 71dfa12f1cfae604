"""The server `kaisched serve`: every path, what it refuses, its limits, who may ask, and that an answer is the one that the commands give."""

import http.client
import json
import os
import random
import re
import signal
import socket
import stat
import struct
import subprocess
import threading
import time
import unittest
from pathlib import Path

from json_schema import faults
from support import FEW_CASES, NODE, PROGRAM, QUEUE, SOURCE, Case, cluster, jobs, kaisched, main

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "kaisched-serve-1.schema.json").read_text(encoding="utf-8"))
TOKEN = "0123456789abcdef-token"


class OverSocket(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()
        self.json = json.loads(self.text)


class Server:
    """A running `kaisched serve`."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, "serve", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.first = self.process.stdout.readline()
        self.address = self.first.removeprefix("listening on ").strip()

    def connect(self, timeout=60):
        if self.address.startswith("unix:"):
            return OverSocket(self.address.removeprefix("unix:"), timeout)
        return http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=timeout)

    def raw(self):
        made = self.connect()
        made.connect()
        return made.sock

    def ask(self, method, path, body=None, over=None, **headers):
        """One request, on a connection of its own unless one is given."""
        connection = over or self.connect()
        try:
            text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
            connection.request(method, path, text, {k.replace("_", "-"): v for k, v in headers.items()})
            return Answer(connection.getresponse())
        finally:
            if over is None:
                connection.close()

    def stop(self, by=signal.SIGTERM):
        """Exit status and standard error."""
        if by is not None and self.process.poll() is None:
            self.process.send_signal(by)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


class ServeCase(Case):
    def connect(self, server):
        """A connection that the test need not close."""
        connection = server.connect()
        self.addCleanup(connection.close)
        return connection

    def serve(self, file, *arguments, quiet=True):
        """A server on a socket in the folder of the test, which ends without a word."""
        where = [] if {"--socket", "--listen"} & set(arguments) else ["--socket", self.folder / f"s{len(os.listdir(self.folder))}"]
        server = Server(file, *where, *arguments)
        if quiet:
            self.addCleanup(lambda: self.assertEqual(server.stop(), (0, "")))
        self.assertTrue(server.address, server.first)
        return server

    def refused(self, answer, status, code, *words):
        self.assertEqual((answer.status, answer.json["code"]), (status, code), answer.text)
        self.assertEqual(answer.json["schema"], "kaisched-error/1")
        self.assertEqual(faults(answer.json, SCHEMA, SCHEMA), [])
        for word in words:
            self.assertIn(word, answer.json["message"])

    def small(self):
        """Two GPUs, of which two jobs want one each and a third one waits."""
        return self.file("small.json", cluster(QUEUE, NODE, jobs("a", "b", "c")))

    def invented(self, gpus=64, name="cluster.json"):
        path = self.folder / name
        if FEW_CASES and gpus >= 2048:  # as slow there as the whole elsewhere
            gpus //= 8
        self.ok("generate", path, "--gpus", gpus, "--load", "1.3", "-q")
        return path


class Answers(ServeCase):
    QUESTIONS = [
        ({"queue": "search"}, ["--queue", "search"]),
        ({"queue": "speech", "pods": 4, "gpus": 8, "runtime": 3600}, ["--queue", "speech", "--pods", "4", "--gpus", "8", "--runtime", "3600"]),
        ({"queue": "vision", "pods": 2, "gang": 1, "gpus": 0.5, "cpu": 2.5, "memory": 10, "priority": 100, "non_preemptible": True, "name": "mine"},
         ["--queue", "vision", "--pods", "2", "--gang", "1", "--gpus", "0.5", "--cpu", "2.5", "--memory", "10", "--priority", "100",
          "--non-preemptible", "--name", "mine"]),
        ({"groups": ["vision-wants-h200"], "ends": 0}, ["--group", "vision-wants-h200", "--ends", "0"]),
        ({"queue": "speech", "pods": 4, "gpus": 8, "policy_actions": True}, ["--queue", "speech", "--pods", "4", "--gpus", "8", "--policy-actions"]),
    ]

    def test_what_if_is_that_of_the_command(self):
        path = self.invented()
        policy = ["--preset", "kai-0.17-r2", "--actions", "allocate"]
        server = self.serve(path, *policy)
        connection = self.connect(server)
        bodies = []
        for _ in range(2):  # what a question leaves behind changes no answer
            for asked, words in self.QUESTIONS:
                answer = server.ask("POST", "/v1/what-if", asked, over=connection)
                self.assertEqual(answer.status, 200, answer.text)
                self.assertEqual(answer.text, self.ok("what-if", path, *policy, *words, "--json"), words)
                self.assertEqual(answer.headers["Kaisched-Cluster"], self.ok("digest", path).split()[0])
                bodies.append(answer.json)
        batch = server.ask("POST", "/v1/what-if", {"questions": [asked for asked, _ in self.QUESTIONS]})
        self.assertEqual(batch.json["answers"], bodies[: len(self.QUESTIONS)])
        self.assertEqual(faults(batch.json, SCHEMA, SCHEMA), [])

    def test_rows_that_are_added(self):
        path = self.small()
        server = self.serve(path)
        rows = {"node": [{"name": "m", "capacity": {"cpu": 8000, "gpu": 4000, "pods": 10}}], "pod_group": [{"name": "new", "queue": "q"}],
                "pod": [{"name": "new-0", "group": "new", "request": {"gpu": 3000}}]}
        answer = server.ask("POST", "/v1/what-if", {"add": rows})
        added = self.file("added.json", json.dumps({"schema": "kaisched-cluster/1", **rows}))
        self.assertEqual(answer.text, self.ok("what-if", path, "--add", added, "--json"))
        self.assertEqual(answer.json["forecasts"][0]["way"], "now")
        self.assertEqual(server.ask("GET", "/v1/cluster").json["contents"]["nodes"], 1)

    def test_a_batch_goes_on_after_a_question_that_cannot_be_answered(self):
        server = self.serve(self.small())
        answers = server.ask("POST", "/v1/what-if", {"questions": [{"queue": "q"}, {"queue": "qq"}, {"groups": ["x"]}, {"queue": "q"}]}).json["answers"]
        self.assertEqual([one.get("code") for one in answers], [None, "not_found", "not_found", None])
        self.assertEqual(answers[1]["message"], "body: questions[1].queue: qq: no such queue; did you mean q?")
        self.assertIn("questions[2]", answers[2]["message"])
        self.assertEqual(answers[0], answers[3])

    def test_amounts_that_would_be_nothing(self):
        path = self.small()
        server = self.serve(path)
        for name, value in [("gpus", 1e-300), ("gpus", 0.0009), ("cpu", 1e-6), ("memory", 1e-12), ("runtime", 1e-10)]:
            self.refused(server.ask("POST", "/v1/what-if", {"queue": "q", name: value}), 400, "argument", f"{name}: expected 0 or at least")
            self.assertIn(f"--{name}: expected 0 or at least", self.fails(2, "what-if", path, "--queue", "q", f"--{name}", value))
        self.assertEqual(server.ask("POST", "/v1/what-if", {"queue": "q", "gpus": 0.001, "ends": 0}).status, 200)

    def test_explanations_are_those_of_the_command(self):
        path = self.invented()
        server = self.serve(path)
        document = json.loads(path.read_text())
        names = ["speech", f"node/{document['node'][0]['name']}", f"topology/{document['topology'][0]['name']}", "vision-wants-h200",
                 f"pod/{document['pod'][0]['name']}"]
        told = self.ok("explain", path, *names, "--nodes", "3", "--json")
        self.assertEqual(server.ask("POST", "/v1/explain", {"names": names, "nodes": 3}).text, told)
        query = "&".join(f"name={name.replace('/', '%2F')}" for name in names)
        answer = server.ask("GET", f"/v1/explain?{query}&nodes=3")
        self.assertEqual(answer.text, told)
        self.assertEqual(answer.headers["Kaisched-Cluster"], self.ok("digest", path).split()[0])

    def test_the_actions_of_the_policy_decide_in_a_play(self):
        # Two GPUs are free when `short` ends, all four, which `head` needs, when `long` does: who is done until then delays nobody.
        second = 10**9
        groups = [{"name": name, "queue": "q", "min_member": pods, "runtime_estimate": seconds * second}
                  for name, pods, seconds in (("short", 2, 100), ("long", 2, 300), ("head", 4, 50))]
        pods = [{"name": f"{one['name']}-{i}", "group": one["name"], "request": {"gpu": 1000}} for one in groups for i in range(one["min_member"])]
        for group in groups[:2]:
            group["last_start"] = 0
        for pod in pods[:4]:
            pod.update(status="running", node="n")
        path = self.file("held.json", json.dumps({"schema": "kaisched-cluster/1", "now": 0, "queue": [{"name": "q"}], "pod_group": groups, "pod": pods,
                                                  "node": [{"name": "n", "capacity": {"cpu": 8000, "gpu": 4000, "pods": 10}}]}))
        policy = ["--actions", "backfill"]
        server = self.serve(path, *policy)
        asked = {"queue": "q", "gpus": 1, "cpu": 0, "runtime": 150}
        words = ["--queue", "q", "--gpus", "1", "--cpu", "0", "--runtime", "150"]
        answers = [server.ask("POST", "/v1/what-if", {**asked, "policy_actions": own}) for own in (False, True)]
        self.assertEqual(answers[0].text, self.ok("what-if", path, *policy, *words, "--json"))
        self.assertEqual(answers[1].text, self.ok("what-if", path, *policy, *words, "--policy-actions", "--json"))
        self.assertEqual([one.json["forecasts"][0]["expected"] for one in answers], [350 * second, 100 * second])

    def test_gaps_are_those_of_the_command(self):
        path = self.invented()
        server = self.serve(path)
        told = self.ok("gaps", path, "--json")
        self.assertTrue(json.loads(told)["gaps"])
        for _ in range(2):  # the second answer is kept
            answer = server.ask("GET", "/v1/gaps")
            self.assertEqual((answer.status, answer.text), (200, told))
            self.assertEqual(answer.headers["Kaisched-Cluster"], self.ok("digest", path).split()[0])
        self.refused(server.ask("POST", "/v1/gaps", {}), 405, "unsupported")

    TYPES = {"schema": "kaisched-node-types/1", "type": [{"name": "big", "price": 70, "most": 8}],
             "node": [{"name": "big", "capacity": {"cpu": 64000, "memory": 8000, "gpu": 4000, "pods": 10}}]}

    def test_nodes_are_those_of_the_command(self):
        path = self.small()
        server = self.serve(path)
        types = self.file("types.json", json.dumps(self.TYPES))
        for asked, words in [({"types": self.TYPES}, ["--types", types]), ({"down": True}, ["--down"]),
                             ({"types": self.TYPES, "up": True, "queues": ["q"], "strategy": "first_fit"},
                              ["--types", types, "--up", "--queue", "q", "--strategy", "first_fit"]),
                             ({"types": self.TYPES, "groups": ["c"], "verifications": 9, "type_label": "kind"},
                              ["--types", types, "--group", "c", "--verifications", "9", "--type-label", "kind"])]:
            answer = server.ask("POST", "/v1/scale", asked)
            self.assertEqual((answer.status, answer.text), (200, self.ok("scale", path, *words, "--json")), asked)
            self.assertEqual(answer.headers["Kaisched-Cluster"], self.ok("digest", path).split()[0])
        self.assertEqual(server.ask("POST", "/v1/scale", {"types": self.TYPES}).json["up"]["cost"], 70)

    def test_cluster_reasons_and_health(self):
        path = self.small()
        server = self.serve(path)
        run = json.loads(self.ok("run", path, "--json"))
        check = json.loads(self.ok("check", path, "--json"))["files"][0]
        about, reasons, health = (server.ask("GET", f"/v1/{name}") for name in ("cluster", "reasons", "health"))
        self.assertEqual((about.json["cluster"], about.json["contents"]), (check["digest"], check["contents"]))
        self.assertEqual([about.json[k] for k in ("preset", "mode", "digest")], [run[k] for k in ("preset", "mode", "digest")])
        self.assertEqual(reasons.json["waiting"], run["waiting"])
        self.assertEqual([(g["group"], g["pods"], g["gpu"]) for g in reasons.json["groups"]], [("c", 1, 1000)])
        self.assertEqual(reasons.json["groups"][0]["reasons"], run["waiting"][0]["example"]["reasons"])
        self.assertEqual((health.json["status"], health.json["version"]), ("ok", self.ok("--version").split()[1]))
        for answer in (about, reasons, health):
            self.assertEqual(answer.headers["Content-Type"], "application/json")
            self.assertEqual(faults(answer.json, SCHEMA, SCHEMA), [])

    def test_clients_at_the_same_time_get_the_same_bytes(self):
        server = self.serve(self.invented(), "--threads", "3")
        alone = [server.ask("POST", "/v1/what-if", asked).text for asked, _ in self.QUESTIONS]
        found = []

        def client(number):
            over = self.connect(server)
            for i in range(12):
                k = (number + i) % len(self.QUESTIONS)
                found.append((k, server.ask("POST", "/v1/what-if", self.QUESTIONS[k][0], over=over).text))
            over.close()

        threads = [threading.Thread(target=client, args=(n,)) for n in range(6)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(len(found), 72)
        for k, text in found:
            self.assertEqual(text, alone[k])


class Changes(ServeCase):
    def test_another_cluster(self):
        first, second = self.small(), self.invented()
        server = self.serve(first)
        answer = server.ask("POST", "/v1/cluster", second.read_text())
        self.assertEqual((answer.status, answer.json["cluster"]), (200, self.ok("digest", second).split()[0]))
        self.assertEqual(answer.text, server.ask("GET", "/v1/cluster").text)
        self.assertEqual(server.ask("POST", "/v1/what-if", {"queue": "search"}).text, self.ok("what-if", second, "--queue", "search", "--json"))

    def test_gaps_are_those_of_the_present_cluster(self):
        first, second = self.small(), self.invented()
        server = self.serve(first)
        for path in (first, second, first):
            server.ask("POST", "/v1/cluster", Path(path).read_text())
            for _ in range(2):
                self.assertEqual(server.ask("GET", "/v1/gaps").text, self.ok("gaps", path, "--json"))

    def test_a_bad_cluster_changes_nothing(self):
        server = self.serve(self.small())
        before = server.ask("GET", "/v1/cluster").text
        twice = cluster(QUEUE, NODE, jobs("a", "a"))
        self.refused(server.ask("POST", "/v1/cluster", twice), 409, "duplicate", "body:1: pod_group[1].name")
        self.refused(server.ask("POST", "/v1/cluster", "{"), 400, "argument", "body:1:1")
        self.refused(server.ask("POST", "/v1/cluster", '{"schema": "x"}'), 400, "argument", "kaisched-cluster/1")
        self.assertEqual(server.ask("GET", "/v1/cluster").text, before)

    def test_deltas(self):
        server = self.serve(self.small())
        deltas = {"deltas": [
            {"op": "change", "node": [{"name": "n", "unschedulable": True}]},
            {"op": "add", "node": [{"name": "m", "capacity": {"cpu": 8000, "memory": 8000, "gpu": 1000, "pods": 10}}]},
            {"op": "remove", "pod_group": [{"name": "b"}, {"name": "c"}], "pod": [{"name": "b-0"}, {"name": "c-0"}]},
        ], "now": 77}
        answer = server.ask("POST", "/v1/deltas", deltas)
        self.assertEqual(answer.status, 200, answer.text)
        closed = NODE.replace('"name": "n",', '"name": "n", "unschedulable": true,')
        same = self.file("same.json", cluster('"now": 77', QUEUE, closed[:-1] + ', {"name": "m", "capacity": {"cpu": 8000, "memory": 8000, "gpu": 1000, "pods": 10}}]',
                                              jobs("a")))
        self.assertEqual(answer.json["cluster"], self.ok("digest", same).split()[0])
        self.assertEqual((answer.json["now"], answer.json["contents"]["jobs"]), (77, 1))
        self.assertEqual(server.ask("GET", "/v1/explain?name=pod/a-0").text, self.ok("explain", same, "pod/a-0", "--json"))

    def test_bad_deltas_change_nothing(self):
        server = self.serve(self.small())
        before = server.ask("GET", "/v1/cluster").text
        good = {"op": "remove", "pod": [{"name": "c-0"}]}
        for bad, status, code, words in [
            ({"op": "remove", "pod": [{"name": "a-0"}, {"name": "x"}]}, 404, "not_found", "deltas[1].pod[1].name"),
            ({"op": "change", "node": [{"name": "n", "unschedulable": 7}]}, 400, "argument", "deltas[1].node[0].unschedulable: expected true or false"),
            ({"op": "change", "node": [{"name": "n", "colour": 7}]}, 400, "argument", "deltas[1].node[0].colour"),
            ({"op": "change", "node": [{"unschedulable": True}]}, 400, "argument", 'deltas[1].node[0]: "name" is missing'),
            ({"op": "change", "node": [{}]}, 400, "argument", 'deltas[1].node[0]: "name" is missing'),
            ({"op": "change", "node": {}}, 400, "argument", "deltas[1].node: expected an array"),
            ({"op": "change", "knode": []}, 400, "argument", "deltas[1].knode: no such kind of table"),
            ({"op": "add", "pod_group": [{"name": "z", "queue": "nobody"}]}, 404, "not_found", "deltas[1].pod_group[0].queue"),
            ({"op": "remove", "queue": [{"name": "q"}]}, 409, "state", "deltas[1].queue[0]: queue 'q' cannot be removed"),
            ({"op": "add", "pod": [{"group": "a"}]}, 400, "argument", 'deltas[1].pod[0]: "name" is missing'),
            ({"op": "upsert"}, 400, "argument", "deltas[1].op: expected add, change or remove"),
            ({"node": []}, 400, "argument", 'deltas[1]: "op" is missing'),
            (7, 400, "argument", "deltas[1]: expected an object"),
        ]:
            self.refused(server.ask("POST", "/v1/deltas", {"deltas": [good, bad]}), status, code, words, "body:1:")
        for body, words in [("[]", "expected an object"), ("{}", '"deltas" is missing'), ('{"deltas": 1}', "deltas: expected an array"),
                            ('{"deltas": [], "now": "x"}', "now: expected an integer"), ('{"delta": []}', "did you mean")]:
            self.refused(server.ask("POST", "/v1/deltas", body), 400, "argument", words)
        self.assertEqual(server.ask("GET", "/v1/cluster").text, before)

    def test_every_answer_is_over_one_version(self):
        """While the cluster goes to and fro, an answer is the one of the version that it names."""
        server = self.serve(self.small(), "--threads", "2")
        closed = {"deltas": [{"op": "change", "node": [{"name": "n", "unschedulable": True}]}]}
        opened = {"deltas": [{"op": "change", "node": [{"name": "n", "unschedulable": False}]}]}
        ask = ("POST", "/v1/explain", {"names": ["pod/a-0", "node/n"]})
        known = {}
        for change in (closed, opened):
            server.ask("POST", "/v1/deltas", change)
            answer = server.ask(*ask)
            known[answer.headers["Kaisched-Cluster"]] = answer.text
        self.assertEqual(len(set(known.values())), 2)
        found, done = [], threading.Event()

        def client():
            over = self.connect(server)
            while not done.is_set():
                found.append(server.ask(*ask, over=over))
            over.close()

        threads = [threading.Thread(target=client) for _ in range(3)]
        for one in threads:
            one.start()
        for _ in range(15):
            for change in (closed, opened):
                self.assertEqual(server.ask("POST", "/v1/deltas", change).status, 200)
        done.set()
        for one in threads:
            one.join()
        self.assertEqual({a.headers["Kaisched-Cluster"] for a in found}, set(known))
        for answer in found:
            self.assertEqual(answer.text, known[answer.headers["Kaisched-Cluster"]])

    def test_bad_rows_are_left_out_where_that_is_wanted(self):
        server = self.serve(self.small(), "--on-invalid", "quarantine")
        deltas = {"deltas": [{"op": "add", "pod_group": [{"name": "d", "queue": "q"}, {"name": "", "queue": "q"}]}]}
        answer = server.ask("POST", "/v1/deltas", deltas)
        self.assertEqual((answer.status, answer.json["contents"]["jobs"]), (200, 4), answer.text)


class Refusals(ServeCase):
    def test_what_is_asked(self):
        server = self.serve(self.small(), "--most-questions", "3", "--most-pods", "50")
        for body, words in [
            ("", "body:1:1"),
            ("{", "body:1:1"),
            ("[" * 1000, "body:1:"),
            ("null", "expected an object, found null"),
            ("{}", 'give "queue", "add" or "groups"'),
            ({"queue": 7}, "queue: expected a string, found 7"),
            ({"queue": "q\0"}, "queue: the text contains a NUL"),
            ({"queue": "q", "pods": 0}, "pods: expected an integer from 1 to 50, found 0"),
            ({"queue": "q", "pods": 51}, "found 51"),
            ({"queue": "q", "pods": 1.5}, "pods: expected an integer"),
            ({"queue": "q", "gang": 2}, 'gang: is larger than "pods"'),
            ({"queue": "q", "gpus": -1}, "gpus: expected a number from 0 to 4096, found -1"),
            ({"queue": "q", "gpus": "8"}, "gpus: expected a number"),
            ('{"queue": "q", "gpus": 1e999}', "body:1:"),
            ({"queue": "q", "cpu": 1e7}, "cpu: expected"),
            ({"queue": "q", "memory": True}, "memory: expected"),
            ({"queue": "q", "priority": 2e9}, "priority: expected"),
            ({"queue": "q", "runtime": -5}, "runtime: expected"),
            ({"queue": "q", "ends": -5}, "ends: expected"),
            ({"queue": "q", "non_preemptible": 1}, "non_preemptible: expected true or false"),
            ({"queue": "q", "policy_actions": "yes"}, "policy_actions: expected true or false"),
            ({"queue": "q", "podz": 1}, "podz: no such member; did you mean"),
            ({"groups": "a"}, "groups: expected an array"),
            ({"groups": ["a"] * 4}, "at most 3 strings, found 4"),
            ({"groups": [1]}, "groups: expected an array of strings"),
            ({"add": []}, "add: expected an object"),
            ({"add": {"pods": []}}, "add.pods: no such kind of table; did you mean"),
            ({"add": {"pod": [{"nam": "x"}]}}, "add.pod[0].nam: pod has no such column"),
            ({"questions": [{"queue": "q"}, {"add": {"pod": [7]}}]}, "questions[1].add.pod[0]: expected an object"),
            ('{"queue": "q", "queue": "q"}', "queue"),
            ({"questions": []}, "questions: expected an array of 1 to 3 questions, found 0"),
            ({"questions": [{"queue": "q"}] * 4}, "found 4"),
            ({"questions": {}}, "questions: expected an array"),
            ({"questions": [{"queue": "q"}], "queue": "q"}, "queue: "),
            ({"questions": [{"queue": "q"}, {"queue": "q", "pods": "x"}]}, "questions[1].pods: expected an integer"),
            ({"questions": [7]}, "questions[0]: expected an object"),
        ]:
            self.refused(server.ask("POST", "/v1/what-if", body), 400, "argument", words)
        for body, words in [("{}", "names: nothing is named"), ({"names": ["a"] * 4}, "at most 3"), ({"names": ["a"], "nodes": -1}, "nodes: expected"),
                            ({"name": ["a"]}, "did you mean"), ("[]", "expected an object"), ("x", "body:1:1")]:
            self.refused(server.ask("POST", "/v1/explain", body), 400, "argument", words)
        types = Answers.TYPES
        for body, words in [("{}", "types: is missing"), ("[]", 'expected an object with "types"'), ({"types": 7}, "expected an object"),
                            ({"types": {}}, '"schema" is missing'), ({"types": types, "up": 1}, "up: expected true or false"),
                            ({"types": {**types, "type": [{"name": "small", "price": 1, "most": 1}]}}, "type[0].name: there is no node 'small'"),
                            ({"types": types, "strategy": "best"}, 'strategy: expected "search" or "first_fit", found "best"'),
                            ({"types": types, "strategy": 1}, "strategy: expected a string"), ({"types": types, "queues": ["q"] * 4}, "at most 3"),
                            ({"types": types, "verifications": 0}, "verifications: expected an integer from 1 to 400, found 0"),
                            ({"types": types, "verifications": 401}, "found 401"), ({"type": types}, 'did you mean "types"?')]:
            self.refused(server.ask("POST", "/v1/scale", body), 400, "argument", words)
        self.refused(server.ask("POST", "/v1/scale", {"types": types, "queues": ["p"]}), 404, "not_found", "there is no queue 'p'")
        for query, words in [("", "nothing is named"), ("?name=a&nodes=x", "nodes: expected"), ("?names=a", "did you mean"), ("?" + "&".join(["name=a"] * 4), "at most 3")]:
            self.refused(server.ask("GET", f"/v1/explain{query}"), 400, "argument", "query", words)

    def test_names_that_are_not_there(self):
        server = self.serve(self.small())
        self.refused(server.ask("POST", "/v1/what-if", {"queue": "qq"}), 404, "not_found", "body: queue: qq: no such queue; did you mean q?")
        self.refused(server.ask("POST", "/v1/what-if", {"groups": ["zz"]}), 404, "not_found", "zz")
        self.refused(server.ask("POST", "/v1/what-if", {"queue": "q", "name": "a"}), 409, "duplicate", "a")
        self.refused(server.ask("GET", "/v1/explain?name=pod/zz"), 404, "not_found", "there is no pod called zz")
        self.refused(server.ask("POST", "/v1/explain", {"names": ["q", "zzzzz"]}), 404, "not_found", "zzzzz")

    def test_paths_and_methods(self):
        server = self.serve(self.small())
        self.refused(server.ask("GET", "/v2/health"), 404, "not_found", "path")
        self.refused(server.ask("GET", "/%zz"), 400, "argument", "target")
        self.refused(server.ask("OPTIONS", "*"), 400, "argument", "target")
        for method, path, allowed in [("POST", "/v1/health", "GET"), ("DELETE", "/v1/cluster", "GET, POST"), ("GET", "/v1/what-if", "POST")]:
            answer = server.ask(method, path)
            self.refused(answer, 405, "unsupported", allowed)
            self.assertEqual(answer.headers["Allow"], allowed)

    def test_bytes_that_are_no_request(self):
        server = self.serve(self.small())
        draw = random.Random(7)
        for i in range(60):
            with server.raw() as plug:
                text = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 80)))
                plug.sendall((b"" if i % 2 else b"POST /v1/what-if HTTP/1.1\r\nHost: x\r\nContent-Length: " + str(len(text)).encode() + b"\r\n\r\n") + text)
                plug.shutdown(socket.SHUT_WR)
                told = b""
                while part := plug.recv(65536):
                    told += part
                self.assertTrue(not told or re.match(rb"HTTP/1.1 4\d\d ", told), told)
        self.assertEqual(server.ask("GET", "/v1/health").status, 200)

    def test_bodies_that_are_almost_good(self):
        """Mutants of good bodies are answered or refused, and nothing changes."""
        server = self.serve(self.small())
        over = self.connect(server)
        before = server.ask("GET", "/v1/reasons").text
        bodies = [("/v1/what-if", '{"questions": [{"queue": "q", "pods": 2, "gpus": 0.5, "add": {"pod_group": [{"name": "n", "queue": "q"}]}}]}'),
                  ("/v1/explain", '{"names": ["a", "pod/b-0", "node/n"], "nodes": 2}'),
                  ("/v1/deltas", '{"deltas": [{"op": "change", "nodes": [{"name": "n", "capacity": {"gpu": 1000}}]}], "now": 5}')]
        draw = random.Random(11)
        statuses = set()
        for i in range(240):
            path, text = bodies[i % 3]
            mutant = list(text)
            for _ in range(draw.randrange(1, 4)):
                at = draw.randrange(len(mutant))
                mutant[at : at + draw.randrange(3)] = draw.choice(['"', "{", "}", "[", "]", ",", ":", "-", "9", "\\", "\0", "é", "null", ""])
            answer = server.ask("POST", path, "".join(mutant).encode(), over=over)
            statuses.add(answer.status)
            self.assertIn(answer.status, (200, 400, 404, 409), answer.text)
        self.assertLessEqual({200, 400}, statuses)
        self.assertEqual(server.ask("GET", "/v1/reasons").text, before)


class Doors(ServeCase):
    """Who may ask, and where."""

    def token(self, text=TOKEN + "\n"):
        path = self.file("token", text)
        path.chmod(0o600)
        return path

    def test_socket(self):
        path = self.folder / "k.sock"
        server = self.serve(self.small(), "--socket", path)
        self.assertEqual(server.first, f"listening on unix:{path}\n")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertIn("another process listens there", self.fails(2, "serve", self.small(), "--socket", path))
        self.assertEqual(server.ask("GET", "/v1/cluster").status, 200)
        self.assertEqual(server.stop(signal.SIGINT), (0, ""))
        self.assertFalse(path.exists())

    def test_socket_that_a_killed_server_left(self):
        path = self.folder / "k.sock"
        self.serve(self.small(), "--socket", path, quiet=False).stop(signal.SIGKILL)
        self.assertTrue(path.exists())
        self.assertEqual(self.serve(self.small(), "--socket", path).ask("GET", "/v1/health").status, 200)

    def test_socket_is_no_other_file(self):
        path = self.file("precious", "text")
        self.assertIn("a file of this name is there, and is no socket", self.fails(2, "serve", self.small(), "--socket", path))
        self.assertEqual(path.read_text(), "text")
        self.assertIn("longer than", self.fails(2, "serve", self.small(), "--socket", self.folder / ("x" * 120)))
        self.assertIn("cannot listen", self.fails(2, "serve", self.small(), "--socket", self.folder / "none" / "s"))

    def test_port(self):
        server = self.serve(self.small(), "--listen", "127.0.0.1:0", "--token-file", self.token())
        self.assertRegex(server.address, r"^http://127\.0\.0\.1:[1-9]\d*$")
        self.assertEqual(server.ask("GET", "/v1/health").status, 200)
        for given in [{}, {"Authorization": TOKEN}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {TOKEN}x"},
                      {"Authorization": f"Bearer {TOKEN[:-1]}"}, {"Authorization": f"Bearer {TOKEN[:-1]}x"}, {"Authorization": f"Basic {TOKEN}"}]:
            for method, path in [("GET", "/v1/cluster"), ("POST", "/v1/what-if"), ("POST", "/v1/cluster"), ("POST", "/v1/deltas"), ("GET", "/v1/explain"),
                                 ("POST", "/v1/explain"), ("GET", "/v1/reasons")]:
                answer = server.ask(method, path, "{}" if method == "POST" else None, **given)
                self.refused(answer, 401, "unauthorized", "token")
                self.assertEqual(answer.headers["WWW-Authenticate"], "Bearer")
        self.assertEqual(server.ask("GET", "/v1/cluster", Authorization=f"Bearer {TOKEN}").status, 200)
        port = server.address.rsplit(":", 1)[1]
        self.assertIn("cannot listen on 127.0.0.1:" + port, self.fails(2, "serve", self.small(), "--listen", f"127.0.0.1:{port}", "--token-file", self.token()))

    def test_token_of_a_socket(self):
        server = self.serve(self.small(), "--token-file", self.token())
        self.refused(server.ask("GET", "/v1/cluster"), 401, "unauthorized")
        self.assertEqual(server.ask("GET", "/v1/cluster", Authorization=f"Bearer {TOKEN}").status, 200)

    def test_arguments(self):
        small, token = self.small(), self.token()
        readable = self.file("readable", TOKEN)
        readable.chmod(0o644)
        for words, said in [
            ([], "one of --socket PATH and --listen ADDRESS:PORT is needed"),
            (["--socket", "s", "--listen", "127.0.0.1:0", "--token-file", token], "one of --socket"),
            (["--listen", "127.0.0.1:0"], "--listen needs --token-file"),
            (["--listen", "0.0.0.0:0", "--token-file", token], "only loopback addresses"),
            (["--listen", "10.0.0.1:80", "--token-file", token], "only loopback addresses"),
            (["--listen", "[::]:80", "--token-file", token], "only loopback addresses"),
            (["--listen", "localhost:80", "--token-file", token], "not a name"),
            (["--listen", "127.0.0.1", "--token-file", token], "expected ADDRESS:PORT"),
            (["--listen", "127.0.0.1:x", "--token-file", token], "expected a port"),
            (["--listen", "127.0.0.1:65536", "--token-file", token], "expected a port"),
            (["--listen", "127.0.0.1:0", "--token-file", self.folder / "none"], "none"),
            (["--listen", "127.0.0.1:0", "--token-file", readable], "all users may read it"),
            (["--socket", "s", "--threads", "-1"], "--threads"),
            (["--socket", "s", "--deadline", "0"], "--deadline"),
            (["--socket", "s", "--set", "nothing=1"], "nothing"),
        ]:
            self.assertIn(said, self.fails(2, "serve", small, *words), words)
        for text in ["short", "two words of some length", "", " \n"]:
            message = self.fails(2, "serve", small, "--socket", "s", "--token-file", self.token(text))
            self.assertIn("expected one word of at least 16 characters", message)
        self.assertIn("kaisched: ", self.fails(2, "serve", self.folder / "none.json", "--socket", self.folder / "s"))
        self.assertFalse((self.folder / "s").exists())

    def test_the_token_is_nowhere_to_be_seen(self):
        server = Server(self.small(), "--listen", "127.0.0.1:0", "--token-file", self.token(), "--json")
        told = json.loads(server.first + "".join(iter(server.process.stdout.readline, "}\n")) + "}")
        self.assertEqual(told["schema"], "kaisched-serve/1")
        self.assertEqual(told["cluster"], self.ok("digest", self.small()).split()[0])
        self.assertRegex(told["address"], "^http://127")
        self.assertNotIn(TOKEN, Path(f"/proc/{server.process.pid}/cmdline").read_text())
        server.address = told["address"]
        server.ask("GET", "/v1/cluster", Authorization=f"Bearer {TOKEN}x")
        self.assertEqual(server.stop(), (0, ""))

    def test_examples_of_the_help(self):
        examples = re.findall(r"^  kaisched (serve [^\n]*?)(?:  +# .*)?$", self.ok("serve", "--help"), re.MULTILINE)
        self.assertEqual(len(examples), 2)
        self.small().rename(self.folder / "cluster.json")
        self.token()
        for line in examples:
            words = [self.folder / w if w in ("cluster.json", "token", "kaisched.sock") else w for w in line.replace(":8080", ":0").split()]
            server = Server(*words[1:])
            self.assertEqual(server.ask("GET", "/v1/health").status, 200)
            self.assertEqual(server.stop(), (0, ""))


class Limits(ServeCase):
    SLOW = {"questions": [{"queue": "search", "pods": 64, "gpus": 8, "ends": 1000}] * 256}

    def test_sizes(self):
        server = self.serve(self.small(), "--most-bytes", "2000", "--most-cluster-bytes", "5000")
        for path, most in [("/v1/what-if", 2000), ("/v1/explain", 2000), ("/v1/cluster", 5000), ("/v1/deltas", 5000)]:
            self.refused(server.ask("POST", path, " " * (most + 1)), 413, "limit", f"more than {most} bytes")
            self.refused(server.ask("POST", path, " " * most), 400, "argument")
        chunks = iter([b" " * 1500, b" " * 1500])
        connection = self.connect(server)
        connection.request("POST", "/v1/what-if", chunks, encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
        self.refused(Answer(connection.getresponse()), 413, "limit", "more than 2000 bytes")
        self.refused(server.ask("GET", "/v1/health", X=" x" * 20000), 431, "limit", "header")

    def test_a_body_in_chunks_or_by_invitation(self):
        server = self.serve(self.small())
        plain = server.ask("POST", "/v1/what-if", {"queue": "q"})
        connection = self.connect(server)
        connection.request("POST", "/v1/what-if", iter([b'{"que', b'ue": "q"}']), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
        self.assertEqual(Answer(connection.getresponse()).text, plain.text)
        with server.raw() as plug:
            plug.sendall(b"POST /v1/what-if HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n")
            self.assertTrue(plug.recv(1000).startswith(b"HTTP/1.1 100 "))
            plug.sendall(b'{"queue": "q"}')
            self.assertTrue(plug.recv(100).startswith(b"HTTP/1.1 200 "))

    def test_silent_connections_make_room(self):
        server = self.serve(self.small(), "--most-connections", "3")
        held = [self.connect(server) for _ in range(3)]
        for one in held:
            self.assertEqual(server.ask("GET", "/v1/health", over=one).status, 200)
        newer = self.connect(server)
        self.assertEqual(server.ask("GET", "/v1/health", over=newer).status, 200)
        for one in [held[1], held[2], newer]:
            self.assertEqual(server.ask("GET", "/v1/health", over=one).status, 200)
        with self.assertRaises((http.client.HTTPException, OSError)):  # it had been silent longest
            held[0].auto_open = False
            server.ask("GET", "/v1/health", over=held[0])

    def test_connections(self):
        server = self.serve(self.invented(8192), "--most-connections", "2", "--threads", "1", "--deadline", "3")
        held = [self.begin(server, self.SLOW) for _ in range(2)]
        time.sleep(0.3)
        answer = server.ask("GET", "/v1/health")
        self.refused(answer, 503, "busy", "2 connections")
        self.assertEqual(answer.headers["Retry-After"], "1")
        held.pop().close()
        for _ in range(300):
            if server.ask("GET", "/v1/health").status == 200:
                break
            time.sleep(0.02)
        else:
            self.fail("a connection that has ended still counts")

    def begin(self, server, body):
        """A request that is under way on a connection of its own."""
        connection = self.connect(server)
        connection.request("POST", "/v1/what-if", json.dumps(body))
        return connection

    def test_requests_that_wait(self):
        server = self.serve(self.invented(8192), "--threads", "1", "--most-waiting", "1", "--deadline", "3")
        first = self.begin(server, self.SLOW)
        time.sleep(0.2)
        second = self.begin(server, {"queue": "search"})
        time.sleep(0.1)
        over = self.connect(server)
        answer = server.ask("POST", "/v1/what-if", {"queue": "search"}, over=over)
        self.refused(answer, 503, "busy", "too many requests wait")
        self.assertEqual(answer.headers["Retry-After"], "1")
        self.assertEqual(server.ask("GET", "/v1/health", over=over).status, 200)  # what is there already does not wait
        self.assertEqual(server.ask("GET", "/v1/reasons", over=over).status, 200)
        Answer(first.getresponse())
        self.assertIn(Answer(second.getresponse()).status, (200, 504))

    def test_deadline(self):
        path = self.invented(8192)
        server = self.serve(path, "--threads", "1", "--deadline", "2" if FEW_CASES else "0.3")
        begun = time.monotonic()
        batch = server.ask("POST", "/v1/what-if", self.SLOW)
        self.assertLess(time.monotonic() - begun, 20)  # and not minutes
        codes = [one.get("code") for one in batch.json["answers"]]
        self.assertEqual((batch.status, len(codes), codes[-1]), (200, 256, "deadline"))
        self.assertEqual(codes, sorted(codes, key=lambda code: code is not None))
        answer = server.ask("POST", "/v1/what-if", {"questions": [{"queue": "search", "ends": 0}]})
        self.assertEqual(answer.json["answers"][0].get("code"), None, answer.text)
        self.assertEqual(answer.json["answers"][0], json.loads(self.ok("what-if", path, "--queue", "search", "--ends", "0", "--json")))

    def test_a_question_about_nodes_ends_at_its_deadline(self):
        server = self.serve(self.invented(8192), "--deadline", "0.2", "--threads", "1", "--most-verifications", "100000")
        node = {"cpu": 256000, "memory": 10**12, "pods": 110}
        types = {"schema": "kaisched-node-types/1", "type": [{"name": f"t{n}", "price": 10 * n + 1, "most": 900} for n in (1, 2, 4, 8)],
                 "node": [{"name": f"t{n}", "capacity": {**node, "gpu": 1000 * n}} for n in (1, 2, 4, 8)]}
        begun = time.monotonic()
        self.refused(server.ask("POST", "/v1/scale", {"types": types, "verifications": 100000}), 504, "deadline")
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual(server.ask("POST", "/v1/what-if", {"queue": "search", "ends": 0}).status, 200)  # the thread is free

    def test_deadline_of_one_question(self):
        server = self.serve(self.invented(2048), "--deadline", "0.001")
        self.refused(server.ask("POST", "/v1/what-if", self.SLOW["questions"][0]), 504, "deadline", "before the deadline")
        self.refused(server.ask("POST", "/v1/explain", {"names": ["vision-wants-h200"]}), 504, "deadline", "before the deadline")
        self.refused(server.ask("GET", "/v1/gaps"), 504, "deadline", "before the deadline")
        self.refused(server.ask("POST", "/v1/scale", {"down": True}), 504, "deadline", "before the deadline")
        self.assertEqual(server.ask("GET", "/v1/cluster").status, 200)

    def closes(self, plug):
        """Seconds until the server has closed a connection, and what it said."""
        begun = time.monotonic()
        plug.settimeout(30)
        told = b""
        try:
            while part := plug.recv(65536):
                told += part
        except ConnectionResetError:
            pass
        return time.monotonic() - begun, told

    def test_slow_clients(self):
        server = self.serve(self.small(), "--timeout", "0.2")
        for sent in [b"", b"GET /v1/hea", b"POST /v1/what-if HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"]:
            with server.raw() as plug:
                plug.sendall(sent)
                seconds, told = self.closes(plug)
                self.assertLess(seconds, 10)
                self.assertEqual(told[:12], b"HTTP/1.1 200" if b"health HTTP" in sent else b"HTTP/1.1 408" if b"POST" in sent else b"")
        with server.raw() as plug:  # a byte now and then keeps nothing open
            begun = time.monotonic()
            with self.assertRaises(OSError):
                while time.monotonic() - begun < 30:
                    plug.sendall(b"G")
                    time.sleep(0.05)
            self.assertLess(time.monotonic() - begun, 10)

    def test_clients_that_do_not_take_their_answer(self):
        server = self.serve(self.invented(512), "--timeout", "0.2", "--most-connections", "1", "--most-questions", "64", "--deadline", "30")
        body = json.dumps({"names": ["search"] * 64, "nodes": 0})
        with server.raw() as plug:
            plug.sendall(f"POST /v1/explain HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            for _ in range(600):
                if server.ask("GET", "/v1/health").status == 200:  # its place is free again
                    break
                time.sleep(0.05)
            else:
                self.fail("the connection is still open")
            _, told = self.closes(plug)
            size = int(re.search(rb"Content-Length: (\d+)", told)[1])
            self.assertGreater(size, len(told))

    def test_a_change_has_a_deadline(self):
        server = self.serve(self.small(), "--cluster-deadline", "0.001")
        before = server.ask("GET", "/v1/cluster").json
        larger = self.invented(2048).read_text(encoding="utf-8")
        self.refused(server.ask("POST", "/v1/cluster", larger), 504, "deadline", "before the deadline")
        self.assertEqual(server.ask("GET", "/v1/cluster").json, before)

    def test_a_change_ends_with_its_client(self):
        server = self.serve(self.small(), "--threads", "1")
        before = server.ask("GET", "/v1/cluster").json
        plug = server.raw()
        body = self.invented(16384).read_bytes()
        plug.sendall(b"POST /v1/cluster HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        plug.close()  # a reset, as of a client that is killed
        self.assertEqual(server.ask("POST", "/v1/what-if", {"queue": "q", "ends": 0}).status, 200)  # the thread is free
        self.assertEqual(server.ask("GET", "/v1/cluster").json, before)

    def test_a_busy_server_ends(self):
        server = self.serve(self.small(), "--threads", "2", "--deadline", "60", quiet=False)
        under_way = [self.begin(server, self.SLOW)]
        change = self.connect(server)
        change.request("POST", "/v1/cluster", self.invented(16384).read_text(encoding="utf-8"))
        time.sleep(0.2)
        begun = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.stop(by=None), (0, ""))
        self.assertLess(time.monotonic() - begun, 20 if FEW_CASES else 5)  # two seconds, on a machine that has time
        del under_way

    def test_answers_under_way_are_sent_before_the_end(self):
        server = self.serve(self.invented(2048), "--threads", "1", "--deadline", "1", quiet=False)
        under_way = self.begin(server, self.SLOW)
        waiting = self.begin(server, {"queue": "search", "ends": 0})
        silent = self.connect(server)
        server.ask("GET", "/v1/health", over=silent)
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        answer = Answer(under_way.getresponse())
        self.assertEqual((answer.status, len(answer.json["answers"])), (200, 256))
        self.assertEqual(answer.headers["Connection"], "close")
        self.assertIn(Answer(waiting.getresponse()).status, (200, 504))
        self.assertEqual(server.stop(by=None), (0, ""))


class Metrics(ServeCase):
    SLOW = Limits.SLOW
    begin = Limits.begin

    def read(self, server, over=None):
        """Value by sample, of a text in which every sample belongs to the metric that was described last."""
        connection = over or self.connect(server)
        connection.request("GET", "/metrics")
        response = connection.getresponse()
        self.assertEqual((response.status, response.headers["Content-Type"]), (200, "text/plain; version=0.0.4"))
        values, described, kind = {}, None, None
        for line in response.read().decode().splitlines():
            if line.startswith("# HELP "):
                described = line.split()[2]
                self.assertNotIn(described, [key.partition("{")[0] for key in values])
            elif line.startswith("# TYPE "):
                self.assertEqual(line.split()[2], described)
                kind = line.split()[3]
            else:
                key, _, value = line.rpartition(" ")
                name = key.partition("{")[0]
                if kind == "histogram":
                    name = re.sub("_(bucket|sum|count)$", "", name)
                self.assertEqual(name, described)
                self.assertNotIn(key, values)
                values[key] = float(value)
        return values

    def test_what_is_counted(self):
        server = self.serve(self.small())
        for _ in range(3):
            server.ask("POST", "/v1/what-if", {"queue": "q", "ends": 0})
        server.ask("POST", "/v1/what-if", "no")
        server.ask("GET", "/v1/nowhere")
        server.ask("GET", "/v1/what-if")
        before = self.read(server)
        server.ask("POST", "/v1/deltas", {"deltas": [{"op": "remove", "pod": [{"name": "c-0"}], "pod_group": [{"name": "c"}]}]})
        after = self.read(server)
        answers = {key: value for key, value in before.items() if key.startswith("kaisched_serve_answers_total")}
        self.assertEqual(answers, {
            'kaisched_serve_answers_total{path="/v1/what-if",status="200"}': 3,
            'kaisched_serve_answers_total{path="/v1/what-if",status="400"}': 1,
            'kaisched_serve_answers_total{path="other",status="404"}': 1,
            'kaisched_serve_answers_total{path="other",status="405"}': 1,
        })
        self.assertEqual(after['kaisched_serve_answers_total{path="/metrics",status="200"}'], 1)
        times = [value for key, value in before.items() if key.startswith('kaisched_serve_answer_seconds_bucket{path="/v1/what-if"')]
        self.assertEqual(times, sorted(times))
        self.assertEqual(times[-1], 4)
        self.assertEqual(before['kaisched_serve_answer_seconds_count{path="/v1/what-if"}'], 4)
        self.assertGreater(before['kaisched_serve_answer_seconds_sum{path="/v1/what-if"}'], 0)
        self.assertFalse([key for key in before if "seconds" in key and '"other"' in key])  # nobody worked for them
        self.assertEqual([of["kaisched_serve_versions_total"] for of in (before, after)], [1, 2])
        self.assertEqual([of["kaisched_serve_groups_waiting"] for of in (before, after)], [1, 0])

    def test_load(self):
        server = self.serve(self.invented(2048), "--threads", "1", "--most-waiting", "1", "--most-connections", "3", "--deadline", "1")
        over = self.connect(server)
        names = [f"kaisched_serve_{name}" for name in ("threads", "threads_busy", "requests_waiting", "connections", "connections_refused_total")]
        idle = self.read(server, over)
        self.assertEqual([idle[name] for name in names], [1, 0, 0, 1, 0])
        under_way = [self.begin(server, self.SLOW), self.begin(server, self.SLOW)]
        for _ in range(100):
            busy = self.read(server, over)
            if [busy["kaisched_serve_threads_busy"], busy["kaisched_serve_requests_waiting"]] == [1, 1]:
                break
            time.sleep(0.005)
        self.assertEqual([busy[name] for name in names], [1, 1, 1, 3, 0])
        last = self.connect(server)
        self.assertEqual(server.ask("GET", "/v1/health", over=last).status, 200)  # `over` was silent
        self.assertEqual(self.read(server, last)["kaisched_serve_connections_closed_total"], 1)
        third = self.begin(server, self.SLOW)  # closes `last`; the queue is full
        Answer(third.getresponse())
        for one in under_way:
            Answer(one.getresponse())

    def test_the_page_names_all(self):
        server = self.serve(self.small())
        server.ask("GET", "/v1/health")
        told = {re.sub("_(bucket|sum|count)$", "", key.partition("{")[0]) for key in self.read(server)}
        page = (SOURCE / "docs" / "serve.md").read_text(encoding="utf-8")
        self.assertEqual(told, set(re.findall(r"^\| `(kaisched_serve_\w+)`", page, re.M)))

    def test_a_token_is_needed(self):
        token = self.file("token", TOKEN)
        token.chmod(0o600)
        server = self.serve(self.small(), "--token-file", token)
        self.refused(server.ask("GET", "/metrics"), 401, "unauthorized")


class Schema(unittest.TestCase):
    def test_every_object_is_described(self):
        self.assertEqual(SCHEMA["title"], "kaisched-serve/1")
        names = {one["properties"]["schema"]["const"] for one in SCHEMA["$defs"].values() if "schema" in one.get("properties", {})}
        source = "".join(p.read_text(encoding="utf-8") for p in (SOURCE / "src" / "cli" / "serve").glob("*.?pp"))
        self.assertEqual(names, set(re.findall(r'"(kaisched-[a-z-]+/\d+)"', source)))
        page = (SOURCE / "docs" / "serve.md").read_text(encoding="utf-8")
        for name in names:
            self.assertIn(f"`{name}`", page)
        for word in re.findall(r"^ +(--[a-z-]+)", kaisched("serve", "--help").stdout, re.MULTILINE):
            if word.startswith(("--most", "--thr", "--dead", "--time", "--sock", "--lis", "--tok")):
                self.assertIn(f"`{word}", page)


if __name__ == "__main__":
    main()
