"""The lab of examples/kubernetes/lab: real parts of Kubernetes, built once per machine, started and ended by tests."""

import contextlib
import fcntl
import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

KUBERNETES = Path(__file__).resolve().parents[2] / "examples" / "kubernetes"
SOURCE = KUBERNETES / "lab"
VERSION = "v1.36.3"  # of k8s.io/kubernetes in go.mod; the server wants to know its own
PLURALS = {"PriorityClass": "priorityclasses", "Topology": "topologies", "StorageClass": "storageclasses", "DeviceClass": "deviceclasses",
           "NetworkPolicy": "networkpolicies", "RuntimeClass": "runtimeclasses"}  # fmt: skip


UNSIGNED = ssl.create_default_context()  # for servers that have signed their certificate themselves
UNSIGNED.check_hostname = False
UNSIGNED.verify_mode = ssl.CERT_NONE


class Absent(Exception):
    """Why there is no lab here."""


def build_program(source, name, flags=()):
    """A program of Go. What is built is kept by its sources, outside of the tree, so that it is built once."""
    go = os.environ.get("KAISCHED_GO") or shutil.which("go")
    if not go:
        raise Absent("go absent")
    sources = [source / "go.mod", source / "go.sum", *sorted(source.glob("*.go"))]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kaisched"
    program = cache / f"{name}-{digest}"
    if program.exists():
        return program
    environment = {**os.environ, "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly -buildvcs=false"}
    listed = subprocess.run([go, "list", "-deps", "."], cwd=source, env=environment, capture_output=True, text=True)
    if listed.returncode:
        raise Absent(f"ask for these modules once with (cd {source} && go mod download): {listed.stderr.strip()[-300:]}")
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / f"{name}.lock", "w") as lock:  # whoever comes second finds it built
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            unfinished = cache / f".{name}-{digest}.{os.getpid()}"
            ldflags = " ".join(["-s -w", *flags])
            subprocess.run([go, "build", "-trimpath", "-ldflags", ldflags, "-o", unfinished, "."], cwd=source, env=environment, check=True)
            unfinished.rename(program)
    return program


def build():
    """The program of the lab."""
    major, minor, _ = VERSION[1:].split(".")
    version = "k8s.io/component-base/version.git"
    return build_program(SOURCE, "lab", (f"-X {version}Version={VERSION}", f"-X {version}Major={major}", f"-X {version}Minor={minor}"))


def find():
    """The program that is named by KAISCHED_LAB, or built."""
    return Path(os.environ["KAISCHED_LAB"]) if "KAISCHED_LAB" in os.environ else build()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)  # if a test has stopped it
        process.kill()
    process.wait()


class Lab:
    """`with Lab(program) as lab:`; the server is ready when it is entered, and everything gone when it is left."""

    def __init__(self, program, *flags):
        self.program = program
        self.flags = flags  # of kube-apiserver
        self.folder = Path(tempfile.mkdtemp())
        self.state = self.folder / "state"
        self.kubeconfig = self.state / "kubeconfig"
        self.port = free_port()
        self.parts = {}
        self.connections = threading.local()
        self.opened = []  # of all threads

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in list(self.parts):
            self.stop(name)
        for connection in self.opened:
            connection.close()
        shutil.rmtree(self.folder)

    # ---- parts ----

    def run(self, name, *words):
        """Starts a part; what it says is in `<name>.log`."""
        self.stop(name)
        with open(self.folder / f"{name}.log", "a") as log:
            self.parts[name] = subprocess.Popen([self.program, *map(str, words)], stdout=log, stderr=log)
        return self.parts[name]

    def stop(self, name):
        if name in self.parts:
            end(self.parts.pop(name))

    def log(self, name):
        file = self.folder / f"{name}.log"
        return file.read_text() if file.exists() else ""

    def start(self):
        """The server, on what it knew when it was stopped."""
        self.run("server", "up", self.state, self.port, *self.flags)
        until = time.monotonic() + 300
        while time.monotonic() < until and self.parts["server"].poll() is None:
            with contextlib.suppress(OSError, http.client.HTTPException, urllib.error.URLError):
                self.context = ssl.create_default_context(cafile=self.state / "certificates" / "apiserver.crt")
                self.token = (self.state / "token").read_text()
                if self.exchange("GET", "/readyz")[0] == 200:
                    return
            time.sleep(0.2)
        raise RuntimeError("the server does not start:\n" + self.log("server")[-3000:])

    def start_controllers(self, *flags):
        self.run("controllers", "controller-manager", f"--kubeconfig={self.kubeconfig}", "--leader-elect=false", "--secure-port=0",
                 f"--service-account-private-key-file={self.state}/accounts.key", "--use-service-account-credentials=false",
                 "--kube-api-qps=1000", "--kube-api-burst=1000", *flags)  # fmt: skip

    def start_kubelets(self, *flags):
        self.run("kubelets", "kwok", f"--kubeconfig={self.kubeconfig}", f"--config={SOURCE / 'stages.yaml'}",
                 "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", f"--server-address=127.0.0.1:{free_port()}",
                 "--node-lease-duration-seconds=40", *flags)  # fmt: skip

    def start_scheduler(self, extenders=(), flags=(), **more):
        """kube-scheduler as it comes, once it has read everything. @return the port on which it tells its metrics to everybody."""
        port = free_port()
        file = self.folder / "scheduler.json"
        file.write_text(json.dumps({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(self.kubeconfig), **more}, "extenders": list(extenders),
        }))  # fmt: skip
        self.run("scheduler", "scheduler", f"--config={file}", "--bind-address=127.0.0.1", f"--secure-port={port}",
                 f"--cert-dir={self.folder / 'scheduler'}", "--authorization-always-allow-paths=/readyz,/metrics", *flags)  # fmt: skip
        until = time.monotonic() + 120
        while time.monotonic() < until and self.parts["scheduler"].poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"https://127.0.0.1:{port}/readyz", timeout=30, context=UNSIGNED):
                return port
            time.sleep(0.1)
        raise RuntimeError("kube-scheduler does not start:\n" + self.log("scheduler")[-3000:])

    def prepare(self):
        """The namespace `team`, and the definitions of KAI's objects, served."""
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        for file in sorted((KUBERNETES / "crds").glob("*.yaml")):
            self.define(file)
        for path in ("scheduling.run.ai/v2/queues", "scheduling.run.ai/v2alpha2/podgroups", "kai.scheduler/v1alpha1/topologies"):
            self.until_served(f"/apis/{path}")

    def until_served(self, path):
        end = time.monotonic() + 60
        while True:
            try:
                return self.items(path)
            except urllib.error.HTTPError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.1)

    def account(self, name, *roles):
        """A service account with the roles of these files of examples/kubernetes, and no other. @return its kubeconfig."""
        rights = "/apis/rbac.authorization.k8s.io/v1"
        self.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "kube-system"}})
        for file in roles:
            role = self.send("POST", f"{rights}/clusterroles", (KUBERNETES / file).read_bytes(), "application/yaml")["metadata"]["name"]
            self.ask("POST", f"{rights}/clusterrolebindings", {
                "metadata": {"name": f"{name}-{role}"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "kube-system"}],
            })  # fmt: skip
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = self.ask("POST", f"/api/v1/namespaces/kube-system/serviceaccounts/{name}/token", asked)["status"]["token"]
        file = self.state / f"kubeconfig-{name}"  # beside the certificate that it names
        file.write_text(self.kubeconfig.read_text().replace(self.token, token))
        return file

    # ---- requests ----

    def exchange(self, method, path, data=None, kind="application/json", token=None):
        """@return status and body. Each thread has a connection of its own."""
        headers = {"Authorization": f"Bearer {token or self.token}"}
        if data is not None:
            headers["Content-Type"] = kind
        for attempt in range(2):
            connection = getattr(self.connections, "one", None)
            fresh = connection is None
            if fresh:
                connection = self.connections.one = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=120, context=self.context)
                self.opened.append(connection)
            try:
                connection.request(method, path, data, headers)
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                self.connections.one = None
                if fresh or attempt:  # else the server has closed it meanwhile
                    raise
        raise AssertionError

    def send(self, method, path, data=None, kind="application/json"):
        status, body = self.exchange(method, path, data, kind)
        until = time.monotonic() + 60
        while status == 429 and time.monotonic() < until:  # its caches are being filled
            time.sleep(0.5)
            status, body = self.exchange(method, path, data, kind)
        if status >= 300:
            raise urllib.error.HTTPError(path, status, body.decode()[:2000], None, None)
        return json.loads(body)

    def ask(self, method, path, body=None, kind="application/json"):
        return self.send(method, path, None if body is None else json.dumps(body).encode(), kind)

    @staticmethod
    def collection(obj):
        plural = PLURALS.get(obj["kind"], obj["kind"].lower() + "s")
        space = obj["metadata"].get("namespace")
        return f"/{'api' if obj['apiVersion'] == 'v1' else 'apis'}/{obj['apiVersion']}" + (f"/namespaces/{space}" if space else "") + f"/{plural}"

    def place(self, obj):
        return f"{self.collection(obj)}/{obj['metadata']['name']}"

    def create(self, obj):
        """Creates it. What runs already gets the status that a kubelet would report, where there is none."""
        made = self.ask("POST", self.collection(obj), obj)
        if obj["kind"] == "Pod" and obj["spec"].get("nodeName") and "kubelets" not in self.parts:
            made = self.ask("PATCH", f"{self.place(obj)}/status", {"status": obj["status"]}, "application/merge-patch+json")
        return made

    def create_all(self, objects, threads=4):
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(self.create, objects))

    def remove(self, obj):
        return self.ask("DELETE", self.place(obj), {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})

    def patch(self, path, body):
        return self.ask("PATCH", path, body, "application/merge-patch+json")

    def define(self, file):
        """Creates the resource definition in a file of YAML."""
        self.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", file.read_bytes(), "application/yaml")

    def items(self, path):
        return self.ask("GET", path)["items"]

    def pods(self):
        return {pod["metadata"]["name"]: {"apiVersion": "v1", "kind": "Pod", **pod} for pod in self.items("/api/v1/namespaces/team/pods")}

    def bound(self):
        return {name: pod["spec"]["nodeName"] for name, pod in self.pods().items() if pod["spec"].get("nodeName")}

    def clear(self):
        """As it was before the test."""
        now = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}
        for path in (
            "/apis/apps/v1/namespaces/team/deployments", "/apis/apps/v1/namespaces/team/replicasets", "/apis/apps/v1/namespaces/team/statefulsets",
            "/apis/batch/v1/namespaces/team/jobs", "/apis/scheduling.run.ai/v2alpha2/namespaces/team/podgroups", "/apis/scheduling.run.ai/v2/queues",
            "/apis/kai.scheduler/v1alpha1/topologies", "/api/v1/namespaces/team/pods", "/api/v1/nodes",
            "/apis/events.k8s.io/v1/namespaces/team/events", "/apis/policy/v1/namespaces/team/poddisruptionbudgets",
        ):  # fmt: skip
            self.ask("DELETE", path, now)
        mine = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"  # the server has one of its own there
        if any(one["metadata"]["name"] == "kaisched" for one in self.items(mine)):
            self.ask("DELETE", f"{mine}/kaisched", now)
        until = time.monotonic() + 120
        while self.pods():  # what a controller had on its way, and pods that end with a grace period
            if time.monotonic() > until:
                raise RuntimeError(f"pods do not go: {list(self.pods())}")
            self.ask("DELETE", "/api/v1/namespaces/team/pods", now)
            time.sleep(0.1)
