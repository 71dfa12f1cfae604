"""The API server of examples/kubernetes/lab, built once per machine, and the little of a cluster that tests play."""

import hashlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "examples" / "kubernetes" / "lab"
VERSION = "v1.36.3"  # of k8s.io/kubernetes in go.mod; the server wants to know its own


class Absent(Exception):
    """Why there is no lab here."""


def build():
    """The program of the lab. What is built is kept by its sources, outside of the tree, so that it is built once."""
    go = os.environ.get("KAISCHED_GO") or shutil.which("go")
    if not go:
        raise Absent("go absent")
    digest = hashlib.sha256(b"".join((SOURCE / name).read_bytes() for name in ("go.mod", "go.sum", "main.go"))).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kaisched"
    program = cache / f"lab-{digest}"
    if program.exists():
        return program
    environment = {**os.environ, "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly -buildvcs=false"}
    listed = subprocess.run([go, "list", "-deps", "."], cwd=SOURCE, env=environment, capture_output=True, text=True)
    if listed.returncode:
        raise Absent(f"ask for these modules once with (cd {SOURCE} && go mod download): {listed.stderr.strip()[-300:]}")
    cache.mkdir(parents=True, exist_ok=True)
    major, minor, _ = VERSION[1:].split(".")
    version = "k8s.io/component-base/version.git"
    flags = f"-s -w -X {version}Version={VERSION} -X {version}Major={major} -X {version}Minor={minor}"
    unfinished = cache / f".lab-{digest}.{os.getpid()}"
    subprocess.run([go, "build", "-trimpath", "-ldflags", flags, "-o", unfinished, "."], cwd=SOURCE, env=environment, check=True)
    unfinished.rename(program)
    return program


class Lab:
    """`with Lab(program) as lab:`; ready when it is entered, gone when it is left."""

    def __init__(self, program):
        self.folder = Path(tempfile.mkdtemp())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen([program, self.folder / "state", str(self.port)], stdout=self.log, stderr=self.log)
        self.kubeconfig = self.folder / "state" / "kubeconfig"

    def __enter__(self):
        try:
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)

    def wait_until_ready(self):
        end = time.monotonic() + 120
        while time.monotonic() < end and self.process.poll() is None:
            try:
                state = self.folder / "state"
                self.context = ssl.create_default_context(cafile=state / "certificates" / "apiserver.crt")
                self.token = (state / "token").read_text()
                with self.open("GET", "/readyz") as answer:
                    if answer.status == 200:
                        return
            except (OSError, urllib.error.URLError):
                pass
            time.sleep(0.2)
        raise RuntimeError("the lab does not start:\n" + (self.folder / "log").read_text()[-3000:])

    def open(self, method, path, data=None, kind="application/json"):
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        if data is not None:
            request.add_header("Content-Type", kind)
        return urllib.request.urlopen(request, data, timeout=30, context=self.context)

    def send(self, method, path, data=None, kind="application/json"):
        with self.open(method, path, data, kind) as answer:
            return json.loads(answer.read())

    def ask(self, method, path, body=None, kind="application/json"):
        return self.send(method, path, None if body is None else json.dumps(body).encode(), kind)

    @staticmethod
    def place(obj):
        plural = {"PriorityClass": "priorityclasses", "Topology": "topologies"}.get(obj["kind"], obj["kind"].lower() + "s")
        version = obj["apiVersion"]
        space = obj["metadata"].get("namespace")
        return f"/{'api' if version == 'v1' else 'apis'}/{version}" + (f"/namespaces/{space}" if space else "") + f"/{plural}"

    def create(self, obj):
        """Creates it, and gives it the status that a kubelet would report."""
        made = self.ask("POST", self.place(obj), obj)
        one = f"{self.place(obj)}/{obj['metadata']['name']}"
        if obj["kind"] == "Node":  # it is ready at once
            self.ask("PATCH", one, {"spec": {"taints": None}}, "application/merge-patch+json")
        if obj["kind"] == "Node" or (obj["kind"] == "Pod" and obj["spec"].get("nodeName")):
            made = self.ask("PATCH", f"{one}/status", {"status": obj["status"]}, "application/merge-patch+json")
        return made

    def items(self, path):
        return self.ask("GET", path)["items"]

    def pods(self):
        return {pod["metadata"]["name"]: pod for pod in self.items("/api/v1/namespaces/team/pods")}

    def bound(self):
        return {name: pod["spec"]["nodeName"] for name, pod in self.pods().items() if pod["spec"].get("nodeName")}

    def clear(self):
        """As it was before the test."""
        now = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        for path in (
            "/api/v1/namespaces/team/pods", "/apis/scheduling.run.ai/v2alpha2/namespaces/team/podgroups",
            "/apis/scheduling.run.ai/v2/queues", "/api/v1/nodes", "/apis/events.k8s.io/v1/namespaces/team/events",
        ):  # fmt: skip
            self.ask("DELETE", path, now)
        mine = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"  # the server has one of its own there
        if any(one["metadata"]["name"] == "kaisched" for one in self.items(mine)):
            self.ask("DELETE", f"{mine}/kaisched", now)
