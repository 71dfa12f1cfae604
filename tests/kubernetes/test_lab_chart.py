"""The Helm chart, rendered by Helm's engine: the linter finds nothing, a real API server takes every object, its rights are
the documented ones, and what it makes runs. The webhook of the chart, and its failure policy when nobody answers."""

import base64
import contextlib
import json
import os
import re
import subprocess
import sys
import urllib.error
from collections import Counter
from pathlib import Path

import lab as laboratory
from clusters import gang, node, pod, queue
from lab_case import LabCase, main
from test_extender import shared_pod

CHART = laboratory.KUBERNETES / "deploy" / "chart"
SELECTOR = {"nvidia.com/gpu.present": "true"}
AFFINITY = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
    {"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "kaisched"}}}}]}}  # fmt: skip
TOLERATIONS = [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]
PEER = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
ALL = {
    "image": {"repository": "registry.example.com/kaisched", "tag": "1", "pullPolicy": "Always"}, "imagePullSecrets": [{"name": "pull"}],
    "replicas": 2, "config": {"scheduler_name": "gpus", "usage": {"window": "7d"}}, "port": 8081, "tokenSecret": "tokens", "tlsSecret": "tls",
    "extender": {"enabled": True, "tlsSecret": "extender", "settings": {"client_ca": "/etc/kaisched/extender-tls/ca.crt"}},
    "webhook": {"enabled": True, "tlsSecret": "webhook", "caBundle": "", "failurePolicy": "Fail", "timeoutSeconds": 5, "settings": {"isolation": True}},
    "node": {"enabled": True, "args": ["--ignore-xids=62"], "runtimeClassName": "nvidia", "nodeSelector": SELECTOR, "affinity": AFFINITY,
             "agent": {"group": 3000, "metricsFolder": "/var/lib/node_exporter"}},
    "reservation": {"enabled": True, "namespace": "reserved", "settings": {"runtime_class": ""}},
    "scaling": {"enabled": True, "namespace": "scaling", "settings": {"cool_down": "10s"}}, "suspendedJobs": True,
    "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}}, "dashboard": {"enabled": True},
    "networkPolicy": {"from": PEER, "apiServer": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "egress": [{"to": PEER, "ports": [{"port": 9090}]}]},
    "nodeSelector": SELECTOR, "tolerations": TOLERATIONS, "affinity": AFFINITY,
}  # fmt: skip
LESS = {
    "extender": {"enabled": True, "insecure": True}, "webhook": {"enabled": True, "tlsSecret": "webhook", "certificate": "here/webhook"},
    "node": {"enabled": True, "agent": {"enabled": False}}, "reservation": {"enabled": True, "image": "kai:1", "createNamespace": False},
    "networkPolicy": {"enabled": False}, "priorityClassName": "",
}  # fmt: skip
REFUSED = {
    "a port of 0": ({"port": 0}, "port"),
    "a field that there is not": ({"imgae": {}}, "imgae"),
    "a section that the chart writes": ({"config": {"scheduler_name": "x", "server": {}}}, "config"),
    "another policy": ({"webhook": {"failurePolicy": "Maybe"}}, "failurePolicy"),
    "an extender for everybody": ({"extender": {"enabled": True}}, "client_ca"),
    "a webhook without TLS": ({"webhook": {"enabled": True}}, "webhook.tlsSecret"),
}


def kinds(objects):
    return Counter(one["kind"] for one in objects)


def rules_of(objects, kind, name):
    return next(one["rules"] for one in objects if one["kind"] == kind and one["metadata"]["name"] == name)


class Chart(LabCase):
    audited = True
    helm = None

    def ask(self, *cases, version=laboratory.VERSION):
        """For each (release, namespace, values) what Helm makes of the chart."""
        asked = [{"release": release, "namespace": name, "version": version, "values": values} for release, name, values in cases]
        done = subprocess.run([self.helm, CHART], input=json.dumps(asked), capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def rendered(self, release, name, values):
        one = self.ask((release, name, values))[0]
        self.assertNotIn("error", one)
        self.assertEqual([said for said in one["lint"] if "icon is recommended" not in said], [])
        return one["objects"]

    def namespace(self, name):
        self.lab.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def install(self, objects):
        """Each of them, by a server that takes no field that it does not know."""
        for one in objects:
            if one["kind"] == "PodMonitor":  # of the operator of Prometheus, which is not here: its Go types were asked
                continue
            with self.subTest(kind=one["kind"], name=one["metadata"]["name"]):
                self.lab.ask("POST", self.lab.collection(one) + "?fieldValidation=Strict", one)

    def test_every_object_is_taken(self):
        for release, values in (("plain", {}), ("all", ALL), ("less", LESS)):
            with self.subTest(release=release):
                self.namespace(release)
                if release == "less":
                    self.namespace("kai-resource-reservation")
                objects = self.rendered(release, release, values)
                self.install(objects)
                self.assertLessEqual({"Deployment", "Service", "ConfigMap", "ServiceAccount", "ClusterRole", "ClusterRoleBinding"}, set(kinds(objects)))
                for kind, there in (("PodMonitor", "all"), ("NetworkPolicy", "plain all"), ("MutatingWebhookConfiguration", "all less"), ("DaemonSet", "all less"), ("Namespace", "all")):
                    self.assertEqual(kind in kinds(objects), release in there.split(), kind)
                spec = next(one for one in objects if one["kind"] == "Deployment")["spec"]["template"]["spec"]
                self.assertTrue(spec["securityContext"]["runAsNonRoot"])
                self.assertTrue(spec["containers"][0]["securityContext"]["readOnlyRootFilesystem"])
                self.rights(objects, release)
                for one in objects:
                    if one["kind"] == "MutatingWebhookConfiguration":  # it would be asked
                        self.lab.remove(one)

    def rights(self, objects, release):
        """Those of the plain manifests, as the server has read them, and no others."""
        everything = [one["rules"] for one in objects if "rules" in one and one["kind"] in ("ClusterRole", "Role")]
        expected = self.plain("rbac.yaml")
        if release in ("all", "less"):
            expected = expected + self.plain("rbac-extender.yaml") + self.plain("rbac-sharing.yaml")
            self.assertEqual(rules_of(objects, "ClusterRole", f"{release}-node"), self.plain("rbac-node.yaml"))
        if release == "all":
            expected = expected + self.plain("rbac-jobs.yaml")
        self.assertEqual(rules_of(objects, "ClusterRole", release), expected)
        if release == "all":
            self.assertEqual(rules_of(objects, "Role", "all-usage"), self.plain("rbac-usage.yaml"))
            self.assertEqual(rules_of(objects, "Role", "all-scaling"), self.plain("rbac-scaling.yaml"))
        self.assertEqual(len(everything), {"plain": 1, "all": 6, "less": 4}[release])

    def plain(self, file):
        """The rules of the first role of a manifest."""
        first = next(one for one in (laboratory.KUBERNETES / file).read_text().split("\n---\n") if "Role\n" in one)
        space = re.search("namespace: ([a-z-]+)}", first)
        if space:
            first = first.replace(space[1], "team")
        kind = "clusterroles" if "kind: ClusterRole\n" in first else "namespaces/team/roles"
        made = self.lab.send("POST", f"/apis/rbac.authorization.k8s.io/v1/{kind}?dryRun=All&fieldValidation=Strict", first.encode(), "application/yaml")
        return made["rules"]

    def test_wrong_values(self):
        answers = self.ask(*(("one", "here", values) for values, _ in REFUSED.values()))
        for (name, (_, word)), one in zip(REFUSED.items(), answers, strict=True):
            with self.subTest(name):
                self.assertIn(word, one.get("error", ""))
                self.assertEqual(one["objects"], [])
        self.assertIn("not for Kubernetes", self.ask(("one", "here", {}), version="v1.26.0")[0]["error"])

    def configured(self, objects, **places):
        """The program's configuration, with what the container would have elsewhere."""
        text = next(one for one in objects if one["kind"] == "ConfigMap" and "config.yaml" in one["data"])["data"]["config.yaml"]
        for was, now in places.items():
            text = text.replace(f"/etc/kaisched/{was}-tls/", f"{now}/")
        return text.replace("0.0.0.0:", "127.0.0.1:")

    def user_of(self, name, account):
        """@return the kubeconfig of a service account that is there."""
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = self.lab.ask("POST", f"/api/v1/namespaces/{name}/serviceaccounts/{account}/token", asked)["status"]["token"]
        file = self.lab.state / f"kubeconfig-{account}"
        told = self.lab.kubeconfig.read_text().replace(self.lab.token, token)
        file.write_text(told.replace("user: tester}", f"user: tester, namespace: {name}}}"))  # as the kubelet tells a pod
        return file

    def test_what_is_installed_runs(self):
        """With the account and the configuration of the chart a gang is started, and nothing is forbidden."""
        self.namespace("runs")
        config = {"scheduler_name": "kaisched", "period": "500ms", "settle": "100ms", "usage": {"window": "7d"}}
        config["leader_election"] = {"lease_duration": "4s", "renew_deadline": "2s", "retry_period": "300ms"}
        objects = self.rendered("runs", "runs", {"config": config, "port": laboratory.free_port()})
        self.install(objects)
        mine, pods = gang("g", "q", 4)
        self.create(node("n0"), queue("q", -1), mine, *pods)
        self.start(self.configured(objects), self.user_of("runs", "runs"), terms="")
        self.until_bound("g", 4)
        self.assert_sound()
        with open(self.folder / "audit.log") as log:
            events = [json.loads(line) for line in log if line.endswith("\n")]
        asked = [one for one in events if one["user"]["username"] == "system:serviceaccount:runs:runs"]
        self.assertGreater(len(asked), 10)
        self.assertEqual([one["requestURI"] for one in asked if one["responseStatus"]["code"] in (401, 403)], [])

    def test_a_webhook_that_is_gone(self):
        """Ignore lets pods in as they are, Fail refuses them; either way those that the webhook itself needs come in."""
        if subprocess.run(["openssl", "version"], capture_output=True).returncode:
            self.skipTest("openssl absent")
        folder = Path(self.lab.folder)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=webhook", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", folder / "tls.key", "-out", folder / "tls.crt"], check=True, capture_output=True)  # fmt: skip
        self.namespace("hooked")
        port = laboratory.free_port()
        bundle = base64.b64encode((folder / "tls.crt").read_bytes()).decode()
        for policy in ("Ignore", "Fail"):
            with self.subTest(policy=policy):
                settings = {"enabled": True, "port": port, "tlsSecret": "webhook", "caBundle": bundle, "failurePolicy": policy, "timeoutSeconds": 5}
                objects = self.rendered("hooked", "hooked", {"webhook": settings, "port": laboratory.free_port()})
                hook = next(one for one in objects if one["kind"] == "MutatingWebhookConfiguration")
                # No pod network leads to the service of the chart: the server asks the program itself.
                hook["webhooks"][0]["clientConfig"] = {"url": f"https://127.0.0.1:{port}/webhook", "caBundle": bundle}
                process = self.start(self.configured(objects, webhook=folder), terms="")
                self.until(lambda: self.said().count("webhook: listening") == len(self.logs))  # noqa: B023
                self.install([hook])
                self.follow(policy.lower(), process)
                self.lab.remove(hook)

    def isolated(self, name, space="team", **labels):
        """Whether a pod that asks for a part of a GPU comes in, and with limits."""
        one = shared_pod(name, memory=8192)
        one["metadata"]["namespace"] = space
        one["metadata"]["labels"] = labels
        try:
            made = self.lab.ask("POST", self.lab.collection(one), one)
        except urllib.error.HTTPError as refused:
            return refused.reason if isinstance(refused.reason, str) else str(refused)
        finally:
            with contextlib.suppress(urllib.error.HTTPError):
                self.lab.remove(one)
        return "CUDA_DEVICE_MEMORY_LIMIT" in {entry["name"] for entry in made["spec"]["containers"][0].get("env", [])}

    def follow(self, policy, process):
        # The server may not have seen the configuration yet.
        self.until(lambda: self.isolated(f"{policy}-served") is True, 60)
        laboratory.end(process)
        without = self.isolated(f"{policy}-alone")
        if policy == "ignore":
            self.assertIs(without, False)
        else:
            self.assertIn("failed calling webhook", str(without))
        for space in ("kube-system", "hooked"):
            self.assertIs(self.isolated(f"{policy}-own", space), False, space)
        self.assertIs(self.isolated(f"{policy}-left-alone", **{"hami.io/webhook": "ignore"}), False)


if __name__ == "__main__":
    try:
        Chart.helm = Path(os.environ["KAISCHED_CHART"]) if "KAISCHED_CHART" in os.environ else laboratory.build_program(Path(__file__).parent / "chart", "chart")
    except laboratory.Absent as why:
        print(f"skipped: lab absent: {why}")
        sys.exit(0)
    main()
