"""The program `kaisched` from outside: help, errors, decisions. Arguments are those of unittest."""

import csv
import io
import json
import os
import re
import subprocess

from support import FEW_CASES, NODE, PROGRAM, QUEUE, SHARED, SOURCE, Case, cluster, jobs, kaisched, main

COMMANDS = ["demo", "run", "generate", "options", "schema", "version"]
TIME = re.compile(r"\d+(\.\d+)? [mµ]?s\b")


class Help(Case):
    def test_overview_names_every_command(self):
        text = self.ok("--help")
        for word in [*COMMANDS, "Examples", "Exit status:"]:
            self.assertIn(word, text)

    def test_every_command_explains_its_options(self):
        for command in COMMANDS:
            text = self.ok(command, "--help")
            self.assertIn(f"kaisched {command}", text)
        for option in ["--cluster", "--openb-nodes", "--openb-pods", "--decisions", "--json", "--set", "--preset"]:
            self.assertIn(option, self.ok("run", "--help"))
        for option in ["--gpus", "--load", "--seed", "--out"]:
            self.assertIn(option, self.ok("generate", "--help"))
            self.assertIn(option, self.ok("demo", "--help"))

    def test_version_is_the_one_of_the_project(self):
        self.assertEqual(self.ok("--version"), f"kaisched {(SOURCE / 'VERSION').read_text().strip()}\n")

    def test_lines_fit_a_terminal(self):
        for command in [["--help"], *([c, "--help"] for c in COMMANDS), ["options"], ["schema"], ["schema", "pod"]]:
            for line in self.ok(*command).splitlines():
                self.assertLessEqual(len(line), 100, line)


class Errors(Case):
    def run_of(self, text, status=2):
        path = self.file("c.json", text)
        return self.fails(status, "run", "--cluster", path).replace(str(self.folder) + "/", "")

    def test_commands(self):
        self.assertIn('no command is called "dmeo"; did you mean "demo"?', self.fails(2, "dmeo"))
        self.assertIn("Usage: kaisched COMMAND", self.fails(2))
        self.assertIn("--bogus", self.fails(2, "run", "--bogus"))

    def test_input_files(self):
        self.assertIn("no cluster is named: give a FILE", self.fails(2, "run"))
        self.assertIn("absent.json: cannot open: No such file or directory",
                      self.fails(2, "run", "--cluster", self.folder / "absent.json"))
        for wrong, message in [
            (["--openb-pods", "p.csv"], "--openb-nodes is missing"),
            (["--openb-nodes", "n.csv"], "--openb-pods is missing"),
            (["--cluster", "c.json", "--openb-nodes", "n.csv", "--openb-pods", "p.csv"], "c.json and an openb trace"),
            (["c.json", "--cluster", "d.json"], "two clusters are named, c.json and d.json"),
        ]:
            self.assertIn(message, self.fails(2, "run", *wrong))

    def test_texts_that_are_no_cluster(self):
        self.assertEqual(self.run_of("{}"), 'kaisched: c.json:1: "schema" is missing: a cluster starts with "schema": '
                         '"kaisched-cluster/1"\n')
        self.assertTrue(self.run_of('{"schema":\n ?').startswith("kaisched: c.json:2:2: "))

    def test_names_that_are_misspelt(self):
        self.assertIn('c.json:1: nodes: no such kind of table; did you mean "node"?', self.run_of(cluster('"nodes": []')))
        self.assertIn('c.json:1: queue[0].qouta: queue has no such column; did you mean "quota"?',
                      self.run_of(cluster('"queue": [{"name": "q", "qouta": {"gpu": 1}}]')))
        self.assertIn('c.json:1: pod[0].request.gpus: no such dimension; did you mean "gpu"?',
                      self.run_of(cluster(QUEUE, '"pod": [{"name": "p", "group": "g", "request": {"gpus": 1}}]')))

    def test_rows_that_contradict_each_other(self):
        message = self.run_of(cluster('"pod_group": [{"name": "g", "queue": "nowhere"}]'))
        self.assertTrue(message.startswith("kaisched: c.json:1: pod_group[0].queue: "), message)
        self.assertIn("nowhere", message)

    def test_what_is_read_is_not_overwritten(self):
        path = self.file("c.json", cluster(QUEUE, NODE, jobs("a")))
        before = path.read_text()
        also = self.folder / "." / "c.json"
        link = self.folder / "link.json"
        link.symlink_to(path)
        for command in ["run", "check", "digest"]:
            for target in [path, also, link]:
                message = self.fails(2, command, path, f"--json={target}")
                self.assertIn(f"{command}: --json would overwrite", message)
        self.assertIn("--decisions would overwrite", self.fails(2, "run", "--cluster", path, "--decisions", link))
        out = self.folder / "out.json"
        self.assertIn("would write to the same file", self.fails(2, "run", path, "--decisions", out, f"--json={out}"))
        self.assertEqual((path.read_text(), out.exists()), (before, False))
        self.ok("run", path, "--decisions", out)

    def test_words_behind_two_dashes_are_no_options(self):
        (self.folder / "-x.json").write_text(cluster(QUEUE, NODE, jobs("--help")))
        where = subprocess.run([PROGRAM, "digest", "--", "-x.json"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((where.returncode, where.stdout.split()[1:]), (0, ["-x.json"]), where.stderr)
        path = self.file("c.json", cluster(QUEUE, NODE, jobs("--help")))
        self.assertIn("--help-0", self.ok("explain", path, "--", "--help"))
        self.assertIn('nothing is expected where "d" stands', self.fails(2, "run", path, "--", "d"))
        self.assertIn('nothing is expected where "-" stands', self.fails(2, "run", "-", "-"))

    def test_an_option_takes_one_value_each_time(self):
        path = self.file("c.json", cluster(QUEUE, NODE, jobs("a")))
        wanted = json.loads(self.ok("run", path, "--mode", "compat", "--json"))["digest"]
        found = json.loads(self.ok("run", "--set", "proportion.k=0", "--set", "mode=compat", path, "--json"))
        self.assertEqual((found["mode"], found["digest"]), ("compat", wanted))

    def test_integers_are_decimal_and_in_bounds(self):
        for seed in ["-1", "18446744073709551616", "99999999999999999999999", "", "1e3", "0x10", " 1"]:
            message = self.fails(2, "generate", "-", "--gpus", "4", "--seed", seed)
            self.assertIn("--seed: expected an integer from 0 to 18446744073709551615", message)
        for gpus in ["0", "1048577", "1e3", "8.5", "x"]:
            self.assertIn("expected an integer from 1 to", self.fails(2, "generate", "-", "--gpus", gpus))
        same = [self.ok("generate", "-", "--gpus", "4", "--seed", seed) for seed in ["10", "010"]]
        self.assertEqual(same[0], same[1])
        path = self.file("c.json", cluster(QUEUE, NODE, jobs("a")))
        self.assertIn("'-1' is not a number from 0 to 1e+06", self.fails(2, "run", path, "--set", "proportion.k=-1"))

    def test_help_about_nothing(self):
        self.assertIn('no command is called "nope"', self.fails(2, "help", "nope"))
        self.assertIn('no command is called "nope"', self.fails(2, "nope", "--help"))
        self.assertIn("Usage: kaisched run", self.ok("help", "run"))

    def test_errors_that_nobody_can_read(self):
        for arguments, status in [(["run", "absent.json"], 2), (["run", "--bogus"], 2)]:
            line = " ".join([PROGRAM, *arguments])
            for sink in ["2>&-", "2>/dev/full"]:
                done = subprocess.run(["sh", "-c", f"{line} {sink}"], capture_output=True)
                self.assertEqual(done.returncode, status, (line, sink))

    def test_what_is_no_file(self):
        self.assertIn("cannot read: Is a directory", self.fails(2, "run", self.folder))
        self.assertEqual(kaisched("check", self.folder).returncode, 2)

    def test_a_claim_that_is_not_there_is_a_reason_and_no_error(self):
        pod = '"pod": [{"name": "p", "group": "g", "request": {"gpu": 1000}, "claims": ["c"]}]'
        path = self.file("c.json", cluster(QUEUE, NODE, '"pod_group": [{"name": "g", "queue": "q"}]', pod))
        for command in [["run", path], ["explain", path, "p"]]:
            self.assertIn("where the resource claims of the pod cannot be used", self.ok(*command))

    def test_bad_rows_are_left_out_on_request(self):
        bad = cluster('"queue": [{"name": "q"}, {"name": "lost", "parent": "nowhere"}]', NODE, jobs("a"))
        path = self.file("bad.json", bad)
        good = self.file("good.json", cluster(QUEUE, NODE, jobs("a")))
        out = self.folder / "out.json"
        for command in [["run", path], ["digest", path], ["explain", path, "a"], ["convert", path, out]]:
            self.assertIn("there is no queue 'nowhere'", self.fails(2, *command))
            self.assertIn("there is no queue 'nowhere'", self.fails(2, *command, "--on-invalid", "reject"))
            self.assertIn("quarantin", self.fails(2, *command, "--on-invalid", "quarantin"))
        lenient = ["--on-invalid", "quarantine"]
        self.assertEqual(self.ok("digest", path, *lenient).split()[0], self.ok("digest", good).split()[0])
        self.assertIn("1 object of the input is left out", self.ok("run", path, *lenient))
        self.assertNotIn("left out", self.ok("run", good, *lenient))
        self.assertIn("1 object of the input is left out", self.fails(2, "explain", path, "lost", *lenient))
        self.assertIn("1 object of the input is left out", self.ok("convert", path, out, *lenient))
        self.assertEqual(self.ok("digest", out).split()[0], self.ok("digest", good).split()[0])
        found, wanted = [json.loads(self.ok("run", one, *lenient, "--json")) for one in (path, good)]
        self.assertEqual((found["cluster"].pop("left_out"), wanted["cluster"].pop("left_out")), (1, 0))
        self.assertEqual((found["digest"], found["cluster"]), (wanted["digest"], wanted["cluster"]))

    def test_options(self):
        path = self.file("c.json", cluster(QUEUE))
        for option, value, expected in [
            ("--set", "placment.gpu=spread", "placement.gpu"),
            ("--set", "spread", "OPTION=VALUE"),
            ("--set", "placement.gpu=tight", "binpack"),
            ("--mode", "loose", "strict"),
            ("--preset", "kia", "kai"),
            ("--actions", "alocate", "allocate"),
            ("--decisions", "d.txt", ".json or .csv"),
        ]:
            self.assertIn(expected, self.fails(2, "run", "--cluster", path, option, value))

    def test_traces(self):
        nodes = self.file("n.csv", "name,gpu_model,gpu_count,cpu_milli,memory_mib\nn,T4,2,many,1\n")
        pods = self.file("p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n")
        message = self.fails(2, "run", "--openb-nodes", nodes, "--openb-pods", pods)
        self.assertIn('n.csv:2: cpu_milli: expected an integer from 0 to 4503599627370496, found "many"', message)

    def test_sizes(self):
        for size in ["0", "1048577", "many"]:
            self.assertIn(f"--gpus: expected an integer from 1 to 1048576, found {size}",
                          self.fails(2, "generate", "--out", "-", "--gpus", size))
        self.assertIn("--load", self.fails(2, "generate", "--out", "-", "--load", "11"))

    def test_output_that_cannot_be_written(self):
        path = self.file("c.json", cluster(QUEUE))
        for arguments in [["run", path, "--decisions", self.folder / "no" / "d.csv"],
                          ["run", path, "--quiet", f"--json={self.folder / 'no' / 'r.json'}"],
                          ["generate", "--gpus", "64", "--out", self.folder / "no" / "c.json"]]:
            self.assertIn("cannot open for writing: No such file or directory", self.fails(3, *arguments))


class Listings(Case):
    def test_options_are_those_that_can_be_set(self):
        text = self.ok("options")
        path = self.file("c.json", cluster(QUEUE))
        listed = re.findall(r"^  ([\w.]+) +(\S+)", text, re.MULTILINE)
        self.assertGreater(len(listed), 5)
        for name, value in listed:
            if name == "on_invalid":
                self.ok("run", path, "--on-invalid", value)
            elif value != "(none)":
                self.ok("run", "--cluster", path, "--set", f"{name}={value.rstrip(',')}")

    def test_schema(self):
        text = self.ok("schema")
        for table in ["resource", "queue", "node", "pod_group", "pod", "decision", "reason"]:
            self.assertIn(f"\n  {table} ", text)
            self.assertTrue(self.ok("schema", table).startswith(f"{table}  "))
        self.assertIn('no table is called "nodes"; did you mean "node"?', self.fails(2, "schema", "nodes"))


class Generate(Case):
    def test_equal_arguments_give_equal_bytes(self):
        arguments = ["generate", "--gpus", "512", "--load", "1.3", "--seed"]
        texts = []
        for name in ["a.json", "b.json"]:
            self.assertEqual(self.ok(*arguments, "5", "--quiet", "--out", self.folder / name), "")
            texts.append((self.folder / name).read_bytes())
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(self.ok(*arguments, "5", "--out", "-").encode(), texts[0])
        self.assertNotEqual(self.ok(*arguments, "6", "--out", "-").encode(), texts[0])

    def test_load_is_what_is_held_and_asked_for(self):
        for load in [0.5, 0.9, 1.3]:
            made = json.loads(self.ok("generate", "--gpus", "2048", "--load", load, "--out", "-"))
            asked = sum(pod["request"].get("gpu", 0) for pod in made["pod"])
            self.assertAlmostEqual(asked / 1000 / 2048, load, delta=0.15)

    def test_what_a_large_cluster_has(self):
        made = json.loads(self.ok("generate", "--out", "-"))
        self.assertEqual(made["schema"], "kaisched-cluster/1")
        self.assertEqual(made["topology"][0]["levels"], ["zone", "block", "rack"])
        gpu_nodes = [node for node in made["node"] if "gpu" in node["capacity"]]
        self.assertEqual(len(gpu_nodes), 512)
        self.assertGreater(len(made["node"]), 512)
        self.assertEqual({node["labels"]["gpu.model"] for node in gpu_nodes}, {"A100", "H100"})
        self.assertTrue(any("taints" in node for node in gpu_nodes))
        self.assertGreaterEqual(len(made["queue"]), 14)
        self.assertTrue(any("limit" in queue for queue in made["queue"]))
        statuses = {pod.get("status", "pending") for pod in made["pod"]}
        self.assertLessEqual({"pending", "running", "releasing", "gated"}, statuses)
        self.assertTrue(any("sub_group" in pod for pod in made["pod"]))
        self.assertTrue(any(pod.get("device_count") for pod in made["pod"]))
        self.assertTrue(any(group.get("preemptible") is False for group in made["pod_group"]))


class Run(Case):
    def setUp(self):
        super().setUp()
        self.small = self.file("small.json", cluster(QUEUE, NODE, jobs("a", "b", "c")))

    def test_report(self):
        text = self.ok("run", "--cluster", self.small)
        self.assertIn("2 pods of 2 jobs start now", text)
        self.assertIn("1 pod of 1 job waits", text)
        self.assertIn("Why 1 job waits", text)
        self.assertIn("100.0 %", text)
        self.assertRegex(text, r"\ndigest [0-9a-f]{64}\n")
        self.assertEqual(self.ok("run", "--cluster", self.small, "--quiet"), "")

    def test_report_as_json(self):
        report = json.loads(self.ok("run", "--cluster", self.small, "--json"))
        self.assertEqual(report["schema"], "kaisched-run/1")
        self.assertEqual(report["pods"]["started"], 2)
        self.assertEqual(report["pods"]["waiting"], 1)
        self.assertEqual(report["used_before"]["gpu"], 0)
        self.assertEqual(report["used_after"]["gpu"], 2000)
        self.assertEqual(report["capacity"]["gpu"], 2000)
        self.assertEqual([group["jobs"] for group in report["waiting"]], [1])
        self.assertTrue(report["waiting"][0]["example"]["reasons"][0])

    def test_decisions(self):
        paths = {form: self.folder / f"d.{form}" for form in ["json", "csv"]}
        for path in paths.values():
            self.ok("run", "--cluster", self.small, "--decisions", path)
        decisions = json.loads(paths["json"].read_text())
        self.assertEqual(decisions["schema"], "kaisched-decisions/1")
        rows = decisions["decision"]
        self.assertEqual([(row["kind"], row["pod_name"], row["group_name"]) for row in rows],
                         [("bind", "a-0", "a"), ("bind", "b-0", "b"), ("unschedulable", "", "c")])
        self.assertEqual([row["devices"] for row in rows], [[0], [1], []])
        self.assertEqual(decisions["reason"][0]["group_name"], "c")
        table = list(csv.DictReader(io.StringIO(paths["csv"].read_text())))
        self.assertEqual([row["kind"] for row in table], ["bind", "bind", "unschedulable"])
        self.assertEqual(table[1]["node_name"], "n")

    def test_options_change_decisions(self):
        two = ", ".join(f'{{"name": "{name}", "capacity": {{"gpu": 2000, "pods": 9}}}}' for name in "mn")
        path = self.file("two.json", cluster(QUEUE, f'"node": [{two}]', jobs("a", "b")))
        for placement, expected in [("binpack", 1), ("spread", 2)]:
            for way in [["--placement", placement], ["--set", f"placement.gpu={placement}"]]:
                text = self.ok("run", "--cluster", path, *way, "--decisions", "-")
                self.assertEqual(len({row["node_name"] for row in json.loads(text)["decision"]}), expected)

    def test_old_names_are_accepted_with_one_warning_each(self):
        path = self.file("c.json", cluster(QUEUE, NODE, jobs("a", "b")))
        told = "--preset", "volcano-default", "--json"
        done = kaisched("run", path, *told, "--actions", "tiers", "--set", "tiers.actions=allocate", "--set", "tiers.actions=allocate")
        self.assertEqual(
            done.stderr,
            "kaisched: warning: action 'tiers' is called 'volcano' since 0.2; the old name will not be accepted in 0.3\n"
            "kaisched: warning: option 'tiers.actions' is called 'volcano.actions' since 0.2; the old name will not be accepted in 0.3\n",
        )
        present = json.loads(self.ok("run", path, *told, "--actions", "volcano", "--set", "volcano.actions=allocate"))
        self.assertEqual(json.loads(done.stdout)["digest"], present["digest"])
        listed = {one["name"] for one in json.loads(self.ok("options", "--json"))["options"]}
        self.assertLess({"volcano.tiers", "kueue.settings"}, listed)
        self.assertFalse({"tiers", "admission.settings"} & listed)
        asked = kaisched("options", "tiers")
        self.assertIn("option 'tiers' is called 'volcano.tiers'", asked.stderr)
        self.assertEqual((asked.returncode, asked.stdout), (0, self.ok("options", "volcano.tiers")))

    def test_cluster_from_standard_input(self):
        self.assertIn("2 pods of 2 jobs start now", self.ok("run", "--cluster", "-", stdin=self.small.read_text()))

    def test_charts(self):
        text = self.ok("run", "--cluster", self.small, "--charts")
        self.assertIn("GPUs by queue", text)

    def test_an_empty_cluster(self):
        for members in [['"now": 1'], [QUEUE], [QUEUE, NODE]]:
            text = self.ok("run", "--cluster", self.file("e.json", cluster(*members)), "--charts")
            self.assertIn("0 pods of 0 jobs start now", text)


class Demo(Case):
    def test_two_runs_tell_the_same(self):
        size = ["--gpus", "128"] if FEW_CASES else []
        first = self.ok("demo", *size)
        self.assertEqual(TIME.sub("TIME", first), TIME.sub("TIME", self.ok("demo", *size)))
        for word in ["GPUs by queue", "GPUs in use by", "foundation", "wait", "digest "]:
            self.assertIn(word, first)

    def test_lines_have_a_hundred_columns_and_no_colours(self):
        large = [] if FEW_CASES else [[], ["--gpus", "16384"], ["--load", "0.5"]]
        for arguments in [*large, ["--gpus", "64"], ["--gpus", "64", "--load", "0.5"]]:
            text = self.ok("demo", *arguments)
            self.assertNotIn("\x1b", text)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 100, line)
                self.assertEqual(line, line.rstrip())

    def test_the_cluster_as_a_file_is_decided_alike(self):
        path = self.folder / "c.json"
        text = self.ok("demo", "--gpus", "128", "--out", path)
        digest = re.compile("^digest .*$", re.MULTILINE)
        self.assertEqual(digest.findall(text), digest.findall(self.ok("run", "--cluster", path)))
        self.assertEqual(path.read_text(), self.ok("generate", "--gpus", "128", "--load", "1.3", "--out", "-"))


class DemoProgram(Case):
    """The demo that `./dev demo` builds alone."""

    def demo(self, *arguments):
        return subprocess.run([os.environ["KAISCHED_DEMO"], "demo", *arguments], capture_output=True, text=True)

    def test_it_says_what_the_whole_program_says(self):
        size = ["--gpus", "128"]
        self.assertEqual(TIME.sub("TIME", self.ok("demo", *size)), TIME.sub("TIME", self.demo(*size).stdout))
        self.assertEqual(self.ok("demo", *size, "--out", "-", "-q"), self.demo(*size, "--out", "-", "-q").stdout)

    def test_it_names_the_form_that_it_writes(self):
        done = self.demo("--gpus", "64", "--out", str(self.folder / "c.yaml"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the demo writes JSON", done.stderr)


class Openb(Case):
    def test_the_whole_trace_in_one_batch(self):
        nodes = SHARED / "data" / "fgd" / "nodes.csv"
        if not nodes.exists():
            self.skipTest("shared data absent")
        pods = nodes.parent / "pods_default.csv"
        reports = []
        for _ in range(2):
            reports.append(json.loads(self.ok("run", "--openb-nodes", nodes, "--openb-pods", pods, "--json")))
            reports[-1].pop("seconds")
        self.assertEqual(reports[0], reports[-1])
        report = reports[0]
        self.assertEqual(report["cluster"], {"nodes": 1213, "pods": 8152, "jobs": 8152, "queues": 1, "left_out": 0})
        self.assertEqual(report["pods"]["started"] + report["pods"]["waiting"], 8152)
        self.assertEqual(report["capacity"]["gpu"], 6_212_000)
        self.assertGreater(report["used_after"]["gpu"], 0.8 * report["capacity"]["gpu"])


if __name__ == "__main__":
    main()
