"""Colours, the progress bar, widths, pipes, and what goes to which stream."""

import json
import os
import resource
import signal
import subprocess

from support import NODE, PROGRAM, QUEUE, SOURCE, Case, cluster, jobs, kaisched, main, on_terminal


class Colours(Case):
    def colours(self, *options, **variables):
        text, status = on_terminal(["demo", "--gpus", "64", *options], **variables)
        self.assertEqual(status, 0)
        return "\x1b[1m" in text

    def test_on_a_terminal_unless_unwanted(self):
        self.assertTrue(self.colours())
        self.assertTrue(self.colours(NO_COLOR=""))
        self.assertFalse(self.colours(NO_COLOR="1"))
        self.assertFalse(self.colours(TERM="dumb"))
        self.assertFalse(self.colours(TERM=None))

    def test_the_option_wins(self):
        self.assertFalse(self.colours("--color", "never"))
        self.assertTrue(self.colours("--color=always", NO_COLOR="1"))
        self.assertIn("\x1b[", self.ok("demo", "--gpus", "64", "--color", "always"))
        self.assertIn("\x1b[", self.ok("--color", "always", "demo", "--gpus", "64"))
        self.assertNotIn("\x1b[", self.ok("demo", "--gpus", "64"))


class Progress(Case):
    def setUp(self):
        super().setUp()
        # A file that takes its time to open.
        self.slow = self.folder / "slow.json"
        os.mkfifo(self.slow)
        self.text = cluster(QUEUE, NODE, jobs("a"))

    def run_slowly(self, *options, **variables):
        feeder = subprocess.Popen(["sh", "-c", 'sleep 1; printf %s "$1" > "$2"', "sh", self.text, str(self.slow)])
        text, status = on_terminal(["check", self.slow, *options], **variables)
        self.assertEqual((feeder.wait(), status), (0, 0))
        return text

    def test_a_bar_while_it_takes_long(self):
        text = self.run_slowly("--color", "never")
        self.assertRegex(text, r"\r\x1b\[K─+ 0/3  \d\.\d s  .*slow\.json")
        self.assertRegex(text, r"\r\x1b\[K[^\r]*slow\.json: ok")  # wiped before the report

    def test_no_bar_where_nobody_looks(self):
        self.assertNotIn("\r", self.run_slowly("--quiet"))
        self.assertNotIn("\r", self.run_slowly(TERM="dumb"))
        quick = self.file("quick.json", self.text)
        self.assertNotIn("\r", on_terminal(["check", quick])[0])

    def test_no_bar_in_pipes(self):
        feeder = subprocess.Popen(["sh", "-c", 'sleep 0.6; printf %s "$1" > "$2"', "sh", self.text, str(self.slow)])
        self.ok("check", self.slow)
        feeder.wait()


class Streams(Case):
    def test_json_has_the_output_for_itself(self):
        path = self.file("c.json", cluster(QUEUE, NODE, jobs("a", "b", "c")))
        out = self.folder / "r.json"
        for arguments in [
            ["run", path],
            ["demo", "--gpus", "64"],
            ["explain", path, "a"],
            ["what-if", path, "--queue", "q"],
            ["scale", path, "--down"],
            ["check", path],
            ["digest", path],
            ["options"],
            ["schema"],
            ["version"],
            ["generate", self.folder / "g.json", "--gpus", "8"],
            ["convert", path, self.folder / "c.yaml"],
            ["completion", "bash"],
            ["test", SOURCE / "tests" / "scenarios" / "gangs"],
        ]:
            schema = json.loads(self.ok(*arguments, "--json"))["schema"]
            self.assertRegex(schema, r"^kaisched-[a-z-]+/1$")
            self.assertNotEqual(self.ok(*arguments, f"--json={out}"), "")
            self.assertEqual(json.loads(out.read_text())["schema"], schema)
            self.assertEqual(self.ok(*arguments, "--quiet", f"--json={out}"), "")

    def test_the_word_after_json_is_no_output(self):
        path = self.file("c.json", cluster(QUEUE, NODE))
        before = path.read_text()
        self.ok("run", "--json", path)
        self.assertEqual(path.read_text(), before)

    def test_one_thing_on_the_standard_output(self):
        path = self.file("c.json", cluster(QUEUE, NODE))
        self.assertIn("--json and --decisions cannot both", self.fails(2, "run", path, "--json", "--decisions", "-"))
        self.assertTrue(json.loads(self.ok("run", path, "--decisions", "-"))["schema"], "kaisched-decisions/1")

    def test_names_that_are_no_utf_8(self):
        nodes = self.folder / "n.csv"
        nodes.write_bytes(b"name,gpu_model,gpu_count,cpu_milli,memory_mib\nn\xff,T4,2,8000,8192\n")
        pods = self.file("p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,1024,1,500\n")
        done = kaisched("explain", "--openb-nodes", nodes, "--openb-pods", pods, "p", "--json")
        if done.returncode == 2:  # the reader refuses them
            self.assertIn("n.csv", done.stderr)
        else:
            self.assertIn("\ufffd", done.stdout)

    def test_a_reader_that_stops(self):
        for ignored in [False, True]:
            process = subprocess.Popen(
                [PROGRAM, "generate", "-", "--gpus", "4096"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL),
                restore_signals=False,
            )
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()
            self.assertEqual(process.wait(), -signal.SIGPIPE)

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("/dev/full absent")
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "options"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (3, "kaisched: cannot write to the standard output\n"))
        self.assertIn("/dev/full: cannot write", self.fails(3, "generate", "/dev/full", "--gpus", "8", "-q"))
        jobs = self.file("j.csv", "job,run_time,gpus\na,1,1\n")
        self.assertIn("/dev/full: ", self.fails(3, "simulate", jobs, "--nodes", "1x8", "-q", "--record", "/dev/full"))


class Names(Case):
    """Names come from files and may hold anything."""

    def test_nothing_in_a_name_controls_the_terminal(self):
        queue = '"queue": [{"name": "q\\u001b]0;title\\u0007\\u001b[2Jx\\u009b"}]'
        path = self.file("c.json", cluster(queue))
        for arguments in [["run", path, "--charts"], ["check", path], ["explain", path, "q"]]:
            for done in [kaisched(*arguments, "--color", "always"), kaisched(*arguments)]:
                text = done.stdout + done.stderr
                self.assertNotIn("\x1b]", text)
                self.assertNotIn("\x1b[2J", text)
                self.assertNotIn("\x07", text)
                self.assertNotIn("\x9b", text)
        self.assertIn("control character", self.fails(2, "run", path))
        self.assertNotIn("\x1b", self.fails(2, "run", "\x1b[31m.json"))

    def test_nothing_in_a_name_turns_the_text_round(self):
        for code in [0x61C, 0x200E, 0x200F, 0x2028, 0x202A, 0x202E, 0x2066, 0x2069]:
            path = self.file("c.json", cluster(f'"queue": [{{"name": "a{chr(code)}gpj"}}]'))
            text = self.ok("check", path)
            self.assertNotIn(chr(code), text)
            self.assertIn(f"a\\u{code:04x}gpj", text)
            self.assertNotIn(chr(code), self.fails(2, "explain", path, f"b{chr(code)}gpj"))

    def test_a_full_disk_loses_nothing(self):
        path = self.folder / "c.json"
        self.ok("generate", path, "--gpus", "512", "-q")
        before = path.read_bytes()
        limited = lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)))
        done = subprocess.run([PROGRAM, "convert", path, path], capture_output=True, text=True, preexec_fn=limited)
        self.assertEqual((done.returncode, done.stderr), (3, f"kaisched: {path}: cannot write: File too large\n"))
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual([one.name for one in self.folder.iterdir()], ["c.json"])

    def test_a_file_in_a_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        path = self.file("c.json", "{}")
        self.folder.chmod(0o500)
        self.addCleanup(self.folder.chmod, 0o700)
        self.ok("generate", path, "--gpus", "8", "-q")

    def test_wide_characters_line_up(self):
        path = self.file("c.json", cluster('"queue": [{"name": "视觉团队"}, {"name": "abcdefgh"}, {"name": "e\u0301"}]'))
        rows = [line for line in self.ok("run", path, "--charts").splitlines() if "◆" in line and "fair share" not in line]
        width = lambda text: sum(2 if ord(c) > 0x2E80 else 0 if ord(c) == 0x301 else 1 for c in text)
        self.assertEqual(len(rows), 3)
        self.assertEqual(len({width(row.split("◆")[0]) for row in rows}), 1)


class Widths(Case):
    def test_reports_fit_the_terminal(self):
        for columns in [80, 100, 120]:
            for arguments in [
                ["demo", "--gpus", "512"],
                ["--help"],
                ["run", "--help"],
                ["explain", "--help"],
                ["options"],
                ["schema", "pod"],
                ["check", "--list"],
            ]:
                text, status = on_terminal([*arguments, "--color", "never"], columns)
                self.assertEqual(status, 0)
                for line in text.split("\r\x1b[K")[-1].splitlines():
                    self.assertLessEqual(len(line), columns, (arguments, line))


if __name__ == "__main__":
    main()
