"""Scenario files on the command line: `test`, `minimise`, and scenarios that are read as clusters."""

import json

from support import Case, kaisched, main

CLUSTER = """scenario 1 "two nodes"
node n[1-2] gpu=2 cpu=8 pods=10
queue team
pod_group train min_member=2
  pod train-[0-1] gpu=2
"""
RUN = CLUSTER + "run\n"
BAD_ROWS = "scenario 1\noption on_invalid=quarantine\nqueue a\nqueue b parent=nowhere\nnode n gpu=1 pods=1\n"


class Updates(Case):
    def updated(self, text, status=0):
        path = self.folder / "a.ks"
        path.write_bytes(text.encode())
        done = self.ok if status == 0 else lambda *a: self.differs(*a)
        done("test", "--update", path)
        return path.read_bytes().decode()

    def differs(self, *arguments):
        done = kaisched(*arguments)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        return done.stdout

    def test_comments_and_indentation_stay(self):
        before = RUN + "  expect bind train-0 n9  # why n9\n  expect bind train-1 n2 # stays\n"
        after = RUN + "  expect bind train-0 n1 devices=[0,1] action=allocate commit=1  # why n9\n  expect bind train-1 n2 # stays\n"
        self.assertEqual(self.updated(before), after)
        self.assertEqual(self.updated(after), after)

    def test_comments_of_lines_that_are_left_over_go(self):
        before = RUN + "expect bind train-0 n1\n# between\nexpect bind gone n1 # away\nexpect bind train-1 n2 # b\n"
        self.assertEqual(self.updated(before), before.replace("expect bind gone n1 # away\n", ""))
        nothing = CLUSTER.replace("min_member=2", "min_member=3") + "run\n expect nothing # so far\n"
        self.assertEqual(
            self.updated(nothing).splitlines()[-1],
            " expect unschedulable train constraint=gang_incomplete need=3 have=2 # so far",
        )

    def test_other_expectations(self):
        before = RUN + "\texpect counts bind=1 \\\n evict=0   # c\n  expect digest 00# d\n"
        lines = self.updated(before).splitlines()
        self.assertEqual(lines[6], "\texpect counts bind=2 evict=0   # c")
        self.assertRegex(lines[7], r"^  expect digest [0-9a-f]{64}# d$")

    def test_new_lines_are_indented_as_their_session(self):
        decisions = ["expect bind train-0 n1 devices=[0,1] commit=1", "expect bind train-1 n2 devices=[0,1] commit=1"]
        for run in ("  run actions=allocate # r\n", "  run \\\n      actions=allocate\n"):
            self.assertEqual(self.updated(CLUSTER + run), CLUSTER + run + "".join(f"  {d}\n" for d in decisions))

    def test_line_ends_stay(self):
        before = (RUN + "expect bind train-0 n9 # x\nexpect counts evict=1").replace("\n", "\r\n")
        after = self.updated(before)
        self.assertEqual(after.count("\n"), after.count("\r\n"))
        self.assertIn("commit=1 # x\r\nexpect bind train-1", after)
        self.assertTrue(after.endswith("expect counts bind=2 evict=0\r\n"))

    def test_byte_order_mark(self):
        before = "\ufeff" + RUN + "expect bind train-0 n9\n"
        self.assertTrue(self.updated(before).startswith("\ufeffscenario 1"))
        self.assertIn("nodes", self.ok("check", self.file("b.ks", before)))

    def test_fields_that_do_not_exist_are_told_once_and_stay(self):
        for field, column in (("device=[0,1]", "device"), ("foo=3", "foo")):
            text = RUN + f"expect bind train-0 n1 {field}\nexpect bind train-1 n2\n"
            path = self.file("c.ks", text)
            for options in ([], ["--update"]):
                out = self.differs("test", *options, path)
                self.assertEqual(out.count(f'has no column "{column}"'), 1, out)
                self.assertNotIn("expected", out.replace("expectations", ""))
                self.assertEqual(path.read_text(), text)
        # What it may have meant is not guessed; other sessions are renewed.
        text = RUN + "expect bind train-0 n2 device=[0,1]\nrun\n"
        after = self.updated(text, status=1)
        self.assertTrue(after.startswith(text), after)
        self.assertIn("run\nexpect bind train-0 n1", after)
        text = BAD_ROWS.replace("node n", "expect quarantine queue b colunm=x # c\nnode n")
        self.assertEqual(self.updated(text, status=1), text)


class Options(Case):
    def test_unknown_options_and_values_end_everything_at_once(self):
        path = self.file("a.ks", RUN + "expect counts bind=2\n")
        keeps = ["--keeps", "bind train-0"]
        for command in (["test", path, path], ["minimise", path, *keeps]):
            self.assertEqual(self.fails(2, *command, "--set", "moed=strict").count("did you mean 'mode'"), 1)
            self.assertIn("--set mode=bogus: ", self.fails(2, *command, "--set", "mode=bogus"))
            self.assertIn("--set on_invalid=bogus: ", self.fails(2, *command, "--set", "on_invalid=bogus"))
            self.assertIn("alocate", self.fails(2, *command, "--set", "actions=alocate"))
            self.assertIn("--set nope: expected OPTION=VALUE", self.fails(2, *command, "--set", "nope"))
        self.assertIn("--differs nope=1: ", self.fails(2, "minimise", path, "--differs", "nope=1"))
        self.assertIn("--differs mode=bogus: ", self.fails(2, "minimise", path, "--differs", "mode=bogus"))
        self.ok("test", path, "--set", "mode=strict")

    def test_old_names_are_told_with_their_lines(self):
        path = self.file("old.ks", "scenario 1\nnode n gpu=1\nrun preset=volcano-default actions=[tiers]\nexpect nothing\nrun preset=volcano-default actions=[tiers]\nexpect nothing\n")
        done = kaisched("test", path, "--set", "turns.settings=", "--json")
        lines = done.stderr.splitlines()
        self.assertEqual((done.returncode, len(lines)), (0, 2), done.stderr)
        self.assertIn("kaisched: warning: option 'turns.settings' is called 'yunikorn.settings' since 0.2", lines[0])
        self.assertIn(f"kaisched: warning: {path}:3: action 'tiers' is called 'volcano' since 0.2", lines[1])
        self.assertTrue(json.loads(done.stdout))

    def test_what_is_to_be_kept_is_read_first(self):
        path = self.file("a.ks", RUN)
        for text, why in (
            ("nonsense", "nothing of the name"),
            ("bnd a b", 'did you mean "bind"?'),
            ('bind "x', "the quotes are not closed"),
            ("bind train-0 bogus=3", 'decision has no column "bogus"'),
            ("unschedulable train devices=[0]", 'reason has no column "devices"'),
            ("bind train-0 devices=x", "devices: "),
            ("bind", "0 words behind"),
            ("counts bind=1", "no decision such as"),
            ("nothing", "no decision such as"),
            ("# nothing", "expected"),
            ("bind train-0\nrun", "expected one line"),
        ):
            message = self.fails(2, "minimise", path, "--keeps", text)
            self.assertIn(why, message)
            self.assertIn("--keeps", message)
            self.assertNotIn("what is to stay true", message)
        self.assertIn("what is to stay true", self.fails(2, "minimise", path, "--keeps", "bind train-0 n2"))
        self.ok("minimise", path, "--keeps", "bind train-0 n1", "-o", self.folder / "small.ks")


class Clusters(Case):
    def test_bad_rows(self):
        path = self.file("a.ks", BAD_ROWS + "run\n")
        self.assertIn("1 object of the input is left out", self.ok("run", path))
        self.ok("digest", path)
        self.ok("convert", path, self.folder / "a.json")
        self.assertIn("nowhere", self.fails(2, "run", path, "--on-invalid", "reject"))
        silent = self.file("b.ks", BAD_ROWS.replace("option on_invalid=quarantine\n", ""))
        self.assertIn("nowhere", self.fails(2, "run", silent))
        self.ok("run", silent, "--on-invalid", "quarantine")
        bogus = self.file("c.ks", BAD_ROWS.replace("=quarantine", "=bogus"))
        self.assertRegex(self.fails(2, "run", bogus), r"c\.ks:2:1: .*bogus")
        self.ok("minimise", silent, "--on-invalid", "quarantine", "--command", "true", "-o", self.folder / "d.ks")

    def test_pods_without_a_group(self):
        pods = """[{"name": "a", "group": "g", "request": {"gpu": 1000}},
            {"name": "daemon", "request": {"gpu": 1000}, "status": "running", "node": "n"}]"""
        node = '[{"name": "n", "capacity": {"gpu": 2000, "pods": 10}}]'
        members = {"with groups": '"pod_group": [{"name": "g", "queue": "q"}], ', "without": ""}
        for name, groups in members.items():
            wanted = pods if groups else pods.replace('"group": "g", ', "")
            text = f'{{"schema": "kaisched-cluster/1", "queue": [{{"name": "q"}}], {groups}"node": {node}, "pod": {wanted}}}'
            path = self.file("a.json", text)
            written = self.folder / "a.ks"
            self.ok("convert", path, written, "--on-invalid", "quarantine")
            digests = self.ok("digest", path, written, "--on-invalid", "quarantine").split()
            self.assertEqual(digests[0], digests[2], name)
            self.assertEqual(json.loads(self.ok("check", written, "--json"))["files"][0]["ok"], True)


if __name__ == "__main__":
    main()
