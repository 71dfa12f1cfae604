"""What kaisched-kubernetes answers over HTTP: health, metrics, the objects of the last cycle; its limits towards clients
and its log. One ctest entry per class."""

import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import unittest

from clusters import lease, node, pod, queue
from exposition import parse
from fake_api import FakeApi
from test_program import Case

TOKEN = "letmein-for-the-test"
KAISCHED = os.environ.get("KAISCHED_PROGRAM")


class ServedCase(Case):
    """A program with a server. `get` asks it."""

    def serve(self, api, more="", config="period: 200ms\n", **given):
        (self.folder / "server-token").write_text(TOKEN + "\n")
        text = f"{config}server:\n  listen: 127.0.0.1:0\n  token_file: server-token\n{more}"
        process = self.start(api, text, **given)
        self.assert_until(api, lambda: "listening on" in self.log())
        self.port = int(re.search(r"listening on 127\.0\.0\.1:(\d+)", self.log())[1])
        return process

    def connection(self):
        made = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self.addCleanup(made.close)
        return made

    def ask(self, method, path, token=None, body=None):
        connection = self.connection()
        connection.request(method, path, body, {"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers

    def get(self, path, token=None):
        return self.ask("GET", path, token)

    def metrics(self):
        status, text, headers = self.get("/metrics")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        return parse(text)


class Health(ServedCase):
    def test_ready_once_all_kinds_are_listed(self):
        with FakeApi() as api:
            self.fill(api)
            api.fail("GET", "/queues$", 503, times=1000)
            self.serve(api)
            self.assertEqual(self.get("/healthz")[:2], (200, "ok\n"))
            self.assertEqual(self.get("/readyz")[0], 503)
            with api.lock:
                api.faults.clear()
            self.assert_until(api, lambda: self.get("/readyz")[0] == 200)

    def test_a_loop_that_is_stuck_is_not_healthy(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("pods", pod("a"))
            api.fail("POST", "binding$", ("wait", 3))
            self.serve(api, "  stuck_after: 1s\n")
            self.assert_until(api, lambda: self.get("/healthz")[0] == 503)
            self.assert_until(api, lambda: self.get("/healthz")[0] == 200)

    def test_who_waits_for_the_lease_is_healthy_and_not_ready(self):
        with FakeApi() as api:
            self.fill(api)
            api.put("leases", lease("another"))
            terms = "leader_election: {lease_duration: 3s, renew_deadline: 2s, retry_period: 100ms}\n"
            self.serve(api, "  stuck_after: 1s\n", "period: 200ms\n" + terms)
            self.assert_until(api, lambda: "another leads" in self.get("/readyz")[1])
            self.assertEqual(self.get("/debug/snapshot", TOKEN)[:2], (503, "lease kube-system/kaisched: another leads\n"))
            self.assertEqual(self.metrics().value("leader_election_master_status", name="kube-system/kaisched"), 0)
            time.sleep(1.2)
            self.assertEqual(self.get("/healthz")[:2], (200, "ok\n"))
            self.assertEqual([r.path for r in api.asked("GET", "/nodes$")], [])
            self.assert_until(api, lambda: self.get("/readyz")[0] == 200)  # it has not changed for its duration
            self.assertEqual(self.metrics().value("leader_election_master_status", name="kube-system/kaisched"), 1)

    def test_who_lost_the_lease_is_not_healthy(self):
        with FakeApi() as api:
            self.fill(api)
            terms = "leader_election: {lease_duration: 8s, renew_deadline: 2s, retry_period: 100ms}\n"
            process = self.serve(api, config="period: 200ms\n" + terms)
            self.assert_until(api, lambda: self.get("/readyz")[0] == 200)
            api.fail("POST", "binding$", ("wait", 6))  # the loop hangs, so the process does not end at once
            api.put("pods", pod("a"))
            self.assert_until(api, lambda: api.asked("POST", "binding$"))
            api.fail("PUT", "/leases/", 503, times=1000)
            self.assert_until(api, lambda: self.get("/healthz")[:2] == (503, "lease kube-system/kaisched: lost\n"))
            self.assertEqual(self.get("/readyz")[0], 503)
            self.assertEqual(process.wait(timeout=20), 1)

    def test_paths_and_methods(self):
        with FakeApi() as api:
            self.fill(api)
            self.serve(api)
            self.assertEqual(self.get("/nothing")[0], 404)
            status, _, headers = self.ask("POST", "/healthz")
            self.assertEqual((status, headers["Allow"]), (405, "GET"))
            status, body, headers = self.ask("HEAD", "/healthz")
            self.assertEqual((status, body, headers["Content-Length"]), (200, "", "3"))
            self.assertEqual(self.get("/he%61lthz")[0], 200)
            self.assertEqual(self.get("/healthz%2")[0], 400)


class Metrics(ServedCase):
    def test_queues_cycles_and_decisions(self):
        with FakeApi() as api:
            api.put("nodes", node("n0"))
            api.put("queues", queue("top", 8))
            api.put("queues", queue("a", 5, "top"))
            api.put("queues", queue("b", 3, "top"))
            self.add_gang(api, "g", "a", 4)
            self.add_gang(api, "h", "b", 2, gpus=4)
            self.add_gang(api, "never", "b", 1, gpus=16)
            self.serve(api)
            self.assert_until(api, lambda: sum(1 for where in api.pods().values() if where) >= 4)
            self.assert_until(api, lambda: self.metrics().value("kai_queue_allocated_gpus", queue_name="a") == 4)
            seen = self.metrics()
            self.assertEqual(seen.value("kai_queue_deserved_gpus", queue_name="a"), 5)
            self.assertEqual(seen.value("kai_queue_allocated_gpus", queue_name="top"), 4)
            self.assertEqual(seen.value("kai_queue_fair_share_gpu", queue_name="b"), 4)  # with what a does not ask for
            self.assertEqual(seen.value("kai_queue_quota_cpu_cores", queue_name="a"), -1)
            self.assertEqual(seen.value("kai_queue_allocated_cpu_cores", queue_name="a"), 4)
            self.assertEqual(seen.value("kai_queue_info", queue_name="a", parent="top"), 1)
            self.assertEqual(seen.value("kaisched_pending_pods"), 3)
            self.assertEqual(seen.value("kaisched_queue_pending_pods", queue_name="b"), 3)
            self.assertEqual(sum(seen.series["kaisched_pending_pod_groups"].values()), 2)
            self.assertEqual(seen.value("kaisched_decisions_total", action="allocate", kind="bind"), 4)
            self.assertEqual(seen.value("kaisched_outcomes_total", outcome="bound"), 4)
            self.assertEqual(seen.value("kai_podgroups_scheduled_by_action", action="allocate"), 1)
            posts = lambda: self.metrics().value("kaisched_api_requests_total", method="POST", code="201")  # noqa: E731
            self.assert_until(api, lambda: posts() == len(api.asked("POST")))
            self.assertEqual(seen.value("kai_task_bind_latency_milliseconds_count"), 4)
            self.assertEqual(seen.value("kaisched_pod_wait_seconds_count"), 4)
            for action in ("allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"):
                self.assertGreaterEqual(seen.value("kai_action_scheduling_latency_milliseconds", action=action), 0)
            self.assertGreater(seen.value("kai_e2e_scheduling_latency_milliseconds"), 0)
            self.assertGreater(seen.value("kaisched_snapshot_bytes"), 1000)
            cycles = seen.value("kaisched_cycles_total", outcome="decided")
            self.assert_until(api, lambda: self.metrics().value("kaisched_cycles_total", outcome="decided") > cycles)

    def test_evictions_name_their_group(self):
        with FakeApi() as api:
            api.put("nodes", node("n0"))
            for name in ("a", "b"):
                api.put("queues", queue(name, 4))
            self.add_gang(api, "mine", "a", 1, gpus=8, on="n0")
            self.add_gang(api, "theirs", "b", 1, gpus=4)
            self.serve(api, "  metrics_prefix: gpu_\n")
            self.assert_until(api, lambda: "gpu_pod_group_evicted_pods_total" in self.metrics().series)
            uid = api.get("podgroups", "team/mine")["metadata"]["uid"]
            told = self.metrics()
            self.assertEqual(told.value("gpu_pod_group_evicted_pods_total", podgroup="mine", namespace="team", uid=uid,
                                        nodepool="", action="reclaim"), 1)
            self.assertGreaterEqual(told.value("gpu_total_preemption_attempts"), 1)
            self.assertFalse([name for name in told.series if name.startswith("kai_")])


class Snapshot(ServedCase):
    def test_what_the_engine_saw(self):
        with FakeApi() as api:
            self.fill(api, nodes=2, gpus=4)
            self.add_gang(api, "g", "q", 3, gpus=2)
            api.put("pods", pod("theirs", 2, scheduler="default-scheduler", on="n0"))
            api.put("pods", pod("large", 9))
            api.fail("POST", "binding$", 409, times=10_000)  # so that every cycle decides the same
            self.serve(api)
            self.assert_until(api, lambda: self.get("/debug/snapshot", TOKEN)[0] == 200)
            _, text, headers = self.get("/debug/snapshot", TOKEN)
            self.assertRegex(headers["X-Trace-Id"], "^[0-9a-f]{32}$")
            items = json.loads(text)["items"]
            self.assertEqual(len([i for i in items if i["kind"] == "Pod"]), 5)
            if KAISCHED is None:
                self.skipTest("KAISCHED_PROGRAM does not name the program kaisched")
            file = self.folder / "snapshot.json"
            file.write_text(text)
            done = subprocess.run([KAISCHED, "run", file, "--actions", "allocate", "--decisions", "-"], capture_output=True,
                                  text=True, check=True)
            bound = {d["pod_name"]: d["node_name"] for d in json.loads(done.stdout)["decision"] if d["kind"] == "bind"}
            asked = {f"team/{r.body['metadata']['name']}": r.body["target"]["name"] for r in api.asked("POST", "binding$")}
            self.assertEqual(bound, asked)
            self.assertEqual(len(bound), 3)

    def test_kinds_of_the_same_name(self):
        with FakeApi() as api:
            self.fill(api)
            api.served.add("jobs.batch.volcano.sh")
            for plural, version in (("jobs", "batch/v1"), ("jobs.batch.volcano.sh", "batch.volcano.sh/v1alpha1")):
                api.put(plural, {"apiVersion": version, "kind": "Job", "metadata": {"name": "j", "namespace": "team"}})
            self.serve(api)
            jobs = lambda: [i["apiVersion"] for i in json.loads(self.get("/debug/snapshot", TOKEN)[1])["items"] if i["kind"] == "Job"]  # noqa: E731
            self.assert_until(api, lambda: self.get("/debug/snapshot", TOKEN)[0] == 200)
            self.assertEqual(jobs(), ["batch/v1", "batch.volcano.sh/v1alpha1"])
            api.delete("jobs", "team/j")
            self.assert_until(api, lambda: jobs() == ["batch.volcano.sh/v1alpha1"])

    def test_only_for_who_has_the_token(self):
        with FakeApi() as api:
            self.fill(api)
            self.serve(api)
            for token in (None, "", TOKEN[:-1], TOKEN + "x"):
                status, body, headers = self.get("/debug/snapshot", token)
                self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Bearer"))
                self.assertNotIn(TOKEN, body)
            (self.folder / "server-token").write_text("another\n")  # is read again
            self.assertEqual(self.get("/debug/snapshot", TOKEN)[0], 401)
            self.assert_until(api, lambda: self.get("/debug/snapshot", "another")[0] == 200)
            (self.folder / "server-token").write_text("\n")
            self.assertEqual(self.get("/debug/snapshot", "")[0], 403)
            self.assertNotIn(TOKEN, self.log())

    def test_no_token_no_snapshot(self):
        with FakeApi() as api:
            self.fill(api)
            self.start(api, "server: {listen: 127.0.0.1:0}\n")
            self.assert_until(api, lambda: "listening on" in self.log())
            self.port = int(re.search(r"listening on 127\.0\.0\.1:(\d+)", self.log())[1])
            self.assertEqual(self.get("/debug/snapshot", "x")[0], 403)


class Clients(ServedCase):
    def raw(self):
        made = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        self.addCleanup(made.close)
        return made

    def test_what_is_too_large_or_no_http(self):
        with FakeApi() as api:
            self.fill(api)
            self.serve(api, "  max_body: 2000\n")
            self.assertEqual(self.ask("GET", "/healthz", body=b"x" * 2001)[0], 413)
            self.assertEqual(self.ask("POST", "/healthz", body=b"x" * 2001)[0], 405)  # before its body
            self.assertEqual(self.ask("POST", "/healthz", body=b"x" * 2000)[0], 405)
            client = self.raw()
            client.sendall(b"GET /healthz HTTP/1.1\r\nX: " + b"y" * 40_000 + b"\r\n\r\n")
            self.assertIn(b" 431 ", client.recv(1000))
            client = self.raw()
            client.sendall(b"hello\r\n\r\n")
            self.assertIn(b" 400 ", client.recv(1000))
            self.assertEqual(self.get("/healthz")[0], 200)

    def test_who_says_nothing_is_hung_up_on(self):
        with FakeApi() as api:
            self.fill(api)
            self.serve(api, "  timeout: 500ms\n")
            client = self.raw()
            client.sendall(b"GET /healthz HTTP/1.1\r\n")
            began = time.monotonic()
            self.assertEqual(client.recv(1000), b"")
            self.assertLess(time.monotonic() - began, 5)

    def test_many_silent_clients_do_not_keep_others_out(self):
        with FakeApi() as api:
            self.fill(api)
            self.serve(api, "  connections: 4\n")
            crowd = [self.raw() for _ in range(20)]
            crowd[-1].sendall(b"GET /metrics HTTP/1.1\r\n")
            self.assertEqual(self.get("/healthz")[0], 200)
            self.assertEqual(crowd[0].recv(10), b"")

    def test_who_does_not_read_does_not_stop_the_cycles(self):
        with FakeApi() as api:
            self.fill(api)
            for i in range(60):
                api.put("pods", pod(f"large-{i}", 9, annotations={"filler": "x" * 100_000}))
            self.serve(api, "  timeout: 60s\n  workers: 1\n", "period: 100ms\nexplain_period: 1h\n")
            self.assert_until(api, lambda: self.get("/debug/snapshot", TOKEN)[0] == 200)
            for _ in range(8):
                client = self.raw()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.sendall(f"GET /debug/snapshot HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
            before = self.metrics().value("kaisched_cycles_total", outcome="decided")
            self.assert_until(api, lambda: self.metrics().value("kaisched_cycles_total", outcome="decided") >= before + 3)

    def test_a_connection_serves_several_requests(self):
        with FakeApi() as api:
            self.fill(api)
            self.serve(api)
            connection = self.connection()
            for _ in range(3):
                connection.request("GET", "/healthz")
                self.assertEqual(connection.getresponse().read(), b"ok\n")


class Tls(ServedCase):
    def setUp(self):
        super().setUp()
        if shutil.which("openssl") is None:
            self.skipTest("openssl absent")

    def certificate(self, name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", self.folder / f"{name}.key", "-out", self.folder / f"{name}.crt"],
                       check=True, capture_output=True)  # fmt: skip

    def served_by(self):
        """The subject of the certificate, checked against itself."""
        for name in ("one", "two"):
            context = ssl.create_default_context(cafile=self.folder / f"{name}.crt")
            context.load_cert_chain(self.folder / "client.crt", self.folder / "client.key")
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)
            try:
                connection.request("GET", "/healthz")
                self.assertEqual(connection.getresponse().read(), b"ok\n")
                return name
            except ssl.SSLCertVerificationError:
                continue
            finally:
                connection.close()
        return None

    def test_certificates_are_renewed_and_clients_have_one(self):
        for name in ("one", "two", "client", "stranger"):
            self.certificate(name)
        for kind in ("crt", "key"):
            shutil.copy(self.folder / f"one.{kind}", self.folder / f"server.{kind}")
        with FakeApi() as api:
            self.fill(api)
            self.serve(api, "  certificate: server.crt\n  key: server.key\n  client_ca: client.crt\n")
            self.assertEqual(self.served_by(), "one")
            for kind in ("key", "crt"):
                shutil.copy(self.folder / f"two.{kind}", self.folder / f"server.{kind}")
            self.assertEqual(self.served_by(), "two")
            (self.folder / "server.crt").write_text("half a certifi")  # the last one stays
            self.assertEqual(self.served_by(), "two")
            context = ssl._create_unverified_context()
            context.load_cert_chain(self.folder / "stranger.crt", self.folder / "stranger.key")
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)
            self.addCleanup(connection.close)
            with self.assertRaises((ssl.SSLError, OSError, http.client.HTTPException)):
                connection.request("GET", "/healthz")
                connection.getresponse()


class Settings(ServedCase):
    def refused(self, text, *expected):
        file = self.folder / "bad.yaml"
        file.write_text(text)
        done = self.run_program("--config", file, "--kubeconfig", self.kubeconfig("http://127.0.0.1:1"))
        self.assertEqual(done.returncode, 2, done.stderr)
        for words in expected:
            self.assertIn(words, done.stderr)

    def test_errors_name_line_and_field(self):
        self.refused("server:\n  listen: 127.0.0.1:80800\n", "bad.yaml:2: server.listen: expected an address", '"127.0.0.1:80800"')
        self.refused("server: {listen: nowhere:80}\n", ":1: server.listen: expected an address")
        self.refused("server: {listen: '127.0.0.1'}\n", "server.listen: expected an address")
        self.refused("server:\n  listen: ':80'\n  tokn: x\n", ":3: server.tokn: unknown field")
        self.refused("server: {timeout: 1s}\n", "server: listen: is missing")
        self.refused("server: {listen: ':1', key: x}\n", "server: certificate and key: one without the other")
        self.refused("server: {listen: ':1', client_ca: x}\n", "server: client_ca: needs a certificate")
        self.refused("server: {listen: ':1', timeout: 1ms}\n", "server.timeout: at least 100 ms")
        self.refused("server: {listen: ':1', connections: 1}\n", "server.connections: expected a number from 2")
        self.refused("server: {listen: ':1', metrics_prefix: 1x}\n", "server.metrics_prefix: expected letters")
        self.refused("server: [listen]\n", "server: expected fields")
        self.refused("log: loud\n", ":1: log: expected text or json")

    def test_what_cannot_be_used(self):
        gone = "server: {listen: '127.0.0.1:0', certificate: gone.crt, key: gone.key}\n"
        self.refused(gone, "server: certificate: ", "gone.crt: cannot be read")
        (self.folder / "gone.crt").write_text("no certificate")
        self.refused(gone, "server: certificate: ")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.refused(f"server: {{listen: '127.0.0.1:{taken.getsockname()[1]}'}}\n", "server: cannot listen on 127.0.0.1:", "in use")


class Log(Case):
    def test_lines_of_json_with_one_trace_for_each_cycle(self):
        with FakeApi() as api:
            self.fill(api, gpus=2)
            for name in ("a", "b"):
                api.put("pods", pod(name))
            done = self.once(api, config="log: json\n")
            lines = [json.loads(line) for line in done.stderr.splitlines()]
            self.assertTrue(all(re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z$", one["time"]) for one in lines))
            cycle = [one for one in lines if one["message"] == "cycle"]
            self.assertEqual(len(cycle), 1)
            self.assertEqual((cycle[0]["bound"], cycle[0]["decided"]), (2, True))
            self.assertGreater(cycle[0]["seconds"]["whole"], 0)
            bound = [one for one in lines if "bound to" in one["message"]]
            self.assertEqual({one["trace"] for one in bound}, {cycle[0]["trace"]})
            self.assertNotIn("trace", next(one for one in lines if one["message"] == "all objects are read"))


if __name__ == "__main__":
    unittest.main()
