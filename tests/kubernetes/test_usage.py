"""What queues have used in the past: how it moves shares, how it is kept, where a Prometheus knows it. One ctest entry per
class; sums are in test_usage.cpp."""

import json
import re
import signal
import subprocess
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from clusters import node, pod, queue
from fake_api import FakeApi
from test_program import SHORT_LEASE, Case
from test_server import KAISCHED, TOKEN, ServedCase

MAP = "kube-system/kaisched-usage"


def had(part, hours):
    """Amounts as the map has them: in milliseconds, of the GPUs of one node."""
    return f"0:0,0,{8 * part * hours * 3600e3:.8g}"


def history(gpu, hours=1):
    """A map in which queues have had parts of the GPUs in the last hours: long enough for what the test itself takes to
    change nothing of it, however slow the machine is."""
    until = int(time.time() * 1000)
    length = int(hours * 3600e3)
    lines = [f"kaisched-usage/1\nuntil {until}\nslot {until - length} {until} 1,1,{8 * length}"]
    lines += [f"queue {name} {had(part, hours)}" for name, part in gpu.items()]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "kube-system", "name": "kaisched-usage"},
            "data": {"usage": "\n".join(lines) + "\n"}}  # fmt: skip


class UsageCase(ServedCase):
    RUNS = "period: 200ms\nusage: {interval: 100ms, save_period: 100ms}\n"

    def two_tenants(self, api, gpus=8, pods=8):
        """Queues without quotas and with equal weights, and more pods of each than there is room for."""
        api.put("nodes", node("n0", gpus))
        for name in ("a", "b"):
            api.put("queues", queue(name, 0))
        self.ask_for(api, pods)

    def ask_for(self, api, pods):
        for name in ("a", "b"):
            for i in range(pods):
                self.add_gang(api, f"{name}{i}", name, 1)

    def started(self, api):
        where = {name: on for name, on in api.pods().items() if on}
        return tuple(len([n for n in where if n.startswith(f"team/{name}")]) for name in ("a", "b"))

    def told(self, api):
        found = api.get("configmaps", MAP)
        return found["data"]["usage"] if found else ""

    def told_part(self, api, name, seconds=0):
        """The part of all GPUs that a queue has had, as it is kept; 0 until so many seconds of all GPUs are told."""
        gpus = lambda lines: sum(float(amounts.split(",")[2]) for amounts in lines)  # noqa: E731
        told = self.told(api)
        whole = gpus(re.findall(r"^slot \d+ \d+ (\S+)", told, re.M))
        if whole < 8e3 * seconds:
            return 0
        of_queue = re.search(rf"^queue {name} (.+)", told, re.M)
        return gpus(re.findall(r"\d+:(\S+)", of_queue[1])) / whole if of_queue else 0


class Settings(Case):
    def refused(self, text, *expected):
        file = self.folder / "bad.yaml"
        file.write_text(text)
        done = self.run_program("--config", file)
        self.assertEqual(done.returncode, 2)
        for words in expected:
            self.assertIn(words, done.stderr)

    def test_errors_name_line_and_field(self):
        for fields, expected in (
            ("windw: 7d", ".windw: unknown field"),
            ("window: 7", '.window: expected a time such as 90m, 12h, 7d or 2w, found "7"'),
            ("window: 0s", ".window: at least 1000 ms"),
            ("window: 999999999999999999999w", ".window: expected a time"),
            ("half_life: soon", ".half_life: expected a time"),
            ("interval: 2d", ".interval: expected a time such as 10s, 250ms or 1m30s, a day at most"),
            ("window_type: rolling", '.window_type: expected sliding or tumbling or cron, found "rolling"'),
            ("window_start: today", '.window_start: expected a time such as 2026-01-31T00:00:00Z, found "today"'),
            ("window_start: '2026-01-31T00:00:00Z'", ": window_start: needs window_type: tumbling"),
            ("cron: '0 0 * * *'", ": cron and window_type: cron: one without the other"),
            ("window_type: cron", ": cron and window_type: cron: one without the other"),
            ("{window_type: cron, cron: '0 0 * *'}", ".cron: expected minute, hour, day, month and day of the week"),
            ("{window_type: cron, cron: '0 24 * * *'}", '.cron: expected a number from 0 to 23, found "24"'),
            ("{window_type: cron, cron: '0 0 30 2 *'}", ".cron: \"0 0 30 2 *\": there is no such day"),
            ("{window_type: cron, cron: '0 0 * * *', window: 7d}", ": window: not with window_type: cron"),
            ("resolution: 1m", ": resolution: needs prometheus"),
            ("prometheus: here", ".prometheus: expected http:// or https://"),
            ("prometheus: {token_file: t}", ".prometheus: url: is missing"),
            ("prometheus: {url: 'http://p', ulr: x}", ".prometheus.ulr: unknown field"),
            ("{prometheus: 'http://p', name: x}", ": name: not with prometheus"),
            ("{prometheus: 'http://p', allocated: {gpus: x}}", ".allocated.gpus: unknown field"),
        ):
            text = fields if fields.startswith("{") else f"{{{fields}}}"
            self.refused(f"period: 1s\nusage: {text}\n", f":2: usage{expected}")
        self.refused("usage: yes\n", "usage: expected fields")
        with FakeApi() as api:
            file = self.config("usage: {prometheus: {url: 'https://p', ca: gone.pem}}\n")
            done = self.run_program("--once", "--kubeconfig", self.kubeconfig(api.url), "--config", file)
            self.assertEqual(done.returncode, 2)
            self.assertIn("gone.pem: cannot be read", done.stderr)


class Shares(UsageCase):
    def test_who_has_had_more_gets_less(self):
        for config, past, expected in (
            ("", {"a": 1}, (4, 4)),
            ("usage: {}\n", {}, (4, 4)),
            ("usage: {}\n", {"a": 1}, (0, 8)),
            ("usage: {}\n", {"b": 0.9, "a": 0.1}, (7, 1)),
            ("usage: {}\nengine: {actions: allocate, proportion.k: '0'}\n", {"a": 1}, (4, 4)),
        ):
            with FakeApi() as api, self.subTest(config=config, past=past):
                self.two_tenants(api)
                if past:
                    api.put("configmaps", history(past))
                self.once(api, config=config)
                self.assertEqual(self.started(api), expected)
                self.assertEqual(bool(api.asked(None, "configmaps")), bool(config))

    def test_a_dry_run_knows_the_past_and_writes_none(self):
        with FakeApi() as api:
            self.two_tenants(api)
            api.put("configmaps", history({"a": 1}))
            done = self.once(api, "--dry-run", config="usage: {}\n")
            self.assertEqual(len(re.findall("bind team/b", done.stdout)), 8)
            self.assertEqual(api.changes(), [])

    def test_a_greedy_tenant_yields_after_the_program_has_died(self):
        with FakeApi() as api:
            self.two_tenants(api, pods=0)
            for i in range(8):
                self.add_gang(api, f"first{i}", "a", 1)
            process = self.start(api, self.RUNS + SHORT_LEASE)
            self.assert_until(api, lambda: all(api.pods().values()))
            self.assert_until(api, lambda: self.told_part(api, "a", seconds=4) > 0.6)  # the wait below counts less
            process.kill()
            process.wait()
            for i in range(8):
                api.delete("pods", f"team/first{i}-0")
                api.delete("podgroups", f"team/first{i}")
            self.ask_for(api, 8)
            self.start(api, self.RUNS + SHORT_LEASE)
            self.assert_until(api, lambda: sum(self.started(api)) == 8)
            greedy, other = self.started(api)  # without a past it would be (4, 4)
            self.assertLess(greedy, other)
            self.assert_until(api, lambda: re.search(r"queue b 0:\d", self.told(api)))  # it goes on counting
            self.assertRegex(self.told(api), r"queue a 0:\d")

    def test_half_of_the_past_is_forgotten(self):
        """Who looks at the metrics sees the past fade: by its half-life while nobody holds anything."""
        with FakeApi() as api:
            self.two_tenants(api, pods=0)
            self.add_gang(api, "a", "a", 1, gpus=8, on="n0")
            past = lambda name: self.metrics().value("kai_queue_gpu_usage", queue_name=name)  # noqa: E731
            self.serve(api, config="period: 100ms\nusage: {interval: 100ms, half_life: 1s, window: 1h}\n")
            self.assert_until(api, lambda: past("a") == 1)
            self.assertEqual(past("b"), 0)
            api.delete("pods", "team/a-0")
            self.assert_until(api, lambda: past("a") < 0.2)
            self.assertEqual(past("b"), 0)

    def test_what_is_shown_decides_the_same_again(self):
        with FakeApi() as api:
            self.two_tenants(api)
            api.put("configmaps", history({"a": 0.9, "b": 0.1}, hours=100))
            api.fail("POST", "binding$", 409, times=10_000)  # so that every cycle decides the same
            self.serve(api, config="period: 200ms\nusage: {}\n")
            self.assert_until(api, lambda: self.get("/debug/snapshot", TOKEN)[0] == 200)
            other = api.get("queues", "a")
            other["metadata"]["labels"] = {"said": "later"}  # what is known of a queue stays when it changes
            api.put("queues", other)
            self.assert_until(api, lambda: "later" in self.get("/debug/snapshot", TOKEN)[1])
            _, text, _ = self.get("/debug/snapshot", TOKEN)
            notes = {i["metadata"]["name"]: i["metadata"].get("annotations") for i in json.loads(text)["items"] if i["kind"] == "Queue"}
            self.assertEqual(notes, {"a": {"kaisched.io/usage": "cpu=0,memory=0,gpu=0.9"}, "b": {"kaisched.io/usage": "cpu=0,memory=0,gpu=0.1"}})
            self.assertIsNone(api.get("queues", "a")["metadata"].get("annotations"))
            state = json.loads(self.get("/page/state", TOKEN)[1])
            self.assertEqual({q["name"]: q["usage"] for q in state["queues"]}, {"a": [0, 0, 0.9], "b": [0, 0, 0.1]})
            if KAISCHED is None:
                self.skipTest("KAISCHED_PROGRAM does not name the program kaisched")
            file = self.folder / "snapshot.json"
            file.write_text(text)
            done = subprocess.run([KAISCHED, "run", file, "--actions", "allocate", "--decisions", "-"], capture_output=True,
                                  text=True, check=True)
            bound = {d["pod_name"] for d in json.loads(done.stdout)["decision"] if d["kind"] == "bind"}
            self.assertEqual(bound, {f"team/{r.body['metadata']['name']}" for r in api.asked("POST", "binding$")})
            self.assertEqual(len([name for name in bound if name.startswith("team/a")]), 1)


class Keeping(UsageCase):
    def test_what_cannot_be_read_is_named(self):
        with FakeApi() as api:
            self.two_tenants(api)
            broken = history({"a": 1, "b": 0.5})
            broken["data"]["usage"] = broken["data"]["usage"].replace("queue b 0:", "queue b zero:")
            api.put("configmaps", broken)
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: self.started(api) == (0, 8))  # by the line that is left
            self.assertIn(f'configmap {MAP}: data.usage: line 5: expected a number, found "zero"; left out', self.log())
            self.assert_until(api, lambda: re.search(r"queue b [01]:\d", self.told(api)))
        with FakeApi() as api:
            self.two_tenants(api)
            broken["data"]["usage"] = "hello"
            api.put("configmaps", broken)
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: self.started(api) == (4, 4))
            self.assertIn('data.usage: expected "kaisched-usage/1" in front; left out', self.log())

    def test_nothing_is_written_before_the_past_was_read(self):
        with FakeApi() as api:
            self.two_tenants(api, pods=0)
            api.put("configmaps", history({"a": 1}))
            api.fail("GET", "configmaps/", 503, times=1000)
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: len(api.asked("GET", "configmaps/")) > 3)
            self.assertEqual(api.asked("PUT", "configmaps") + api.asked("POST", "configmaps"), [])
            self.assertEqual(self.log().count(f"configmap {MAP}: status 503"), 1)  # not at every try
            with api.lock:
                api.faults.clear()
            self.assert_until(api, lambda: api.asked("PUT", "configmaps"))
            self.assertIn("queue a 0:", self.told(api))
            self.ask_for(api, 8)
            self.assert_until(api, lambda: self.started(api) == (0, 8))

    def test_an_answer_that_was_lost_is_no_conflict(self):
        with FakeApi() as api:
            self.two_tenants(api)
            for fault in ("lost", "drop", 500):
                api.fail("PUT", "configmaps/", fault)
            api.fail("POST", "configmaps", "lost")
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: not [f for f in api.faults if f[3]])
            before = len(api.asked("PUT", "configmaps"))
            self.assert_until(api, lambda: len(api.asked("PUT", "configmaps")) > before + 2)
            self.assertNotIn("somebody else", self.log())

    def test_somebody_else_writes(self):
        with FakeApi() as api:
            self.two_tenants(api, pods=0)
            self.start(api, self.RUNS)
            self.assert_until(api, lambda: self.told(api))
            past = "queue b " + had(0.75, 1000)
            api.put("configmaps", history({"b": 0.75}, hours=1000))
            self.assert_until(api, lambda: f"configmap {MAP}: somebody else has written it; going on from there" in self.log())
            self.assert_until(api, lambda: past in self.told(api) and len(self.told(api).split("slot")) > 2)
            api.delete("configmaps", MAP)  # it is made again
            self.assert_until(api, lambda: past in self.told(api))

    def test_it_is_written_at_the_end_and_not_too_often(self):
        with FakeApi() as api:
            self.two_tenants(api, pods=0)
            self.add_gang(api, "a", "a", 1, on="n0")
            process = self.start(api, "period: 100ms\nusage: {save_period: 1h}\n")
            self.assert_until(api, lambda: "all objects are read" in self.log())
            time.sleep(1)
            self.assertEqual(api.asked("POST", "configmaps"), [])
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=20), 0)
            self.assertIn("queue a 0:", self.told(api))
            asked = [r.path for r in api.asked() if "configmaps" in r.path or (r.method == "PUT" and "leases" in r.path)]
            self.assertIn("leases", asked[-1])  # the lease is given back after that

    def test_who_has_lost_the_lease_writes_nothing(self):
        with FakeApi() as api:
            self.two_tenants(api)
            first = self.start(api, self.RUNS + SHORT_LEASE)
            self.assert_until(api, lambda: self.told(api))
            api.stop = lambda: first.send_signal(signal.SIGSTOP)
            api.fail("PUT", "configmaps/", "stop")
            self.assert_until(api, lambda: not [f for f in api.faults if f[3]])
            second = self.start(api, "period: 200ms\n" + SHORT_LEASE)  # which counts nothing
            leader = api.leader()
            self.assert_until(api, lambda: api.leader() not in (None, leader))
            before = len([r for r in api.changes() if "configmaps" in r.path])
            first.send_signal(signal.SIGCONT)
            self.assertEqual(first.wait(timeout=20), 1)
            self.assertIn("lost; nothing more is decided", self.log())
            self.assertEqual(len([r for r in api.changes() if "configmaps" in r.path]), before)
            self.assertIsNone(second.poll())

    def test_where_it_is_kept(self):
        for config, expected in (
            ("usage: {}\nscheduler_name: mine\nnode_pool: a100\n", "kube-system/mine-a100-usage"),
            ("usage: {namespace: there, name: past}\n", "there/past"),
            ("usage: {}\nleader_election: {enabled: false, namespace: here}\n", "here/kaisched-usage"),
        ):
            with FakeApi() as api:
                self.fill(api)
                self.once(api, config=config)
                self.assertEqual(list(api.objects["configmaps"]), [expected])


class FakePrometheus:
    """Answers queries by the part of the text that they have in them."""

    def __init__(self):
        self.answers = {}  # part of the query -> samples: (labels, value), a status or other text
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):  # noqa: N802
                query = parse_qs(urlsplit(self.path).query)["query"][0]
                outer.asked.append((query, self.headers.get("Authorization")))
                found = next((answer for part, answer in outer.answers.items() if part in query), [])
                body = {"status": "success", "data": {"resultType": "vector", "result": found}}
                if isinstance(found, int):
                    body = {"status": "error", "error": "planted"}
                elif isinstance(found, list):
                    body["data"]["result"] = [{"metric": labels, "value": [0, str(value)]} for labels, value in found]
                text = found.encode() if isinstance(found, str) else json.dumps(body).encode()
                self.send_response(found if isinstance(found, int) else 200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

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


class Prometheus(UsageCase):
    HELD = [({"queue_name": "a"}, 900), ({"queue_name": "b"}, 100), ({"queue_name": "c"}, "NaN"), ({}, 5)]

    def test_what_it_knows_decides(self):
        with FakeApi() as api, FakePrometheus() as past:
            self.two_tenants(api)
            past.answers = {"kai_queue_allocated_gpus": self.HELD, "nvidia_com_gpu": [({}, 1000)]}
            (self.folder / "prometheus-token").write_text("known-to-prometheus\n")
            done = self.once(api, config=f"usage: {{half_life: 1d, prometheus: {{url: '{past.url}/', token_file: prometheus-token}}}}\n")
            self.assertEqual(self.started(api), (1, 7))
            self.assertEqual({token for _, token in past.asked}, {"Bearer known-to-prometheus"})
            held = next(query for query, _ in past.asked if "kai_queue_allocated_gpus" in query)
            self.assertRegex(held, r"^sum_over_time\(\(\(max by \(queue_name\) \(kai_queue_allocated_gpus\)\) \* "
                                   r"\(0\.5 \^ \(\(\d+\.\d+ - time\(\)\) / 86400\.000\)\)\)\[604800s:60s\]\)$")
            self.assertEqual(len(past.asked), 4)  # no capacity of CPU and memory is known, so nobody has used any
            self.assertEqual(api.asked(None, "configmaps"), [])
            self.assertNotIn("known-to-prometheus", done.stderr)

    def test_answers_that_are_none(self):
        with FakeApi() as api, FakePrometheus() as past:
            self.two_tenants(api, pods=0)
            past.answers = {"kai_queue_allocated_gpus": self.HELD, "nvidia_com_gpu": [({}, 1000)]}
            self.serve(api, config=f"period: 100ms\nusage: {{prometheus: '{past.url}', interval: 100ms, stale_after: 1s}}\n")
            past_of_a = lambda: self.metrics().value("kai_queue_gpu_usage", queue_name="a")  # noqa: E731
            self.assert_until(api, lambda: past_of_a() == 0.9)
            self.assertGreaterEqual(self.metrics().value("kai_usage_query_latency_milliseconds_count"), 1)
            for answer, words in (
                (503, "status 503: planted"),
                ("no JSON", "the answer is no vector"),
                ('{"status": "success", "data": {"resultType": "matrix", "result": []}}', "the answer is no vector"),
                ([({}, 1), ({"more": "x"}, 1)], "expected one value, found 2"),
            ):
                past.answers["nvidia_com_gpu"] = answer
                self.assert_until(api, lambda: words in self.log())
            self.assertIn('usage: prometheus: sum_over_time((sum(kube_node_status_capacity{resource="nvidia_com_gpu"}))', self.log())
            self.assert_until(api, lambda: past_of_a() == 0)  # what is too old is no past
            past.answers["nvidia_com_gpu"] = [({}, 1000)]
            self.assert_until(api, lambda: past_of_a() == 0.9)

    def test_nobody_answers(self):
        with FakeApi() as api:
            self.two_tenants(api)
            self.once(api, config="usage: {prometheus: {url: 'http://127.0.0.1:9', timeout: 1s}}\n")
            self.assertEqual(self.started(api), (4, 4))


if __name__ == "__main__":
    unittest.main()
