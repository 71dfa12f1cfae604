"""Compiles the sources of a configured build for their errors and warnings alone, one file at a time, and makes no objects.

usage: check.py BUILD FOLDER... [--jobs N]     FOLDER: src, capi, tests/unit; the sources below it that the build knows
       check.py --self-test COMPILER

Files that are compiled together see each other's includes, and -Wshadow is off for them. This finds what only a build file
by file shows. Flags are those of compile_commands.json in BUILD, without code and debug information. Two things make it
quick. Headers that many files include are precompiled; a file gets only such headers as it includes itself, directly or
through others, so that a missing #include is found. And the compiler stops at the end of a file: it does not go on to
instantiate the templates that the file uses, which builds of files together have done with the same warnings.
"""

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What is precompiled together. A file gets the first of these all of whose headers it includes.
PREAMBLES = [
    "doctest/doctest.h session/core.hpp",
    "framework/session_state.hpp",
    "doctest/doctest.h model/state.hpp support.hpp",
    "model/state.hpp",
    "doctest/doctest.h support.hpp",
    "doctest/doctest.h",
    "nlohmann/json.hpp fmt/format.h kaisched/session.hpp",
    "fmt/format.h kaisched/snapshot.hpp",
    "kaisched/session.hpp",
    "fmt/format.h string vector",
    "algorithm functional optional string vector",
    "string vector",
]
WORTH = 8  # with fewer files a preamble takes longer than it saves
END = 'static_assert(false, "here ends the file");\n'
DROPPED = re.compile(r"-c|-g\w*|-fPI[CE]|-M[MPD]*|-Winvalid-pch")
INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"])([^>\"]+)[>\"]", re.MULTILINE)


class Source:
    """One file and how the build compiles it."""

    def __init__(self, entry, includes):
        self.folder, self.file = entry["directory"], entry["file"]
        self.is_cpp = self.file.endswith(".cpp")
        words = shlex.split(entry["command"])
        self.flags, self.places, self.given = [words[0]], [], []
        words = iter(words[1:])
        for word in words:
            if word in ("-o", "-MF", "-MT", "-MQ"):
                next(words)
            elif word == "-include":  # what the build precompiles for all files of a target
                self.given.append(next(words))
            elif word in ("-I", "-isystem"):
                self.places += [word, next(words)]
            elif word.startswith("-I"):
                self.places.append(word)
            elif word != self.file and not DROPPED.fullmatch(word):
                self.flags.append(word)
        names = includes.reached(self.file, [word[2:] for word in self.places if word.startswith("-I")])
        known = [*PREAMBLES, ""] if self.given else PREAMBLES
        self.preambles = [p for p in known if self.is_cpp and names.issuperset(p.split())]

    def ways(self):
        """For each preamble that fits, what files have to have in common to share it. Macros may differ: where one concerns
        a precompiled header, the compiler reads the headers themselves."""
        options = sorted(word for word in self.flags if not word.startswith("-D"))
        return [(preamble, *self.given, *options) for preamble in self.preambles]


class Includes:
    """What a file includes, directly and through the project's own headers."""

    def __init__(self):
        self.direct = {}

    def reached(self, file, folders):
        names, open_files, seen = set(), [file], {file}
        while open_files:
            at = open_files.pop()
            if at not in self.direct:
                text = Path(at).read_text(encoding="utf-8", errors="replace")
                self.direct[at] = [match[2] for match in INCLUDE.finditer(text)]
            for name in self.direct[at]:
                names.add(name)
                for folder in (os.path.dirname(at), *folders):
                    path = os.path.normpath(os.path.join(folder, name))
                    if path in seen:
                        break
                    if path in self.direct or os.path.isfile(path):
                        seen.add(path)
                        open_files.append(path)
                        break
        return names


def sources_of(build, folders):
    entries = json.loads((Path(build) / "compile_commands.json").read_text(encoding="utf-8"))
    wanted = tuple(os.path.abspath(folder) + os.sep for folder in folders)
    includes, found = Includes(), {}
    for entry in entries:
        if entry["file"].startswith(wanted) and not entry["file"].endswith("_pch.hxx.cxx"):
            found.setdefault(entry["file"], entry)  # some are in two targets
    return [Source(entry, includes) for _, entry in sorted(found.items())]


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})


def check(sources, jobs):
    """Each source with what the compiler says; None: nothing."""
    could = Counter(way for source in sources for way in source.ways())
    groups = defaultdict(list)
    for source in sources:
        if way := next((way for way in source.ways() if could[way] >= WORTH), None):
            groups[way].append(source)
    with tempfile.TemporaryDirectory(prefix="kaisched-check-") as work, ThreadPoolExecutor(jobs) as pool:
        header_of = {}
        for number, ((preamble, *_), members) in enumerate(groups.items()):
            first, header = members[0], f"{work}/{number}.hxx"
            names = [*first.given, *preamble.split()]
            Path(header).write_text("".join(f"#include <{name}>\n" for name in names), encoding="utf-8")
            flags = [f for f in first.flags if not f.startswith("-D") or all(f in member.flags for member in members)]
            command = [*flags, *first.places, "-g0", "-x", "c++-header", header, "-o", f"{header}.gch"]
            made = pool.submit(run, command, first.folder)
            header_of.update((member, (header, made)) for member in members)
        end = Path(work) / "end.cpp"
        end.write_text(END, encoding="utf-8")

        def fault(source):
            command = [*source.flags, *source.places, "-g0", "-fsyntax-only"]
            header, made = header_of.get(source, (None, None))
            if header and made.result().returncode == 0:  # else each file tells itself what is wrong with a header
                command += ["-include", header]
            else:
                command += [word for name in source.given for word in ("-include", name)]
            if source.is_cpp:
                short = run([*command, "-Wfatal-errors", "-include", source.file, str(end)], source.folder)
                if re.findall(r"^(\S+):\d+:\d+: (?:fatal )?error: ", short.stderr, re.MULTILINE) == [str(end)]:
                    return None
            whole = run([*command, source.file], source.folder)
            return None if whole.returncode == 0 else whole.stderr

        yield from zip(sources, pool.map(fault, sources))


def report(results):
    checked, failed, told = 0, 0, set()
    for source, text in results:
        checked += 1
        if text is None:
            continue
        failed += 1
        errors = set(re.findall(r"^.*: (?:fatal )?error: .*$", text, re.MULTILINE))
        name = os.path.relpath(source.file)
        print(f"{name}: as told above" if errors and errors <= told else f"{name}:\n{text}", flush=True)
        told |= errors
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{checked} files, one by one, in {used.ru_utime + used.ru_stime:.0f} s of processor time")
    print(f"{checked - failed} passed, {failed} failed")
    return 1 if failed or not checked else 0


def self_test(compiler):
    """A shadowed member, a missing include and a warning in a header are found, each in its file and nowhere else."""
    texts = {f"good_{n}.cpp": "#include <string>\n#include <vector>\nstd::vector<std::string> v;\n" for n in range(WORTH)}
    texts["shadow.cpp"] = "struct a { int b; int f(int b) { return b; } };\n"
    texts["missing.cpp"] = "#include <vector>\nstd::string s;\nstd::vector<int> v;\n"
    texts["header.hpp"] = texts["shadow.cpp"]
    texts["includes.cpp"] = '#include "header.hpp"\n#include <string>\n#include <vector>\n'
    with tempfile.TemporaryDirectory() as folder:
        commands = []
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
            command = f"{compiler} -std=c++20 -Wshadow -Werror -O2 -g -o {name}.o -c {folder}/{name}"
            if name.endswith(".cpp"):
                commands.append({"directory": folder, "file": f"{folder}/{name}", "command": command})
        (Path(folder) / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
        sources = sources_of(folder, [folder])
        results = {os.path.basename(source.file): text for source, text in check(sources, 2)}
    faults = {name: text for name, text in results.items() if text is not None}
    assert len(results) == WORTH + 3, results
    assert sorted(faults) == ["includes.cpp", "missing.cpp", "shadow.cpp"], faults
    assert "header.hpp:1" in faults["includes.cpp"] and "-Werror=shadow" in faults["includes.cpp"], faults
    assert "std::string" in faults["missing.cpp"] and "-Werror=shadow" in faults["shadow.cpp"], faults
    print("3 planted faults found")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--self-test", metavar="COMPILER")
    parser.add_argument("build", nargs="?")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test(arguments.self_test)
    if not arguments.folders:
        parser.error("BUILD and a FOLDER are needed")
    return report(check(sources_of(arguments.build, arguments.folders), arguments.jobs))


if __name__ == "__main__":
    sys.exit(main())
