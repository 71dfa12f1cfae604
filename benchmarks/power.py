#!/usr/bin/env python3
"""What feeds of nodes cost a session: the figures of docs/energy.md.

    power.py --binary build/release/bin/kaisched [--nodes 5000] [--pods 4000]

Nodes of 8 GPUs stand in rows of 20, each on a feed; pods of one GPU come. What deciding takes without feeds, with feeds that have enough for all, and with
feeds that have enough for some of each row.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

ROW = 20
WATTS_OF_ROW = ROW * (800 + 8 * 700)


def cluster(nodes, pods, watts):
    names = [f"n{i:05}" for i in range(nodes)]
    rows = [{"name": name, "capacity": {"cpu": 128_000, "memory": 10**12, "gpu": 8000, "pods": 110}, "power_idle": 400_000, "power_max": 800_000}
            for name in names]
    if watts:
        for i, row in enumerate(rows):
            row["power_feeds"] = [f"row{i // ROW}:{watts * 1000}"]
    return {
        "schema": "kaisched-cluster/1",
        "queue": [{"name": "q"}],
        "node": rows,
        "device": [{"node": name, "index": d, "power_idle": 70_000, "power_max": 700_000} for name in names for d in range(8)],
        "pod_group": [{"name": f"j{i}", "queue": "q"} for i in range(pods)],
        "pod": [{"name": f"j{i}-0", "group": f"j{i}", "request": {"cpu": 1000, "gpu": 1000, "pods": 1}} for i in range(pods)],
    }


def decide(binary, path):
    """Seconds, and how many pods start."""
    words = [binary, "run", path, "--actions", "allocate", "--set", "parts=predicates,proportion,nodeavailability,nodeplacement,powercap", "--json"]
    told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return told["seconds"]["decide"], told["pods"]["started"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=4000)
    of = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        for words, watts in (("no feeds", 0), ("feeds for all", WATTS_OF_ROW), ("feeds for some", 41_000)):
            path.write_text(json.dumps(cluster(of.nodes, of.pods, watts)))
            took, started = decide(of.binary, path)
            print(f"{words:<16}{took:8.3f} s {started:>8} pods start")


if __name__ == "__main__":
    main()
