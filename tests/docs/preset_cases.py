#!/usr/bin/env python3
"""Plays the cases of docs/preset-cases.md under every preset: preset_cases.py PROGRAM [--update] [--keep FOLDER].

Without --update the tables of the page have to be what is played now.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "preset-cases.md"
CASES = ROOT / "tests" / "scenarios" / "presets"
ALL_ACTIONS = "allocate,consolidation,reclaim,preempt"
HOUR = 3600


def call(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, done.args))}: {done.stderr}")
    return done.stdout


def told(preset):
    """As the preset decides; kai with all its actions."""
    return ["--preset", preset, *(["--actions", ALL_ACTIONS] if preset.startswith("kai") else [])]


def presets_of(program):
    said = json.loads(call(program, "compare", CASES / "fragments.ks", "--presets", "all", "--json"))
    return [one["preset"] for one in said["presets"]]


# ---- one session ----


def placed(program, case, preset):
    """Node by name of pod."""
    decided = json.loads(call(program, "run", CASES / f"{case}.ks", *told(preset), "--decisions", "-", "-q"))
    return {one["pod_name"]: one["node_name"] for one in decided["decision"] if one["kind"] == "bind"}


def started(nodes, prefix):
    return sum(name.startswith(prefix) for name in nodes)


def deadlock(nodes):
    return f"{started(nodes, 'eight')} of 8, {started(nodes, 'five')} of 5"


def fragments(nodes):
    return "starts" if "large-0" in nodes else "waits"


def binpack(nodes):
    return {"n1": "fuller", "n2": "emptier"}[nodes["one-0"]]


def racks(nodes):
    at = {node[0] for name, node in nodes.items() if name.startswith("job")}
    return "waits" if not at else f"rack {at.pop()}" if len(at) == 1 else "both racks"


def elastic(nodes):
    return f"{started(nodes, 'job')} of 6"


def ray(nodes):
    return "waits whole" if not started(nodes, "ray") else f"{started(nodes, 'ray')} of 3"


SESSIONS = {"deadlock": deadlock, "fragments": fragments, "binpack": binpack, "racks": racks, "elastic": elastic, "ray": ray}


# ---- days ----


def starvation():
    """Small jobs come for five days, and never leave a node alone; on the second day one comes that needs a whole node."""
    small = [(36 * 60 * i, f"small-{i}", 8 * HOUR, "small", 1) for i in range(5 * 24 * 60 // 36)]
    return sorted([*small, (24 * HOUR, "large", 4 * HOUR, "large", 8)])


def week():
    """One tenant has forty jobs a day for seven days; the other one eight on each morning from the second day on."""
    greedy = [(36 * 60 * i, f"greedy-{i}", 12 * HOUR, "greedy", 1) for i in range(7 * 40)]
    modest = [((24 * day + 9) * HOUR, f"modest-{day}-{i}", 6 * HOUR, "modest", 1) for day in range(1, 7) for i in range(8)]
    return sorted(greedy + modest)


def write(jobs, file):
    with open(file, "w", newline="") as to:
        rows = csv.writer(to, lineterminator="\n")
        rows.writerow(["job", "submit", "run_time", "estimate", "queue", "gpus", "cpu", "memory"])
        rows.writerows([name, at, run, run, queue, gpus, 4 * gpus, f"{16 * gpus}Gi"] for at, name, run, queue, gpus in jobs)


def outcomes(program, file, folder, preset):
    """Rows of the jobs, with seconds as numbers."""
    out = Path(folder) / "outcomes.csv"
    call(program, "simulate", file, "--nodes", "2x8", "--equal-quotas", "--estimates", "given", "--usage-half-life", "1d", *told(preset), "--jobs", out, "-q")
    with open(out) as rows:
        return list(csv.DictReader(rows))


def hours(seconds):
    return f"{seconds / HOUR:.1f} h"


def waited(row):
    return float(row["start"]) - float(row["submit"]) if row["start"] else None


def tables(program, folder):
    presets = presets_of(program)
    sessions = [["preset", *SESSIONS]]
    for preset in presets:
        sessions.append([f"`{preset}`", *(judge(placed(program, case, preset)) for case, judge in SESSIONS.items())])
    for name, jobs in (("starvation.csv", starvation()), ("week.csv", week())):
        write(jobs, folder / name)
    days = [["preset", "large waits", "small wait", "modest waits", "greedy waits", "stopped"]]
    for preset in presets:
        rows = outcomes(program, folder / "starvation.csv", folder, preset)
        large = [waited(row) for row in rows if row["job"] == "large"][0]
        small = [waited(row) for row in rows if row["job"].startswith("small")]
        cells = ["for ever" if large is None else hours(large), mean(small)]
        rows = outcomes(program, folder / "week.csv", folder, preset)
        cells += [mean([waited(row) for row in rows if row["job"].startswith(tenant)]) for tenant in ("modest", "greedy")]
        cells.append(str(sum(int(row["evictions"]) for row in rows)))
        days.append([f"`{preset}`", *cells])
    return {"sessions": sessions, "days": days}


def mean(times):
    known = [time for time in times if time is not None]
    text = hours(sum(known) / len(known)) if known else "-"
    return text if len(known) == len(times) else f"{text}, {len(times) - len(known)} for ever"


def markdown(rows):
    head, *rest = rows
    lines = [head, ["---"] * len(head), *rest]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("--update", action="store_true")
    words.add_argument("--keep", type=Path, help="a folder for the workloads")
    words = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if words.keep:
            words.keep.mkdir(parents=True, exist_ok=True)
        found = tables(words.program, words.keep or Path(folder))
    text = PAGE.read_text(encoding="utf-8")
    renewed = text
    for name, rows in found.items():
        mark = rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)"
        renewed = re.sub(mark, lambda m, rows=rows: m[1] + markdown(rows) + m[2], renewed, flags=re.S)
    if words.update:
        PAGE.write_text(renewed, encoding="utf-8")
    elif renewed != text:
        sys.exit(f"{PAGE.relative_to(ROOT)} is not what is played; {sys.argv[0]} {words.program} --update\n" + "\n".join(map(markdown, found.values())))


if __name__ == "__main__":
    main()
