"""Plays days and judges them: ./dev day [--all] [ROW ...]. docs/days.md has the rules.

Without rows the part of the full tier is played: the rows of days.csv whose tier is `full`, with small workloads. With
--all every row is played whole. The exit status is 1 if a rule that counts is violated.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import generate
import reduce
import traces

HERE = Path(__file__).resolve().parent
RULES = ("rest", "net", "idle", "start", "stops", "quota", "evictions", "accounts", "time")
# Violations that the small workloads are known to show: (row, rule). One that is gone has to leave the file.
KNOWN = HERE / "known.csv"
# What is a table and no verdict: the reference's own circles and claims, which `compat` keeps.
TABLE_ONLY = {"compat": ("rest", "net", "stops")}
# Presets whose reference goes in circles where its repair is turned off.
CIRCLES = ()
# Presets that keep room free for others: a reservation, or what a queue owns, speaks against a start.
RESERVES = ("fluxion", "slurm", "yunikorn", "hived")
# Presets that let groups in one after the other: order, and quota that others were promised, may speak against a start.
LET_IN = ("kueue", "volcano")
MOST_PROBES = 50
SMALL = {"generated": (60, 6), "itp": (100, 8), "philly": (250, 16), "openb": (250, 16), "pollux": (90, 12)}
FIGURES = ("sessions", "jobs", "jobs started", "jobs ended", "moments without rest", "started and stopped", "fit and wait",
           "sessions until quota", "evicted pods", "evicted GPUs", "evicted GPUs, lower bound")  # fmt: skip


def read_rows(wanted):
    with (HERE / "days.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    if unknown := set(wanted) - {row["row"] for row in rows}:
        sys.exit(f"days.csv has no row {' '.join(sorted(unknown))}")
    return [row for row in rows if row["row"] in wanted] if wanted else rows


def read_known():
    with KNOWN.open(encoding="utf-8", newline="") as lines:
        return {(row["row"], row["rule"]) for row in csv.DictReader(lines)}


def make_day(row, told, file):
    """False: the data is absent."""
    jobs, nodes = (int(row["jobs"]), int(row["nodes"])) if told.all else SMALL[row["source"]]
    if row["source"] == "generated":
        features = set(row["features"].split("+")) - {"none"}
        day = generate.make_day(int(row["seed"]), features, jobs, nodes)
    else:
        if not (told.shared / "data").is_dir():
            return False
        day = traces.make_day(row["source"], told.shared / "data", jobs, nodes, int(row["seed"]), told.bin / "kaisched")
    file.write_text("".join(line + "\n" for line in day.lines()), encoding="utf-8")
    return True


def settings_of(row):
    settings = [f"preset={row['preset']}", f"mode={row['mode']}"]
    if row["actions"] != "default":
        settings.append(f"actions={row['actions'].replace('+', ',')}")
    settings += [f"{name}={row[name]}" for name in ("period", "grace", "host")]
    if row["preset"].startswith(("slurm", "fluxion")):
        settings.append("estimates=1")
    return settings


def judge(row, told, file):
    """(violations by rule: the first line of each, figures) of a day."""
    log = file.with_suffix(".log")
    settings = settings_of(row)
    # Processor time, which other processes on the machine do not use up.
    played = subprocess.run(["bash", "-c", f'ulimit -t {told.seconds}; exec "$@"', "bash", told.bin / "kaisched_day_host", file, log,
                             *settings], capture_output=True, text=True, check=False)  # fmt: skip
    if played.returncode < 0 or played.returncode > 128:
        return {"time": [f"time: the day is not over after {told.seconds} seconds of the processor"]}, {}
    if played.returncode != 0:
        return {"accounts": [played.stderr.strip()]}, {}
    judged = subprocess.run([told.bin / "kaisched_day_check", file, log], capture_output=True, text=True, check=False)
    if judged.returncode not in (0, 1):
        return {"accounts": [judged.stderr.strip()]}, {}
    violations, figures = {}, {}
    questions = [line.split(",")[2:4] for line in judged.stdout.splitlines() if line.startswith("question,")]
    if questions and not row["preset"].startswith(RESERVES):
        violations |= ask(told, file, settings, questions[:MOST_PROBES])
    for line in judged.stderr.splitlines():
        violations.setdefault(line.split(":")[0], []).append(line)
    for line in judged.stdout.splitlines():
        kind, *words = line.split(",")
        if kind == "figure":
            figures[",".join(words[:-1])] = float(words[-1])
    return violations, figures


def ask(told, file, settings, questions):
    """Groups that fit and wait: those that the preset starts in the full state if they are first in line."""
    log = file.with_suffix(".probe")
    probes = [f"probe={session}:{group}" for session, group in questions]
    last = max(int(session) for session, _ in questions)
    subprocess.run([told.bin / "kaisched_day_host", file, log, *settings, f"sessions={last}", *probes], capture_output=True, check=False)
    with log.open(encoding="utf-8") as lines:
        starts = [line.split(",") for line in lines if line.startswith("probe,")]
    log.unlink()
    found = [f"idle: session {session}, group {group}: fits into what is free after 3 sessions in a row, and waits; first in line it starts"
             for _, session, group, answer in starts if answer.strip() == "1"]  # fmt: skip
    return {"idle": found} if found else {}


def counts(row, rule):
    if row["preset"] in CIRCLES and rule in ("rest", "net"):
        return False
    if row["preset"].startswith(LET_IN) and rule == "idle":
        return False
    return rule not in TABLE_ONLY.get(row["mode"], ())


def ratio(figures):
    bound = figures.get("evicted GPUs, lower bound", 0)
    evicted = figures.get("evicted GPUs", 0)
    return "" if not evicted else f"{evicted / bound:.2f}" if bound else "no bound"


def reduce_violations(row, told, file, rules):
    player = reduce.Player(told.bin / "kaisched_day_host", told.bin / "kaisched_day_check", settings_of(row))
    for rule in rules:
        if rule == "time":
            continue
        day = file.read_text(encoding="utf-8").splitlines()
        smaller = reduce.Reduction(player, rule, day)
        smaller.run()
        if smaller.found is None:
            continue
        to = told.out / f"{row['row']}-{rule}.ks"
        reduce.write_scenario(player, told.bin / "kaisched", smaller, to)
        left = sum(line.startswith("job,") for line in smaller.day)
        print(f"       {rule}: {left} jobs are left, {to}", flush=True)


def play(row, told):
    """One row: what it prints, and its line of the table."""
    file = told.out / f"{row['row']}.day"
    if not make_day(row, told, file):
        print(f"{row['row']}  skipped: shared data absent")
        return None
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    violations, figures = judge(row, told, file)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = [rule for rule in RULES if rule in violations and counts(row, rule)]
    known = [] if told.all else [rule for rule in RULES if (row["row"], rule) in told.known]
    failed = [rule for rule in found if rule not in known]
    gone = [rule for rule in known if rule not in found]
    noted = [rule for rule in RULES if rule in violations and not counts(row, rule)]
    words = ["violates " + ", ".join(failed)] if failed else ["holds"] if not known else []
    if known:
        words.append("(known: " + ", ".join(known) + ")")
    if noted:
        words.append("(table: " + ", ".join(noted) + ")")
    what = f"{row['preset']} {row['mode']} period {row['period']} grace {row['grace']} {row['host']} {row['source']}"
    print(f"{row['row']}  {what}: {' '.join(words)}; {time.monotonic() - start:.1f} s", flush=True)
    for rule in failed:
        print("       " + violations[rule][0][:300], flush=True)
    for rule in gone:
        print(f"       {rule} is not violated any more: take the line {row['row']},{rule} out of tests/day/known.csv", flush=True)
    if failed and not told.no_reduce:
        reduce_violations(row, told, file, failed)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    line = {name: row[name] for name in ("row", "preset", "mode", "actions", "period", "grace", "host", "source", "features")}
    line |= {rule: len(violations.get(rule, [])) for rule in RULES}
    line |= {name: f"{figures[name]:g}" if name in figures else "" for name in FIGURES}
    return line | {"ratio": ratio(figures), "seconds": f"{seconds:.1f}", "failed": " ".join(found), "new": " ".join(failed + gone)}


def markdown(lines):
    """The table of docs/days.md."""
    yield "| row | preset | mode | period | grace | host | workload | sessions | jobs | without rest | started and stopped | "\
          "evicted GPUs | ratio | violated |"  # fmt: skip
    yield "|---|---|---|---:|---:|---|---|---:|---:|---:|---:|---:|---:|---|"
    for line in lines:
        period = "events" if line["period"] == "0" else f"{int(line['period']) // 1000} s"
        workload = line["source"] if line["source"] != "generated" else line["features"].replace("+", ", ")
        cells = [line["row"], f"`{line['preset']}`", line["mode"], period, f"{int(line['grace']) // 1000} s", line["host"], workload,
                 line["sessions"], line["jobs"], line["moments without rest"], line["started and stopped"], line["evicted GPUs"],
                 line["ratio"], line["failed"] or "none"]  # fmt: skip
        yield "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", help="rows of days.csv")
    parser.add_argument("--all", action="store_true", help="whole workloads")
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"), help="folder of the programs")
    parser.add_argument("--out", type=Path, default=Path("build/day"), help="folder for days, logs and scenarios")
    parser.add_argument("--seconds", type=int, help="most processor time of a day; 20, with --all 1800")
    parser.add_argument("--table", action="store_true", help="print the table of docs/days.md")
    parser.add_argument("--no-reduce", action="store_true", help="do not look for smaller days and scenarios")
    parser.add_argument("--seeds", help="SEED,SEED,...: plays each generated day once with each of these seeds")
    parser.add_argument("--host", choices=["keep", "forget"], help="in place of the hosts of the rows")
    told = parser.parse_args()
    told.known = read_known()
    told.seconds = told.seconds or (1800 if told.all else 20)
    told.shared = Path(os.environ.get("KAISCHED_SHARED") or HERE.parents[1].parent / "shared")
    told.out.mkdir(parents=True, exist_ok=True)
    rows = [row for row in read_rows(told.rows) if told.all or told.rows or row["tier"] == "full"]
    if told.seeds:
        rows = [row | {"seed": seed, "row": f"{row['row']}-{seed}"} for row in rows if row["source"] == "generated" for seed in told.seeds.split(",")]
    if told.host:
        rows = [row | {"host": told.host} for row in rows]
    lines = [line for line in (play(row, told) for row in rows) if line]
    if lines:
        with (told.out / "table.csv").open("w", encoding="utf-8", newline="") as out:
            to = csv.DictWriter(out, lines[0].keys(), lineterminator="\n")
            to.writeheader()
            to.writerows(lines)
    if told.table:
        print("\n".join(markdown(lines)))
    failed = sum(bool(line["new"]) for line in lines)
    known = sum(bool(line["failed"]) for line in lines) - failed
    print(f"{len(lines)} days, {failed} in which a rule is violated, {max(known, 0)} with known violations, {sum(float(line['seconds']) for line in lines):.0f} s of processor time")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
