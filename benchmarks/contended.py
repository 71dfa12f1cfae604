#!/usr/bin/env python3
"""Clusters with more work than GPUs, in both modes, over sizes: what a session costs, the largest beside the median, and how it grows.

    ./dev bench --suite contended [--gpus N,N] [--seeds N] [--modes strict,compat] [--runs N] [--second] [--json FILE] [--plot FILE]

KAI's recorded seconds stand beside it where ../shared/realistic/cpu_seconds.csv is there (or in the folder of KAISCHED_SHARED).
"""

import argparse
import csv
import json
import math
import subprocess
import tempfile
from pathlib import Path

import chart
from suite import BINARY, fail, numbers, shared_folder

COLORS = {"strict": "#2a9d5c", "compat": "#d9772b", "KAI": "#7b6fd0"}


def measure(binary, mode, gpus, args):
    """All clusters of one size as the program writes them."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        command = [binary, "contended", "--mode", mode, "--gpus", gpus, "--seeds", args.seeds, "--runs", args.runs, "--json", out]
        done = subprocess.run([*map(str, command), *(["--second"] if args.second else [])], capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"{gpus} GPUs in {mode}: {done.stderr.strip()}")
        return json.loads(out.read_text())["results"][0]["sizes"][0]


def recorded():
    """Seconds of KAI's five actions: (GPUs, seconds, whether its clock cut a search)."""
    path = shared_folder() / "realistic" / "cpu_seconds.csv"
    if not path.exists():
        print(f"recorded seconds of KAI are left out: there is no {path}")
        return []
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if row["system_and_settings"].startswith("KAI default")]
    return [(int(row["gpus"]), float(row["cycle"]), row["remark"].startswith("cut")) for row in rows]


def exponent(before, now):
    """Of the power of n with which time grows from one size to the next."""
    return math.log(now["total_s"] / before["total_s"]) / math.log(now["gpus"] / before["gpus"])


def of_kai(known, gpus):
    return ", ".join(f"{'> ' if cut else ''}{seconds:.0f}" for at, seconds, cut in known if at == gpus)


def print_size(mode, which, size, before, known):
    growth = f"n^{exponent(before, size):.2f}" if before else ""
    print(f"{mode:<8}{which:<8}{size['gpus']:>7}{size['total_s'] * 1e3:>12.1f}{size['most_s'] * 1e3:>12.1f}"
          f"{size['most_s'] / size['total_s']:>7.1f}{growth:>9}{of_kai(known, size['gpus']):>14}", flush=True)


def run(args):
    known = recorded()
    made = {"suite": "contended", "runs": args.runs, "modes": {},
            "kai": [{"gpus": gpus, "actions_s": seconds, "cut": cut} for gpus, seconds, cut in known]}
    print(f"{'mode':<8}{'session':<8}{'GPUs':>7}{'median, ms':>12}{'largest':>12}{'ratio':>7}{'growth':>9}{'KAI, s':>14}")
    for mode in args.modes:
        sizes = made["modes"][mode] = []
        for gpus in args.gpus:
            sizes.append(measure(args.binary, mode, gpus, args))
            before = sizes[-2] if len(sizes) > 1 else None
            print_size(mode, "first", sizes[-1], before, known)
            if args.second:
                print_size(mode, "second", sizes[-1]["second"], before and before["second"], [])
    if args.json:
        Path(args.json).write_text(json.dumps(made, indent=1) + "\n")
    if args.plot:
        Path(args.plot).write_text(picture(made))


def powers(low, high):
    """Powers of ten around a range."""
    return [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def seconds_text(seconds):
    return f"{seconds:,g} s" if seconds >= 1 else f"{seconds * 1e3:g} ms"


def picture(made):
    sizes = sorted({one["gpus"] for of in made["modes"].values() for one in of} | {one["gpus"] for one in made["kai"]})
    times = [seed["total_s"] for of in made["modes"].values() for one in of for seed in one["seeds"]]
    ticks = powers(min(times), max(times + [one["actions_s"] for one in made["kai"]]))
    drawn = chart.LogChart(
        "Processor time of a session over GPUs, contended clusters", "GPUs", "processor time of a session",
        (sizes[0] / 1.25, sizes[-1] * 1.25), (ticks[0], ticks[-1]), [(n, f"{n:,}") for n in sizes], [(t, seconds_text(t)) for t in ticks])
    for mode, of in made["modes"].items():
        draw_mode(drawn, mode, of)
    if made["kai"]:
        draw_kai(drawn, made["kai"])
    return drawn.svg()


def draw_mode(drawn, mode, sizes):
    for one in sizes:
        every = [seed["total_s"] for seed in one["seeds"]]
        drawn.span(one["gpus"], min(every), max(every), COLORS[mode])
        drawn.dot(one["gpus"], one["total_s"], COLORS[mode])
    drawn.line([(one["gpus"], one["total_s"]) for one in sizes], COLORS[mode])
    last = sizes[-1]
    lines = [f"kaisched {mode}", f"median of {len(last['seeds'])}, and", "fastest to slowest"]
    drawn.label(last["total_s"], lines, COLORS[mode])


def draw_kai(drawn, points):
    for one in points:
        drawn.dot(one["gpus"], one["actions_s"], COLORS["KAI"], hollow=one["cut"])
    lines = ["KAI 0.17, recorded", "hollow: its clock", "cut a search"]
    drawn.label(points[-1]["actions_s"], lines, COLORS["KAI"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=BINARY)
    parser.add_argument("--gpus", type=numbers, default=[512, 1024, 2048, 4096])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--modes", type=lambda text: text.split(","), default=["strict", "compat"])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--second", action="store_true", help="a second session after 20 changes as well")
    parser.add_argument("--json")
    parser.add_argument("--plot", help="a picture, as SVG")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
