"""Random small clusters, decided by the engine and by the specification: they must agree on every decision.

    python3 compare.py --binary FILE [--spec FOLDER] [--count N] [--seed TEXT] [--first N] [--contended] [--jobs N]
                       [--work FOLDER]

The program that judges recorded cases (kaisched_conformance) judges these too. Of what differs the first cases are
made as small as possible, written to the work folder and printed. Ends with `N passed, M failed`; status 1 if any
failed, 77 if the specification is not here.
"""

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import generate
import shrink

SKIPPED = 77
CHUNK = 100             # cases per run of the program
SHOWN = 2               # differences that are made small
HERE = Path(__file__).resolve()


class Engine:
    """The program, given cases as lines of a file."""

    def __init__(self, binary, work, options=()):
        self.binary, self.work, self.options = binary, Path(work), options

    def failures(self, cases, name):
        """-> {index of the case: {gate: why}}"""
        lines, answer = self.work / f"{name}.jsonl", self.work / f"{name}.report.json"
        lines.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
        answer.unlink(missing_ok=True)
        run = subprocess.run([self.binary, lines, "--json", answer, "--amounts", *self.options], capture_output=True,
                             text=True, check=False)
        if run.returncode < 0 and len(cases) > 1:       # a crash: which of them it is
            return {index: gates for index, case in enumerate(cases)
                    for gates in self.failures([case], f"{name}-{index}").values()}
        if run.returncode < 0:
            return {0: {"crash": run.stderr.strip().splitlines()[-1] if run.stderr.strip() else str(run.returncode)}}
        if run.returncode not in (0, 1) or not answer.exists():
            raise RuntimeError(f"{self.binary} ended with {run.returncode} on {lines}:\n{run.stdout}{run.stderr}")
        report = json.loads(answer.read_text(encoding="utf-8"))
        if report["passed"] + report["failed"] != len(cases):
            raise RuntimeError(f"{report['passed']} passed and {report['failed']} failed of {len(cases)} in {lines}")
        found = {}
        for one in report["failures"]:
            found.setdefault(int(one["file"].rsplit(":", 1)[1]) - 1, {})[one["gate"]] = one["why"]
        lines.unlink()
        answer.unlink()
        return found


def compare_chunk(arguments):
    """Runs in a process of its own. -> (numbers of cases with a decision and without an answer, {number: {gate: why}})
    """
    spec, seed, first, count, contended, engine = arguments
    specification = generate.Specification(spec)
    answered = {}
    for number in range(first, first + count):
        case = specification.answer(generate.make_case(seed, number, contended))
        if case:
            answered[number] = case
    numbers = list(answered)
    found = engine.failures(list(answered.values()), f"cases-{first}")
    busy = sum(any(played["events"] for played in case["rounds"]) for case in answered.values())
    return (busy, count - len(answered)), {numbers[index]: gates for index, gates in found.items()}


def compare_all(options, engine, say):
    chunks = [(options.spec, options.seed, first, min(CHUNK, options.first + options.count - first), options.contended,
               engine)
              for first in range(options.first, options.first + options.count, CHUNK)]
    busy, silent, found, begun = 0, 0, {}, time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        for number, ((with_decisions, unanswered), different) in enumerate(pool.map(compare_chunk, chunks), start=1):
            busy += with_decisions
            silent += unanswered
            found.update(different)
            if number % 20 == 0:
                say(f"{number * CHUNK} cases, {len(found)} differ, {time.monotonic() - begun:.0f} s")
    seconds = time.monotonic() - begun
    say(f"{options.count} cases of seed {options.seed}, {busy} with decisions, in {seconds:.1f} s"
        f" ({options.count / seconds:.0f} per second)")
    if silent:
        say(f"{silent} of them without an answer: the specification does not say what happens there")
    if silent * 1000 > options.count:
        raise RuntimeError("too many cases without an answer")
    return found


def smallest(case, gate, specification, engine):
    """The smallest case that the same gate refuses."""
    def shows(cases):
        decided = [specification.answer(one) for one in cases]      # an edit can make nonsense of a case
        kept = [one for one in decided if one]
        found = engine.failures(kept, "shrink") if kept else {}
        different = {id(kept[index]) for index, gates in found.items() if gate in gates}
        return [one is not None and id(one) in different for one in decided]
    return shrink.shrink(copy.deepcopy(case), shows)


def show(number, gates, options, engine):
    specification = generate.Specification(options.spec)
    gate = next(iter(gates))
    case = generate.make_case(options.seed, number, options.contended)
    case = smallest(specification.decide(case), gate, specification, engine)
    file = engine.work / f"smallest-{options.seed}-{number}.json"
    file.write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")
    why = engine.failures([case], "smallest").get(0, {}).get(gate, "")
    print(f"\nsmallest case of seed {options.seed} number {number}, gate {gate}: {file}\n    {why}")
    print(describe(case))


def describe(case):
    """The case in a few lines; empty things are left out."""
    resolved = case["resolved"]
    lines = [f"    {name}: {json.dumps(value)}" for name, value in resolved["params"].items()
             if value and not name.endswith("_mib")]
    lines.append("    actions: " + " ".join(case["actions"]) + f" ({case['kind']}, {len(case['rounds'])} rounds)")
    lines.append("    plug-ins: " + " ".join(_plugin(plugin) for plugin in resolved["plugins"]))
    for kind in ("nodes", "queues", "jobs"):
        for one in resolved[kind]:
            kept = {name: value for name, value in one.items() if value not in ([], {}, "") and name not in (
                "name", "tasks", "max_tasks", "gpu_memory_mib", "gpu_memory_synced", "created_offset_s", "age_s")}
            lines.append(f"    {kind[:-1]} {one['name']}: {json.dumps(kept)}")
            lines += [f"        {json.dumps({n: v for n, v in task.items() if v not in ([], {}, '')})}"
                      for task in one.get("tasks") or []]
    return "\n".join(lines)


def _plugin(plugin):
    return plugin["name"] + (json.dumps(plugin["arguments"]) if plugin.get("arguments") else "")


def default_specification():
    """Beside the checkout, or where the environment says; it is no part of the project."""
    shared = os.environ.get("KAISCHED_SHARED") or HERE.parents[3] / "shared"
    return Path(shared) / "spec" / "kai"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", required=True, help="kaisched_conformance")
    parser.add_argument("--spec", type=Path, default=default_specification())
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--contended", action="store_true", help="most pods run already, all actions are taken")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--show", type=int, default=SHOWN, help="differences that are made small and printed")
    parser.add_argument("--known", type=int, nargs="*", default=[], metavar="NUMBER",
                        help="cases that are known to differ; it is a failure if one of them does not")
    parser.add_argument("--work", help="folder for the smallest cases; a temporary one if not given")
    parser.add_argument("--reference-path", action="store_true", help="the engine scans instead of using its indexes")
    options = parser.parse_args()
    if not (options.spec / "oracle.py").exists():
        print("skipped: the specification is not here (set KAISCHED_SHARED)")
        return SKIPPED
    work = options.work or tempfile.mkdtemp(prefix="kaisched-spec-")
    Path(work).mkdir(parents=True, exist_ok=True)
    engine = Engine(options.binary, work, ["--reference-path"] if options.reference_path else [])
    found = compare_all(options, engine, lambda text: print(text, flush=True))
    agree = [number for number in options.known if found.pop(number, None) is None]
    for number, gates in list(found.items())[:options.show]:
        show(number, gates, options, engine)
    if len(found) > options.show:
        print("\nall that differ: " + " ".join(str(number) for number in found))
    if agree:
        print("\ndo not differ any more: " + " ".join(str(number) for number in agree))
    known = f", {len(options.known) - len(agree)} known to differ" if options.known else ""
    print(f"{options.count - len(found) - len(options.known)} passed, {len(found) + len(agree)} failed{known}")
    return 1 if found or agree else 0


if __name__ == "__main__":
    sys.exit(main())
