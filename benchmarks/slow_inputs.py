#!/usr/bin/env python3
"""The clusters of slow_inputs.csv, which `kaisched_bench slow` has found: the worst for their size.

slow_inputs.py time  --bench PROGRAM [--nodes N]           processor time of a session on each of them
slow_inputs.py check --bench PROGRAM --binary PROGRAM      the reference path decides them alike, in both modes

The reference path asks all nodes, simulates all sets and keeps no answers, so that nothing that makes a search faster
decides.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ACTIONS = "allocate,consolidation,reclaim,preempt,stalegangeviction"
INPUTS = Path(__file__).with_suffix(".csv")


def inputs():
    with INPUTS.open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def write(bench, one, nodes, path):
    """Writes the cluster and returns the line that tells what its session costs."""
    command = [bench, "slow", "--mode", one["mode"], "--nodes", nodes, "--genes", one["genes"], "--worst", path]
    told = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return told.stdout.splitlines()[0]


def decisions(binary, path, mode, reference):
    command = [binary, "run", path, "-q", "--mode", mode, "--actions", ACTIONS, "--decisions", "-",
               "--set", f"reference_path={'true' if reference else 'false'}"]
    told = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return json.loads(told.stdout)["decision"]


def check(bench, binary, nodes):
    wrong = decided = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, one in enumerate(inputs()):
            path = Path(folder) / f"{number}.json"
            write(bench, one, nodes, path)
            for mode in ["strict", "compat"]:
                quick = decisions(binary, path, mode, False)
                decided += len(quick)
                if quick != decisions(binary, path, mode, True):
                    wrong += 1
                    print(f"{one['name']}, {mode}: the reference path decides otherwise")
    print(f"{len(inputs())} slow inputs of {nodes} nodes in two modes, {decided} decisions: {wrong} differ")
    return 1 if wrong > 0 or decided == 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["time", "check"])
    parser.add_argument("--bench", required=True, help="kaisched_bench")
    parser.add_argument("--binary", help="kaisched")
    parser.add_argument("--nodes", type=int)
    given = parser.parse_args()
    if given.what == "check":
        return check(given.bench, given.binary, given.nodes or 16)
    with tempfile.TemporaryDirectory() as folder:
        for one in inputs():
            print(f"{one['name']}, {one['mode']}")
            print("  " + write(given.bench, one, given.nodes or 1000, Path(folder) / "cluster.json"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
