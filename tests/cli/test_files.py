"""`kaisched generate`, `convert`, `digest`, `schema` and `version`."""

import json

from support import NODE, QUEUE, SOURCE, Case, cluster, jobs, kaisched, main


class Sizes(Case):
    def test_every_size(self):
        for gpus in [1, 7, 8, 9, 63, 64, 65, 200]:
            made = json.loads(self.ok("generate", "-", "--gpus", gpus))
            there = sum(node["capacity"].get("gpu", 0) for node in made["node"])
            broken = sum(1 for device in made.get("device", []) if device.get("healthy") is False)
            self.assertEqual(there + 1000 * broken, 1000 * gpus)
            path = self.file("c.json", json.dumps(made))
            self.ok("run", path)

    def test_small_clusters_ask_for_about_as_much_as_they_should(self):
        for gpus in [8, 24, 48]:
            made = json.loads(self.ok("generate", "-", "--gpus", gpus, "--load", "1.3"))
            hopeless = ("wants-h200", "sixteen-gpus", "gang-of-16", "volume-missing", "reserved", "gated")
            asked = sum(
                pod["request"].get("gpu", 0) for pod in made["pod"] if not any(h in pod["name"] for h in hopeless)
            )
            self.assertLess(abs(asked / 1000 - 1.3 * gpus), 10)

    def test_summary(self):
        path = self.folder / "c.json"
        self.assertRegex(
            self.ok("generate", path, "--gpus", "64"), r"c\.json: 16 nodes with 6\d GPUs, 14 queues, .* waiting\)\n$"
        )
        report = json.loads(self.ok("generate", path, "--gpus", "64", "--json"))
        self.assertEqual((report["schema"], report["gpus"], report["seed"]), ("kaisched-generate/1", 64, 1))
        self.assertEqual(report["digest"], self.ok("digest", path).split()[0])

    def test_where_to(self):
        self.assertIn("name one FILE to write", self.fails(2, "generate"))
        self.assertIn("name one FILE to write", self.fails(2, "generate", "a.json", "--out", "b.json"))
        self.assertIn(
            "--json and the cluster cannot both write to the standard output", self.fails(2, "generate", "-", "--json")
        )
        self.ok("generate", self.folder / "c.yaml", "--gpus", "8")
        self.assertTrue((self.folder / "c.yaml").read_text().startswith("schema: kaisched-cluster/1"))


class Convert(Case):
    def setUp(self):
        super().setUp()
        self.json = self.folder / "c.json"
        self.ok("generate", self.json, "--gpus", "64", "--load", "1.3", "-q")

    def test_there_and_back(self):
        for ending in ["yaml", "yml", "ks"]:
            other = self.folder / f"c.{ending}"
            back = self.folder / "back.json"
            self.assertIn(f"c.{ending}: 16 nodes", self.ok("convert", self.json, other))
            self.ok("convert", other, back)
            digests = [line.split()[0] for line in self.ok("digest", self.json, other, back).splitlines()]
            self.assertEqual(len(set(digests)), 1)
            if ending != "ks":  # a scenario's clock starts at its own zero
                self.assertEqual(self.json.read_bytes(), back.read_bytes())

    def test_streams(self):
        yaml = self.ok("convert", self.json, "-", "--to", "yaml")
        self.assertTrue(yaml.startswith("schema: kaisched-cluster/1"))
        self.assertEqual(self.ok("convert", "-", "-", "--to", "json", stdin=yaml), self.json.read_text())

    def test_traces(self):
        nodes = self.file("n.csv", "name,gpu_model,gpu_count,cpu_milli,memory_mib\nn,T4,2,8000,8192\n")
        pods = self.file("p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,1024,1,500\n")
        out = self.folder / "trace.json"
        report = json.loads(self.ok("convert", "--openb-nodes", nodes, "--openb-pods", pods, out, "--json"))
        self.assertEqual((report["schema"], report["form"]), ("kaisched-convert/1", "json"))
        self.assertEqual(
            json.loads(out.read_text())["pod"][0]["request"], {"cpu": 1000, "memory": 2**30, "gpu": 500, "pods": 1}
        )
        self.assertEqual(report["digest"], self.ok("digest", "--openb-nodes", nodes, "--openb-pods", pods).split()[0])

    def test_refusals(self):
        self.assertIn(
            "the name does not say the form; add --to json|ks|yaml", self.fails(2, "convert", self.json, "out.txt")
        )
        self.assertIn("OUT is missing", self.fails(2, "convert", self.json))
        self.assertIn('nothing is expected where "c" stands', self.fails(2, "convert", self.json, "b", "c"))
        self.assertIn("cannot open for writing", self.fails(3, "convert", self.json, self.folder / "no" / "c.yaml"))


class Kubernetes(Case):
    """Objects as `kubectl get -o json` prints them."""

    example = SOURCE / "examples" / "kubernetes"

    def test_the_example_is_read_from_a_pipe(self):
        objects = (self.example / "cluster.json").read_text()
        # To renew: kaisched convert examples/kubernetes/cluster.json examples/kubernetes/tables.yaml
        self.assertEqual(
            self.ok("convert", "-", "-", "--to", "yaml", stdin=objects), (self.example / "tables.yaml").read_text()
        )
        report = json.loads(self.ok("run", "-", "--json", stdin=objects))
        self.assertEqual(report["schema"], "kaisched-run/1")
        self.assertIn("speech/chat-0", self.ok("explain", "speech/chat-0", "--cluster", self.example / "cluster.json"))

    def test_a_cluster_of_hami_is_decided_by_its_preset(self):
        objects = (self.example / "hami.json").read_text()
        # To renew: kaisched convert examples/kubernetes/hami.json examples/kubernetes/hami-tables.yaml
        self.assertEqual(
            self.ok("convert", "-", "-", "--to", "yaml", stdin=objects),
            (self.example / "hami-tables.yaml").read_text(),
        )
        decided = json.loads(self.ok("run", "-", "--preset", "hami", "--decisions", "-", stdin=objects))
        binds = [row for row in decided["decision"] if row["kind"] == "bind"]
        self.assertEqual(
            [(row["pod_name"], row["node_name"], row["device_grants"]) for row in binds],
            [
                ("team/serve", "gpu-1", ["container=0,device=GPU-gpu-1-1,memory=20971520000,cores=50,slots=1"]),
                ("team/eval", "gpu-1", ["container=0,device=GPU-gpu-1-0,memory=21474836480,cores=0,slots=1"]),
            ],
        )

    def test_objects_with_faults_are_left_out(self):
        good = '{"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": 1}}}\n'
        path = self.file("c.json", good + good.replace('"a"', '"b"').replace("1}", '"one"}'))
        self.assertIn("1 object of the input is left out", self.ok("run", path))
        done = kaisched("check", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("c.json:2: error: Node b: status.allocatable.cpu: expected a quantity", done.stdout)
        self.assertIn(
            'c.json:2: Node b: status.allocatable.cpu: expected a quantity such as 500m or 2Gi, found "one"',
            self.fails(2, "run", path, "--on-invalid", "reject"),
        )


class Digest(Case):
    def setUp(self):
        super().setUp()
        self.path = self.file("c.json", cluster(QUEUE, NODE, jobs("a", "b", "c")))
        self.decisions = self.folder / "d.json"
        self.ok("run", self.path, "-q", "--decisions", self.decisions)

    def test_the_form_and_the_order_of_rows_do_not_count(self):
        turned = self.file("t.json", cluster(jobs("c", "b", "a"), NODE, QUEUE))
        one, two = [line.split()[0] for line in self.ok("digest", self.path, turned).splitlines()]
        self.assertEqual(one, two)
        other = self.file("o.json", cluster(QUEUE, NODE, jobs("a", "b")))
        self.assertNotEqual(self.ok("digest", other).split()[0], one)
        self.assertEqual(self.ok("digest", "-", stdin=self.path.read_text()), f"{one}  standard input\n")

    def test_decisions_are_verified(self):
        report = json.loads(self.ok("digest", self.decisions, "--json"))
        self.assertEqual(report["schema"], "kaisched-digest/1")
        written = json.loads(self.decisions.read_text())["digest"]
        self.assertEqual(
            report["files"],
            [{"file": str(self.decisions), "kind": "decisions", "digest": written, "ok": True, "written": written}],
        )
        changed = self.file("x.json", self.decisions.read_text().replace('"b-0"', '"c-0"'))
        done = kaisched("digest", self.decisions, changed)
        self.assertEqual(done.returncode, 1)
        self.assertIn("x.json: the decisions are not those of the digest in the file", done.stderr)
        self.assertEqual(kaisched("digest", changed, "--json").returncode, 1)

    def test_expectations(self):
        digest = self.ok("digest", self.path).split()[0]
        self.ok("digest", self.path, "--expect", digest)
        done = kaisched("digest", self.path, "--expect", "0" * 64)
        self.assertEqual((done.returncode, f"expected {'0' * 64}" in done.stderr), (1, True))
        self.assertIn("no file is named", self.fails(2, "digest"))
        self.assertIn("absent: cannot open", self.fails(2, "digest", "absent"))


class Lists(Case):
    def test_options(self):
        report = json.loads(self.ok("options", "--json"))
        self.assertEqual(report["schema"], "kaisched-options/1")
        by_name = {one["name"]: one for one in report["options"]}
        self.assertEqual(by_name["placement.gpu"]["values"], ["binpack", "spread"])
        self.assertEqual((by_name["proportion.k"]["least"], by_name["proportion.k"]["most"]), (0, 1e6))
        self.assertIn("allocate", by_name["actions"]["values"])
        text = self.ok("options", "placement.gpu")
        self.assertIn("binpack", text)
        self.assertNotIn("proportion.k", text)
        self.assertIn('did you mean "placement.gpu"?', self.fails(2, "options", "placment.gpu"))

    def test_schema(self):
        report = json.loads(self.ok("schema", "--json"))
        self.assertEqual(report["schema"], "kaisched-schema/1")
        tables = {table["name"]: table for table in report["tables"]}
        self.assertEqual((tables["pod"]["of"], tables["decision"]["of"]), ("cluster", "session"))
        columns = {column["name"]: column for column in tables["pod"]["columns"]}
        self.assertEqual((columns["name"]["required"], columns["status"]["default"]), (True, "pending"))
        self.assertEqual([t["name"] for t in json.loads(self.ok("schema", "pod", "--json"))["tables"]], ["pod"])

    def test_documents_are_those_of_the_repository(self):
        for name in ["cluster", "decisions"]:
            committed = (SOURCE / "docs" / "schema" / f"kaisched-{name}-1.schema.json").read_text(encoding="utf-8")
            self.assertEqual(self.ok("schema", "--document", name), committed)
            self.assertEqual(json.loads(self.ok("schema", "--document", name, "--json")), json.loads(committed))

    def test_version(self):
        report = json.loads(self.ok("version", "--json"))
        self.assertEqual(report["version"], (SOURCE / "VERSION").read_text().strip())
        self.assertEqual(set(report), {"schema", "version", "abi", "compiler", "build", "checks_invariants"})
        self.assertTrue(self.ok("version").startswith(f"kaisched {report['version']}\n"))
        self.assertEqual(self.ok("version", "-q"), "")


if __name__ == "__main__":
    main()
