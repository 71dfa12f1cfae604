"""The command `report`: what it hands over to Python, and what it says without it. tests/python draws real pages."""

import json
import stat

from support import Case, kaisched, main

# A Python that writes down what it is told, and has no package but this one.
FAKE = """#!/bin/sh
shift 2
for word in "$@"; do echo "$word"; done > {told}
exit {status}
"""


class Report(Case):
    def python(self, status=0):
        path = self.file("python", FAKE.format(told=self.folder / "told", status=status))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_hands_over_files_and_options(self):
        run = self.file("run.json", "{}")
        self.assertEqual(self.ok("report", run, "--python", self.python()), "report.html\n")
        said = self.ok("report", run, "b.json", "-o", "-x.html", "--title=-t", "--python", self.python(), "--json")
        self.assertEqual((self.folder / "told").read_text().splitlines(), ["--output=-x.html", "--title=-t", "--", str(run), "b.json"])
        self.assertEqual(json.loads(said), {"schema": "kaisched-report/1", "file": "-x.html", "runs": [str(run), "b.json"]})

    def test_statuses(self):
        for status, ends in ((2, 2), (3, 3), (1, 3)):
            self.fails(ends, "report", "run.json", "--python", self.python(status))
        self.assertIn("RUN is missing", self.fails(2, "report"))
        self.assertIn("would overwrite", self.fails(2, "report", self.file("a.json", "{}"), "-o", self.folder / "a.json"))

    def test_without_python_or_the_package(self):
        self.assertIn("pip install 'kaisched[report]'", self.fails(2, "report", "run.json", "--python", self.folder / "none"))
        bare = self.file("bare", "#!/bin/sh\nexec python3 -I -S \"$@\"\n")  # no packages at all
        bare.chmod(0o755)
        said = self.fails(2, "report", "run.json", "--python", bare)
        self.assertIn("pip install 'kaisched[report]'", said)
        self.assertIn("--python", said)


if __name__ == "__main__":
    main()
