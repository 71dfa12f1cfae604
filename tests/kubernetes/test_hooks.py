"""Other programs that are asked about pods that wait, as extenders of kube-scheduler: what their answers do, and every fault
that they can have. Queue rules and later members of the configuration. One ctest entry per class."""

import json
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from clusters import gang, node, pod, queue
from fake_api import FakeApi
from test_server import TOKEN, ServedCase

KEY = "kaisched.io/extender-answers"


class FakeExtender:
    """Answers as its two functions say: a value is the body, a number the status, `wait` a time without an answer."""

    def __init__(self, filter=None, prioritize=None):  # noqa: A002: as the protocol calls it
        self.filter, self.prioritize, self.asked, self.tokens = filter, prioritize, [], set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):  # noqa: N802
                args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                verb = self.path.rsplit("/", 1)[-1]
                outer.asked.append((self.path, args["Pod"]["metadata"]["name"], args["NodeNames"]))
                outer.tokens.add(self.headers.get("Authorization"))
                said = {"filter": outer.filter, "prioritize": outer.prioritize}[verb](args)
                if isinstance(said, tuple):
                    time.sleep(said[1])
                    said = 500
                status, body = (said, b"") if isinstance(said, int) else (200, said if isinstance(said, bytes) else json.dumps(said).encode())
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # who asked has given up

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def only(*names):
    return lambda args: {"NodeNames": [n for n in args["NodeNames"] if n in names], "FailedNodes": {n: "no disk" for n in args["NodeNames"] if n not in names}}


class HooksCase(ServedCase):
    def fill_nodes(self, api, count=3):
        self.fill(api, count, 2)

    def why(self, api, name):
        """What the program has told of a pod that waits."""
        conditions = api.get("pods", f"team/{name}")["status"].get("conditions", [])
        return " ".join(c.get("message", "") for c in conditions)


class Answers(HooksCase):
    def test_pods_start_where_all_of_them_let_them(self):
        with FakeApi() as api, FakeExtender(only("n1", "n2")) as first, FakeExtender(only("n0", "n2")) as second:
            self.fill_nodes(api)
            (self.folder / "token").write_text("letmein\n")
            api.put("pods", pod("a"))
            config = f"extenders: [{{url: '{first.url}/scheduler/', filter: /filter, token_file: token}}, {{url: '{second.url}', filter: filter}}]\n"
            self.once(api, config=config)
            self.assertEqual(api.pods()["team/a"], "n2")
            self.assertEqual(first.asked, [("/scheduler/filter", "a", ["n0", "n1", "n2"])])
            self.assertEqual(second.asked, [("/filter", "a", ["n1", "n2"])])  # who was there before has taken n0 away
            self.assertEqual((first.tokens, second.tokens), ({"Bearer letmein"}, {None}))
            self.assertNotIn(KEY, api.get("pods", "team/a")["metadata"]["annotations"])  # nobody else sees it

    def test_what_is_recorded_has_the_answers(self):
        with FakeApi() as api, FakeExtender(only()) as asked:
            self.fill_nodes(api)
            api.put("pods", pod("a"))
            self.serve(api, config=f"period: 300ms\nexplain_period: 0s\nextenders: [{{url: '{asked.url}', filter: filter}}]\n")
            words = f"extender {asked.url}: no node is left: no disk (3 nodes)"
            self.assert_until(api, lambda: words in self.why(api, "a"))
            self.assert_until(api, lambda: self.get("/debug/snapshot", TOKEN)[0] == 200)
            seen = {i["metadata"]["name"]: i for i in json.loads(self.get("/debug/snapshot", TOKEN)[1])["items"] if i["kind"] == "Pod"}
            self.assertEqual(json.loads(seen["a"]["metadata"]["annotations"][KEY]), {"obstacle": words})
            asked.filter = only("n1")
            api.put("nodes", node("n9", 2))  # nodes are others now: it is asked again
            self.assert_until(api, lambda: api.pods()["team/a"] == "n1")

    def test_answers_are_kept_while_nothing_changes(self):
        with FakeApi() as api, FakeExtender(only()) as asked:
            self.fill_nodes(api)
            api.put("pods", pod("a"))
            self.serve(api, config=f"period: 100ms\nextenders: [{{url: '{asked.url}', filter: filter}}]\nextender_limits: {{keep: 1h}}\n")
            self.assert_until(api, lambda: (self.metrics().value("kaisched_cycles_total", outcome="decided") or 0) > 5)
            self.assertEqual(len(asked.asked), 1)

    def test_only_pods_that_ask_for_its_resources(self):
        with FakeApi() as api, FakeExtender(only()) as asked:
            self.fill_nodes(api)
            api.put("pods", pod("a"))
            api.put("pods", pod("b", 0))
            self.once(api, config=f"extenders: [{{url: '{asked.url}', filter: filter, managed_resources: [nvidia.com/gpu]}}]\n")
            self.assertEqual({name for _, name, _ in asked.asked}, {"a"})
            self.assertFalse(api.pods()["team/a"])
            self.assertTrue(api.pods()["team/b"])

    def test_points_are_preferences(self):
        def points(args):
            return [{"Host": n, "Score": 10 if n == "n1" else 0} for n in args["NodeNames"]]

        with FakeApi() as api, FakeExtender(prioritize=points) as asked:
            self.fill_nodes(api)
            api.put("pods", pod("a"))
            self.once(api, config=f"extenders: [{{url: '{asked.url}', prioritize: prioritize, weight: 5}}]\nengine: {{preset: kube-default}}\n")
            self.assertEqual(api.pods()["team/a"], "n1")


class Faults(HooksCase):
    def test_every_bad_answer_is_told_and_nothing_starts(self):
        with FakeApi() as api, FakeExtender() as asked:
            self.fill_nodes(api)
            self.serve(api, config=f"period: 100ms\nexplain_period: 0s\nextenders: [{{url: '{asked.url}', filter: filter, timeout: 200ms}}]\n")
            for i, (said, words) in enumerate((
                (500, "status 500"),
                (b"nonsense", "no JSON"),
                (b"[" * 1000, "JSON"),
                (["n1"], "the answer is no JSON object"),
                ({}, "the answer has no NodeNames"),
                ({"NodeNames": ["n1", "moon"]}, "node moon: it was not asked about"),
                ({"NodeNames": [7]}, "NodeNames: expected texts"),
                ({"NodeNames": ["n1"], "Error": "on strike"}, "on strike"),
                (("wait", 1), "no answer"),
            )):  # fmt: skip
                with self.subTest(words):
                    asked.filter = lambda _, said=said: said
                    api.put("pods", pod(f"p{i}"))
                    self.assert_until(api, lambda: f"extender {asked.url}: " in self.why(api, f"p{i}"), 30)
                    if words != "no answer":
                        self.assertIn(words, self.why(api, f"p{i}"))
                    self.assertFalse(api.pods()[f"team/p{i}"])
                    api.delete("pods", f"team/p{i}")
            asked.filter = only("n1")  # it is asked again by itself
            api.put("pods", pod("good"))
            self.assert_until(api, lambda: api.pods()["team/good"] == "n1")

    def test_pods_start_without_who_may_be_ignored(self):
        with FakeApi() as api, FakeExtender(lambda _: 500) as broken, FakeExtender(only("n2"), lambda _: [{"Host": "moon", "Score": 1}]) as good:
            self.fill_nodes(api)
            api.put("pods", pod("a"))
            gone = "http://127.0.0.1:1"
            self.once(api, config=f"extenders: [{{url: '{broken.url}', filter: filter, ignorable: true}}, {{url: '{gone}', filter: filter, ignorable: true}}, {{url: '{good.url}', filter: filter, prioritize: prioritize}}]\n")
            self.assertEqual(api.pods()["team/a"], "n2")

    def test_who_does_not_answer_holds_up_no_cycle(self):
        with FakeApi() as api, FakeExtender(lambda _: ("wait", 5)) as slow:
            self.fill_nodes(api)
            for i in range(20):
                api.put("pods", pod(f"p{i}"))
            api.put("pods", pod("other", 0))
            self.serve(api, config=f"period: 100ms\nextenders: [{{url: '{slow.url}', filter: filter, timeout: 300ms, managed_resources: [nvidia.com/gpu]}}]\n")
            self.assert_until(api, lambda: api.pods()["team/other"], 30)
            self.assertLess(len(slow.asked), 5)  # one wait for each cycle, and not one for each pod

    def test_limits_of_a_cycle(self):
        with FakeApi() as api, FakeExtender(only("n0", "n1", "n2")) as asked:
            self.fill_nodes(api)
            for i in range(4):
                api.put("pods", pod(f"p{i}", 1))
            config = f"extenders: [{{url: '{asked.url}', filter: filter}}]\nextender_limits: {{requests: 2}}\n"
            self.once(api, config=config)
            self.assertEqual(len(asked.asked), 2)
            self.assertEqual(sum(1 for on in api.pods().values() if on), 2)  # the others wait for their turn
            self.start(api, "period: 100ms\n" + config)
            self.assert_until(api, lambda: all(api.pods().values()))


class Settings(HooksCase):
    def refused(self, text, *expected):
        file = self.folder / "bad.yaml"
        file.write_text(text)
        done = self.run_program("--config", file)
        self.assertEqual(done.returncode, 2)
        for words in expected:
            self.assertIn(words, done.stderr)

    def test_errors_name_line_and_field(self):
        self.refused("extenders: here\n", ":1: extenders: expected a list")
        self.refused("extenders:\n- {filter: f}\n", "extenders.url: is missing")
        self.refused("extenders:\n- {url: 'http://a'}\n", "extenders.filter: expected filter or prioritize")
        self.refused("extenders:\n- {url: ftp, filter: f}\n", "extenders.url: expected http:// or https://")
        self.refused("extenders:\n- {url: 'http://a', filter: /}\n", "extenders.filter: expected a path below url")
        self.refused("extenders:\n- {url: 'http://a', bind: b}\n", "extenders.bind: unknown field")
        self.refused("extenders:\n- {url: 'http://a', filter: f, weight: 0}\n", "extenders.weight: expected a number from 1 to 100")
        self.refused("extender_limits: {keep: 1ms}\n", ":1: extender_limits.keep: at least 100 ms")
        self.refused("later_members: perhaps\n", ":1: later_members: expected true or false")
        self.refused("queue_rules: {schema: kaisched-queue-rules/1, rules: [{rule: all}]}\n", ":1: queue_rules: ", "rules[0].rule: expected one of")

    def test_queue_rules(self):
        rules = """period: 200ms
queue_rules:
  schema: kaisched-queue-rules/1
  rules:
  - {rule: namespace_label, key: dept, create: true, parent: {rule: fixed, queue: all}}
  templates: {all: {limit: {gpu: 1}}}
"""
        with FakeApi() as api:
            self.fill(api)
            api.served.add("namespaces")
            api.put("queues", queue("all", -1))
            api.put("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"dept": "vision"}}})
            api.put("pods", pod("a"))
            api.put("pods", pod("b"))
            self.serve(api, config=rules)
            self.assert_until(api, lambda: sorted(map(bool, api.pods().values())) == [False, True])
            waits = next(name for name, on in api.pods().items() if not on)
            self.assert_until(api, lambda: "all.vision" in self.why(api, waits.split("/")[1]))

    def test_terms_that_select_namespaces(self):
        shy = pod("shy")
        shy["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {"loud": "yes"}},
            "namespaceSelector": {"matchLabels": {"dept": "sound"}},
        }]}}
        for department, starts in (("vision", True), ("sound", False)):
            with self.subTest(department=department), FakeApi() as api:
                api.put("nodes", node("n0", labels={"kubernetes.io/hostname": "n0"}))
                api.put("queues", queue("default-queue", -1))
                loud = pod("loud", on="n0")
                loud["metadata"]["labels"] = {**loud["metadata"].get("labels", {}), "loud": "yes"}
                api.served.add("namespaces")
                api.put("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"dept": department}}})
                for one in (loud, shy):
                    api.put("pods", one)
                self.once(api)
                self.assertEqual(bool(api.pods()["team/shy"]), starts)

    def test_later_members(self):
        late = pod("late", group="g")
        with FakeApi() as api:
            self.fill(api)
            made, pods = gang("g", "q", 1)
            made["spec"]["subGroups"] = [{"name": "a", "minMember": 1}]
            pods[0]["metadata"]["labels"] = {"kai.scheduler/subgroup-name": "a"}
            api.put("podgroups", made)
            for one in (*pods, late):
                api.put("pods", one)
            self.once(api)
            self.assertEqual((bool(api.pods()["team/g-0"]), bool(api.pods()["team/late"])), (True, False))
            self.once(api, config="later_members: true\n")
            self.assertTrue(api.pods()["team/late"])


if __name__ == "__main__":
    unittest.main()
