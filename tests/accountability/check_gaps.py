"""Random clusters through `kaisched gaps` and its checker: every report is valid, none that was changed is, and no bound is
above what trying everything finds.

    check_gaps.py KAISCHED FOLDER
"""
import copy
import itertools
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_gaps as checker  # noqa: E402
from check_certificate import Unknown, Wrong  # noqa: E402

CASES = 150
ACTIONS = "actions=allocate,consolidation,reclaim,preempt"
GPU = 1000


def drawn(seed):
    """A few nodes in racks that are full of jobs of a queue that has too much, and gangs of another one; every third time
    more nodes with more room, and larger gangs."""
    dice = random.Random(seed)
    wide = seed % 3 == 0
    nodes = [{"name": f"n{i}", "capacity": {"cpu": 64000, "memory": 1 << 38, "gpu": 4 * GPU, "pods": 110},
              "labels": {"rack": f"r{i // 2}"} if dice.random() < 0.9 else {}, "ready": dice.random() < 0.95}
             for i in range(dice.randint(6, 10) if wide else dice.randint(2, 4))]
    groups, pods = [], []

    def add(name, queue, count, gpus, node=None, **more):
        groups.append({"name": name, "queue": queue, "min_member": count, **more})
        for i in range(count):
            pods.append({"name": f"{name}-{i}", "group": name, "request": {"cpu": 1000, "gpu": gpus * GPU},
                         **({"node": node, "status": "running"} if node else {})})
    for node in nodes:
        left = 4
        while left and dice.random() < (0.5 if wide else 0.95):
            gpus = dice.choice([size for size in (1, 1, 2, 4) if size <= left])
            left -= gpus
            add(f"old{len(groups)}", "rich", 1, gpus, node["name"], preemptible=dice.random() < 0.9,
                created=len(groups))
    for i in range(dice.randint(1, 3)):
        count = dice.randint(3, 8) if wide else dice.randint(1, 3)
        more = dice.choice([{}, {"topology": "fabric", "preferred_level": "rack"}, {"topology": "fabric", "required_level": "rack"}])
        add(f"new{i}", dice.choice(["poor", "poor", "rich"]), count, dice.choice([1, 2, 3, 4]), priority=dice.choice([50, 90]), **more)
    return {"schema": "kaisched-cluster/1", "topology": [{"name": "fabric", "levels": ["rack"]}], "node": nodes,
            "queue": [{"name": "rich", "quota": {"cpu": 0, "memory": 0, "gpu": 0}},
                      {"name": "poor", "quota": {"cpu": 64000, "memory": 1 << 38, "gpu": 20 * GPU}}],
            "pod_group": groups, "pod": pods}


def judged(cluster, report):
    try:
        checker.check(copy.deepcopy(cluster), report)
        return "valid"
    except Wrong as why:
        return f"wrong: {why}"
    except (Unknown, LookupError, TypeError, ValueError, AttributeError) as why:
        return f"cannot tell: {why}"


def fewest_victims(cluster, report, gap):
    """By trying all sets of pods on the nodes as they were before the commit; amounts alone."""
    document = checker.Cluster(copy.deepcopy(cluster))
    ledger = checker.Ledger(document)
    for d in report["decisions"]:
        if d["commit"] == gap["commit"]:
            break
        if d["kind"] in checker.DISPLACES:
            ledger.take_off(document.pods[d["pod"]])
        if d["kind"] != "evict":
            ledger.put(document.pods[d["pod"]], d["node"], d["devices"])
    wanted = document.pods[gap["pod"]].request["gpu"]
    racks = {}
    for node, row in document.nodes.items():
        if row.get("ready", True) and (not gap["level"] or "rack" in row["labels"]):
            racks.setdefault(row["labels"]["rack"] if gap["level"] else "", []).append(node)
    there = sorted(ledger.place)
    for count in range(len(there) + 1):
        for gone in itertools.combinations(there, count):
            for nodes in racks.values():
                room = sum((4 * GPU - sum(pod.request["gpu"] for pod in ledger.on[node] if pod.name not in gone)) // wanted for node in nodes)
                if room >= gap["pods"]:
                    return count
    return None


def changes(gap):
    """Copies that say something else."""
    for key, by in (("bound", -1), ("bound", 1), ("achieved", 1), ("achieved", -1), ("distance", 1)):
        yield f"{key} {by:+}", {**gap, key: gap[key] + by}
    closer = -1 if gap["kind"] == "fragmentation" else 1
    yield "a closer bound", {**gap, "bound": gap["bound"] + closer, "distance": gap["distance"] - 1}
    if any(not one["too_small"] for one in gap.get("domains", [])):
        stronger = copy.deepcopy(gap)
        for one in stronger["domains"]:
            one["bound"] = one.get("bound", 0) + 1
        yield "stronger domains", {**stronger, "bound": gap["bound"] + 1, "distance": gap["distance"] - 1}
        lost = copy.deepcopy(gap)
        lost["domains"].pop()
        yield "a domain left out", lost
    if gap.get("domains"):
        small = copy.deepcopy(gap)
        for one in small["domains"]:
            one["too_small"] = True
        if small != gap:
            yield "all domains too small", small
    if gap.get("largest"):
        yield "a smaller domain", {**gap, "largest": [*gap["largest"][:-1], gap["largest"][-1] - 1]}
    yield "another pod", {**gap, "pod": "no-such-pod"}
    yield "another kind", {**gap, "kind": "astrology"}


def main(program, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    faults, seen, exact, refused = [], {}, 0, 0
    for seed in range(CASES):
        cluster = drawn(seed)
        path = folder / f"{seed}.json"
        path.write_text(json.dumps(cluster))
        ran = subprocess.run([program, "gaps", str(path), "--set", ACTIONS, "--json"], capture_output=True, text=True, check=True)
        report = json.loads(ran.stdout)
        said = judged(cluster, report)
        if said != "valid":
            faults.append(f"case {seed}: {said}")
            continue
        for i, gap in enumerate(report["gaps"]):
            name = (gap["kind"], bool(gap.get("level")), gap["distance"] > 0)
            seen[name] = seen.get(name, 0) + 1
            if gap["kind"] == "victims":
                fewest = fewest_victims(cluster, report, gap)
                if fewest is None or not gap["bound"] <= fewest <= gap["achieved"]:
                    faults.append(f"case {seed}: {gap}: {fewest} are the fewest")
                exact += fewest == gap["bound"]
            for what, other in changes(gap):
                changed = {**report, "gaps": [*report["gaps"][:i], other, *report["gaps"][i + 1:]]}
                if judged(cluster, changed) == "valid":
                    faults.append(f"case {seed}: {gap}: {what} is not noticed")
                refused += 1
    victims = sum(count for (kind, _, _), count in seen.items() if kind == "victims")
    for name in sorted(seen):
        print(f"{seen[name]:6} {name[0]}{' of a level' if name[1] else ''}{', to be bettered' if name[2] else ''}")
    print(f"{sum(seen.values())} gaps valid, {refused} changed ones refused; {exact} of {victims} bounds are the fewest victims")
    for one in faults[:20]:
        print(one)
    wanted = {("victims", False, True), ("victims", False, False), ("victims", True, False), ("domains", True, False), ("domains", True, True),
              ("fragmentation", False, True), ("fragmentation", False, False)}
    lacking = wanted - set(seen)
    if lacking:
        print(f"none of these was drawn: {sorted(lacking)}")
    return 1 if faults or lacking or exact * 10 < victims * 8 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
