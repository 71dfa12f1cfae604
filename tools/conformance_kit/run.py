#!/usr/bin/env python3
"""Runs another scheduler over cases of kaisched and says where its decisions differ. Needs Python alone.

  run.py CASES -- COMMAND...

CASES is a folder that `kaisched test SCENARIOS --export CASES` has written. The command is an adapter: it reads one case
without its decisions from its standard input, and prints {"decisions": [{"kind": "bind", "pod": ..., "node": ...}, ...]}.
An adapter that cannot say what a case asks prints {"skip": "why"}. docs/conformance-kit.md tells more.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

STARTS = {"bind", "pipeline"}
LEAVES = {"evict", "move", "migrate"}
LEVELS = ("placements", "starts", "differs")


def groups_that(kinds, decisions, group_of):
    return Counter(group_of[one["pod"]] for one in decisions if one["kind"] in kinds)


def places(decisions):
    """What a pod becomes; order and commits do not count here."""
    return {(one["kind"], one["pod"], one.get("node", "")) for one in decisions if one["kind"] in STARTS | LEAVES}


def judge(case, decisions):
    """placements: the same pods on the same nodes, the same victims; starts: as many pods of each group start and leave."""
    group_of = {pod["name"]: pod["group"] for pod in case["cluster"].get("pod", [])}
    for one in decisions:
        if one.get("pod") not in group_of:
            raise ValueError(f"there is no pod {one.get('pod')!r}")
    mine = [one for one in case["decisions"] if "pod" in one]
    if places(mine) == places(decisions):
        return "placements"
    same = all(groups_that(kinds, mine, group_of) == groups_that(kinds, decisions, group_of) for kinds in (STARTS, LEAVES))
    return "starts" if same else "differs"


def ask(command, case):
    question = {name: value for name, value in case.items() if name != "decisions"}
    done = subprocess.run(command, input=json.dumps(question), capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise ValueError(f"the adapter ended with status {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def run(cases, command, show):
    found, faults = Counter(), 0
    for path in sorted(cases.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        try:
            answer = ask(command, case)
            level = "skipped" if "skip" in answer else judge(case, answer["decisions"])
        except (ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as fault:
            level, faults = "failed", faults + 1
            print(f"failed    {path.stem}: {fault}")
        found[level] += 1
        if show and level in ("starts", "differs", "skipped"):
            print(f"{level:<10}{path.stem}  {answer.get('skip') or case['title']}")
    total = sum(found.values())
    print(", ".join(f"{found[level]} {level}" for level in (*LEVELS, "skipped", "failed")) + f" of {total} cases")
    return 2 if total == 0 else 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--show", action="store_true", help="name the cases that differ")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    told = parser.parse_args()
    command = told.command[1:] if told.command[:1] == ["--"] else told.command
    if not command:
        parser.error("name an adapter: run.py CASES -- COMMAND...")
    return run(told.cases, command, told.show)


if __name__ == "__main__":
    sys.exit(main())
