#!/usr/bin/env python3
"""A scheduler of thirty lines behind an adapter: jobs by priority and age, each whole or not at all, on the first node with
room. It knows no queues, devices or topologies, and skips cases with what it cannot read. A pattern for adapters of others."""

import json
import sys

AMOUNTS = ("cpu", "memory", "gpu", "pods")
HOLDS = {"running", "bound", "binding", "allocated", "releasing", "stuck_in_releasing"}
KNOWN_POD = {"name", "group", "request", "status", "node", "devices", "created"}
KNOWN_GROUP = {"name", "queue", "min_member", "priority", "created", "preemptible", "last_start"}


def skip(case):
    cluster = case["cluster"]
    for kind in cluster.keys() - {"schema", "now", "queue", "node", "device", "pod_group", "pod"}:
        return f"table {kind}"
    for pod in cluster.get("pod", []):
        if extra := pod.keys() - KNOWN_POD:
            return f"pods with {sorted(extra)[0]}"
        if pod.get("request", {}).get("gpu", 0) % 1000:
            return "parts of GPUs"
    for group in cluster.get("pod_group", []):
        if extra := group.keys() - KNOWN_GROUP:
            return f"groups with {sorted(extra)[0]}"
    return None


def decide(cluster):
    free = {node["name"]: dict(node["capacity"]) for node in cluster.get("node", []) if not node.get("unschedulable")}
    pods = {}
    for pod in cluster.get("pod", []):
        if pod.get("status", "pending") in HOLDS and pod.get("node") in free:
            for amount in AMOUNTS:
                free[pod["node"]][amount] = free[pod["node"]].get(amount, 0) - pod["request"].get(amount, 0)
        elif pod.get("status", "pending") == "pending":
            pods.setdefault(pod["group"], []).append(pod)
    decisions = []
    order = sorted(cluster.get("pod_group", []), key=lambda g: (-g.get("priority", 50), g.get("created", 0), g["name"]))
    for group in order:
        trial, placed = {name: dict(left) for name, left in free.items()}, []
        for pod in pods.get(group["name"], []):
            need = {amount: pod["request"].get(amount, 0) for amount in AMOUNTS}
            node = next((n for n, left in trial.items() if all(left.get(a, 0) >= need[a] for a in AMOUNTS)), None)
            if node is not None:
                placed.append({"kind": "bind", "pod": pod["name"], "node": node})
                for amount in AMOUNTS:
                    trial[node][amount] = trial[node].get(amount, 0) - need[amount]
        if len(placed) >= group.get("min_member", 1):
            decisions += placed
            free = trial
    return decisions


case = json.load(sys.stdin)
reason = skip(case)
json.dump({"skip": reason} if reason else {"decisions": decide(case["cluster"])}, sys.stdout)
