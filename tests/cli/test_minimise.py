"""`minimise`: what is left, commands, and what is kept of a search that ends early."""

import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from support import PROGRAM, SHARED, Case, kaisched, main, on_terminal

NODES = "scenario 1\nnode n[0-3] gpu=4 cpu=8 pods=10 labels={zone=a}\nqueue a quota.gpu=8\nqueue b quota.gpu=8\n"
RUNNING = "".join(
    f"pod_group {q}-{i} queue={q} created={i}m\n  pod {q}-{i}-0 gpu=1 status=running node=n{i}\n"
    for q in "ab"
    for i in range(4)
)
WAITING = "pod_group wanted queue=b created=9m\n  pod wanted-0 gpu=2\npod_group other queue=a\n  pod other-0 gpu=1\n"
SCENARIO = NODES + RUNNING + WAITING + "run\nsettle\nrun\n"
HAS_WANTED = "grep -q 'pod wanted-0 ' {}"


def count(path, kind):
    return sum(line.startswith(kind + " ") for line in path.read_text().splitlines())


class Results(Case):
    def setUp(self):
        super().setUp()
        self.scenario = self.file("all.ks", SCENARIO)
        self.small = self.folder / "small.ks"

    def minimise(self, *words):
        told = json.loads(self.ok("minimise", self.scenario, "-o", self.small, *words, "--json"))
        self.assertEqual((told["finished"], told["stopped_by"]), (True, None))
        return told

    def test_any_number_of_jobs_gives_the_same(self):
        for condition in (
            ["--command", HAS_WANTED],
            ["--command", f"'{PROGRAM}' run {{}} | grep -q 'pods of 2 jobs start now'"],
            ["--keeps", "bind wanted-0"],
            ["--differs", "actions=reclaim"],
        ):
            told, texts = [], []
            for jobs in ("1", "2", "7"):
                told.append(self.minimise(*condition, "--jobs", jobs))
                told[-1].pop("seconds")
                texts.append(self.small.read_text())
            self.assertEqual((told[0], texts[0]), (told[1], texts[1]), condition)
            self.assertEqual((told[0], texts[0]), (told[2], texts[2]), condition)

    def test_what_is_left(self):
        told = self.minimise("--keeps", "bind wanted-0")
        self.assertEqual([told[k] for k in ("nodes", "queues", "groups", "pods")], [1, 1, 1, 1])
        self.assertEqual(told["statements_before"], 29)
        self.assertNotIn("labels", self.small.read_text())
        self.ok("test", self.small)
        self.assertRegex(self.ok("minimise", self.scenario, "-o", self.small, "--keeps", "bind wanted-0"),
                         r"of 29 statements are left after \d+ trials in .*\n  1 node, 1 queue, 1 group, 1 pod\n")

    def test_room_goes_with_those_who_hold_it(self):
        """Full nodes: a group can only go together with its GPUs and the quota for them."""
        full = self.file("full.ks", "scenario 1\nnode n gpu=8\nqueue a quota.gpu=4\nqueue b quota.gpu=4\n"
                         + "".join(f"pod_group r{i} queue={'ab'[i % 2]}\n  pod r{i}-0 gpu=1 node=n status=running\n" for i in range(8))
                         + "pod_group w queue=a\n  pod w-0 gpu=1\nrun\n")
        command = ("awk '/^node/ { for (i = 1; i <= NF; i++) if ($i ~ /^gpu=/) { gpus = substr($i, 5) } } /status=running/ { used++ } "
                   "END { exit !(gpus > 0 && gpus == used) }' {}")
        told = json.loads(self.ok("minimise", full, "-o", self.small, "--command", command, "--json"))
        self.assertEqual((told["groups"], told["pods"]), (1, 1))
        self.assertIn("node n gpu=1\n", self.small.read_text())

    def test_entities_that_can_be_one(self):
        """Seven pods have to be there, of whatever groups on whatever nodes."""
        told = self.minimise("--command", "test $(grep -c '^pod ' {}) -ge 7")
        self.assertLessEqual(told["groups"], 2)
        self.assertEqual(told["pods"], 7)

    def test_shared_flap(self):
        flap = SHARED / "trials" / "flap-24-nodes.ks"
        if not flap.exists():
            self.skipTest("shared data absent")
        told = json.loads(self.ok("minimise", flap, "-o", self.small, "--keeps", "unschedulable job-587", "--json"))
        self.assertLessEqual(told["groups"], 5)


class Commands(Case):
    def setUp(self):
        super().setUp()
        self.scenario = self.file("it's all.ks", SCENARIO)
        self.small = self.folder / "it's small.ks"

    def test_the_file_is_one_word(self):
        odd = self.folder / "a folder; touch 'x' $(touch y)"
        odd.mkdir()
        for command in (HAS_WANTED, "grep -q 'pod wanted-0 '", "test {} = {} && grep -q 'pod wanted-0 ' {}"):
            done = subprocess.run([PROGRAM, "minimise", self.scenario, "-o", self.small, "--command", command, "-q"],
                                  env=os.environ | {"TMPDIR": str(odd)}, cwd=self.folder, capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), command)
            self.assertEqual((count(self.small, "pod"), count(self.small, "pod_group")), (1, 1))
        self.assertEqual(list(odd.iterdir()), [])  # nothing stays behind
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted([odd.name, self.scenario.name, self.small.name]))

    def test_what_they_print_is_not_the_result(self):
        text = self.ok("minimise", self.scenario, "--command", "echo out; echo err >&2; " + HAS_WANTED)
        self.assertTrue(text.startswith("scenario 1\n"))
        self.assertNotIn("out", text.split())

    def test_they_read_nothing(self):
        self.ok("minimise", self.scenario, "-o", self.small, "--command", "cat; " + HAS_WANTED, "-q")

    def test_one_that_fails_from_the_beginning(self):
        message = self.fails(2, "minimise", self.scenario, "-o", self.small, "--command", "echo first; echo no such thing >&2; exit 3 #")
        self.assertIn("not true of the scenario itself; the command ended with status 3: no such thing", message)
        self.assertIn("status 127", self.fails(2, "minimise", self.scenario, "--command", "/nowhere/at-all"))
        self.assertFalse(self.small.exists())

    def test_one_that_hangs(self):
        hangs = HAS_WANTED + " && { grep -q '^queue a' {} || sleep 1000 & wait $!; grep -q '^queue a' {}; }"
        start = time.monotonic()
        self.ok("minimise", self.scenario, "-o", self.small, "--command", hangs, "--command-timeout", "0.2", "-q")
        self.assertLess(time.monotonic() - start, 60)
        self.assertEqual((count(self.small, "pod"), count(self.small, "queue")), (1, 2))
        self.assertIn("--command-timeout is for --command",
                      self.fails(2, "minimise", self.scenario, "--keeps", "bind wanted-0", "--command-timeout", "1"))

    def test_the_input_is_not_overwritten(self):
        self.assertIn("would overwrite", self.fails(2, "minimise", self.scenario, "-o", self.scenario, "--command", "true"))
        self.assertEqual(self.scenario.read_text(), SCENARIO)

    def test_a_file_that_cannot_be_written(self):
        self.assertIn("nowhere", self.fails(3, "minimise", self.scenario, "-o", self.folder / "nowhere" / "a.ks", "--command", "true"))

    def test_links_and_devices(self):
        target = self.file("target.ks", "")
        self.small.symlink_to(target)
        self.ok("minimise", self.scenario, "-o", self.small, "--command", HAS_WANTED, "-q")
        self.assertTrue(self.small.is_symlink())
        self.assertIn("wanted-0", target.read_text())
        self.ok("minimise", self.scenario, "-o", "/dev/null", "--command", HAS_WANTED, "-q")
        self.assertTrue(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"))


class EndsEarly(Case):
    MANY = HAS_WANTED + " && test $(grep -c ^pod_group {}) -ge 25"  # few of its trials come to something
    SLOW = MANY + " && sleep 0.05 || { sleep 0.1; exit 1; }"

    def setUp(self):
        super().setUp()
        many = "".join(f"pod_group more-{i} queue=b\n  pod more-{i}-0 gpu=1\n" for i in range(60))
        self.scenario = self.file("all.ks", NODES + RUNNING + WAITING + many + "run\n")
        self.small = self.folder / "small.ks"
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)

    def begin(self, *words):
        return subprocess.Popen([PROGRAM, "minimise", self.scenario, "-o", self.small, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=os.environ | {"TMPDIR": str(self.scratch)})

    def wait_for_a_smaller_one(self):
        for _ in range(1500):
            if self.small.exists() and count(self.small, "pod_group") < 50:
                return
            time.sleep(0.02)
        self.fail("nothing smaller was written")

    def check_what_is_left(self):
        self.assertGreaterEqual(count(self.small, "pod_group"), 1)
        self.assertIn("pod wanted-0 ", self.small.read_text())
        self.ok("check", self.small)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["all.ks", "small.ks"])

    def test_signals(self):
        for one in (signal.SIGINT, signal.SIGTERM):
            self.small.unlink(missing_ok=True)
            running = self.begin("--command", self.SLOW, "--json")
            self.wait_for_a_smaller_one()
            start = time.monotonic()
            running.send_signal(one)
            told, said = running.communicate(timeout=60)
            self.assertLess(time.monotonic() - start, 10)
            self.assertEqual((running.returncode, said), (4, ""))
            told = json.loads(told)
            self.assertEqual((told["finished"], told["stopped_by"], told["groups"]), (False, "signal", count(self.small, "pod_group")))
            self.ok("test", self.small)
            self.check_what_is_left()
            self.assertEqual(list(self.scratch.iterdir()), [])

    def test_a_command_that_hangs_does_not_keep_it(self):
        running = self.begin("--command", HAS_WANTED + " || exit 1; test $(grep -c ^pod_group {}) -ge 35 || sleep 1000")
        self.wait_for_a_smaller_one()
        running.send_signal(signal.SIGINT)
        told, said = running.communicate(timeout=60)
        self.assertEqual((running.returncode, said), (4, ""))
        self.assertIn("a signal ended the search", told)
        self.check_what_is_left()

    def test_a_time_limit(self):
        start = time.monotonic()
        done = kaisched("minimise", self.scenario, "-o", self.small, "--command", self.SLOW, "--time-limit", "2")
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual((done.returncode, done.stderr), (4, ""))
        self.assertIn("there may be a smaller one: --time-limit ended the search", done.stdout)
        self.ok("test", self.small)
        self.check_what_is_left()

    def test_a_limit_before_anything_is_known(self):
        done = kaisched("minimise", self.scenario, "-o", self.small, "--command", "sleep 1000 #", "--time-limit", "0.3")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("stopped before it was known", done.stderr)
        self.assertFalse(self.small.exists())

    def test_a_number_of_trials(self):
        done = kaisched("minimise", self.scenario, "-o", self.small, "--command", HAS_WANTED, "--trials", "3", "--json")
        told = json.loads(done.stdout)
        self.assertEqual((done.returncode, told["trials"], told["stopped_by"]), (4, 3, "trials"))
        self.check_what_is_left()

    def test_a_kill_leaves_the_last_one(self):
        running = self.begin("--command", self.SLOW)
        self.wait_for_a_smaller_one()
        running.kill()
        running.communicate()
        self.assertIn("pod wanted-0 ", self.small.read_text())
        self.ok("check", self.small)

    def test_progress(self):
        words = ["minimise", self.scenario, "-o", self.small, "--command", self.SLOW, "--time-limit", "3", "--color", "never"]
        text, status = on_terminal(words)
        self.assertEqual(status, 4)
        self.assertRegex(text, r"\r\x1b\[K[━─]+ \d/\d  \d\.\d s  \d+ trials?; \d nodes?, \d queues?, \d+ groups?, \d+ pods?")
        self.assertNotIn("\r", on_terminal([*words, "-q"])[0])


if __name__ == "__main__":
    main()
