"""What nodes for what waits cost, found by `kaisched scale` and pod by pod: the table of docs/scaling.md.

    python3 benchmarks/scaling.py build/release/bin/kaisched [--data DIR] [--json FILE]

Clusters are invented (`kaisched generate`), some of their gangs have to be in one rack (`racks`); with --data also parts of the openb trace, whose
files `nodes.csv` and `pods_NAME.csv` are those of docs/data.md. Prices are invented: an A100 node is 1, in thousandths. Times are of one run.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GIB = 1 << 30


def node(name, cpu, memory, gpus, **labels):
    return {"name": name, "capacity": {"cpu": 1000 * cpu, "memory": memory * GIB, "gpu": 1000 * gpus, "pods": 1000}, "labels": labels}


def offer(name, price, **more):
    return {"name": name, "price": price, "most": 1000, **more}


def types(*pairs):
    return {"schema": "kaisched-node-types/1", "type": [one for one, _ in pairs], "node": [one for _, one in pairs]}


HALL = {"zone": "new", "block": "new"}  # levels above the rack
RACK = [{"label": "rack", "nodes": 8}]
INVENTED = types(
    (offer("h100x8", 2400, new_domains=RACK), node("h100x8", 192, 2048, 8, **{"gpu.model": "H100"}, **HALL)),
    (offer("a100x8", 1000, new_domains=RACK), node("a100x8", 128, 1024, 8, **{"gpu.model": "A100"}, **HALL)),
    (offer("a100x4", 550, new_domains=RACK), node("a100x4", 64, 512, 4, **{"gpu.model": "A100"}, **HALL)),
    (offer("cpu", 120, new_domains=RACK), node("cpu", 96, 384, 0, pool="cpu", **HALL)),
)
OPENB = types(
    (offer("v100x8", 612), node("v100x8", 96, 768, 8, **{"gpu.model": "V100M32"})),
    (offer("g2x8", 400), node("g2x8", 96, 384, 8, **{"gpu.model": "G2"})),
    (offer("t4x4", 98), node("t4x4", 96, 384, 4, **{"gpu.model": "T4"})),
    (offer("t4x1", 19), node("t4x1", 16, 64, 1, **{"gpu.model": "T4"})),
    (offer("cpu", 55), node("cpu", 64, 256, 0)),
)


def put_in_racks(path):
    """Every second gang of at most 8 pods has to be in one rack."""
    cluster = json.loads(path.read_text())
    pods = {}
    for pod in cluster["pod"]:
        pods.setdefault(pod.get("group"), []).append(pod)
    gangs = [g for g in cluster["pod_group"]
             if 2 <= g.get("min_member", 1) <= 8 and all(p.get("status", "pending") == "pending" for p in pods[g["name"]])]
    for group in gangs[::2]:
        group |= {"topology": "datacentre", "required_level": "rack"}
    path.write_text(json.dumps(cluster))


def cases(program, folder, data):
    for gpus in (256, 1024):
        for seed in (1, 2, 3):
            for racks in ("", " racks"):
                path = folder / f"{gpus}-{seed}{racks.strip()}.json"
                subprocess.run([program, "generate", path, "--gpus", str(gpus), "--load", "1.6", "--seed", str(seed), "-q"], check=True)
                if racks:
                    put_in_racks(path)
                yield f"{gpus} GPUs, seed {seed}{racks}", [path], INVENTED
    if data is None:
        return
    lines = (data / "nodes.csv").read_text().splitlines(keepends=True)
    nodes = folder / "nodes.csv"
    nodes.write_text("".join([lines[0], *lines[1::4]]))
    for pods in ("default", "multigpu50", "gpushare100"):
        yield f"openb {pods}, a quarter of its nodes", ["--openb-nodes", nodes, "--openb-pods", data / f"pods_{pods}.csv"], OPENB


def asked(program, source, offers, folder, strategy):
    path = folder / "types.json"
    path.write_text(json.dumps(offers))
    began = time.monotonic()
    done = subprocess.run([program, "scale", *map(str, source), "--types", str(path), "--up", "--strategy", strategy, "--json"],
                          check=True, capture_output=True, text=True)
    seconds = time.monotonic() - began
    up = json.loads(done.stdout)["up"]
    gangs = [g for g in up["groups"] if g["waited"] > 1]
    return {
        "cost": up["cost"], "lower_bound": up["lower_bound"], "cheapest": up["cheapest"], "nodes": sum(a["count"] for a in up["add"]),
        "groups": len(up["groups"]), "start": sum(g["placed"] > 0 for g in up["groups"]), "pods": sum(g["placed"] for g in up["groups"]),
        "gangs": len(gangs), "gangs_start": sum(g["placed"] > 0 for g in gangs),
        "verifications": up["verifications"], "seconds": seconds,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", type=Path)
    told = parser.parse_args()
    rows = []
    print("| cluster | search: cost | bound | pods | gangs | tried | seconds | first fit: cost | pods | gangs |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for title, source, offers in cases(told.program, Path(name), told.data):
            search, first = (asked(told.program, source, offers, Path(name), one) for one in ("search", "first_fit"))
            rows.append({"cluster": title, "search": search, "first_fit": first})
            print(f"| {title} | {search['cost']:,} | {search['lower_bound']:,} | {search['pods']:,} | {search['gangs_start']} of {search['gangs']} "
                  f"| {search['verifications']} | {search['seconds']:.2f} | {first['cost']:,} | {first['pods']:,} | {first['gangs_start']} of {first['gangs']} |")
            sys.stdout.flush()
    if told.json:
        told.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
