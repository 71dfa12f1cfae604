"""How GPUs are used, as exporters of DCGM and Prometheus tell: what the engine makes of it, and what happens when they say
nothing. One ctest entry per class; texts and sums are in test_load.cpp."""

import json
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from clusters import node, pod
from fake_api import FakeApi
from test_server import TOKEN, ServedCase
from test_usage import FakePrometheus

ENGINE = "engine: {parts: 'predicates,proportion,nodeavailability,load', load.strategy: risk}\n"


class FakeExporter:
    """DCGM's exporter of one node, which says what it is told to say."""

    def __init__(self, node):
        self.node, self.used, self.status, self.age = node, {}, 200, None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):  # noqa: N802
                text = outer.text().encode() if self.path == "/metrics" else b""
                self.send_response(outer.status if self.path == "/metrics" else 404)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def text(self):
        lines = ["# TYPE DCGM_FI_DEV_GPU_UTIL gauge", "DCGM_FI_DEV_SM_CLOCK{gpu=\"0\"} 1"]
        when = "" if self.age is None else f" {int((time.time() - self.age) * 1000)}"
        for gpu, (percent, mebibytes) in self.used.items():
            labels = f'{{gpu="{gpu}",UUID="GPU-{self.node}-{gpu}",device="nvidia{gpu}",Hostname="{self.node}"}}'
            lines += [f"DCGM_FI_DEV_GPU_UTIL{labels} {percent}{when}", f"DCGM_FI_DEV_FB_USED{labels} {mebibytes}{when}"]
        return "\n".join(lines) + "\n"

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}/metrics"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class LoadCase(ServedCase):
    def loads(self):
        """What the engine sees on the nodes."""
        status, text, _ = self.get("/debug/snapshot", TOKEN)
        if status != 200:
            return None
        notes = {i["metadata"]["name"]: i["metadata"].get("annotations", {}) for i in json.loads(text)["items"] if i["kind"] == "Node"}
        return {name: note["kaisched.io/load"] for name, note in notes.items() if "kaisched.io/load" in note}

    def fill_nodes(self, api):
        self.fill(api)
        for name in ("n0", "n1", "n2"):
            api.put("nodes", node(name, 2))


class Settings(ServedCase):
    def test_errors_name_line_and_field(self):
        for fields, expected in (
            ("{}", ": expected exporters or prometheus, one of them"),
            ("{exporters: ['http://a/metrics'], prometheus: 'http://p'}", ": expected exporters or prometheus, one of them"),
            ("{exporters: here}", ".exporters: expected a list of addresses"),
            ("{exporters: [here]}", ".exporters: expected http:// or https://"),
            ("{prometheus: 'http://p', window: 1s}", ": window: shorter than period"),
            ("{prometheus: 'http://p', nodes: x}", ".nodes: unknown field"),
        ):
            file = self.folder / "bad.yaml"
            file.write_text(f"period: 1s\nload: {fields}\n")
            done = self.run_program("--config", file)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f":2: load{expected}", done.stderr)


class Exporters(LoadCase):
    def test_pods_go_where_less_is_used(self):
        with FakeApi() as api, FakeExporter("n0") as first, FakeExporter("n1") as second, FakeExporter("n2") as third:
            self.fill_nodes(api)
            first.used, second.used, third.used = {0: (40, 500), 1: (30, 0)}, {0: (10, 2048), 1: (10, 0)}, {0: (25, 0), 1: (20, 0)}
            places = ", ".join(f"'{one.url}'" for one in (first, second, third))
            self.serve(api, config=f"period: 100ms\nload: {{exporters: [{places}], period: 200ms, window: 30s}}\n{ENGINE}")
            expected = {"n0": "0=400~0,1=300~0", "n1": "0=100~0,1=100~0", "n2": "0=250~0,1=200~0"}
            self.assert_until(api, lambda: self.loads() == expected)
            for i, best in enumerate(("n1", "n1", "n2", "n2", "n0")):
                api.put("pods", pod(f"p{i}"))
                self.assert_until(api, lambda: api.pods()[f"team/p{i}"])
                self.assertEqual(api.pods()[f"team/p{i}"], best)
            cards = {n["name"]: n["cards"] for n in json.loads(self.get("/page/state", TOKEN)[1])["nodes"]}
            self.assertEqual([c["used_memory"] for c in cards["n1"]], [2048 * 2**20, 0])
            self.assertEqual([c["used_cores"] for c in cards["n0"]], [400, 300])
            self.assertFalse([r for r in api.changes() if "/nodes" in r.path])  # the API server knows nothing of it

    def test_what_is_old_counts_no_more(self):
        with FakeApi() as api, FakeExporter("n0") as first, FakeExporter("n1") as second:
            self.fill_nodes(api)
            first.used, second.used = {0: (50, 0)}, {0: (50, 0)}
            short = second.url.removesuffix("/metrics")
            self.serve(api, config=f"period: 100ms\nload: {{exporters: ['{first.url}', '{short}'], period: 200ms, window: 2s}}\n{ENGINE}")
            self.assert_until(api, lambda: self.loads() == {"n0": "0=500~0", "n1": "0=500~0"})
            first.status = 500
            self.assert_until(api, lambda: self.loads() == {"n1": "0=500~0"})
            self.assertEqual(self.log().count(f"load: {first.url}: status 500"), 1)  # not at every look
            second.age = 3600  # it answers, but with what it measured an hour ago
            self.assert_until(api, lambda: self.loads() == {})
            first.status, second.age = 200, 0
            self.assert_until(api, lambda: self.loads() == {"n0": "0=500~0", "n1": "0=500~0"})
            api.put("pods", pod("a"))
            self.assert_until(api, lambda: api.pods()["team/a"])


class Prometheus(LoadCase):
    def test_a_prometheus_knows_all_nodes(self):
        with FakeApi() as api, FakePrometheus() as known:
            self.fill_nodes(api)
            used = {"n0": 90, "n1": 80, "n2": 5}
            known.answers = {"DCGM_FI_DEV_GPU_UTIL": [({"node": name, "gpu": str(gpu), "UUID": f"{name}-{gpu}"}, percent)
                                                      for name, percent in used.items() for gpu in (0, 1)]}  # fmt: skip
            self.serve(api, config=f"period: 100ms\nload: {{prometheus: '{known.url}', node_label: node, period: 200ms, window: 10s}}\n{ENGINE}")
            self.assert_until(api, lambda: self.loads() == {name: f"0={p * 10}~0,1={p * 10}~0" for name, p in used.items()})
            api.put("pods", pod("a"))
            self.assert_until(api, lambda: api.pods()["team/a"] == "n2")
            self.assertIn("DCGM_FI_DEV_GPU_UTIL and (time() - timestamp(DCGM_FI_DEV_GPU_UTIL) < 10.000)", {q for q, _ in known.asked})
            known.answers["DCGM_FI_DEV_GPU_UTIL"] = 503
            self.assert_until(api, lambda: "load: prometheus: DCGM_FI_DEV_GPU_UTIL" in self.log())
            self.assert_until(api, lambda: self.loads() == {})


if __name__ == "__main__":
    unittest.main()
