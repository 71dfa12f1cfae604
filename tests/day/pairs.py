"""The array of days: how every two settings meet in some day, without playing the product of all.

    python3 pairs.py write        writes days.csv, the same bytes every time
    python3 pairs.py check        says which pairs days.csv lacks; the exit status is 1 if it lacks one

Factors are below. A pair that LEFT_OUT names meets in no day. The pairs of the other presets and the single traces are
not asked for: these presets meet `generated` and a trace.
"""

import csv
import itertools
import sys
from pathlib import Path

from generate import FEATURES, Draw

FILE = Path(__file__).with_name("days.csv")
KAI = "allocate+consolidation+reclaim+preempt+stalegangeviction"
# The last four are levels of their own, so that the days of kai are many.
PRESETS = ["coscheduling", "fluxion-conservative", "fluxion-easy", "hami-binpack", "hami-spread", "hived", "kube-default",
           "kube-gang", "kueue-classical", "kueue-fair", "slurm-backfill", "volcano-ai", "volcano-default",
           "yunikorn-default", "yunikorn-pack", "kai", "kai.1", "kai.2", "kai.3", "kai.4"]  # fmt: skip
MEET_A_TRACE = PRESETS[:-4]
TRACES = ["itp", "philly", "openb", "pollux"]
SWITCHES = [f for f in FEATURES if f not in ("within", "cells")]
FACTORS = {
    "preset": PRESETS,
    "mode": ["strict", "compat"],
    "period": ["0", "1000", "10000"],
    "grace": ["0", "30000"],
    "host": ["keep", "forget"],
    "source": ["generated", *TRACES],
} | {feature: ["no", "yes"] for feature in SWITCHES}
COLUMNS = ["row", "tier", "preset", "mode", "actions", "period", "grace", "host", "source", "features", "seed", "jobs", "nodes"]


def is_kai(preset):
    return preset.startswith("kai")


def left_out(one, other):
    """Whether a pair of settings cannot meet, or need not."""
    settings = dict([one, other])
    preset, source = settings.get("preset", ""), settings.get("source", "")
    if source in TRACES and any(settings.get(f) == "yes" for f in SWITCHES):
        return True  # a trace has its own jobs
    if preset and source in TRACES and preset not in ("kai.1", "kai.2"):
        return True  # others meet `trace`, below
    if preset and not is_kai(preset) and settings.get("mode") == "compat":
        return True  # a mode is of kai
    if preset.startswith("yunikorn") and settings.get("racks") == "yes":
        return True  # groups that ask for a rack wait there (TU9)
    if preset == "kube-default" and settings.get("gangs") == "yes":
        return True  # no gangs: two that have half of their pods wait for each other
    return preset == "kube-default" and settings.get("elastic") == "yes"


def pairs_of(row):
    items = sorted(row.items())
    pairs = {(a, b) for a, b in itertools.combinations(items, 2) if not left_out(a, b)}
    if row["preset"] in MEET_A_TRACE and row["source"] in TRACES:
        pairs.add((("preset", row["preset"]), ("source", "trace")))
    return pairs


def allowed(row):
    return not any(left_out(a, b) for a, b in itertools.combinations(sorted(row.items()), 2)
                   if not (a[0] == "preset" and b[0] == "source" and a[1] in MEET_A_TRACE))  # fmt: skip


def wanted():
    names = sorted(FACTORS)
    pairs = {((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in FACTORS[a] for y in FACTORS[b]
             if not left_out((a, x), (b, y))}  # fmt: skip
    return pairs | {(("preset", p), ("source", "trace")) for p in MEET_A_TRACE}


def draw_row(draw, missing):
    """A row around a pair that is missing."""
    row = {name: draw.one_of(values) for name, values in FACTORS.items()}
    for name, value in draw.one_of(missing):
        row[name] = draw.one_of(TRACES) if value == "trace" else value
    if row["source"] in TRACES:
        row |= {feature: "no" for feature in SWITCHES}
    if not is_kai(row["preset"]):
        row["mode"] = "strict"
    if row["preset"].startswith("yunikorn"):
        row["racks"] = "no"
    if row["preset"] == "kube-default":
        row |= {"gangs": "no", "elastic": "no"}
    return row


def make_rows():
    draw = Draw(20261)
    left = wanted()
    rows = []
    while left:
        missing = sorted(left)
        tried = [row for row in (draw_row(draw, missing) for _ in range(300)) if allowed(row)]
        best = max(tried, key=lambda row: len(pairs_of(row) & left))
        left -= pairs_of(best)
        rows.append(best)
    return rows


def write():
    with FILE.open("w", encoding="utf-8", newline="") as out:
        to = csv.writer(out, lineterminator="\n")
        to.writerow(COLUMNS)
        rows = make_rows()
        for number, row in enumerate(sorted(rows, key=lambda r: (r["source"] != "generated", r["preset"]))):
            preset = row["preset"].split(".")[0]
            five = row["preset"].startswith("kai.")
            features = [f for f in SWITCHES if row[f] == "yes"]
            if not is_kai(preset):
                features.append("cells" if preset == "hived" else "within")
            jobs, nodes = (150, 8) if row["source"] == "generated" else (600, 24)
            to.writerow([f"{number + 1:02}", "full", preset, row["mode"], KAI if five else "default", row["period"], row["grace"],
                         row["host"], row["source"], "+".join(features) or "none", 100 + number, jobs, nodes])  # fmt: skip


def read():
    """The rows of the file, as settings of the factors."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            features = row["features"].split("+")
            settings = {name: row[name] for name in ("preset", "mode", "period", "grace", "host", "source")}
            settings |= {f: "yes" if f in features else "no" for f in SWITCHES}
            yield settings, row["actions"] != "default"


def check():
    """A day of kai with five actions stands for each of the four levels: their pairs have to be there once."""
    met = set()
    for settings, five in read():
        names = ["kai.1", "kai.2", "kai.3", "kai.4"] if five else [settings["preset"]]
        for name in names:
            met |= pairs_of(settings | {"preset": name})
    lacking = sorted(wanted() - met)
    for (a, x), (b, y) in lacking:
        print(f"no day has {a} {x} with {b} {y}")
    return 1 if lacking else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        write()
    elif sys.argv[1:] == ["check"]:
        sys.exit(check())
    else:
        sys.exit(__doc__)
