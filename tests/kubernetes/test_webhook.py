"""The admission webhook of kaisched-kubernetes, asked as an API server asks it (admission.k8s.io/v1 over TLS). One ctest
entry per class."""

import base64
import copy
import http.client
import json
import re
import ssl
import subprocess
import unittest

from clusters import lease, pod
from fake_api import FakeApi
from test_extender import ExtenderCase, shared_node, shared_pod
from test_program import Case

GUARD = "/usr/lib/kaisched/libkaisched_guard_dlsym.so"


def applied(patch, to):
    """JSON Patch, RFC 6902, without test, move and copy."""
    made = copy.deepcopy(to)
    for step in patch:
        *way, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]]
        at = made
        for part in way:
            at = at[int(part)] if isinstance(at, list) else at[part]
        if isinstance(at, list):
            where = len(at) if last == "-" else int(last)
            if step["op"] == "add":
                at.insert(where, step["value"])
            elif step["op"] == "replace":
                at[where] = step["value"]
            else:
                del at[where]
        elif step["op"] == "remove":
            del at[last]
        else:
            assert step["op"] in ("add", "replace"), step
            at[last] = step["value"]
    return made


def variables(made, container=0, of="containers"):
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in made["spec"][of][container].get("env", [])}


def mounts(made, container=0):
    return {one["mountPath"]: one for one in made["spec"]["containers"][container].get("volumeMounts", [])}


class WebhookCase(Case):
    def certificate(self):
        if subprocess.run(["openssl", "version"], capture_output=True).returncode:
            self.skipTest("openssl absent")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=webhook", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", self.folder / "tls.key", "-out", self.folder / "tls.crt"], check=True, capture_output=True)  # fmt: skip

    def serve(self, api, more="", config="", **given):
        self.certificate()
        process = self.start(api, f"{config}webhook:\n  listen: 127.0.0.1:0\n  certificate: tls.crt\n  key: tls.key\n{more}", **given)
        self.assert_until(api, lambda: "webhook: listening" in self.log())
        self.webhook_port = int(re.findall(r"webhook: listening on 127\.0\.0\.1:(\d+)", self.log())[-1])
        return process

    def post(self, body):
        context = ssl.create_default_context(cafile=self.folder / "tls.crt")
        connection = http.client.HTTPSConnection("127.0.0.1", self.webhook_port, timeout=20, context=context)
        try:
            connection.request("POST", "/webhook?timeout=10s", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def review(self, one, operation="CREATE", kind="Pod"):
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                "request": {"uid": "review-1", "kind": {"group": "", "version": "v1", "kind": kind}, "operation": operation,
                            "namespace": "team", "object": one}}  # fmt: skip

    def respond(self, one, **more):
        status, text = self.post(json.dumps(self.review(one, **more)))
        self.assertEqual(status, 200, text)
        made = json.loads(text)
        self.assertEqual((made["apiVersion"], made["kind"]), ("admission.k8s.io/v1", "AdmissionReview"))
        self.assertEqual(made["response"]["uid"], "review-1")
        return made["response"]

    def admitted(self, one, warned=False):
        response = self.respond(one)
        self.assertTrue(response["allowed"], response)
        self.assertEqual("warnings" in response, warned, response)
        if "patch" not in response:
            return one
        self.assertEqual(response["patchType"], "JSONPatch")
        return applied(json.loads(base64.b64decode(response["patch"], validate=True)), one)


class Isolation(WebhookCase):
    def test_limits_guard_and_shared_file(self):
        with FakeApi() as api:
            self.serve(api)
            one = shared_pod("a", memory=8192, cores=30, **{"nvidia.com/priority": 1})
            one["spec"]["containers"].append({"name": "log", "image": "none"})
            made = self.admitted(one)
            self.assertEqual(
                variables(made),
                {"CUDA_DEVICE_MEMORY_LIMIT": "8192m", "GPU_MEMORY_LIMIT": str(8192 << 20), "CUDA_DEVICE_SM_LIMIT": "30",
                 "CUDA_TASK_PRIORITY": "1", "LD_PRELOAD": GUARD, "CUDA_DEVICE_MEMORY_SHARED_CACHE": "/run/kaisched/shared/limits"},
            )  # fmt: skip
            self.assertEqual(mounts(made)["/usr/lib/kaisched"], {"name": "kaisched-library", "mountPath": "/usr/lib/kaisched", "readOnly": True})
            self.assertEqual(mounts(made)["/run/kaisched/shared"]["subPath"], "main")
            volumes = {v["name"]: v for v in made["spec"]["volumes"]}
            self.assertEqual(volumes["kaisched-library"]["hostPath"], {"path": "/usr/local/lib/kaisched", "type": "Directory"})
            self.assertIn("emptyDir", volumes["kaisched-shared"])
            self.assertEqual(made["spec"]["containers"][1], one["spec"]["containers"][1])
            self.assertEqual(made["spec"]["schedulerName"], "default-scheduler")
            self.assertEqual(self.admitted(made), made)  # asked again (reinvocationPolicy), nothing changes

    def test_a_ledger_of_the_agent(self):
        with FakeApi() as api:
            self.serve(api, "  ledgers: /var/lib/kaisched/ledgers\n  library: /opt/guard\n")
            made = self.admitted(shared_pod("a", memory=1000))
            env = variables(made)
            self.assertEqual(env["KAISCHED_LEDGER"], "/run/kaisched/ledger")
            self.assertEqual(env["KAISCHED_POD_UID"], {"fieldRef": {"fieldPath": "metadata.uid"}})
            self.assertNotIn("CUDA_DEVICE_MEMORY_SHARED_CACHE", env)
            self.assertEqual(mounts(made)["/run/kaisched/ledger"]["subPathExpr"], "$(KAISCHED_POD_UID)_main")
            # Nobody chooses whose ledger it is.
            other = shared_pod("a", memory=1000)
            other["spec"]["containers"][0]["env"] = [{"name": "KAISCHED_POD_UID", "value": "victim"}, {"name": "X", "value": "y"}]
            there = self.admitted(other)["spec"]["containers"][0]["env"]
            self.assertEqual([one for one in there if one["name"] == "KAISCHED_POD_UID"],
                             [{"name": "KAISCHED_POD_UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}])  # fmt: skip
            self.assertIn({"name": "X", "value": "y"}, there)
            for amount, mib in (("1e3", 1000), ("5E2", 500), ("7e0", 7), ("2k", 2000)):
                self.assertEqual(variables(self.admitted(shared_pod("a", memory=amount)))["GPU_MEMORY_LIMIT"], str(mib << 20))
            paths = {v["name"]: v["hostPath"]["path"] for v in made["spec"]["volumes"]}
            self.assertEqual(paths, {"kaisched-library": "/opt/guard", "kaisched-ledgers": "/var/lib/kaisched/ledgers"})

    def test_a_percentage_is_what_the_scheduler_makes_of_it(self):
        with FakeApi() as api:
            self.serve(api)
            one = shared_pod("a", **{"nvidia.com/gpumem-percentage": 25})
            one["spec"]["initContainers"] = [{"name": "first", "image": "none"}]
            env = variables(self.admitted(one))
            self.assertEqual(env["KAISCHED_GRANTED_MEMORY"], {"fieldRef": {"fieldPath": "metadata.annotations['kaisched.io/granted-memory-1']"}})
            self.assertEqual(env["CUDA_DEVICE_MEMORY_LIMIT"], "$(KAISCHED_GRANTED_MEMORY)m")
            self.assertEqual(env["GPU_MEMORY_LIMIT"], "$(KAISCHED_GRANTED_MEMORY)m")
            names = [v["name"] for v in self.admitted(one)["spec"]["containers"][0]["env"]]
            self.assertLess(names.index("KAISCHED_GRANTED_MEMORY"), names.index("CUDA_DEVICE_MEMORY_LIMIT"))  # else it is no reference

    def test_init_containers_too(self):
        with FakeApi() as api:
            self.serve(api)
            one = shared_pod("a", memory=1000)
            one["spec"]["initContainers"] = [{"name": "warm", "image": "none", "resources": {"limits": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 500}}}]
            made = self.admitted(one)
            self.assertEqual(variables(made, of="initContainers")["CUDA_DEVICE_MEMORY_LIMIT"], "500m")
            self.assertEqual(len(made["spec"]["volumes"]), 2)

    def test_what_a_container_has_already_stays(self):
        with FakeApi() as api:
            self.serve(api)
            one = shared_pod("a", memory=1000)
            main = one["spec"]["containers"][0]
            main["env"] = [{"name": "LD_PRELOAD", "value": "/own.so"}, {"name": "CUDA_DEVICE_MEMORY_LIMIT", "value": "10m"}]
            main["volumeMounts"] = [{"name": "own", "mountPath": "/data"}]
            one["spec"]["volumes"] = [{"name": "own", "emptyDir": {}}]
            made = self.admitted(one)
            self.assertEqual(variables(made)["LD_PRELOAD"], f"{GUARD}:/own.so")
            self.assertEqual(variables(made)["CUDA_DEVICE_MEMORY_LIMIT"], "10m")
            self.assertEqual(mounts(made)["/data"]["name"], "own")
            self.assertEqual(made["spec"]["volumes"][0], {"name": "own", "emptyDir": {}})
            main["env"][0] = {"name": "LD_PRELOAD", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}
            self.assertEqual(self.admitted(one, warned=True), one)

    def test_whole_gpus_and_no_gpus_need_no_guard(self):
        with FakeApi() as api:
            self.serve(api)
            for one in (shared_pod("whole"), shared_pod("all", cores=100), shared_pod("none", cores=0), pod("plain", gpus=0),
                        shared_pod("full", **{"nvidia.com/gpumem-percentage": 100})):  # fmt: skip
                self.assertEqual(self.admitted(one), one)

    def test_a_part_without_a_number_is_one(self):
        with FakeApi() as api:
            self.serve(api)
            made = self.admitted(shared_pod("a", memory=1000, count=None))
            resources = made["spec"]["containers"][0]["resources"]
            self.assertEqual((resources["limits"]["nvidia.com/gpu"], resources["requests"]["nvidia.com/gpu"]), ("1", "1"))

    def test_opting_out(self):
        with FakeApi() as api:
            self.serve(api, "  scheduler: hami-scheduler\n")
            ignored = shared_pod("a", memory=1000)
            ignored["metadata"]["labels"] = {"hami.io/webhook": "ignore"}
            self.assertEqual(self.admitted(ignored), ignored)
            for change in ("annotation", "variable"):
                one = shared_pod("a", memory=1000)
                if change == "annotation":
                    one["metadata"]["annotations"] = {"kaisched.io/isolation": "false"}
                else:
                    one["spec"]["containers"][0]["env"] = [{"name": "CUDA_DISABLE_CONTROL", "value": "true"}]
                expected = copy.deepcopy(one)
                expected["spec"]["schedulerName"] = "hami-scheduler"
                self.assertEqual(self.admitted(one), expected)


class Admission(WebhookCase):
    def test_scheduler_of_those_that_ask(self):
        with FakeApi() as api:
            self.serve(api, "  scheduler: hami-scheduler\n  isolation: false\n")
            for scheduler, expected in (("default-scheduler", "hami-scheduler"), ("", "hami-scheduler"), ("hami-scheduler", "hami-scheduler"), ("volcano", "volcano")):
                one = shared_pod("a", memory=1000, scheduler=scheduler)
                self.assertEqual(self.admitted(one), {**one, "spec": {**one["spec"], "schedulerName": expected}})
            plain = pod("plain", gpus=0, scheduler="default-scheduler")
            self.assertEqual(self.admitted(plain), plain)
            placed = shared_pod("a", memory=1000)
            placed["spec"]["nodeName"] = "n0"
            response = self.respond(placed)
            self.assertFalse(response["allowed"])
            self.assertIn("spec.nodeName", response["status"]["message"])

    def privileged(self):
        one = shared_pod("a", memory=1000)
        one["spec"]["initContainers"] = [{"name": "first", "image": "none", "securityContext": {"privileged": True}}]
        return one

    def test_privileged_pods_are_left_alone(self):
        with FakeApi() as api:
            self.serve(api, "  scheduler: hami-scheduler\n")
            self.assertEqual(self.admitted(self.privileged(), warned=True), self.privileged())

    def test_privileged_pods_are_refused(self):
        with FakeApi() as api:
            self.serve(api, "  privileged: deny\n")
            response = self.respond(self.privileged())
            self.assertFalse(response["allowed"])
            self.assertEqual(response["status"]["code"], 403)
            self.assertIn("privileged", response["status"]["message"])
            self.assertNotIn("patch", response)
            plain = self.privileged()
            del plain["spec"]["containers"][0]["resources"]
            self.assertEqual(self.admitted(plain), plain)  # it asks for no device

    def test_other_objects_pass(self):
        with FakeApi() as api:
            self.serve(api)
            self.assertEqual(self.respond({"any": 1}, kind="Service"), {"uid": "review-1", "allowed": True})
            self.assertEqual(self.respond(shared_pod("a", memory=1), operation="UPDATE"), {"uid": "review-1", "allowed": True})

    def test_what_cannot_be_read_is_for_the_failure_policy(self):
        with FakeApi() as api:
            self.serve(api)
            negative = shared_pod("a", memory=-1)
            many = shared_pod("a", **{"nvidia.com/gpumem-percentage": 101})
            huge = shared_pod("a", memory=2**31)
            for body, expected in (
                ("", "no JSON"), ("[]", ""), ("{}", "request"), (json.dumps({"request": {"uid": "u"}}), ""),
                ('{"request": {"uid": ' + "[" * 100000 + "]" * 100000 + "}}", "more than 64 levels"),
                (json.dumps(self.review({})), "spec: is missing"),
                (json.dumps(self.review({"spec": {"containers": 1}})), "spec.containers: expected a list"),
                (json.dumps(self.review({"spec": {"containers": [1]}})), "expected containers"),
                (json.dumps(self.review(negative)), 'container main: resources.limits.nvidia.com/gpumem: expected a whole number'),
                (json.dumps(self.review(many)), "at most 100"),
                (json.dumps(self.review(huge)), "expected a whole number"),
            ):  # fmt: skip
                status, text = self.post(body)
                if body == json.dumps({"request": {"uid": "u"}}):
                    self.assertEqual(status, 200)  # about nothing that it knows
                elif '"object"' in body:  # a pod without its limits must not come in
                    self.assertEqual(status, 200, (body, text))
                    refused = json.loads(text)["response"]
                    self.assertEqual((refused["allowed"], refused["status"]["code"]), (False, 403))
                    self.assertIn(expected, refused["status"]["message"])
                else:
                    self.assertEqual(status, 400, (body, text))
                    self.assertIn(expected, text)
            self.assertEqual(self.admitted(pod("plain", gpus=0)), pod("plain", gpus=0))

    def test_who_waits_for_the_lease_answers(self):
        with FakeApi() as api:
            api.put("leases", lease("another", seconds=60))
            self.serve(api, config="leader_election: {lease_duration: 60s}\n")
            self.assertNotEqual(self.admitted(shared_pod("a", memory=1000)), shared_pod("a", memory=1000))

    def test_configuration(self):
        for text, expected in (
            ("webhook: {listen: ':1'}\n", "webhook: certificate: is missing"),
            ("webhook: {listen: ':1', certificate: a, key: b, library: lib}\n", "webhook.library: expected an absolute path"),
            ("webhook: {listen: ':1', certificate: a, key: b, privileged: yes}\n", "webhook.privileged: expected skip or deny"),
        ):
            file = self.folder / "bad.yaml"
            file.write_text(text)
            done = self.run_program("--config", file)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(expected, done.stderr)


class Fusion(WebhookCase, ExtenderCase):
    def test_from_the_request_to_the_limit(self):
        """Admitted with a percentage, placed by the extender: the annotation that the variable refers to holds the amount."""
        with FakeApi() as api:
            api.put("nodes", shared_node("n0", memory=40960))
            WebhookCase.serve(self, api, config="extender: {listen: '127.0.0.1:0'}\n")
            self.port = int(re.search(r"extender: listening on 127\.0\.0\.1:(\d+)", self.log())[1])
            self.assert_until(api, lambda: "all objects are read" in self.log())
            made = self.admitted(shared_pod("a", **{"nvidia.com/gpumem-percentage": 25}))
            self.add(api, made)
            self.assertEqual(self.chosen(api, "a", "n0"), "n0")
            path = variables(made)["KAISCHED_GRANTED_MEMORY"]["fieldRef"]["fieldPath"]
            self.assertEqual(self.notes(api, "a")[re.fullmatch(r"metadata\.annotations\['(.*)'\]", path)[1]], "10240")


if __name__ == "__main__":
    unittest.main()
