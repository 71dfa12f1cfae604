"""Mutation testing: do the tests notice small faults in the decisions?

    mutate.py [N] [--seed TEXT] [--only PART-OF-A-PATH] [--id ID[,ID...]] [--list] [--session] [--with-shared]
              [--at-least PERCENT] [--json FILE] [--update] [--labels LABEL,...] [--skip REGEX] [--jobs N]

Chooses N mutants of src/policy, src/actions and src/schedulers, builds them all into one copy of the project below build/mutation, and
runs the tests for one mutant after the other until one fails. Ends with status 1 if fewer than --at-least percent were
noticed, or if a survivor of the documented run has no reason in survivors.json.

  --list         the mutants that would be tried, and nothing else
  --only TEXT    those of files whose path contains TEXT
  --id IDS       just these, as a report names them
  --session      src/framework/members.cpp, statement.cpp and node_choice.cpp as well
  --with-shared  also the recorded cases and the specification in ../shared (or $KAISCHED_SHARED), which are no part of
                 the project
  --update       brings the table in docs/testing.md up to date with the documented run
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import campaign
import project
import report
import selection

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
COUNT = 100
SEED = "kaisched"
AT_LEAST = 85.0
LABELS = ["scenario", "unit", "parts", "property", "oracle", "conformance"]
SHARED_LABELS = ["spec"]
# Replays of cases that take minutes, and a test that compares a program with itself.
SKIPPED = r"^spec/(random|reference_path)$|^determinism/"


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__.split("\n\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=COUNT, metavar="N", help=f"mutants to try (default {COUNT})")
    parser.add_argument("--seed", default=SEED, help=f"which ones (default {SEED})")
    parser.add_argument("--only", metavar="TEXT", help="of files whose path contains TEXT")
    parser.add_argument("--id", metavar="IDS", help="just these, separated by commas")
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    parser.add_argument("--session", action="store_true", help="three files of src/framework as well")
    parser.add_argument("--with-shared", action="store_true", help="also tests that need ../shared")
    parser.add_argument("--at-least", type=float, default=AT_LEAST, metavar="PERCENT", help=f"default {AT_LEAST:g}")
    parser.add_argument("--json", metavar="FILE", help="the report as JSON")
    parser.add_argument("--update", action="store_true", help="write the survivors into docs/testing.md")
    parser.add_argument("--labels", default=",".join(LABELS), help="of the tests (default %(default)s)")
    parser.add_argument("--skip", metavar="REGEX", help="leave out tests of these names")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("DEV_JOBS") or os.cpu_count() or 1))
    return parser.parse_args()


def programs(build, labels):
    """Ninja targets of the programs that tests with these labels run. ctest names none that is not built yet."""
    known = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
    known = {line.rsplit(":", 1)[0] for line in known.splitlines()}
    found = set()
    for file in sorted(Path(build).rglob("CTestTestfile.cmake")):
        text = file.read_text()
        tests = dict(re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", text, flags=re.M))
        for name, its in re.findall(r'^set_tests_properties\(\[=\[(.*?)\]=\] .*?LABELS "(.*?)"', text, flags=re.M):
            its = set(its.split(";"))
            if its & set(labels) and "full" not in its and not re.search(SKIPPED, name):
                for path in re.findall(re.escape(f"{build}/") + r'([^"]*)', tests.get(name, "")):
                    if path in known:
                        found.add(path)
    return sorted(found)


def select(args, tree):
    every = tree.valid()
    if args.id:
        ids = set(args.id.split(","))
        unknown = ids - {site.id for site in every}
        if unknown:
            raise SystemExit(f"mutate: no such mutant: {', '.join(sorted(unknown))} (sources that change get new ones)")
        return [site for site in every if site.id in ids]
    if args.only:
        every = [site for site in every if args.only in site.file]
    return selection.choose(every, args.count, args.seed)


def main():
    args = arguments()
    labels = args.labels.split(",") + (SHARED_LABELS if args.with_shared else [])
    start = time.monotonic()
    work = TOP / "build" / "mutation"
    tree = project.Project(TOP, work, args.jobs, args.session, say)
    tree.find()
    if args.list:
        tree.load_invalid()
        for site in select(args, tree):
            print(report.mutant_line(site))
        return 0
    tree.build_all(lambda build: programs(build, labels))
    chosen = select(args, tree)
    built = time.monotonic() - start
    say(f"{len(tree.valid())} mutants built in {built:.0f} s, {len(chosen)} chosen")

    # Without ../shared unless asked, and with the same random clusters: the score is to be the same in every clone.
    environment = {"KAISCHED_SHARED": str(work / "absent"), "RC_PARAMS": "seed=1"}
    if args.with_shared:
        environment["KAISCHED_SHARED"] = os.environ.get("KAISCHED_SHARED") or str(TOP.parent / "shared")
    tests = campaign.ctest_tests(tree.build, labels, skip=f"{SKIPPED}|{args.skip}" if args.skip else SKIPPED)
    if not tests:
        raise RuntimeError(f"no test has one of the labels {', '.join(labels)}")
    run = campaign.Campaign(campaign.Runner(work / "scratch", environment), tests, work / "memory.json", args.jobs, say)
    skipped = run.check_unmutated()
    seconds = sum(test.seconds for test in run.tests)
    say(f"{len(run.tests)} tests pass without a mutant in {seconds:.1f} s of processor time"
        + (f"; skipped: {', '.join(skipped)}" if skipped else ""))

    verdicts = run.run([(tree.numbers[site.id], site) for site in chosen])
    outcome = report.Outcome(args.seed, [(site, verdicts[tree.numbers[site.id]]) for site in chosen],
                             [test.name for test in run.tests], time.monotonic() - start)
    print(outcome.text())
    if args.json:
        Path(args.json).write_text(json.dumps(outcome.data(), indent=1) + "\n")
    status = 0
    if outcome.score() < args.at_least:
        say(f"mutate: {outcome.score():.1f} % noticed, at least {args.at_least:g} % wanted")
        status = 1
    documented = not (args.id or args.only or args.session or args.with_shared or args.skip) and (
        (args.count, args.seed, labels) == (COUNT, SEED, LABELS))
    if documented:
        problems = report.check_documented(outcome, HERE / "survivors.json", TOP / "docs" / "testing.md", args.update)
        for problem in problems:
            say(f"mutate: {problem}")
        status = 1 if problems else status
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        say(f"mutate: {error}")
        sys.exit(2)
