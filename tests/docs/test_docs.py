#!/usr/bin/env python3
"""The pages do what they say: test_docs.py [Tool|Pages|Programs|Commands|Handbook|Features|Guarantees], arguments are those of unittest.

KAISCHED_PROGRAM names the program `kaisched`, KAISCHED_SNIPPETS the folder of the compiled C and C++ snippets.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parent))
import codes
import features
import guarantees
import handbook
import peers
from compiled import LANGUAGES, headers, programs, source
from pages import ROOT, Page, as_promised, pages

# Languages of snippets that nothing runs: they show text, or another test reads them.
SHOWN = {"", "text", "csv", "cmake", "diff", "python"}
PYTHON_IN = "tests/python"


class Tool(unittest.TestCase):
    """The tool itself notices what it is there for."""

    def test_fences(self):
        page = Page("p.md", "# A b, c!\n```sh no-run\nmake\n```\n````text\n```ks\n````\n## A b c\n[x](y.md#z) `[no](link)`\n")
        self.assertEqual([(s.line, s.language, s.words, s.text) for s in page.snippets],
                         [(2, "sh", ["no-run"], "make\n"), (5, "text", [], "```ks\n")])
        self.assertEqual(page.anchors(), {"a-b-c", "a-b-c-1"})
        self.assertEqual(page.links(), [(9, "y.md#z")])
        with self.assertRaisesRegex(ValueError, "p.md:1: this fence is never closed"):
            Page("p.md", "```ks\n")

    def test_chinese_anchors(self):
        self.assertEqual(Page("p.md", "## 成组调度（gang）\n").anchors(), {"成组调度gang"})

    def test_outputs_belong_to_the_snippet_before(self):
        page = Page("p.md", "```cpp\nint x;\n```\n```text output\n1\n```\n```text\n2\n```\n")
        self.assertEqual(page.outputs(), {1: "1\n"})

    def test_peers_count_what_is_there(self):
        text = "/* a\n b */\n#include <x.h>\n\nint f(void) { // why\n  return kaisched_run(kaisched_x());\n}\nint main(void) {\n}\n"
        self.assertEqual(peers.counted(Page("p.md", f"```c\n{text}```\n").snippets[0]), (3, 2))
        text = "x := g.handle.SnapshotSharedLister().NodeInfos()\ny := other.Method()\n"
        self.assertEqual(peers.counted(Page("p.md", f"```go no-run\n{text}```\n").snippets[0]), (2, 2))
        self.assertEqual(peers.counted(Page("p.md", "```c no-run\nreapi_cli_match(a);\n```\n").snippets[0]), (1, 1))

    def test_wrong_codes_are_noticed(self):
        header = "enum class a : int {\n  none = 0,  ///< no, nothing = 7\n  one,\n  nine = 9,\n};\n"
        self.assertEqual(codes.enumerators(header, "a"), [("none", 0), ("one", 1), ("nine", 9)])
        known = codes.known_in(ROOT)
        self.assertEqual(len(known["constraint"]), 37)
        text = (ROOT / codes.PAGE).read_text(encoding="utf-8")
        for right, wrong, complaint in [
            ("| `taint` | 6 |", "| `taint` | 7 |", "constraint: taint 6 is missing"),
            ("| `stale_gang` |", "| `old_gang` |", "victim_rule: there is no old_gang 1"),
            ("| `horizon` | 4 |", "| horizon | 4 |", "this row tells no code: | horizon"),
            ("`choice_plan` in [choice.hpp]", "`choices` in [choice.hpp]", "choices: there is no such enumeration"),
            ("## Codes", "## Words", "there is no section of codes"),
        ]:
            with self.subTest(wrong):
                self.assertIn(right, text)
                found = codes.faults(text.replace(right, wrong), known)
                self.assertTrue(any(complaint in line for line in found), found)

    def test_elided_output(self):
        self.assertTrue(as_promised("a ... c\n...\nz\n", "a b c\nd\ne\nz\n"))
        self.assertTrue(as_promised("a\n...\nz", "a\nz\n"))
        self.assertFalse(as_promised("a\nz", "a\nb\nz\n"))
        self.assertFalse(as_promised("a ... c", "a b d\n"))

    def test_renewing_keeps_places_and_elisions(self):
        from renew import renewed

        said = "7 pods\nx\nGPUs 3 of 4\nqueue a waits\n"
        self.assertEqual(renewed("5 pods\n...\nGPUs 1 of 4\n...\n", said), "7 pods\n...\nGPUs 3 of 4\n...\n")
        self.assertEqual(renewed("something else\n", said), "something else\n")
        self.assertEqual(renewed("7 pods\n...\n", said), "7 pods\n...\n")

    def test_a_wrong_page_is_noticed(self):
        for bad, complaint in [
            ("```console\n$ kaisched version\nno such thing\n```\n", "printed something else"),
            ("```sh\nkaisched nonsense\n```\n", "exit status 2"),
            ("```sh\nrm -r /\n```\n", "only lines with kaisched are run"),
            ("```ks\nscenario 1\nnode n gpu=1\nrun\nexpect bind p n\n```\n", "exit status 1"),
            ("```json\n{\n```\n", "p.md:1: "),
            ("```yaml\nschema: kaisched-cluster/1\nnodes: []\n```\n", "exit status 1"),
            ("```klingon\nHab\n```\n", "nothing runs snippets of the language 'klingon'"),
        ]:
            with self.subTest(bad), self.assertRaisesRegex(AssertionError, re.escape(complaint)):
                play(Page("p.md", bad))


class Pages(unittest.TestCase):
    """What a page may be and where it may point to."""

    def test_links_lead_somewhere(self):
        every = {page.path: page for page in pages()}
        wrong = []
        for page in every.values():
            for line, target in page.links():
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = unquote(target).partition("#")
                there = (ROOT / page.path).parent / path if path else ROOT / page.path
                if not there.exists():
                    wrong.append(f"{page.path}:{line}: {target}: there is no such file")
                elif anchor and there.suffix == ".md":
                    name = there.resolve().relative_to(ROOT).as_posix()
                    if anchor not in every[name].anchors():
                        wrong.append(f"{page.path}:{line}: {target}: that page has no such heading")
        self.assertEqual(wrong, [])

    def test_index_lists_every_page(self):
        folder = ROOT / "docs"
        linked = {(folder / target.partition("#")[0]).resolve()
                  for page in pages() if page.path == "docs/README.md" for _, target in page.links()}
        missing = [page.path for page in pages()
                   if page.path.startswith("docs/") and page.path != "docs/README.md" and (ROOT / page.path) not in linked]
        self.assertEqual(missing, [], "docs/README.md does not list these pages")

    def test_style_fits_a_page(self):
        self.assertLessEqual(len((ROOT / "docs/style.md").read_text(encoding="utf-8").splitlines()), 60)

    def test_c_example_is_as_short_as_promised(self):
        self.assertLessEqual(len((ROOT / "examples/embed_c/main.c").read_text(encoding="utf-8").splitlines()), 60)

    def test_the_page_of_hosts_quotes_the_example(self):
        program = (ROOT / "examples/host_c/main.c").read_text(encoding="utf-8")
        self.assertLessEqual(len(program.splitlines()), 200)
        page = Page("docs/embedding.md", (ROOT / "docs/embedding.md").read_text(encoding="utf-8"))
        pieces = [snippet for snippet in page.snippets if snippet.language == "c"]
        self.assertGreater(len(pieces), 4)
        self.assertEqual([piece.where for piece in pieces if piece.text not in program], [])

    def test_every_part_is_described(self):
        registry = (ROOT / "src/policy/registry.cpp").read_text(encoding="utf-8")
        parts = re.findall(r'part_entry\{\s*"([a-z]+)"', registry)
        self.assertGreater(len(parts), 5)
        text = (ROOT / "docs/policy-parts.md").read_text(encoding="utf-8")
        self.assertEqual([name for name in parts if f"\n## `{name}`\n" not in text], [])

    def test_rules_that_are_named_exist(self):
        number = r"[A-Z]\d+"
        known = set(re.findall(rf"^\| ({number}) \|", (ROOT / "docs/rules.md").read_text(encoding="utf-8"), re.M))
        for path in ["docs/policy-parts.md", "docs/concepts.md"]:
            named = set()
            text = re.sub(r"```.*?```", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.S)
            for cell in re.findall(rf"\[((?:{number}(?: to {number})?(?:, )?)+)\]\(rules\.md", text):
                named |= set(re.findall(number, cell))
            with self.subTest(path):
                self.assertTrue(named)
                self.assertEqual(named - known, set())

    def test_peers_are_counted(self):
        page = Page(peers.PAGE, (ROOT / peers.PAGE).read_text(encoding="utf-8"))
        said = [line for _, line in page.prose if re.match(rf"\| ({'|'.join(peers.TASKS.values())}) \|", line)]
        self.assertEqual(said, peers.table(page))

    def test_codes_are_those_of_the_headers(self):
        text = (ROOT / codes.PAGE).read_text(encoding="utf-8")
        self.assertEqual(codes.faults(text, codes.known_in(ROOT)), [])

    def test_the_languages_of_the_readme_have_the_same_sections(self):
        english, chinese = (Page(name, (ROOT / name).read_text(encoding="utf-8")) for name in ("README.md", "README.zh-CN.md"))
        levels = [[line.split(" ")[0] for _, line in page.prose if line.startswith("#")] for page in (english, chinese)]
        self.assertEqual(*levels)
        code = [[(s.language, re.sub(r"\s*(#|//) .*", "", s.text)) for s in page.snippets] for page in (english, chinese)]
        self.assertEqual(*code)


def program_of_language(name: str) -> Path:
    return Path(os.environ["KAISCHED_SNIPPETS"]) / name


class Programs(unittest.TestCase):
    """C and C++ snippets, which the build has compiled, run and print what stands below them."""

    def test_run(self):
        seen = 0
        for page in pages():
            outputs = page.outputs()
            for snippet in headers(page):
                with self.subTest(snippet.where):
                    written = program_of_language(snippet.file)
                    self.assertTrue(written.exists() and written.read_text(encoding="utf-8") == snippet.text,
                                    f"{snippet.where}: not what was compiled; build again")
            for name, snippet in programs(page):
                with self.subTest(snippet.where):
                    seen += 1
                    written = program_of_language(f"{name}.{LANGUAGES[snippet.language]}")
                    self.assertTrue(written.exists() and written.read_text(encoding="utf-8") == source(snippet),
                                    f"{snippet.where}: not what was compiled; build again")
                    done = subprocess.run([program_of_language(name)], capture_output=True, text=True, timeout=60)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    if snippet.line in outputs:
                        self.assertTrue(as_promised(outputs[snippet.line], done.stdout), f"printed:\n{done.stdout}")
        self.assertGreater(seen, 0)


class Failure(AssertionError):
    pass


def shell(line: str, folder: str) -> subprocess.CompletedProcess:
    """A line of a page, in the folder with the files of that page. `./dev demo` is the program that it builds."""
    program = Path(os.environ["KAISCHED_PROGRAM"]).resolve()
    line = re.sub(r"^\./dev demo\b", "kaisched demo", line)
    path = f"{program.parent}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-c", line], cwd=folder, env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
                          capture_output=True, text=True, timeout=120)


def succeed(where: str, line: str, folder: str) -> str:
    done = shell(line, folder)
    if done.returncode != 0:
        raise Failure(f"{where}: {line}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def commands(text: str) -> list[str]:
    """Lines, continued ones joined, without comments and blank lines."""
    joined = text.replace("\\\n", " ").splitlines()
    return [line for line in joined if line.strip() and not line.lstrip().startswith("#")]


def play_console(snippet, folder: str) -> None:
    for block in re.split(r"^\$ ", snippet.text, flags=re.M)[1:]:
        line, _, promised = block.partition("\n")
        if not re.match(r"kaisched |\./dev demo|cat |echo ", line):
            raise Failure(f"{snippet.where}: only lines with kaisched are run: {line}")
        done = shell(line, folder)
        if not as_promised(promised, done.stdout + done.stderr):
            raise Failure(f"{snippet.where}: {line}: printed something else (tests/docs/renew.py renews):\n"
                          f"{done.stdout}{done.stderr}")


def play_shell(snippet, folder: str) -> None:
    for line in commands(snippet.text):
        if not line.startswith("kaisched "):
            raise Failure(f"{snippet.where}: only lines with kaisched are run (or the fence says no-run): {line}")
        succeed(snippet.where, line, folder)


def play_scenario(snippet, folder: str) -> None:
    path = Path(folder, snippet.file or "snippet.ks")
    text = snippet.text
    if not any(line.startswith("scenario ") for line in text.splitlines()):
        text = f"scenario 1\n{text}"
    path.write_text(text, encoding="utf-8")
    expects = re.search(r"^\s*expect ", text, flags=re.M)
    succeed(snippet.where, f"kaisched {'test' if expects else 'run'} {path.name}", folder)


def play_cluster(snippet, folder: str) -> None:
    if snippet.language == "json":
        try:
            json.loads(snippet.text)
        except ValueError as fault:
            raise Failure(f"{snippet.where}: {fault}") from fault
    path = Path(folder, snippet.file or f"snippet.{snippet.language}")
    path.write_text(snippet.text, encoding="utf-8")
    if re.search(r"schema\"?: *\"?kaisched-cluster/1|^\W*\"?apiVersion", snippet.text):
        succeed(snippet.where, f"kaisched check {path.name}", folder)


PLAYERS = {"console": play_console, "sh": play_shell, "ks": play_scenario, "json": play_cluster, "yaml": play_cluster}


def play(page: Page) -> int:
    """Runs the snippets of a page in order in one folder, and says how many there were."""
    played = 0
    with tempfile.TemporaryDirectory() as folder:
        for snippet in page.snippets:
            if not snippet.runs or "output" in snippet.words:
                continue
            if snippet.language in PLAYERS:
                PLAYERS[snippet.language](snippet, folder)
                played += 1
            elif snippet.language in SHOWN:
                if snippet.file:
                    Path(folder, snippet.file).write_text(snippet.text, encoding="utf-8")
            elif snippet.language not in LANGUAGES:
                raise Failure(f"{snippet.where}: nothing runs snippets of the language '{snippet.language}'")
    return played


class Commands(unittest.TestCase):
    """Commands, scenarios and clusters of the pages."""

    def test_play(self):
        played = 0
        for page in pages():
            with self.subTest(page.path):
                played += play(page)
        self.assertGreater(played, 0)


class Handbook(unittest.TestCase):
    """Rows of the handbook name parts, columns, options and actions that exist, and scenarios that have them."""

    @classmethod
    def setUpClass(cls):
        cls.known = handbook.known_to(os.environ["KAISCHED_PROGRAM"])
        cls.text = (ROOT / handbook.PAGE).read_text(encoding="utf-8")

    def test_rows(self):
        self.assertEqual(handbook.faults(self.text, self.known, ROOT), [])

    def test_wrong_rows_are_noticed(self):
        for right, wrong, complaint in [
            ("**NUMA**", "**Numa**", "NUMA: there is no such row"),
            ("| PreFilter, Permit, Reserve |", "| PreFilter, Allow |", "Allow is no extension point"),
            ("part [`numa`]", "part [`zones`]", "NUMA: zones is no part"),
            ("option `devices.choice`", "option `devices.choose`", "devices.choose is no option"),
            ("action [`preempt`]", "action [`age`]", "age is no action"),
            ("`gpu_limits` of queues", "`gpu_limits` of nodes", "gpu_limits is no column of nodes"),
            ("status [`gated`]", "status [`spread`]", "spread is no status"),
            ("`load.strategy`", "`search_steps`", "Load balance: none of its scenarios has search_steps"),
            ("handbook/latency.ks", "handbook/nothing.ks", "tests/scenarios/handbook/nothing.ks is no scenario"),
            ("| Permit |", "| Allow |", "extension points: Permit is missing"),
            ("`kaisched_session_mark`", "`kaisched_session_stop`", "kaisched_session_stop is no name"),
        ]:
            with self.subTest(wrong):
                self.assertIn(right, self.text)
                found = handbook.faults(self.text.replace(right, wrong), self.known, ROOT)
                self.assertTrue(any(complaint in line for line in found), found)


class Features(unittest.TestCase):
    """Rows of the features: what is there has tests, what is missing is said, what is not there has a reason."""

    @classmethod
    def setUpClass(cls):
        cls.known = handbook.known_to(os.environ["KAISCHED_PROGRAM"])
        cls.text = (ROOT / features.PAGE).read_text(encoding="utf-8")

    def test_rows(self):
        self.assertGreater(len(features.rows(self.text)), 80)
        self.assertEqual(features.faults(self.text, self.known, ROOT), [])

    def test_wrong_rows_are_noticed(self):
        for right, wrong, complaint in [
            ("| queues in a tree | yes |", "| queues in a tree | no |", "queues in a tree: no, and something shows it"),
            ("| queues in a tree | yes |", "| queues in a tree | maybe |", "queues in a tree: maybe is no answer"),
            ("| queues in a tree | yes |", "| gangs of gangs | yes |", "gangs of gangs: stands twice"),
            ("queues/tree.ks", "queues/bush.ks", "queues/bush.ks is no file that tests run"),
            ("unit/test_choice.cpp", "docs/codes.py", "../tests/docs/codes.py is no file that tests run"),
            ("abi/part_cases.c", "abi/case_support.h", "../tests/abi/case_support.h is no file that tests run"),
            ("| [sizes](../tests/scenarios/gangs/sizes.ks) |", "| - |", "a minimum for every role: nothing shows it"),
            ("| queues in a tree | yes |", "| queues in a tree | partly |", "queues in a tree: it does not say what is missing"),
            ("| queues in a tree | yes |", "| queues in a tree | yes | yes |", "queues in a tree: has 6 cells, not 5"),
            ("`parent` of queues", "`parent` of nodes", "queues in a tree: parent is no column of nodes"),
            ("action [`preempt`]", "action [`age`]", "age is no action"),
            ("| Slurm; partly Fluxion |", "| Slurm; partly Slurm |", "blocks, rings, tori: Slurm stands twice"),
            ("| Slurm; partly Fluxion |", "| Nomad |", "blocks, rings, tori: Nomad is none of the other systems"),
            (" features: ", " features: 1 maybe, ", "the rows are "),
        ]:
            with self.subTest(wrong):
                self.assertIn(right, self.text)
                found = features.faults(self.text.replace(right, wrong), self.known, ROOT)
                self.assertTrue(any(complaint in line for line in found), found)
        row = re.search(r"^\| queues in a tree \| yes \| .* \|(?= [^|]* \|$)", self.text, re.M)[0]
        found = features.faults(self.text.replace(row, "| queues in a tree | no | not there | - |"), self.known, ROOT)
        self.assertIn("queues in a tree: no without a reason", found)


class Guarantees(unittest.TestCase):
    """Rows of the guarantees name sources, property tests and fuzz targets that exist, and have a section that says all."""

    @classmethod
    def setUpClass(cls):
        cls.text = (ROOT / guarantees.PAGE).read_text(encoding="utf-8")

    def test_rows(self):
        self.assertGreaterEqual(len(guarantees.rows(self.text)), 10)
        self.assertEqual(guarantees.faults(self.text, ROOT), [])

    def test_wrong_rows_are_noticed(self):
        for right, wrong, complaint in [
            ("| G2 |", "| G12 |", "row 2: is not G2 with 5 cells"),
            ("(#g1-gangs-are-whole)", "(#g1-gangs)", "G1: its promise leads to no section"),
            ("src/model/quarantine.cpp", "src/model/quarantines.cpp", "G8: src/model/quarantines.cpp is no source"),
            ("../src/session/certificates.cpp", "testing.md", "G10: testing.md is no source"),
            ("property/test_tiers.cpp", "property/test_ties.cpp", "G1: tests/property/test_ties.cpp is no property test"),
            ("accountability/test_soundness.cpp", "unit/test_cow.cpp", "G10: tests/unit/test_cow.cpp is no property test"),
            ("fuzz/fuzz_scenario.cpp", "fuzz/driver.cpp", "G6: tests/fuzz/driver.cpp is no fuzz target"),
            ("[fuzz_scenario](../tests/fuzz/fuzz_scenario.cpp) |", "- |", "G6: a fuzz target is missing"),
            ("**Promise.** If `certify`", "If `certify`", "G10: its section lacks Promise."),
        ]:
            with self.subTest(wrong):
                self.assertIn(right, self.text)
                found = guarantees.faults(self.text.replace(right, wrong), ROOT)
                self.assertIn(complaint, found)


if __name__ == "__main__":
    unittest.main()
