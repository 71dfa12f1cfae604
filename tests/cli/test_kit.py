"""The conformance kit: scenarios as cases for other schedulers, and the adapters that come with it."""

import json
import subprocess
import sys

from support import PROGRAM, SOURCE, Case, kaisched, main

KIT = SOURCE / "tools" / "conformance_kit"
SCENARIO = """scenario 1 "two nodes"
option placement.gpu=spread
node n[1-2] gpu=2 cpu=8 pods=10
queue q
pod_group a
  pod a-0 gpu=1
run
expect bind a-0 n1
settle
pod_group b
  pod b-0 gpu=1
run placement.gpu=binpack
expect bind b-0 n1
"""


class Kit(Case):
    def cases(self, *paths):
        folder = self.folder / "cases"
        self.ok("test", *paths, "--export", folder, "-q")
        return folder

    def run_kit(self, cases, *command, show=False):
        words = [sys.executable, KIT / "run.py", *(["--show"] if show else []), cases, "--", *command]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=100, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_cases(self):
        folder = self.cases(self.file("two.ks", SCENARIO))
        first, second = (json.loads(path.read_text()) for path in sorted(folder.glob("*.json")))
        self.assertEqual((first["schema"], first["session"], second["session"]), ("kaisched-case/1", 1, 2))
        self.assertEqual(first["options"], {"placement.gpu": "spread"})
        self.assertEqual(second["options"], {"placement.gpu": "binpack"})
        self.assertEqual(first["decisions"], [{"kind": "bind", "commit": 1, "group": "a", "pod": "a-0", "node": "n1"}])
        self.assertEqual(next(pod["node"] for pod in second["cluster"]["pod"] if pod["name"] == "a-0"), "n1")

    def test_kaisched_decides_its_own_cases(self):
        cases = self.cases(SOURCE / "tests" / "scenarios" / "gangs", self.file("two.ks", SCENARIO))
        status, said, _ = self.run_kit(cases, sys.executable, KIT / "adapters" / "kaisched.py", PROGRAM)
        count = len(list(cases.glob("*.json")))
        self.assertEqual((status, said), (0, f"{count} placements, 0 starts, 0 differs, 0 skipped, 0 failed of {count} cases\n"))

    def test_others(self):
        cases = self.cases(self.file("two.ks", SCENARIO))
        adapter = KIT / "adapters" / "first_fit.py"
        self.assertEqual(self.run_kit(cases, sys.executable, adapter)[:2], (0, "2 placements, 0 starts, 0 differs, 0 skipped, 0 failed of 2 cases\n"))
        one = [sys.executable, KIT / "adapters" / "kaisched.py", PROGRAM]
        status, said, _ = self.run_kit(cases, *one, "--set", "placement.gpu=spread", show=True)
        self.assertEqual((status, said.splitlines()[-1]), (0, "1 placements, 1 starts, 0 differs, 0 skipped, 0 failed of 2 cases"))
        self.assertIn("two nodes", said)
        nothing = [sys.executable, "-c", 'print("{\\"decisions\\": []}")']
        self.assertEqual(self.run_kit(cases, *nothing)[1], "0 placements, 0 starts, 2 differs, 0 skipped, 0 failed of 2 cases\n")
        unable = [sys.executable, "-c", 'print("{\\"skip\\": \\"everything\\"}")']
        self.assertIn("2 skipped", self.run_kit(cases, *unable)[1])

    def test_faults(self):
        cases = self.cases(self.file("two.ks", SCENARIO))
        for answer in ("1", "", '{"decisions": [{"kind": "bind", "pod": "nobody", "node": "n1"}]}'):
            status, said, _ = self.run_kit(cases, sys.executable, "-c", f"print({answer!r})")
            self.assertEqual((status, said.splitlines()[-1]), (1, "0 placements, 0 starts, 0 differs, 0 skipped, 2 failed of 2 cases"), answer)
        self.assertEqual(self.run_kit(cases, "false")[0], 1)
        self.assertEqual(self.run_kit(self.folder, "true")[0], 2)  # no case
        self.assertEqual(self.run_kit(cases)[0], 2)  # no adapter
        self.assertEqual(kaisched("test", self.file("two.ks", SCENARIO), "--export", "/proc/cases").returncode, 2)


if __name__ == "__main__":
    main()
