#!/usr/bin/env python3
"""Explores all states of a model with spin: check_models.py reclaim|reclaim_tree|gang [--table].

A model as it is must have no fault; with a planted mistake, or where a fault is known, spin must find one. The numbers of
states are those that docs/guarantees.md tells. Status 77 where spin or a C compiler is missing. --table prints that table.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/guarantees.md"
COUNTED_BY = "6.5.2"  # other versions may count otherwise
DEPTH = 100_000

# What is defined, and whether there is a fault to be found.
RUNS = {
    "reclaim": [
        ((), False),
        (("THREE_QUEUES",), False),
        (("TWO_RESOURCES",), False),
        (("TWO_RESOURCES", "COUNTS_ASKED"), True),
        (("WITHOUT_F1",), True),
        (("WITHOUT_F24",), True),
        (("WITHOUT_S17",), True),
    ],
    "reclaim_tree": [
        ((), False),
        (("FOUR_LEAVES",), False),
        (("THREE_TOPS",), False),
        (("UNDIVIDED",), True),
        (("WITHOUT_F1",), True),
        (("WITHOUT_F9", "FOUR_LEAVES"), True),
        (("WITHOUT_F24",), False),
        (("WITHOUT_F24", "WITHOUT_F26"), True),
        (("WITHOUT_S17",), True),
        (("FORGETS_TOP",), True),
    ],
    "gang": [
        ((), False),
        (("KEEPS_PART",), True),
        (("FORGETS_ONE",), True),
        (("ERROR_KEEPS",), True),
        (("KEEPS_STALE",), True),
    ],
}


def explore(model: str, defines: tuple[str, ...]) -> tuple[bool, int, str]:
    """Whether a fault was found, how many states were stored, and what the verifier said."""
    with tempfile.TemporaryDirectory() as folder:
        def run(*command: str) -> str:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
            return done.stdout

        run("spin", "-a", *(f"-D{one}" for one in defines), str(HERE / f"{model}.pml"))
        run("cc", "-O1", "-w", "-DNOREDUCE", "-o", "pan", "pan.c")
        said = run("./pan", "-a", "-w22", f"-m{DEPTH}")
    errors = re.search(r"errors: (\d+)", said)
    stored = re.search(r"(\d+) states, stored", said)
    if not errors or not stored or "max search depth too small" in said or "out of memory" in said:
        raise SystemExit(f"{model}: the search was cut short\n{said}")
    return int(errors[1]) > 0, int(stored[1]), said


def row(model: str, defines: tuple[str, ...], found: bool, states: int) -> str:
    """As the page has it. Where a fault is found the search ends, so the states say nothing."""
    name = " ".join(f"`{one}`" for one in defines) or "-"
    return f"| [{model}](../tests/model/{model}.pml) | {name} | {'found' if found else f'none in {states:,} states'} |"


def main() -> int:
    model, *rest = sys.argv[1:]
    for tool in ("spin", "cc"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            return 77
    version = subprocess.run(["spin", "-V"], capture_output=True, text=True, check=True).stdout
    page = PAGE.read_text(encoding="utf-8")
    wrong = 0
    for defines, has_fault in RUNS[model]:
        found, states, said = explore(model, defines)
        line = row(model, defines, found, states)
        print(line, flush=True)
        if rest == ["--table"]:
            continue
        if found != has_fault:
            wrong += 1
            print(f"wrong: {'a fault was found' if found else 'no fault was found'}\n{said}")
        elif COUNTED_BY in version and line not in page:
            wrong += 1
            print("wrong: docs/guarantees.md tells another number")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
