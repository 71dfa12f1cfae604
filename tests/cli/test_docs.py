"""Examples of the help work; docs/cli.md and the program say the same. Snippets of the page are run by tests/docs."""

import os
import re
import subprocess
from pathlib import Path

from support import PROGRAM, SOURCE, Case, kaisched, main

PAGE = (SOURCE / "docs" / "cli.md").read_text(encoding="utf-8")


def commands():
    text = kaisched("--help").stdout
    return re.findall(r"^  ([a-z-]+)  +[A-Z]", text, re.MULTILINE)


class Examples(Case):
    """Each one runs in a folder with the files that examples speak of."""

    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "kaisched").symlink_to(Path(PROGRAM).resolve())
        (self.folder / "tests").symlink_to(SOURCE / "tests")
        self.ok("generate", self.folder / "cluster.json", "--gpus", "512", "--load", "1.3", "-q")
        self.ok("convert", self.folder / "cluster.json", self.folder / "cluster.yaml", "-q")
        self.ok("run", self.folder / "cluster.json", "-q", "--decisions", self.folder / "decisions.json")
        (self.folder / "clusters").mkdir(exist_ok=True)
        (self.folder / "clusters" / "one.yaml").write_bytes((self.folder / "cluster.yaml").read_bytes())
        self.file("types.yaml", "schema: kaisched-node-types/1\ntype: [{name: large, price: 40000, most: 4}]\n"
                                "node: [{name: large, capacity: {cpu: 128000, memory: 1000000000000, gpu: 8000, pods: 110}}]\n")
        for site in ("east", "west"):
            self.ok("generate", self.folder / f"{site}.json", "--gpus", "64", "--load", "0.5", "-q")
        self.file("jobs.json", '{"schema": "kaisched-cluster/1", "queue": [{"name": "speech"}], "pod_group": [{"name": "new", "queue": "speech"}], '
                               '"pod": [{"name": "new-0", "group": "new", "request": {"cpu": 1000, "gpu": 1000}}]}')
        self.file("federation.yaml", "schema: kaisched-federation/1\nmembers: [{name: east, price: 20, labels: {region: eu}}]\n"
                                     "groups: [{name: new, preferred: [{key: region, value: eu}]}]\n")
        self.file("nodes.csv", "name,gpu_model,gpu_count,cpu_milli,memory_mib\nn,T4,2,8000,8192\n")
        self.file("volcano-scheduler.conf", "actions: enqueue, allocate, backfill\ntiers:\n- plugins: [{name: priority}, {name: gang}]\n")
        self.file("queues.yaml", "partitions:\n- name: default\n  queues: [{name: root, queues: [{name: team, maxapplications: 3}]}]\n")
        self.file("log.swf", "1 0 0 60 4 -1 -1 4 120 -1 1 1 1 1 1 -1 -1 -1\n")
        self.file("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,1024,1,500\n")

    def try_example(self, line):
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"},
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)

    def test_of_the_help(self):
        lines = []
        for words in [["--help"], *([name, "--help"] for name in commands())]:
            text = self.ok(*words).split("Examples\n")
            found = re.findall(r"^  (kaisched [^\n]*?)(?:  +# .*)?$", text[1] if len(text) > 1 else "", re.MULTILINE)
            self.assertTrue(found, f"{words} has no example")
            lines += found
        for line in dict.fromkeys(lines):
            # Tests of scenarios, of Python and of the server have these.
            if not line.startswith(("kaisched test ", "kaisched report ", "kaisched serve ")):
                self.try_example(line)


class Page(Case):
    def test_every_command_has_a_section(self):
        names = commands()
        self.assertGreater(len(names), 10)
        sections = re.findall(r"^### ([\w-]+)$", PAGE, re.MULTILINE)
        self.assertEqual(sections, names)
        for name in names:
            self.assertIn(f"| [`{name}`](#{name}) |", PAGE)

    def test_every_option_is_on_the_page(self):
        for name in commands():
            for option in re.findall(r"^ +(?:-\w, +)?(--[a-z-]+)", self.ok(name, "--help"), re.MULTILINE):
                if option in (
                    "--gpus",
                    "--load",
                    "--seed",
                    "--out",
                    "--verbose",
                    "--trials",
                    "--keeps",
                    "--differs",
                    "--fails",
                    "--command",
                ):
                    continue  # the help says all there is to say, or another page does
                self.assertTrue(re.search(rf"{option}\b", PAGE), f"{name} {option} is not on the page")

    def test_schemas_are_those_of_the_source(self):
        folders = (SOURCE / "src" / "cli", SOURCE / "src" / "io" / "importers")
        source = "".join(p.read_text(encoding="utf-8") for f in folders for p in sorted(f.rglob("*.?pp")))
        written = set(re.findall(r'"(kaisched-[a-z-]+/\d+)"', source))
        self.assertEqual(written, set(re.findall(r"`(kaisched-[a-z-]+/\d+)`", PAGE)))

    def test_statuses_are_those_of_the_source(self):
        source = (SOURCE / "src" / "cli" / "exit_status.hpp").read_text(encoding="utf-8")
        statuses = re.findall(r"exit_\w+ = (\d+)", source)
        self.assertEqual(statuses, ["0", "1", "2", "3", "4"])
        for status in statuses:
            self.assertRegex(PAGE, rf"(?m)^\| {status} \|")


if __name__ == "__main__":
    main()
