"""Completion: what the program offers, and the scripts in the shells that load them."""

import os
import select
import shutil
import subprocess
import time
import unittest
from pathlib import Path
from pty import fork

from support import NODE, PROGRAM, QUEUE, Case, cluster, jobs, main


class Offers(Case):
    def offered(self, *words):
        lines = self.ok("__complete", *words).splitlines()
        return [line.split("\t")[0] for line in lines]

    def test_commands(self):
        self.assertEqual(self.offered("r"), ["run", "report", "replay"])
        self.assertIn("explain", self.offered(""))
        self.assertNotIn("__complete", self.offered(""))
        self.assertEqual(self.offered("help", "gen"), ["generate"])
        self.assertEqual(self.offered("--color", "never", "opt"), ["options"])
        self.assertEqual(self.offered("bogus", ""), [])
        self.assertIn("Decide over a cluster", self.ok("__complete", "run"))

    def test_options(self):
        self.assertEqual(self.offered("run", "--dec"), ["--decisions"])
        self.assertEqual(self.offered("run", "--js"), ["--json"])
        self.assertIn("--version", self.offered("--"))
        self.assertNotIn("--version", self.offered("run", "--"))
        for command in ["run", "explain", "check", "demo"]:
            self.assertLessEqual(
                {"--preset", "--mode", "--placement", "--actions", "--set", "--help"}, set(self.offered(command, "--"))
            )

    def test_values(self):
        self.assertEqual(self.offered("run", "--mode", ""), ["compat", "strict"])
        self.assertEqual(self.offered("run", "--mode=s"), ["--mode=strict"])
        self.assertEqual(self.offered("run", "--color", "n"), ["never"])
        self.assertEqual(self.offered("run", "--set", "placement.g"), ["placement.gpu="])
        self.assertEqual(
            self.offered("run", "--set", "placement.gpu="), ["placement.gpu=binpack", "placement.gpu=spread"]
        )
        self.assertEqual(self.offered("run", "--set", "reference_path=t"), ["reference_path=true"])
        self.assertIn("parts=predicates,elastic", self.offered("run", "--set", "parts=predicates,el"))
        self.assertIn("allocate", self.offered("run", "--actions", ""))
        self.assertIn("kai-0.17-r2", self.offered("run", "--preset", ""))
        self.assertEqual(self.offered("options", "placement."), ["placement.cpu", "placement.domain", "placement.gpu"])
        self.assertEqual(self.offered("schema", "pod_"), ["pod_group"])
        self.assertEqual(self.offered("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.offered("workload", ""), ["convert", "generate", "describe"])
        self.assertEqual(self.offered("workload", "convert", "--from", "s"), ["shockwave", "swf"])
        self.assertEqual(self.offered("workload", "generate", "--like="), ["--like=philly", "--like=itp", "--like=gavel"])

    def test_files(self):
        self.assertEqual(self.offered("run", ""), [":files json yaml yml ks zip"])
        self.assertEqual(self.offered("run", "--decisions", ""), [":files json csv"])
        self.assertEqual(self.offered("run", "--json="), [":files json"])
        self.assertEqual(self.offered("run", "c.json", ""), [])
        self.assertEqual(self.offered("workload", "convert", "a.csv", ""), [":files csv swf"])
        self.assertEqual(self.offered("version", ""), [])

    def test_names_of_a_cluster(self):
        path = self.file("c.json", cluster(QUEUE, NODE, jobs("train", "tune")))
        self.assertEqual(self.offered("explain", path, "tr"), ["train-0", "train"])
        self.assertEqual(self.offered("explain", path, "node/"), ["node/n"])
        self.assertEqual(self.offered("explain", "--nodes", "3", path, "q"), ["q"])
        self.assertEqual(self.offered("explain", f"--cluster={path}", "tu"), ["tune-0", "tune"])
        self.assertEqual(self.offered("explain", "--cluster", path, "tu"), ["tune-0", "tune"])
        self.assertEqual(self.offered("explain", self.file("bad.json", "{}"), "x"), [":files json yaml yml ks zip"])

    def test_every_option_is_offered(self):
        for command in [
            "demo",
            "run",
            "explain",
            "check",
            "test",
            "minimise",
            "generate",
            "convert",
            "digest",
            "options",
            "schema",
            "completion",
            "version",
        ]:
            offered = self.offered(command, "--")
            for line in self.ok(command, "--help").splitlines():
                words = line.split()
                named = [w.split("[")[0].strip(",") for w in words[:2] if w.startswith("--")]
                if line.startswith("  ") and named and not line.startswith("                "):
                    self.assertIn(named[0], offered + ["--help"], (command, line))


class Shell(Case):
    """A shell that has loaded the script; `tab` types a line and the tabulator key, and returns what stands there."""

    shell = None

    def setUp(self):
        super().setUp()
        if shutil.which(self.shell) is None:
            self.skipTest(f"{self.shell} absent")
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "kaisched").symlink_to(Path(PROGRAM).resolve())
        self.path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        self.file("c.json", cluster(QUEUE, NODE, jobs("train")))
        self.file("notes.txt", "")

    def tab(self, command, setup, line, expected):
        pid, terminal = fork()
        if pid == 0:
            os.chdir(self.folder)
            os.environ |= {"PATH": self.path, "TERM": "dumb", "PS1": "> ", "HOME": str(self.folder)}
            os.execvp(command[0], command)
        try:
            self.wait_for(terminal, ">")
            os.write(terminal, f"{setup}; echo rea''dy\n".encode())
            self.wait_for(terminal, "ready")
            time.sleep(0.2)
            os.write(terminal, f"{line}\t".encode())
            seen = self.wait_for(terminal, expected)
        finally:
            os.write(terminal, b"\x03\x04")
            os.close(terminal)
            os.waitpid(pid, 0)
        self.assertIn(expected, seen, f"{self.shell}: {line}")

    def wait_for(self, terminal, text):
        seen = ""
        end = time.monotonic() + 10
        while text not in seen and time.monotonic() < end:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                seen += os.read(terminal, 65536).decode(errors="replace").replace("\x07", "").replace("\x1b[0m", "")
            except OSError:
                break
        return seen


class Bash(Shell):
    shell = "bash"

    def test_keys(self):
        for line, rest in [
            ("kaisched expl", "explain "),
            ("kaisched run c", "c.json "),
            ("kaisched explain c.json tr", "train"),
            ("kaisched run --set placement.gpu=sp", "spread "),
            ("kaisched run --mode=st", "strict "),
            ("kaisched run --json=c", "c.json "),
            ("kaisched run --set placement.c", "cpu="),
        ]:
            self.tab(["bash", "--norc", "-i"], "source <(kaisched completion bash)", line, rest)

    def test_words(self):
        script = """source <(kaisched completion bash)
        COMP_WORDS=(kaisched "${@}") COMP_CWORD=$#; _kaisched; printf '%s\\n' "${COMPREPLY[@]}" """
        for words, expected in [
            (["run", ""], {"bin", "c.json"}),
            (["run", "--mode", ""], {"compat", "strict"}),
            (["run", "--set", "placement.gpu", "=", ""], {"binpack", "spread"}),
            (["explain", "c.json", "tr"], {"train", "train-0"}),
        ]:
            done = subprocess.run(
                ["bash", "-c", script, "bash", *words],
                cwd=self.folder,
                capture_output=True,
                text=True,
                env=os.environ | {"PATH": self.path},
            )
            self.assertEqual((set(done.stdout.split()), done.stderr), (expected, ""), words)


class Zsh(Shell):
    shell = "zsh"

    def test_keys(self):
        for line, rest in [
            ("kaisched expl", "ain"),
            ("kaisched run c", ".json"),
            ("kaisched explain c.json trai", "n"),
            ("kaisched run --set placement.gpu=sp", "read"),
            ("kaisched run --json=c", ".json"),
        ]:
            self.tab(
                ["zsh", "-f", "-i"],
                "autoload -Uz compinit; compinit -u -D; source <(kaisched completion zsh)",
                line,
                rest,
            )


class Fish(Shell):
    shell = "fish"

    def test_words(self):
        for line, expected in [
            ("kaisched expl", {"explain"}),
            ("kaisched run --mode ", {"compat", "strict"}),
            ("kaisched run --set placement.gpu=sp", {"placement.gpu=spread"}),
            ("kaisched run c", {"c.json"}),
            ("kaisched run --json=c", {"--json=c.json"}),
            ("kaisched explain c.json tr", {"train", "train-0"}),
        ]:
            done = subprocess.run(
                ["fish", "-N", "-c", f'kaisched completion fish | source; complete -C "{line}"'],
                cwd=self.folder,
                capture_output=True,
                text=True,
                env=os.environ | {"PATH": self.path, "HOME": str(self.folder)},
            )
            self.assertEqual({row.split("\t")[0] for row in done.stdout.splitlines()}, expected, (line, done.stderr))


del Shell  # the shells above are the tests
if __name__ == "__main__":
    main()
