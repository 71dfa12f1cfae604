"""Draws the quality table: plot.py TABLE PICTURE. How long jobs take under each policy, and at whose expense."""

import csv
import math
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FormatStrFormatter, NullFormatter


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def relative(rows, column):
    """By policy: the figure of each workload by the smallest of that workload."""
    best = defaultdict(lambda: math.inf)
    for row in rows:
        best[row["workload"]] = min(best[row["workload"]], float(row[column]))
    found = defaultdict(list)
    for row in rows:
        found[row["policy"]].append(float(row[column]) / max(best[row["workload"]], 1e-9))
    return found


def mean(values):
    """Geometric, as of ratios."""
    return math.exp(sum(math.log(max(v, 1e-9)) for v in values) / len(values))


def draw(table, picture):
    rows = rows_of(table)
    times = relative(rows, "jct_mean")
    policies = sorted(times, key=lambda p: mean(times[p]))
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), constrained_layout=True)

    for y, policy in enumerate(policies):
        left.plot(times[policy], [y] * len(times[policy]), "o", color="#4477aa", alpha=0.45, markersize=6)
        left.plot([mean(times[policy])], [y], "|", color="#222222", markersize=18, markeredgewidth=2)
    left.set_xscale("log")
    left.set_yticks(range(len(policies)), policies)
    left.invert_yaxis()
    left.set_xlabel("mean completion time, by the best of the workload (dots: workloads, bar: geometric mean)")
    left.grid(axis="x", which="both", alpha=0.25)

    unfair = defaultdict(list)
    for row in rows:
        unfair[row["policy"]].append(100 * float(row["unfair"]))
    groups = []  # policies that stand together have one label
    for policy in policies:
        x, y = mean(times[policy]), sum(unfair[policy]) / len(unfair[policy])
        right.plot([x], [y], "o", color="#cc6677", markersize=8)
        near = next((g for g in groups if abs(math.log(x / g[0])) < 0.05 and abs(y - g[1]) < 2.5), None)
        if near:
            near[2].append(policy)
        else:
            groups.append((x, y, [policy]))
    for x, y, names in groups:
        lines = [", ".join(names[i : i + 2]) for i in range(0, len(names), 2)]
        right.annotate("\n".join(lines), (x, y), xytext=(9, 0), textcoords="offset points", fontsize=9, va="center")
    right.set_xscale("log")
    right.set_xlabel("mean completion time, by the best")
    right.set_ylabel("jobs worse off than with an equal part, %")
    right.grid(which="both", alpha=0.25)
    for axis in (left, right):
        axis.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        axis.xaxis.set_minor_formatter(NullFormatter())
    right.set_xticks([1, 1.25, 1.5, 2, 2.5, 3, 4])
    right.set_xlim(0.95, 5)
    left.set_xticks([1, 1.5, 2, 3, 5, 10, 20, 40])
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    draw(sys.argv[1], sys.argv[2])
