"""The files to deploy kaisched-kubernetes with: values, rights, metrics of the dashboard, what the image copies.
test_lab_chart.py renders the chart."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).parents[2]
DEPLOY = TOP / "examples/kubernetes/deploy"
CHART = DEPLOY / "chart"
PROGRAM = os.environ["KAISCHED_KUBERNETES"]


def yaml():
    try:
        import yaml as found
    except ImportError:
        raise unittest.SkipTest("skipped: PyYAML absent") from None
    return found


class Deploy(unittest.TestCase):
    def read(self, path):
        return yaml().safe_load((CHART / path).read_text())

    def test_the_chart_has_the_version_of_the_project(self):
        chart = self.read("Chart.yaml")
        version = (TOP / "VERSION").read_text().strip()
        self.assertEqual((chart["version"], chart["appVersion"]), (version, version))

    def test_values_follow_their_schema(self):
        schema = json.loads((CHART / "values.schema.json").read_text())
        values = self.read("values.yaml")
        self.check(values, schema, "values")
        for wrong in ({"port": 0}, {"imgae": {}}, {"config": {"scheduler_name": "x", "server": {}}}, {"replicas": "1"}):
            with self.assertRaises(AssertionError, msg=wrong):
                self.check({**values, **wrong}, schema, "values")

    def check(self, value, schema, path):
        """The part of JSON Schema that values.schema.json uses."""
        known = {"$schema", "type", "additionalProperties", "required", "properties", "minLength", "enum", "items", "minimum",
                 "maximum", "not", "pattern"}
        self.assertLessEqual(set(schema), known, path)
        kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
        if "type" in schema:
            self.assertIsInstance(value, kinds[schema["type"]], path)
            self.assertEqual(isinstance(value, bool), schema["type"] == "boolean", path)
        if "enum" in schema:
            self.assertIn(value, schema["enum"], path)
        if isinstance(value, str):
            self.assertGreaterEqual(len(value), schema.get("minLength", 0), path)
            self.assertIsNotNone(re.search(schema.get("pattern", ""), value), path)
        if isinstance(value, int):
            self.assertTrue(schema.get("minimum", value) <= value <= schema.get("maximum", value), path)
        if isinstance(value, list):
            for i, one in enumerate(value):
                self.check(one, schema.get("items", {}), f"{path}[{i}]")
        if isinstance(value, dict):
            self.assertLessEqual(set(schema.get("required", ())), set(value), path)
            self.assertFalse(set(schema.get("not", {}).get("required", ())) & set(value), path)
            for name, one in value.items():
                below = schema.get("properties", {}).get(name, schema.get("additionalProperties", True))
                self.assertIsNot(below, False, f"{path}.{name}")
                self.check(one, {} if below is True else below, f"{path}.{name}")

    def test_templates_use_values_that_there_are(self):
        values = self.read("values.yaml")
        for file in sorted((CHART / "templates").iterdir()):
            text = file.read_text()
            self.assertEqual(text.count("{{"), text.count("}}"), file)
            opened = len(re.findall(r"\{\{-? *(?:if|with|range|define)\b", text))
            self.assertEqual(opened, len(re.findall(r"\{\{-? *end\b", text)), file)
            for path in re.findall(r"\.Values((?:\.\w+)+)", text):
                at = values
                for name in path[1:].split("."):
                    self.assertIn(name, at, f"{file.name}: {path}")
                    at = at[name]
            for name in re.findall(r'\.Files\.Get "([^"]+)"', text):
                self.assertTrue((CHART / name).is_file(), name)
            for name in re.findall(r'include "([^"]+)"', text):
                self.assertIn(f'define "{name}"', (CHART / "templates/_helpers.tpl").read_text())

    def test_the_program_takes_the_configuration(self):
        values = self.read("values.yaml")
        with tempfile.TemporaryDirectory() as folder:
            config = {
                **values["config"], "server": {"listen": "127.0.0.1:0", "token_file": "t", "usage_token_file": "u"},
                "extender": {"listen": "127.0.0.1:0", **values["extender"]["settings"]},
                "webhook": {"listen": "127.0.0.1:0", "certificate": "c", "key": "k", **values["webhook"]["settings"]},
                "scaling": {"image": "i", "namespace": values["scaling"]["namespace"], **values["scaling"]["settings"]},
                "sharing": {"image": "i", "namespace": values["reservation"]["namespace"], **values["reservation"]["settings"]},
            }  # fmt: skip
            file = Path(folder) / "config.yaml"
            file.write_text(yaml().safe_dump(config))
            done = subprocess.run([PROGRAM, "--config", file, "--kubeconfig", Path(folder) / "none"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("none: cannot be read", done.stderr)  # so the configuration is right

    def test_the_webhook_is_asked_where_it_answers(self):
        text = (CHART / "templates/webhook.yaml").read_text()
        served = (DEPLOY.parent / "scheduler/webhook/webhook.cpp").read_text()
        self.assertIn(f'on.route("POST", "{re.search(r"path: (/[a-z]+)", text)[1]}"', served)
        self.assertIn("admissionReviewVersions: [v1]", text)
        self.assertIn(self.read("values.yaml")["webhook"]["failurePolicy"], ("Ignore", "Fail"))

    def test_rights_are_those_that_are_documented(self):
        rules = []
        for part, documented in (("rules", "rbac"), ("extender-rules", "rbac-extender"), ("usage-rules", "rbac-usage"), ("node-rules", "rbac-node"), ("sharing-rules", "rbac-sharing"), ("jobs-rules", "rbac-jobs")):
            read = self.read(f"files/{part}.yaml")
            role = next(yaml().safe_load_all((DEPLOY.parent / f"{documented}.yaml").read_text()))
            self.assertEqual((role["kind"], role["rules"]), ("Role" if part == "usage-rules" else "ClusterRole", read))
            rules += read
        for rule in rules:
            for words in (rule["apiGroups"], rule["resources"], rule["verbs"]):
                self.assertNotIn("*", words)
            self.assertNotIn("secrets", rule["resources"])
        template = (CHART / "templates/rbac.yaml").read_text()
        self.assertEqual(template.count("rules:"), 2)  # of the cluster and, where it counts, of the namespace

    def test_what_runs_on_nodes(self):
        """Programs and their arguments, the guard where webhook and plugin look for it, folders of one and the other."""
        text = (CHART / "templates/node.yaml").read_text()
        image = (DEPLOY / "Dockerfile").read_text()
        self.assertEqual(text.count("rules:"), 1)
        for program, variable in (("kaisched-device-plugin", "KAISCHED_DEVICE_PLUGIN"), ("kaisched_cuda_agent", "KAISCHED_AGENT")):
            self.assertIn(f"/bin/{program}", image)
            part = re.search(rf"command: \[{program}\]\n(.*?)\n +env:", text, re.S)[1]
            if os.environ.get(variable):
                known = subprocess.run([os.environ[variable], "--help"], capture_output=True, text=True, check=True).stdout
                for word in re.findall(r"- (--[a-z-]+)", part):
                    self.assertRegex(known, rf"(?m)^ +{word}\b", program)
        guard = "libkaisched_guard_dlsym.so"
        self.assertRegex(image, rf"{guard} /usr/local/lib/kaisched/")
        for source in ("scheduler/webhook/isolation.cpp", "device_plugin/container_setup.cpp"):
            self.assertIn(guard, (DEPLOY.parent / source).read_text())
        settings = (DEPLOY.parent / "scheduler/webhook/webhook_fields.hpp").read_text()
        self.assertIn(f'"{self.read("values.yaml")["node"]["library"]}"', settings)
        helpers = (CHART / "templates/_helpers.tpl").read_text()
        self.assertIn("ledgers: {{ .Values.node.state }}/ledgers", helpers)
        self.assertEqual(text.count("--ledgers={{ .Values.node.state }}/ledgers"), 2)

    def test_rights_of_reservations(self):
        documented = list(yaml().safe_load_all((DEPLOY.parent / "rbac-sharing.yaml").read_text()))
        template = (CHART / "templates/reservation.yaml").read_text()
        given = [one["rules"] for one in documented if one["kind"] == "Role"]
        self.assertEqual(given, [[yaml().safe_load(text)] for text in re.findall(r"(?m)^rules:\n- (.*)$", template)])
        self.assertEqual([rules[0]["verbs"] for rules in given], [["create"], ["patch"]])
        defaults = (DEPLOY.parent / "scheduler/sharing/sharing_fields.hpp").read_text()
        account = next(one for one in documented if one["kind"] == "ServiceAccount")["metadata"]
        self.assertIn(f'account = "{account["name"]}"', defaults)
        self.assertIn(f'name_space = "{account["namespace"]}"', defaults)
        self.assertEqual(self.read("values.yaml")["reservation"]["namespace"], account["namespace"])
        self.assertIn(f"  name: {account['name']}\n", template)

    def test_the_dashboard_shows_metrics_that_there_are(self):
        declared = (DEPLOY.parent / "scheduler/observability/cycle_metrics.cpp").read_text()
        board = json.loads((CHART / "files/dashboard.json").read_text())
        used = set()
        for panel in board["panels"]:
            for target in panel["targets"]:
                used |= set(re.findall(r"\b(?:kai|kaisched)_\w+", target["expr"]))
        self.assertGreater(len(used), 10)
        for name in used:
            base = re.sub("_bucket$", "", name)
            self.assertIn(f'"{base if base.startswith("kaisched_") else base.removeprefix("kai_")}"', declared)
        places = [p["gridPos"] for p in board["panels"]]
        cells = [(x, y) for g in places for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])]
        self.assertEqual(len(cells), len(set(cells)))

    def test_what_the_image_is_made_of(self):
        text = (DEPLOY / "Dockerfile").read_text()
        for name in re.findall(r"/source/(\S+)", text):
            if not name.startswith("build/"):
                self.assertTrue((TOP / name).exists(), name)
        self.assertRegex(text, r"(?m)^USER 65532:65532$")
        self.assertIn("runAsUser: 65532", (CHART / "templates/deployment.yaml").read_text())
        packages = set(re.findall(r"'?(lib[\w.|-]+)'?", re.search(r"BUILD_PACKAGES=\(([^)]*)\)", (TOP / "dev").read_text())[1]))
        for package in packages - {"libdoctest-dev", "librapidcheck-dev"}:  # of the tests
            self.assertTrue(any(one in text for one in package.split("|")), package)
        subprocess.run(["bash", "-n", DEPLOY / "build_image.sh"], check=True)
        roots = (DEPLOY / "build_image.sh").read_text()
        for step in re.findall(r"(?m)^([A-Z]+) ", text):  # which --roots carries out as well
            self.assertRegex(roots, rf"(?m)^ +([A-Z]+ \| )*{step}( \| [A-Z]+)*\)")


if __name__ == "__main__":
    unittest.main()
