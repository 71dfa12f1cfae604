#!/usr/bin/env python3
"""Everything around the benchmark program: all scenarios over sizes, another revision beside this one, the decisions
that it must make, the instructions that it may take.

  suite.py run          every scenario and size: a table, how time grows, --csv, --plot
  suite.py against REV  builds another revision and runs both in turn: ratio of times with its spread
  suite.py decisions    digests of decisions against benchmarks/decisions.csv; --update writes them anew
  suite.py instructions instructions of some scenarios (callgrind) against benchmarks/instructions.csv; --update likewise
"""

import argparse
import csv
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "build" / "release" / "bin" / "kaisched_bench"
DECISIONS = ROOT / "benchmarks" / "decisions.csv"
INSTRUCTIONS = ROOT / "benchmarks" / "instructions.csv"

SCENARIOS = ["fill", "overflow", "overflow_full", "gang", "gang64", "distributed", "fraction", "topology", "mixed",
             "mixed_cycle", "steady", "reclaim_large", "reclaim_large_half", "reclaim_many", "reclaim_many_cycle",
             "reclaim_swap_cycle", "reclaim_fail", "reclaim_fail_topo", "preempt", "consolidation"]
SIZES = [500, 1000, 2000, 4000, 8000]
# Decisions of these sizes are recorded; in strict of the small one, as sets of victims are searched for longer there.
RECORDED = {"compat": [100, 500, 1000], "strict": [100]}
COUNTED = [("fill", 100), ("mixed_cycle", 100), ("fraction", 100), ("topology", 100), ("reclaim_large", 100),
           ("reclaim_many", 100), ("preempt", 100), ("consolidation", 100), ("few_changes", 400),
           ("contended compat", 72), ("contended strict", 72)]
MOST_INSTRUCTIONS = 1.25  # of the recorded ones
SKIPPED = 77


def fail(text):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(1)


def measure(binary, scenario, nodes, runs=5, mode="compat"):
    """The result of one scenario as the program writes it."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        done = subprocess.run([binary, scenario, "--nodes", str(nodes), "--runs", str(runs), "--mode", mode, "--json", out],
                              capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"{scenario} with {nodes} nodes: {done.stderr.strip()}")
        return json.loads(out.read_text())["results"][0]


def shared_folder():
    return Path(os.environ.get("KAISCHED_SHARED", ROOT.parent / "shared"))


def recorded_times():
    """Seconds that KAI took for the actions, by scenario and nodes, if they are at hand."""
    known = {}
    path = shared_folder() / "benchmarks" / "kai_results.csv"
    if not path.exists():
        return known
    with path.open() as file:
        for row in csv.DictReader(file):
            plain = not row["note"] or row["note"].startswith("per action")
            if row["gomaxprocs"] != "1" or not plain:
                continue
            known.setdefault((row["scenario"], int(row["nodes"])), float(row["cpu_s"]))
    return known


def growth(points):
    """Exponent of a power of n that fits the points best, and the ratio of the ends to that of n log n."""
    xs = [math.log(n) for n, _ in points]
    ys = [math.log(t) for _, t in points]
    x, y = statistics.fmean(xs), statistics.fmean(ys)
    exponent = sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)
    (first, least), (last, most) = points[0], points[-1]
    return exponent, (most / least) / (last * math.log(last) / (first * math.log(first)))


def run(args):
    known = recorded_times()
    results = []
    print(f"{'scenario':<20}{'nodes':>7}{'actions':>12}{'KAI, CPU':>12}{'ratio':>9}")
    for scenario in args.scenarios:
        points = []
        for nodes in args.sizes:
            one = measure(args.binary, scenario, nodes, args.runs, args.mode)
            results.append(one)
            points.append((nodes, one["actions_s"]))
            kai = known.get((scenario, nodes))
            compared = f"{kai:>10.3f} s{kai / one['actions_s']:>8.0f}x" if kai else ""
            print(f"{scenario:<20}{nodes:>7}{one['actions_s'] * 1e3:>9.3f} ms{compared}", flush=True)
        if len(points) > 1:
            exponent, beyond = growth(points)
            print(f"{'':<20} grows with n^{exponent:.2f}; from {points[0][0]} to {points[-1][0]} nodes "
                  f"{points[-1][1] / points[0][1]:.1f} times, {beyond:.2f} of n log n")
    if args.csv:
        fields = ["scenario", "nodes", "pods", "load_s", "snapshot_s", "open_s", "actions_s", "total_s", "binds",
                  "evicts", "pipelines", "peak_rss_bytes", "decisions_sha256"]
        with open(args.csv, "w", newline="") as file:
            table = csv.DictWriter(file, fields, extrasaction="ignore")
            table.writeheader()
            table.writerows(results)
    if args.plot:
        plot(results, known, args.plot)


def plot(results, known, path):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "kaisched", "svg.fonttype": "none"})
    from matplotlib import pyplot

    names = list(dict.fromkeys(one["scenario"] for one in results))
    columns = 4
    rows = -(-len(names) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(3.2 * columns, 2.5 * rows), squeeze=False, sharex=True)
    for axis, name in zip(axes.flat, names):
        own = [(one["nodes"], one["actions_s"]) for one in results if one["scenario"] == name]
        theirs = sorted((n, t) for (s, n), t in known.items() if s == name)
        axis.loglog(*zip(*own), "o-", markersize=3, label="kaisched")
        if theirs:
            axis.loglog(*zip(*theirs), "s--", markersize=3, label="KAI Scheduler, CPU time")
        axis.set_title(name, fontsize=9)
        axis.grid(True, which="major", linewidth=0.3)
        axis.tick_params(labelsize=7)
    for axis in list(axes.flat)[len(names):]:
        axis.set_axis_off()
    for axis in axes[-1]:
        axis.set_xlabel("nodes", fontsize=8)
    for line in axes:
        line[0].set_ylabel("seconds", fontsize=8)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="upper right", fontsize=8)
    figure.suptitle("Time of the actions, one thread", x=0.01, ha="left", fontsize=11)
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)


def build_revision(revision):
    """The benchmark program of another revision, built beside this one."""
    sha = subprocess.run(["git", "rev-parse", "--verify", "--quiet", revision + "^{commit}"], cwd=ROOT,
                         capture_output=True, text=True).stdout.strip()
    if not sha:
        fail(f"no revision '{revision}'")
    tree = ROOT / "build" / "against" / sha[:12]
    if not (tree / "CMakeLists.txt").exists():
        shutil.rmtree(tree, ignore_errors=True)
        tree.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        subprocess.run(["git", "worktree", "add", "--detach", "--force", tree, sha], cwd=ROOT, check=True,
                       capture_output=True)
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree))
    for command in (["cmake", "--preset", "release"], ["cmake", "--build", "build/release", "--target", "kaisched_bench"]):
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"{' '.join(command)} in {tree}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return tree / "build" / "release" / "bin" / "kaisched_bench", sha[:12]


def against(args):
    other, sha = build_revision(args.revision)
    print(f"{'scenario':<20}{'nodes':>7}{sha:>15}{'here':>12}{'ratio':>8}{'spread of the rounds':>24}")
    for scenario in args.scenarios:
        for nodes in args.sizes:
            times = {other: [], args.binary: []}
            for turn in range(args.rounds):  # each goes first as often as second
                for binary in (other, args.binary) if turn % 2 == 0 else (args.binary, other):
                    times[binary].append(measure(binary, scenario, nodes, args.runs, args.mode)["actions_s"])
            ratios = sorted(a / b for a, b in zip(times[other], times[args.binary]))
            before, now = (statistics.median(times[one]) for one in (other, args.binary))
            print(f"{scenario:<20}{nodes:>7}{before * 1e3:>12.3f} ms{now * 1e3:>9.3f} ms"
                  f"{statistics.median(ratios):>8.2f}{ratios[0]:>14.2f} to {ratios[-1]:.2f}", flush=True)


def read_table(path, keys):
    with path.open() as file:
        return {tuple(row[k] for k in keys): row for row in csv.DictReader(file)}


def write_table(path, fields, rows):
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(fields)
        table.writerows(rows)


def decisions(args):
    rows = []
    for mode, sizes in RECORDED.items():
        for nodes in sizes:
            if args.nodes and nodes not in args.nodes:
                continue
            for scenario in SCENARIOS:
                made = measure(args.binary, scenario, nodes, runs=1, mode=mode)
                rows.append((scenario, str(nodes), mode, made["decisions_sha256"]))
    if args.update:
        write_table(DECISIONS, ["scenario", "nodes", "mode", "decisions_sha256"], rows)
        return
    known = read_table(DECISIONS, ["scenario", "nodes", "mode"])
    wrong = [row[:3] for row in rows if known.get(row[:3], {}).get("decisions_sha256") != row[3]]
    for one in wrong:
        print("other decisions than recorded: {} with {} nodes, {}".format(*one))
    print(f"{len(rows) - len(wrong)} of {len(rows)} digests of decisions as recorded")
    sys.exit(1 if wrong or not rows else 0)


def counted_arguments(scenario, nodes):
    """Of the benchmark program. A contended cluster of 512 GPUs has 72 nodes."""
    name, _, mode = scenario.partition(" ")
    return [name, "--mode", mode, "--gpus", "512", "--seeds", "1"] if mode else [name, "--nodes", str(nodes)]


def count_instructions(binary, scenario, nodes):
    """Of the actions alone."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
             "--toggle-collect=kaisched::session::run(std::basic_string_view*", binary,
             *counted_arguments(scenario, nodes), "--runs", "1"], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        fail(f"{scenario}: {done.stderr[-1000:]}")
    return int(found.group(1))


def instructions(args):
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        sys.exit(SKIPPED)
    rows = [(name, str(nodes), count_instructions(args.binary, name, nodes)) for name, nodes in COUNTED]
    if args.update:
        write_table(INSTRUCTIONS, ["scenario", "nodes", "instructions"], rows)
        return
    known = read_table(INSTRUCTIONS, ["scenario", "nodes"])
    failed = 0
    for scenario, nodes, count in rows:
        before = int(known[(scenario, nodes)]["instructions"])
        slower = count > before * MOST_INSTRUCTIONS
        failed += slower
        print(f"{scenario:<20}{count:>12} instructions, {count / before:.2f} of what is recorded{'  TOO MANY' if slower else ''}")
    sys.exit(1 if failed else 0)


def numbers(text):
    return [int(one) for one in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)

    def verb(name, action, *options):
        made = verbs.add_parser(name)
        made.set_defaults(action=action)
        made.add_argument("--binary", type=Path, default=BINARY)
        for names, settings in options:
            made.add_argument(*names, **settings)
        return made

    scenarios = (["--scenarios"], {"type": lambda text: text.split(","), "default": SCENARIOS})
    mode = (["--mode"], {"choices": ["compat", "strict"], "default": "compat"})
    runs = (["--runs"], {"type": int, "default": 5})
    verb("run", run, scenarios, mode, runs, (["--sizes"], {"type": numbers, "default": SIZES}), (["--csv"], {}),
         (["--plot"], {}))
    verb("against", against, (["revision"], {}), scenarios, mode, (["--runs"], {"type": int, "default": 1}),
         (["--rounds"], {"type": int, "default": 11}), (["--sizes"], {"type": numbers, "default": [1000]}))
    update = (["--update"], {"action": "store_true"})
    verb("decisions", decisions, update, (["--nodes"], {"type": numbers, "default": []}))
    verb("instructions", instructions, update)
    args = parser.parse_args()
    args.action(args)


if __name__ == "__main__":
    main()
