"""A mutated copy of the project and its build, below build/mutation; the worktree is only read."""

import filecmp
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import schemata
import sites

SCOPE = ("src/policy/", "src/actions/", "src/schedulers/")
SESSION = ("src/framework/members.cpp", "src/framework/statement.cpp", "src/framework/node_choice.cpp")
SWITCH_FILE = "src/base/mutant_switch.cpp"
ROUNDS = 12             # of building and dropping what does not compile

# Optimised a little, with all checks: a violated invariant kills too. No warnings: mutants earn them.
CONFIGURATION = ["-G", "Ninja", "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_BUILD_TYPE=Debug",
                 "-DCMAKE_CXX_FLAGS=-w -D_GLIBCXX_ASSERTIONS", "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DKAISCHED_CHECKS=ON",
                 "-DKAISCHED_DEVELOPER=ON"]


class Project:
    def __init__(self, top, work, jobs, session=False, say=print):
        self.top, self.work, self.jobs, self.say = Path(top), Path(work), jobs, say
        self.copy, self.build = self.work / "src", self.work / "build"
        self.session = session
        self.sites = {}         # file -> sites
        self.numbers = {}       # id -> number of the mutant in the build
        self.invalid = set()    # ids that are no C++

    # ---- sites ----
    def files(self):
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=self.top,
                                capture_output=True, text=True, check=True).stdout.splitlines()
        return sorted(name for name in listed if (self.top / name).is_file())

    def in_scope(self, file):
        return (file.startswith(SCOPE) and file.endswith((".cpp", ".hpp"))) or (self.session and file in SESSION)

    def find(self):
        for file in self.files():
            if self.in_scope(file):
                found = sites.find_sites(file, (self.top / file).read_bytes())
                if found:
                    self.sites[file] = found
        every = [site for found in self.sites.values() for site in found]
        if len({site.id for site in every}) != len(every):
            raise RuntimeError("two mutants share an id")
        self.numbers = {site.id: number for number, site in enumerate(every, 1)}
        return every

    def valid(self):
        return [site for found in self.sites.values() for site in found if site.id not in self.invalid]

    # ---- the copy ----
    def write_copy(self):
        """Brings the copy up to date; files that are the same stay untouched, so that a build is short."""
        wanted = set(self.files())
        for path in sorted(self.copy.rglob("*")) if self.copy.exists() else []:
            name = path.relative_to(self.copy).as_posix()
            if path.is_file() and name not in wanted and name != SWITCH_FILE and "__pycache__" not in name:
                path.unlink()
        for name in sorted(wanted):
            target = self.copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if name in self.sites:
                numbered = [(self.numbers[s.id], s) for s in self.sites[name] if s.id not in self.invalid]
                text = schemata.mutate_file(name, (self.top / name).read_bytes(), numbered).encode()
                if not target.exists() or target.read_bytes() != text:
                    target.write_bytes(text)
            elif not target.exists() or not filecmp.cmp(self.top / name, target, shallow=False):
                shutil.copy(self.top / name, target)
        switch = self.copy / SWITCH_FILE
        if not switch.exists() or switch.read_text() != schemata.SWITCH:
            switch.write_text(schemata.SWITCH)

    # ---- the build ----
    def build_all(self, targets):
        """Builds `targets`, a function from the build folder to names, and drops the mutants that do not compile."""
        self.work.mkdir(parents=True, exist_ok=True)
        self.load_invalid()
        self.write_copy()
        if not (self.build / "build.ninja").exists():
            self.run(["cmake", "-S", self.copy, "-B", self.build, *CONFIGURATION], "cmake")
        for round_ in range(ROUNDS):
            # The library first: what does not compile is in there.
            output = self.ninja(["-k", "0", "kaisched_core"], allow_failure=True)
            if output is None:
                break
            numbers = schemata.refused(output)
            by_number = {number: id_ for id_, number in self.numbers.items()}
            dropped = {by_number[n] for n in numbers if n in by_number} - self.invalid
            if not dropped:
                raise RuntimeError("the mutated sources do not compile:\n" + output[-6000:])
            self.say(f"{len(dropped)} mutants are no C++ and are left out")
            self.invalid |= dropped
            self.write_copy()
        else:
            raise RuntimeError(f"the mutated sources do not compile after {ROUNDS} rounds")
        self.store_invalid()
        self.run(["cmake", self.build], "cmake")
        self.ninja(targets(self.build))

    def run(self, command, what):
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{what} failed:\n{done.stdout[-6000:]}")
        return done.stdout

    def ninja(self, arguments, allow_failure=False):
        """None if all went well, else the output."""
        process = subprocess.Popen(["ninja", "-C", self.build, f"-j{self.jobs}", *arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        lines = []
        for line in process.stdout:
            lines.append(line)
            step = re.match(r"\[(\d+)/(\d+)\]", line)
            if step and sys.stderr.isatty():
                print(f"\r[{step[1]}/{step[2]}] ", end="", file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            print("\r", end="", file=sys.stderr, flush=True)
        if process.wait() == 0:
            return None
        output = "".join(lines)
        if not allow_failure:
            raise RuntimeError("the build of the tests failed:\n" + output[-6000:])
        return output

    # ---- what does not compile, remembered by content ----
    def memory(self):
        return self.work / "invalid.json"

    def fingerprint(self, file):
        return hashlib.sha256((self.top / file).read_bytes()).hexdigest()

    def load_invalid(self):
        if not self.memory().exists():
            return
        for file, entry in json.loads(self.memory().read_text()).items():
            if file in self.sites and entry["sha256"] == self.fingerprint(file):
                self.invalid |= set(entry["ids"])

    def store_invalid(self):
        entries = {file: {"sha256": self.fingerprint(file),
                          "ids": sorted(s.id for s in found if s.id in self.invalid)} for file, found in self.sites.items()}
        self.memory().write_text(json.dumps(entries, indent=1, sort_keys=True))
