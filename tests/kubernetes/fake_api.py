"""An API server for tests: lists in pages, watches with bookmarks, bindings, evictions, patches. It forgets nothing of what
it was asked, and fails where it is told to.

    fake_api.py OBJECTS COMMAND...   runs a command with a $KUBECONFIG of a server that has the objects of a file
"""

import base64
import bisect
import copy
import json
import re
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

COLLECTION = re.compile(r"^(/api/v1|/apis/[^/]+/[^/]+)(?:/namespaces/([^/]+))?/([^/]+)(?:/([^/]+)(?:/([^/]+))?)?$")
SERVED = {
    "nodes", "pods", "priorityclasses", "queues", "podgroups", "topologies", "jobs", "replicasets", "statefulsets",
    "bindrequests", "events", "leases", "configmaps",
}  # fmt: skip
VERSIONS = {  # of those that are not of the core; a plural that two groups have is followed by its group
    "priorityclasses": "scheduling.k8s.io/v1", "queues": "scheduling.run.ai/v2", "podgroups": "scheduling.run.ai/v2alpha2",
    "bindrequests": "scheduling.run.ai/v1alpha2", "topologies": "kai.scheduler/v1alpha1", "jobs": "batch/v1",
    "replicasets": "apps/v1", "statefulsets": "apps/v1", "jobs.batch.volcano.sh": "batch.volcano.sh/v1alpha1",
    "events": "events.k8s.io/v1", "leases": "coordination.k8s.io/v1", "resourceclaims": "resource.k8s.io/v1",
    "resourceclaimtemplates": "resource.k8s.io/v1", "deviceclasses": "resource.k8s.io/v1", "resourceslices": "resource.k8s.io/v1",
    "poddisruptionbudgets": "policy/v1", "queues.scheduling.volcano.sh": "scheduling.volcano.sh/v1beta1",
    "podgroups.scheduling.volcano.sh": "scheduling.volcano.sh/v1beta1", "hypernodes": "topology.volcano.sh/v1alpha1",
}  # fmt: skip


class Request:
    def __init__(self, method, path, query, body, headers):
        self.method, self.path, self.query, self.body, self.headers = method, path, query, body, headers
        self.at = time.monotonic()

    @property
    def watch(self):
        return "watch" in self.query

    def __repr__(self):
        return f"{self.method} {self.path} {self.query}"


class FakeApi:
    """`with FakeApi() as api:`; objects are added with `put`, also while it runs."""

    def __init__(self, certificate=None, client_ca=None):
        self.lock = threading.Condition()
        self.version = 100
        self.served = set(SERVED)  # what discovery tells; the rest is not found
        self.objects = {plural: {} for plural in SERVED | set(VERSIONS) | {"namespaces"}}  # plural -> name -> object
        self.history = []  # (version, plural, type, object)
        self.told = {plural: [] for plural in self.objects}  # the same by plural
        self.requests = []
        # [method, pattern, what, times]: a status, (status, Retry-After), "drop" (do nothing, no answer), "lost" (do it, no
        # answer), "half" (do it, answer half), "garbage" and "html" (do it, answer something else), ("wait", seconds) before
        # it is done, ("late", seconds) after it is, (status, headers, body) instead of it.
        self.faults = []
        self.raw = {}  # texts of JSON -> bytes that are sent in their place: what Python would not write
        self.intercept = lambda request: None  # asked first about every request; answers as `faults` say
        self.expired = 0  # watches from before this version get 410
        self.cuts = 0  # watches that were opened before the last of these end once they have told all
        self.silent = False  # watches tell nothing
        self.cut = None  # (n, whether it is done): at the n-th change from now nothing answers, and `stop` is called
        self.closing = False
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            if client_ca:
                context.load_verify_locations(client_ca)
                context.verify_mode = ssl.CERT_REQUIRED
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
            self.scheme = "https"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with self.lock:
            self.closing = True
            self.lock.notify_all()
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server.server_address[1]}"

    # ---- what a test does and asks ----

    def put(self, plural, obj):
        with self.lock:
            name = self._name(obj)
            old = self.objects[plural].get(name)
            obj = copy.deepcopy(obj)
            obj["metadata"].setdefault("uid", old["metadata"]["uid"] if old else f"uid-{self.version}")
            obj["metadata"].setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
            self._store(plural, name, obj, "MODIFIED" if old else "ADDED")

    def delete(self, plural, name):
        with self.lock:
            obj = self.objects[plural].pop(name)
            self.version += 1
            obj["metadata"]["resourceVersion"] = str(self.version)
            self._tell(plural, "DELETED", obj)

    def bookmark(self, plural):
        """Moves on without an object that changes."""
        with self.lock:
            self.version += 1
            self._tell(plural, "BOOKMARK", {"metadata": {"resourceVersion": str(self.version)}})
            return self.version

    def fail(self, method, pattern, what, times=1):
        with self.lock:
            self.faults.append([method, re.compile(pattern), what, times])

    def end_watches(self):
        """Ends every watch that is open, after what has happened so far."""
        with self.lock:
            self.cuts += 1
            self.lock.notify_all()

    def get(self, plural, name):
        with self.lock:
            return copy.deepcopy(self.objects[plural].get(name))

    def pods(self):
        """Name -> node of all pods, None for those that wait."""
        with self.lock:
            specs = {name: pod["spec"] for name, pod in self.objects["pods"].items()}
            return {name: spec.get("nodeName") if isinstance(spec, dict) else None for name, spec in specs.items()}

    def asked(self, method=None, pattern=""):
        with self.lock:
            return [r for r in self.requests if method in (None, r.method) and re.search(pattern, r.path)]

    def changes(self):
        """What was asked other than reading and keeping the lease."""
        return [r for r in self.asked() if r.method != "GET" and "/leases" not in r.path]

    def leader(self, name="kube-system/kaisched"):
        """Who holds the lease, None if nobody does."""
        lease = self.get("leases", name)
        return lease and lease["spec"].get("holderIdentity")

    def until(self, condition, seconds=20):
        """Waits; false when it did not come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.02)
        return False

    # ---- inside ----

    @staticmethod
    def _name(obj):
        space = obj["metadata"].get("namespace")
        return f"{space}/{obj['metadata']['name']}" if space else obj["metadata"]["name"]

    def _store(self, plural, name, obj, kind):
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        self.objects[plural][name] = obj
        self._tell(plural, kind, obj)

    def _tell(self, plural, kind, obj):
        self.history.append((self.version, plural, kind, copy.deepcopy(obj)))
        self.told[plural].append(self.history[-1])
        self.lock.notify_all()

    def _bytes(self, body):
        text = json.dumps(body).encode()
        for what, instead in self.raw.items():
            text = text.replace(json.dumps(what).encode(), instead)
        return text

    def _fault(self, method, path, watch):
        for fault in self.faults:
            if fault[3] > 0 and fault[0] == ("WATCH" if watch else method) and fault[1].search(path):
                fault[3] -= 1
                return fault[2]
        return None

    def _is_cut(self, path):
        """Whether this change is the one at which everything ends."""
        if self.cut is None or re.search("/(leases|events)", path):
            return False
        self.cut = (self.cut[0] - 1, self.cut[1])
        return self.cut[0] == 0

    def _change(self, method, plural, name, part, body):
        """What a request other than GET does. Returns status and answer."""
        obj = self.objects[plural].get(name)
        if method == "POST" and part is None:
            full = self._name(body)
            if full in self.objects[plural]:
                return 409, {"kind": "Status", "message": f"{plural} {full} already exists"}
            body["metadata"].setdefault("uid", f"uid-{self.version}")
            self._store(plural, full, body, "ADDED")
            return 201, copy.deepcopy(body)
        if obj is None:
            return 404, {"kind": "Status", "message": f"{plural} {name} not found"}
        obj = copy.deepcopy(obj)
        if method == "POST" and part == "binding":
            if obj["spec"].get("nodeName"):
                return 409, {"kind": "Status", "message": f"pod {name} is already assigned to node"}
            if body["metadata"].get("uid") not in (None, obj["metadata"]["uid"]):
                return 409, {"kind": "Status", "message": "uid differs"}
            obj["spec"]["nodeName"] = body["target"]["name"]
        elif method == "PUT":
            if body["metadata"].get("resourceVersion") != obj["metadata"]["resourceVersion"]:
                return 409, {"kind": "Status", "message": f"{plural} {name} has been modified"}
            obj = body
        elif method == "DELETE" or part == "eviction":
            options = (body or {}) if method == "DELETE" else body.get("deleteOptions", {})
            if options.get("preconditions", {}).get("uid") not in (None, obj["metadata"]["uid"]):
                return 409, {"kind": "Status", "message": "uid differs"}
            if plural != "pods" or options.get("gracePeriodSeconds") == 0:  # no kubelet is waited for
                self.delete(plural, name)
                return 200, obj
            obj["metadata"]["deletionTimestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        elif method == "PATCH":
            if body.get("metadata", {}).get("uid") not in (None, obj["metadata"]["uid"]):
                return 409, {"kind": "Status", "message": "uid differs"}
            if body.get("metadata", {}).get("resourceVersion") not in (None, obj["metadata"]["resourceVersion"]):
                return 409, {"kind": "Status", "message": f"{plural} {name} has been modified"}
            for part in ("labels", "annotations"):
                notes = obj["metadata"].setdefault(part, {})
                for key, value in body.get("metadata", {}).get(part, {}).items():
                    notes.pop(key, None)
                    if value is not None:
                        notes[key] = value
            if "finalizers" in body.get("metadata", {}):
                obj["metadata"].pop("finalizers", None)
                if body["metadata"]["finalizers"]:
                    obj["metadata"]["finalizers"] = body["metadata"]["finalizers"]
            obj["spec"] = {**obj.get("spec", {}), **body.get("spec", {})}
            if "data" in body:
                obj["data"] = {**obj.get("data", {}), **body["data"]}
            for key, value in body.get("status", {}).items():
                if value is None:
                    obj.get("status", {}).pop(key, None)
                    continue
                if key == "conditions" and plural == "pods":
                    kinds = {one["type"] for one in value}
                    kept = [one for one in obj.get("status", {}).get("conditions", []) if one["type"] not in kinds]
                    value = kept + value
                obj.setdefault("status", {})[key] = value
        else:
            return 405, {"kind": "Status", "message": "not allowed"}
        self._store(plural, name, obj, "MODIFIED")
        return 201 if method == "POST" else 200, obj

    @staticmethod
    def _plural(root, plural):
        of_group = f"{plural}.{root.split('/')[2]}"
        return of_group if of_group in VERSIONS else plural

    def _discovery(self, path):
        """What there is, of all groups or of one; None for other paths and for groups without anything."""
        versions = {}
        for plural in self.served:
            versions.setdefault(VERSIONS.get(plural, "v1"), []).append({"name": plural.split(".")[0]})
        if path == "/apis":
            groups = {}
            for one in versions:
                groups.setdefault(one.split("/")[0], []).append({"groupVersion": one})
            return {"kind": "APIGroupList", "groups": [{"name": g, "versions": v} for g, v in groups.items() if g != "v1"]}
        version = re.sub("^/(api|apis)/", "", path)
        return {"kind": "APIResourceList", "groupVersion": version, "resources": versions[version]} if version in versions else None

    def _page(self, plural, query):
        names = sorted(self.objects[plural])
        field, _, wanted = query.get("fieldSelector", "").partition("=")
        assert field in ("", "spec.nodeName"), field
        if field:
            names = [name for name in names if self.objects[plural][name]["spec"].get("nodeName") == wanted]
        version, start = self.version, 0
        if "continue" in query:
            version, start = map(int, base64.b64decode(query["continue"]).split(b":"))
        limit = int(query.get("limit", 0)) or len(names)
        items = [{k: v for k, v in self.objects[plural][n].items() if k not in ("kind", "apiVersion")} for n in names[start : start + limit]]
        metadata = {"resourceVersion": str(version)}
        if start + limit < len(names):
            metadata["continue"] = base64.b64encode(b"%d:%d" % (version, start + limit)).decode()
        return {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items}

    def _handler(api):  # noqa: N805: the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def answer(self, status, body, headers=()):
                self.answer_text(status, api._bytes(body), [("Content-Type", "application/json"), *headers])

            def answer_text(self, status, text, headers):
                self.send_response(status)
                for key, value in (*headers, ("Content-Length", str(len(text)))):
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(text)

            def answer_badly(self, how, body):
                """After what was asked has been done."""
                if how == "garbage":
                    return self.answer_text(200, b'{"kind": "Pod", "metadata": [', [("Content-Type", "application/json")])
                if how == "html":
                    return self.answer_text(200, b"<html>welcome</html>", [("Content-Type", "text/html")])
                if how == "half":
                    text = json.dumps(body).encode()
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text[: len(text) // 2])
                    self.wfile.flush()
                return self.hang_up()

            def hang_up(self):
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

            def handle_any(self):
                split = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(split.query).items()}
                size = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(size)) if size else None
                request = Request(self.command, split.path, query, body, dict(self.headers))
                match = COLLECTION.match(split.path)
                with api.lock:
                    api.requests.append(request)
                    fault = api.intercept(request) or api._fault(self.command, split.path, request.watch)
                    if fault == "stop":
                        api.stop()
                        return self.hang_up()
                    if isinstance(fault, tuple) and fault[0] == "wait":
                        api.lock.wait_for(lambda: api.closing, fault[1])
                        fault = None
                    if fault == "drop":
                        return self.hang_up()
                    if isinstance(fault, tuple) and len(fault) == 3:
                        return self.answer_text(fault[0], fault[2], fault[1])
                    if isinstance(fault, tuple) and fault[0] != "late":
                        return self.answer(fault[0], {"kind": "Status", "message": "planted"}, [("Retry-After", str(fault[1]))])
                    if isinstance(fault, int):
                        return self.answer(fault, {"kind": "Status", "message": "planted"})
                    if found := api._discovery(split.path):
                        return self.answer(200, found)
                    plural = match and api._plural(match[1], match[3])
                    if plural not in api.served:
                        return self.answer(404, {"kind": "Status", "message": "no such resource"})
                    part = match[5]
                    name = unquote(f"{match[2]}/{match[4]}" if match[2] else match[4] or "")
                    if self.command != "GET" and api._is_cut(split.path):
                        if api.cut[1]:
                            api._change(self.command, plural, name, part, body)
                        api.cut = None
                        api.stop()
                        return self.hang_up()
                    if self.command != "GET":
                        try:
                            status, answer = api._change(self.command, plural, name, part, body)
                        except (AttributeError, KeyError, TypeError):  # an object of wrong types, as some tests put them
                            status, answer = 422, {"kind": "Status", "message": f"{plural} {name} is invalid"}
                        if isinstance(fault, tuple):
                            api.lock.wait_for(lambda: api.closing, fault[1])
                        return self.answer_badly(fault, answer) if isinstance(fault, str) else self.answer(status, answer)
                    if match[4]:
                        found = api.objects[plural].get(name)
                        return self.answer(200, found) if found else self.answer(404, {"kind": "Status", "message": "gone"})
                    if not request.watch:
                        return self.answer(200, api._page(plural, query))
                return self.watch(plural, int(query["resourceVersion"]), float(query["timeoutSeconds"]))

            def chunk(self, text):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
                self.wfile.flush()

            def watch(self, plural, version, seconds):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                end = time.monotonic() + seconds
                opened = api.cuts
                if version < api.expired:
                    error = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}
                    self.chunk(json.dumps(error).encode() + b"\n")
                    return self.chunk(b"")
                while time.monotonic() < end and not api.closing:
                    with api.lock:
                        told = api.told[plural]
                        new = [] if api.silent else told[bisect.bisect_right(told, version, key=lambda one: one[0]) :]
                        if not new:
                            if api.cuts > opened:
                                break
                            api.lock.wait(0.1)
                            continue
                    for event_version, _, kind, obj in new:
                        self.chunk(api._bytes({"type": kind, "object": obj}) + b"\n")
                        version = event_version
                return self.chunk(b"")

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

            def handle(self):
                try:
                    super().handle()
                except (OSError, ssl.SSLError):
                    pass

        return Handler


def plural_of(obj):
    """The key of VERSIONS or SERVED that objects of this kind have."""
    kind = obj["kind"].lower()
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else kind + ("es" if kind.endswith("s") else "s")
    of_group = f"{plural}.{obj['apiVersion'].partition('/')[0]}"
    return of_group if of_group in VERSIONS else plural


def main(objects, *command):
    with tempfile.TemporaryDirectory() as folder, FakeApi() as api:
        for one in json.loads(Path(objects).read_text())["items"]:
            api.put(plural_of(one), one)
        kubeconfig = Path(folder) / "kubeconfig"
        kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": api.url}}], "users": [{"name": "test", "user": {}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }))  # fmt: skip
        return subprocess.run(command, env={**os.environ, "KUBECONFIG": str(kubeconfig)}).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
