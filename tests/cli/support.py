"""What the tests of the program `kaisched` share. KAISCHED_PROGRAM names it."""

import os
import pty
import re
import struct
import subprocess
import tempfile
import unittest
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

PROGRAM = os.environ.get("KAISCHED_PROGRAM", "kaisched")
SOURCE = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("KAISCHED_SHARED", SOURCE.parent / "shared"))
# Of a build with sanitizers, where each session takes thirty times as long.
FEW_CASES = "KAISCHED_FEW_CASES" in os.environ

QUEUE = '"queue": [{"name": "q"}]'
NODE = '"node": [{"name": "n", "capacity": {"cpu": 8000, "memory": 8000, "gpu": 2000, "pods": 10}}]'


def kaisched(*arguments, stdin=None):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, input=stdin, timeout=120)


def without_progress(text):
    """Messages without the lines that a long task writes on a slow machine."""
    return re.sub(r"(?m)^kaisched: \d+ s: .*\n", "", text)


def cluster(*members):
    return '{"schema": "kaisched-cluster/1", ' + ", ".join(members) + "}"


def jobs(*names, gpu=1000):
    groups = ", ".join(f'{{"name": "{name}", "queue": "q"}}' for name in names)
    pods = ", ".join(f'{{"name": "{name}-0", "group": "{name}", "request": {{"gpu": {gpu}}}}}' for name in names)
    return f'"pod_group": [{groups}], "pod": [{pods}]'


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def ok(self, *arguments, **rest):
        done = kaisched(*arguments, **rest)
        self.assertEqual((done.returncode, without_progress(done.stderr)), (0, ""), arguments)
        return done.stdout

    def fails(self, status, *arguments, **rest):
        """The message of a call that must fail without printing anything else."""
        done = kaisched(*arguments, **rest)
        self.assertEqual((done.returncode, done.stdout), (status, ""), (arguments, done.stderr))
        return without_progress(done.stderr)


def on_terminal(arguments, columns=100, rows=40, **variables):
    """What the program prints to a terminal that is its standard output and error, and its exit status. A variable that
    is None is not set."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | variables
    environment = {k: v for k, v in environment.items() if v is not None}
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return text.decode().replace("\r\n", "\n"), process.wait()


def main():
    program = unittest.main(module="__main__", exit=False)
    for _, reason in program.result.skipped:
        print(f"skipped: {reason}")
    raise SystemExit(not program.result.wasSuccessful())
