"""Compares the C headers with those of the last release, by abidiff: what a program was built with has to go on working.

usage: released.py INCLUDE FOLDER --cc CC --work FOLDER [--write VERSION | --self-test]

FOLDER has a description of the interface (abidw) for each release, VERSION.abi. They are made of the headers alone:
each function gets an empty body, each enumeration a variable, and the compiler's debug information has the rest.
New functions and new numbers are no change that counts. What is meant stands in FOLDER/announced.ini, in the form of
abidiff's suppressions and with the reason: a structure that has grown at its end (abidiff cannot tell that from other
changes of a structure), something that is `unstable` and has changed.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
HEADERS = ("kaisched/kaisched.h", "kaisched/loader.h")

def bodies(text):
    """Definitions for all that a header declares."""
    for declared in re.findall(r"^KAISCHED_API (.*?) KAISCHED_NOEXCEPT;", text, re.M | re.S):
        yield f"{declared} {{ {'' if declared.startswith('void kaisched') else 'return 0;'} }}"
    for name, value in re.findall(r"^#define (KAISCHED_\w+) +([^\s\"].*)$", text, re.M):
        if not re.match(r"KAISCHED_(API|NOEXCEPT|ERROR_INIT|\w*VERSION\w*|\w+_H)\b", name):
            yield f"__attribute__((visibility(\"default\"))) enum value_of_{name} {{ as_{name} = {value} }} the_{name};"
    for name in re.findall(r"^enum (\w+) \{", text, re.M):
        yield f"__attribute__((visibility(\"default\"))) enum {name} all_of_{name};"


def library(args, include):
    """A library that has the interface of the headers and does nothing."""
    args.work.mkdir(parents=True, exist_ok=True)
    source, made = args.work / "interface.c", args.work / "libinterface.so"
    lines = [f"#include <{header}>" for header in HEADERS]
    for header in HEADERS:
        lines += bodies((include / header).read_text(encoding="utf-8"))
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [args.cc, "-std=gnu99", "-g", "-shared", "-fPIC", f"-I{include}", source, "-o", made]
    subprocess.run(command, check=True)
    return made


def version_of(path):
    return [int(number) for number in path.stem.split(".")]


def describe(args, include, file):
    command = ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", library(args, include)]
    file.write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout, encoding="utf-8")


def compare(args, include, before):
    """What has changed since; empty if nothing that counts has."""
    command = ["abidiff", "--no-added-syms"]
    if (announced := args.folder / "announced.ini").exists():
        command += ["--suppressions", announced]
    done = subprocess.run([*command, before, library(args, include)], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


# Edits of kaisched.h: (what is replaced, by what, whether a program would notice).
EDITS = (
    ("int32_t* placed, kaisched_error* err) KAISCHED_NOEXCEPT;", "int64_t* placed, kaisched_error* err) KAISCHED_NOEXCEPT;", True),
    ("KAISCHED_API void kaisched_session_cancel(const kaisched_session* session) KAISCHED_NOEXCEPT;", "", True),
    ("#define KAISCHED_COLUMN_OPTIONAL 1u", "#define KAISCHED_COLUMN_OPTIONAL 2u", True),
    ("#define KAISCHED_NO_ROW UINT32_MAX", "#define KAISCHED_NO_ROW 0", True),
    ("  KAISCHED_E_STATE = -31,", "  KAISCHED_E_STATE = -32,", True),
    ("  KAISCHED_SHAPE_QUOTAS = 2, ", "  KAISCHED_SHAPE_PAIRS = 2, ", True),
    ("  uint32_t input;  ", "  uint64_t input;  ", True),
    ("  const char* doc;        ///< what its rows are\n", "", True),
    ("  int64_t created;  ///< nanoseconds\n", "  int64_t more;\n  int64_t created;  ///< nanoseconds\n", True),
    ("  const uint32_t* offsets;  ///< NULL unless ragged\n", "  const uint32_t* offsets;\n  uint64_t more;\n", True),
    ("  const char* doc;        ///< what its rows are\n", "  const char* doc;\n  uint64_t more;\n", True),
    ("  void (*destroy)(void* state);\n} kaisched_executor;", "  void (*destroy)(void* state);\n  void* more;\n} kaisched_executor;", True),
    ("  KAISCHED_SHAPE_RAGGED = 3 ", "  KAISCHED_SHAPE_MORE = 4,\n  KAISCHED_SHAPE_RAGGED = 3 ", False),
    ("KAISCHED_API uint32_t kaisched_abi_version", "KAISCHED_API uint32_t kaisched_more(void) KAISCHED_NOEXCEPT;\nKAISCHED_API uint32_t kaisched_abi_version", False),
)  # fmt: skip


def self_test(args):
    """Edits that break programs are noticed, growth is not."""
    before, copy = args.work / "before.abi", args.work / "include"
    describe(args, args.include, before)
    shutil.copytree(args.include, copy, dirs_exist_ok=True)
    header = copy / HEADERS[0]
    text = header.read_text(encoding="utf-8")
    faults = []
    for old, new, counts in EDITS:
        header.write_text(text.replace(old, new, 1), encoding="utf-8")
        said = compare(args, copy, before)
        if old not in text or bool(said) != counts:
            faults.append(f"{'not noticed' if counts else 'counts as a change'}: {old!r} -> {new!r}\n{said}")
    shutil.rmtree(copy)
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("include", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--write", metavar="VERSION")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.write and not shutil.which("abidw"):
        sys.exit("abidw is missing (Debian package abigail-tools)")
    if not shutil.which("abidiff"):
        print("skipped: abidiff is missing (Debian package abigail-tools)")
        return SKIPPED
    if args.write:
        describe(args, args.include, args.folder / f"{args.write}.abi")
        return 0
    if args.self_test:
        faults = self_test(args)
        print("\n".join(faults) or f"{len(EDITS)} edits are judged rightly")
        return 1 if faults else 0
    releases = sorted(args.folder.glob("*.abi"), key=version_of)
    if not releases:
        print(f"{args.folder} has no release")
        return 1
    said = compare(args, args.include, releases[-1])
    print(said or f"nothing that {releases[-1].stem} had is gone or different")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
