"""`kaisched generate`, `convert`, `digest`, `schema` and `version`."""

import gzip
import json
import resource
import subprocess
import unittest
import zipfile

from support import FEW_CASES, NODE, PROGRAM, QUEUE, SOURCE, Case, cluster, jobs, kaisched, main


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


class MostInputBytes(Case):
    """One limit for whatever is read."""

    LIMIT = "; --most-input-bytes sets the limit"

    def refused(self, named, *words, most=1000, **rest):
        self.assertEqual(self.fails(2, *words, "--most-input-bytes", most, **rest), f"kaisched: {named}: more than {most} bytes{self.LIMIT}\n")

    def test_devices_pipes_and_files_of_any_kind(self):
        self.refused("/dev/zero", "run", "/dev/zero", most=3_000_000)
        self.refused("-", "run", "-", stdin="x" * 1001)
        told = kaisched("check", "/dev/zero", "--most-input-bytes", "1000")
        self.assertEqual(told.returncode, 1)
        self.assertIn("/dev/zero: error: more than 1000 bytes; --most-input-bytes sets the limit", told.stdout)
        large = self.file("large", " " * 1001)
        small = self.file("c.json", cluster(QUEUE, NODE, jobs("a")))
        out = self.folder / "out.ks"
        for words in [
            ["run", large], ["explain", large, "a"], ["what-if", large, "--queue", "q"], ["convert", large, out],
            ["anonymise", large, "--out", out], ["digest", large], ["test", large],
            ["simulate", large, "--nodes", "1x1"], ["compare", large, "--nodes", "1x1"], ["workload", "describe", large],
            ["replay", large], ["bisect", large], ["minimise", large, "-o", out, "--command", "true"], ["import", large],
            ["federate", large, "--jobs", small], ["federate", small, "--jobs", large], ["federate", "--known", large, "--jobs", small],
            ["workload", "convert", large, out], ["serve", large, "--socket", self.folder / "s"],
            ["run", small, "--queue-rules", large], ["run", "--openb-nodes", large, "--openb-pods", small],
            ["scale", small, "--types", large],
        ]:  # fmt: skip
            with self.subTest(words=words):
                self.refused(large, *words)
        self.ok("check", "-", "--most-input-bytes", 1001, stdin=small.read_text().ljust(1001))
        self.ok("--most-input-bytes", 1000, "check", small)
        self.assertIn("expected an integer from 1 to", self.fails(2, "check", small, "--most-input-bytes", "0"))

    def test_archives(self):
        path = self.folder / "bomb.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("snapshot.json", b" " * 10_000_000)
        self.assertLess(path.stat().st_size, 100_000)
        self.refused(f"{path}: snapshot.json", "run", path, most=100_000)

    def test_recordings(self):
        work = self.file("jobs.csv", "job,submit,run_time,gpus\na,0,100,1\nb,10,50,2\n")
        path = self.folder / "jobs.kr.gz"
        self.ok("simulate", work, "--nodes", "2x1", "--record", path, "-q")
        packed, size = path.read_bytes(), len(gzip.decompress(path.read_bytes()))
        self.assertLess(len(packed), size // 2)
        self.ok("replay", path, "--most-input-bytes", size)
        for most in (size - 1, size // 2, len(packed)):
            self.refused(f"{path}: the recording, unpacked", "replay", path, most=most)
        size = 50_000_000
        path.write_bytes(gzip.compress(b"kaisched-recording/1\nS" + size.to_bytes(8, "little") + b"\0" * (8 + size)))
        self.assertIn("is damaged", self.fails(2, "replay", path))
        self.refused(f"{path}: the recording, unpacked", "bisect", path, most=100_000)


class Anonymise(Case):
    """Names go, decisions stay."""

    def check_decisions(self, path, *options):
        hidden, names = self.folder / "hidden.json", self.folder / "names.json"
        self.ok("anonymise", path, "--out", hidden, "--names", names)
        stands_for = {code: name for name, code in json.loads(names.read_text()).items()}
        self.assertEqual(len(stands_for), len(json.loads(names.read_text())))
        first, second = (
            json.loads(self.ok("run", of, *options, "--decisions", "-"))["decision"] for of in (path, hidden)
        )
        self.assertEqual(
            [[row["kind"], row.get("pod_name"), row.get("node_name"), row.get("devices")] for row in first],
            [
                [row["kind"], *(stands_for.get(row.get(key), row.get(key)) for key in ("pod_name", "node_name")), row.get("devices")]
                for row in second
            ],
        )
        return hidden.read_text(), stands_for, first

    def test_a_contended_cluster(self):
        path = self.folder / "c.json"
        self.ok("generate", path, "--gpus", 24, "--load", 1.6)
        text, stands_for, decisions = self.check_decisions(path, "--set", "actions=allocate,consolidation,reclaim,preempt")
        self.assertGreater(len(decisions), 8)
        for name in set(stands_for.values()) - {"cpu"}:  # a label there, and a dimension
            self.assertNotIn(f'"{name}"', text)

    def test_objects_of_kubernetes(self):
        for name, options in (("cluster.json", ()), ("hami.json", ("--preset", "hami"))):
            text, stands_for, decisions = self.check_decisions(SOURCE / "examples" / "kubernetes" / name, *options)
            self.assertTrue(decisions)
            for word in ("team/", "gpu-1", "GPU-", "vision", "speech"):
                self.assertNotIn(word, text)
        self.assertIn("NVIDIA-A100-PCIE-40GB", text)

    def test_every_form_of_text(self):
        path = self.file(
            "c.yaml",
            """schema: kaisched-cluster/1
topology:
  - {name: tree, levels: [zone, kubernetes.io/hostname], shapes: {zone: 'ring:4'}}
queue:
  - {name: quux, gpu_limits: {A100: "3"}}
node:
  - name: alpha
    capacity: {cpu: 8000, gpu: 2000, pods: 9}
    labels: {zone: east, kubernetes.io/hostname: alpha, nvidia.com/gpu.product: A100, cores: "12", secret/key: hush}
    taints: ["team=blue:NoSchedule", "spot:NoExecute"]
    position: {zone: "0"}
    claimable: [fast=drv/east/dev-1]
device:
  - {node: alpha, index: 0, uuid: GPU-7}
  - {node: alpha, index: 1, uuid: GPU-8}
pod_group:
  - {name: job, queue: quux, user: ann, namespace: lab, topology: tree, required_level: zone}
sub_group:
  - {group: job, name: workers, min_member: 1}
pod:
  - name: job-0
    group: job
    sub_group: workers
    request: {gpu: 1000, cpu: 1000}
    node_selector: {secret/key: hush}
    node_affinity: ["zone in (east,west),!banned,cores>8,spot=yes,tier notin (gold),nvidia.com/gpu.product=A100"]
    node_preferences: ["7: zone in (east),cores>9"]
    affinity: ["zone: app in (web)"]
    labels: {app: web}
    tolerations: ["team=blue:NoSchedule", "spot", "*:NoExecute"]
    host_ports: ["80"]
  - {name: job-1, group: job, sub_group: workers, request: {gpu: 1000}, obstacle: volume of ann is missing, tolerations: ["*"]}
resource_claim:
  - {name: claim, device_class: fast, count: 1, labels: {zone: east}}
""",
        )
        hidden, names = self.folder / "hidden.yaml", self.folder / "names.json"
        self.ok("anonymise", path, "-o", hidden, "--names", names)
        text, known = hidden.read_text(), json.loads(names.read_text())
        for word in ("alpha", "quux", "job", "ann", "lab", "workers", "east", "west", "blue", "team", "spot", "zone", "tier",
                     "gold", "banned", "secret", "hush", "web", "GPU-7", "claim", "tree", "fast", "dev-1", "volume"):
            self.assertNotRegex(text.replace("resource_claim", "").replace("claimable", ""), rf"\b{word}\b")
        for kept in ("kubernetes.io/hostname: " + known["alpha"], "nvidia.com/gpu.product", "A100", "ring:4", "NoSchedule",
                     f"{known['zone']} in ({known['east']},{known['west']})", f"{known['cores']}>8", f"7: {known['zone']} in ({known['east']}),{known['cores']}>9", "drv", "*:NoExecute"):
            self.assertIn(kept, text)
        self.assertEqual(sorted(known, key=known.get), sorted(known))
        self.check_decisions(path)

    def test_bad_input(self):
        self.assertIn("no-such.json", self.fails(2, "anonymise", "no-such.json"))
        path = self.file("c.json", cluster(QUEUE, NODE))
        self.assertIn("names", self.fails(2, "anonymise", path, "--names", "-"))


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

    def snapshot(self):
        """The example as KAI's scheduler gives it out: objects by list, without a kind."""
        lists = {}
        for item in json.loads((self.example / "cluster.json").read_text())["items"]:
            kind = item.pop("kind")
            item.pop("apiVersion")
            plural = {"PriorityClass": "priorityClasses", "Topology": "topologies"}.get(kind, kind[0].lower() + kind[1:] + "s")
            lists.setdefault(plural, []).append(item)
        return {
            "config": {"actions": "allocate", "tiers": [{"plugins": [{"name": "proportion"}]}]},
            "schedulerParams": {"schedulerName": "kai-scheduler", "partitionParams": {"NodePoolLabelKey": "kai.scheduler/node-pool"}},
            "rawObjects": lists | {"storageClasses": [{"metadata": {"name": "fast"}}], "configMaps": None},
        }

    def archive(self, name, **files):
        path = self.folder / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as to:
            for file, text in files.items():
                to.writestr(file.replace("_", "."), text)
        return path

    def test_a_snapshot_of_kai_is_read_from_its_archive(self):
        text = json.dumps(self.snapshot())
        wanted = (self.example / "tables.yaml").read_text()
        path = self.archive("snapshot.zip", snapshot_json=text, notes_txt="none")
        self.assertEqual(self.ok("convert", path, "-", "--to", "yaml"), wanted)
        self.assertEqual(self.ok("convert", "-", "-", "--to", "yaml", stdin=text), wanted)
        with open(path, "rb") as pipe:
            piped = subprocess.run([PROGRAM, "convert", "-", "-", "--to", "yaml"], stdin=pipe, capture_output=True, timeout=120)
        self.assertEqual(piped.stdout.decode(), wanted)

    def test_a_snapshot_says_which_pool_and_scheduler_it_is_of(self):
        told = self.snapshot()
        told["schedulerParams"] = {"schedulerName": "night", "partitionParams": {"NodePoolLabelKey": "part", "NodePoolLabelValue": "b"}}
        for one in (node for kind in ("nodes", "queues", "podGroups") for node in told["rawObjects"][kind]):
            one["metadata"].setdefault("labels", {})["part"] = "b"
        told["rawObjects"]["nodes"][0]["metadata"]["labels"]["part"] = "a"
        for pod in told["rawObjects"]["pods"]:
            if pod["spec"].get("schedulerName") == "kai-scheduler":
                pod["spec"]["schedulerName"] = "night"
        whole = json.loads(self.ok("convert", self.example / "cluster.json", "-", "--to", "json"))
        part = json.loads(self.ok("convert", "-", "-", "--to", "json", stdin=json.dumps(told)))
        self.assertEqual(len(part["node"]), len(whole["node"]) - 1)
        groups, of_all = ({pod["name"]: pod.get("group") for pod in of["pod"]} for of in (part, whole))
        self.assertGreater(len(groups), 4)
        self.assertLessEqual(groups.items(), of_all.items())  # pods of another scheduler would have none

    def test_archives_that_are_none(self):
        text = json.dumps(self.snapshot())
        bytes_of = self.archive("whole.zip", snapshot_json=text).read_bytes()

        def refused(bytes_):
            path = self.folder / "bad.zip"
            path.write_bytes(bytes_)
            return self.fails(2, "run", path)

        self.assertIn("bad.zip: the ZIP archive is damaged: it has no directory", refused(bytes_of[: len(bytes_of) // 2]))
        with zipfile.ZipFile(self.folder / "empty.zip", "w"):
            pass
        self.assertIn("bad.zip: the ZIP archive is empty", refused((self.folder / "empty.zip").read_bytes()))
        for at in range(40, len(bytes_of) - 100, 97):  # data, then directory: an error, or the same bytes
            path = self.folder / "flipped.zip"
            path.write_bytes(bytes_of[:at] + bytes([bytes_of[at] ^ 0x55]) + bytes_of[at + 1 :])
            self.assertIn(kaisched("check", path).returncode, (0, 1))
        path = self.folder / "flipped.zip"
        middle = len(bytes_of) // 2
        path.write_bytes(bytes_of[:middle] + bytes([bytes_of[middle] ^ 0x55]) + bytes_of[middle + 1 :])
        self.assertIn("snapshot.json", self.fails(2, "run", path))
        self.assertIn("expected a .json in the archive, found none", self.fails(2, "run", self.archive("n.zip", notes_txt="")))
        self.assertIn("found b.json as well", self.fails(2, "run", self.archive("two.zip", a_json=text, b_json=text)))

    @unittest.skipIf(FEW_CASES, "sanitizers reserve more addresses than the limit")
    def test_files_that_are_larger_than_the_memory_are_named(self):
        packed = self.folder / "large.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("snapshot.json", b" " * 400_000_000)
        plain = self.folder / "large.json"
        with plain.open("wb") as file:
            file.truncate(400_000_000)
        most = 400_000_000
        for path in [packed, plain]:
            done = subprocess.run([PROGRAM, "check", path], capture_output=True, text=True, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))  # fmt: skip
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout + done.stderr, rf"{path.name}: .*no memory is left")

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
