"""Does the tool find the mutants it should, and does it notice which of them are noticed?

Needs tree-sitter, which ./dev installs into build/venv; without it the tests are skipped with status 77."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE.parent.parent / "build" / "venv" / "bin" / "python"
try:
    import tree_sitter
    import tree_sitter_cpp
except ImportError:
    if VENV.exists() and Path(sys.prefix).resolve() != VENV.parent.parent.resolve():
        os.execv(VENV, [str(VENV), *sys.argv])
    print("skipped: tree-sitter is not installed (./dev mutate --list installs it into build/venv)")
    sys.exit(77)

import campaign
import report
import schemata
import selection
import sites

FIXTURE = "fixture/fees.cpp"


def changes(body, operator=None):
    """{(operator, was, became)} of a function with this body"""
    found = sites.find_sites("a.cpp", f"bool f(int a, int b) {{ {body} }}".encode())
    return {(s.operator, s.original, s.shown) for s in found if operator in (None, s.operator)}


class Operators(unittest.TestCase):
    def test_comparisons(self):
        self.assertEqual(changes("g(a < b);") - changes("g(a);"),
                         {("boundary", "a < b", "a <= b"), ("swap", "a < b", "a > b"), ("negate", "a < b", "a >= b"),
                          ("remove", "g(a < b);", "(removed)")})
        self.assertIn(("boundary", "a == b", "a >= b"), changes("g(a == b);"))
        self.assertIn(("boundary", "a != b", "a < b"), changes("g(a != b);"))
        self.assertEqual(changes("g(a == nullptr);", "boundary"), set())

    def test_conditions(self):
        self.assertEqual(changes("if (g(a)) b = a;", "negate"), {("negate", "g(a)", "!(g(a))")})
        self.assertEqual(changes("while (!a) b = a;", "negate"), {("negate", "!a", "a")})
        self.assertEqual(changes("if (int* p = g(a)) b = *p;", "negate"), set())
        self.assertEqual(changes("g(a && b);", "logical"), {("logical", "a && b", "a || b")})

    def test_numbers(self):
        self.assertEqual(changes("g(a * b);", "arithmetic"), {("arithmetic", "a * b", "a / b")})
        self.assertEqual(changes("a -= b;", "arithmetic"), {("arithmetic", "a -= b", "a += b")})
        self.assertEqual(changes("g(0);", "constant"), {("constant", "0", "1")})
        self.assertEqual(changes("g(7);", "constant"), {("constant", "7", "7 + 1"), ("constant", "7", "7 - 1")})
        self.assertEqual(changes("g(0.0);", "constant"), {("constant", "0.0", "1.0")})
        self.assertEqual(changes("g(true);", "constant"), {("constant", "true", "false")})

    def test_statements(self):
        self.assertEqual(changes("++a; a = b; g(a);", "remove"),
                         {("remove", "++a;", "(removed)"), ("remove", "a = b;", "(removed)"), ("remove", "g(a);", "(removed)")})
        self.assertEqual(changes("int x = g(a);", "remove"), set())
        # The last return stays: a function must not run off its end.
        self.assertEqual(changes("if (a) return g(b); return b;", "fallthrough"),
                         {("fallthrough", "return g(b);", "(removed)")})
        self.assertEqual(changes("for (;;) { if (a) continue; break; }", "fallthrough"),
                         {("fallthrough", "continue;", "(removed)"), ("fallthrough", "break;", "(removed)")})

    def test_returned_values(self):
        self.assertEqual(changes("return g(a);", "return"),
                         {("return", "return g(a);", "return true;"), ("return", "return g(a);", "return false;")})
        found = sites.find_sites("a.cpp", b"int f() { return g(); } void v() { return; } int& r() { return x; }")
        self.assertEqual([(s.operator, s.shown) for s in found], [("return", "return {};")])

    def test_library_calls(self):
        self.assertEqual(changes("g(std::max<int>(a, b));", "extreme"),
                         {("extreme", "std::max<int>(a, b)", "std::min<int>(a, b)")})
        self.assertEqual({s for _, _, s in changes("std::sort(a, b);", "order")}, {"std::sort(a, b, reversed)"})
        self.assertIn(("swap", "serves_before(a, b)", "serves_before(b, a)"), changes("g(serves_before(a, b));"))

    def test_constant_expressions_are_left_alone(self):
        for body in ("constexpr int x = 1 + 2;", "static_assert(1 < 2);", "std::array<int, 2 + 1> x;", "int x[2 + 1];",
                     "if constexpr (sizeof(a) < 4) ;", "g(\"1 < 2\");"):
            self.assertEqual(changes(body) & changes(body, "constant") | changes(body, "boundary"), set(), body)
        self.assertEqual(changes("switch (a) { case 3: break; }", "constant"), set())
        self.assertEqual(sites.find_sites("a.cpp", b"constexpr int f(int a = 3) { return a + 1; } int x = 1 + 2;"), [])

    def test_ids_stay_when_other_lines_change(self):
        one = b"int f(int a) { return a + 1; }\n"
        before = {s.id for s in sites.find_sites("a.cpp", one)}
        after = {s.id for s in sites.find_sites("a.cpp", b"int g(int a) { return a * 2; }\n\n" + one)}
        self.assertTrue(before < after)
        twice = sites.find_sites("a.cpp", b"int f(int a) {\n a += 1;\n a += 1;\n return a;\n}\n")
        self.assertEqual(len({s.id for s in twice}), len(twice))


class Selection(unittest.TestCase):
    def sites_of(self, sizes):
        return [site for name, size in sizes.items()
                for site in sites.find_sites(name, f"void f() {{ {''.join(f'g{i}();' for i in range(size))} }}".encode())]

    def test_small_files_get_their_share(self):
        every = self.sites_of({"small.cpp": 3, "large.cpp": 300, "tiny.cpp": 1})
        chosen = selection.choose(every, 20, "s")
        counts = {name: sum(s.file == name for s in chosen) for name in ("small.cpp", "large.cpp", "tiny.cpp")}
        self.assertEqual(counts, {"small.cpp": 2, "large.cpp": 17, "tiny.cpp": 1})

    def test_the_seed_decides(self):
        every = self.sites_of({"a.cpp": 60, "b.cpp": 60})
        chosen = [s.id for s in selection.choose(every, 30, "s")]
        self.assertEqual(chosen, [s.id for s in selection.choose(every[::-1], 30, "s")])
        self.assertNotEqual(chosen, [s.id for s in selection.choose(every, 30, "t")])
        self.assertEqual(len(selection.choose(every, 1000, "s")), 120)


class Program(unittest.TestCase):
    """Mutants of a small program, built and run."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = Path(cls.temporary.name)
        source = (HERE / FIXTURE).read_bytes()
        cls.numbered = list(enumerate(sites.find_sites(FIXTURE, source), 1))
        (folder / "fees.cpp").write_text(schemata.mutate_file(FIXTURE, source, cls.numbered))
        (folder / "switch.cpp").write_text(schemata.SWITCH)
        subprocess.run(["g++", "-std=c++20", "-w", "-o", folder / "fees", folder / "fees.cpp", folder / "switch.cpp"], check=True)
        cls.test = campaign.Test("fees", [str(folder / "fees")], str(folder))
        cls.campaign = campaign.Campaign(campaign.Runner(folder / "scratch"), [cls.test], folder / "memory.json", 2,
                                         lambda *_: None)
        campaign.LEAST_SECONDS = 1
        assert cls.campaign.check_unmutated() == []
        cls.verdicts = cls.campaign.run(cls.numbered)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def verdict(self, original, shown):
        """Of the only mutant that makes this change."""
        found = [self.verdicts[n] for n, s in self.numbered if (s.original, s.shown) == (original, shown)]
        self.assertEqual(len(found), 1, (original, shown))
        return found[0]

    def test_a_tested_change_is_noticed(self):
        for change in (("age < 6", "age <= 6"), ("age >= 65", "age > 65"), ("age >= 65 && member", "age >= 65 || member"),
                       ("return member ? 5 : limit;", "return {};"), ("return 0;", "(removed)"),
                       ("std::sort(all.begin(), all.end())", "std::sort(all.begin(), all.end(), reversed)")):
            verdict = self.verdict(*change)
            self.assertEqual((verdict.state, verdict.by, verdict.ran), ("killed", "fees", ("fees",)), change)

    def test_a_change_in_dead_code_survives(self):
        verdict = self.verdict("x * 3", "x / 3")
        self.assertEqual((verdict.state, verdict.reached), ("survived", False))

    def test_a_change_that_nobody_checks_survives_but_is_reached(self):
        verdict = self.verdict("n > 100", "n >= 100")
        self.assertEqual((verdict.state, verdict.reached), ("survived", True))

    def test_an_endless_loop_is_a_timeout(self):
        self.assertEqual(self.verdict("++n;", "(removed)").state, "timeout")

    def test_a_fault_without_any_mutant_is_said(self):
        bad = campaign.Test("bad", ["false"], ".")
        with self.assertRaisesRegex(RuntimeError, "without any mutant these tests fail: bad"):
            campaign.Campaign(self.campaign.runner, [bad]).check_unmutated()

    def test_an_expected_failure_and_a_skip(self):
        run = self.campaign.runner.run
        self.assertEqual(run(campaign.Test("f", ["false"], ".", will_fail=True), 0)[0], "passed")
        self.assertEqual(run(campaign.Test("t", ["true"], ".", will_fail=True), 0)[0], "failed")
        self.assertEqual(run(campaign.Test("s", ["sh", "-c", "exit 77"], ".", skip_status=77), 0)[0], "skipped")
        self.assertEqual(run(campaign.Test("o", ["echo", "cases: 0 "], ".", fail_on=["cases: +0 "]), 0)[0], "failed")

    def test_random_clusters_have_one_seed(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = campaign.Runner(folder, {"RC_PARAMS": "seed=1"})
            for own, wanted in (({}, "seed=1"), ({"RC_PARAMS": "max_success=5"}, "max_success=5 seed=1")):
                shown = campaign.Test("e", ["sh", "-c", f'test "$RC_PARAMS" = "{wanted}"'], ".", environment=own)
                self.assertEqual(runner.run(shown, 0)[0], "passed", own)

    def test_the_deadliest_test_goes_first(self):
        slow = campaign.Test("slow", ["true"], ".", seconds=5)
        quick = campaign.Test("quick", ["true"], ".", seconds=0.1)
        run = campaign.Campaign(self.campaign.runner, [slow, quick])
        self.assertEqual([t.name for t in run.order("f")], ["quick", "slow"])
        for _ in range(1000):
            run.remember("f", quick, False)
            run.remember("f", slow, True)
        self.assertEqual([t.name for t in run.order("f")], ["slow", "quick"])

    def test_what_is_no_cpp_is_named_by_the_compiler(self):
        source = b"#include <string>\nint f(const std::string& a) {\n  return static_cast<int>((a + a).size());\n}\n"
        numbered = list(enumerate(sites.find_sites("a.cpp", source), 41))
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.cpp").write_text(schemata.mutate_file("a.cpp", source, numbered))
            done = subprocess.run(["g++", "-std=c++20", "-w", "-fsyntax-only", f"{folder}/a.cpp"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(schemata.refused(done.stderr), {n for n, s in numbered if s.shown == "a - a"})


class Documentation(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.reasons, self.page = Path(self.folder.name, "survivors.json"), Path(self.folder.name, "testing.md")
        found = sites.find_sites("a.cpp", b"int f(int a, int b) { return a < b ? 4 : 5; }")
        dead = campaign.Verdict("killed", "t", ("t",), True)
        self.alive = found[0]
        judged = [(s, dead if s is not self.alive else campaign.Verdict("survived", "", ("t",), True)) for s in found]
        self.outcome = report.Outcome("s", judged, ["t"], 1.0)
        self.page.write_text(f"# Tests\n{report.BEGIN}\n{report.END}\nmore\n")

    def check(self, update=False):
        return report.check_documented(self.outcome, self.reasons, self.page, update)

    def test_a_survivor_needs_a_reason_and_a_line(self):
        self.assertEqual(len(self.check()), 2)
        self.reasons.write_text(f'{{"{self.alive.id}": {{"why": "equal"}}}}')
        self.assertEqual(len(self.check()), 1)
        self.assertEqual(self.check(update=True), [])
        self.assertEqual(self.check(), [])
        self.assertIn(f"| `{self.alive.id}` | a.cpp:1 |", self.page.read_text())
        self.assertTrue(self.page.read_text().endswith("\nmore\n"))

    def test_a_reason_that_is_out_of_date_is_said(self):
        self.reasons.write_text(f'{{"{self.alive.id}": {{"why": "equal"}}, "00000000": {{"why": "gone"}}}}')
        self.check(update=True)
        self.assertRegex("".join(self.check()), "00000000, which is not among the mutants any more")

    def test_the_page_of_the_project_lists_what_has_reasons(self):
        text = (HERE.parent.parent / "docs" / "testing.md").read_text()
        start, end = report.section_of(text)
        for id_, entry in report.read_reasons(HERE / "survivors.json").items():
            self.assertIn(f"| `{id_}` |", text[start:end])
            self.assertIn(report.cell(entry["why"]), text[start:end])
        self.assertEqual(text[start:end].count("\n| `"), len(report.read_reasons(HERE / "survivors.json")))

    def test_the_report_counts(self):
        data = self.outcome.data()
        self.assertEqual(data["mutants"], data["noticed"] + 1)
        self.assertEqual([r["id"] for r in data["results"] if r["state"] == "survived"], [self.alive.id])
        self.assertIn(f"survived: {self.alive.id} a.cpp:1", self.outcome.text())


if __name__ == "__main__":
    unittest.main()
