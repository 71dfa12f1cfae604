#!/usr/bin/env python3
"""Checks how far decisions are from the best possible, without the engine.

    kaisched convert CLUSTER cluster.json
    kaisched gaps cluster.json --json > gaps.json
    tools/check_gaps.py cluster.json gaps.json

The decisions are taken as given. What they achieved (victims, domains, pods that still fit) is counted again from the
rows of the cluster, and so is every bound: a price of pods in victims is inserted into the inequality of each node, the
largest domains are added up, amounts are pooled. Prints `valid` (exit status 0), what is wrong (1), or that it cannot
tell (2).
"""
import json
import sys
from fractions import Fraction

import check_certificate as certificate
from check_certificate import DEVICE, Cluster, Rooms, Unknown, require

THERE = {"allocated", "binding", "bound", "running", "stuck_in_releasing"}
STARTS, DISPLACES = {"bind", "pipeline"}, {"evict", "move", "migrate"}


class Ledger:
    """What nodes have while decisions are done one after the other; what leaves is gone at once."""

    def __init__(self, cluster):
        self.cluster, self.place, self.devices, self.opaque = cluster, {}, {}, set()
        self.on = {name: [] for name in cluster.nodes}
        empty = Rooms(without_pods(cluster), None, "empty")
        self.capacity = {name: {d: amount for d, amount in row["capacity"].items() if amount} for name, row in cluster.nodes.items()}
        self.knows, self.whole = dict(empty.known), {name: offered(cluster, name) for name in cluster.nodes}
        for name, row in cluster.nodes.items():
            own = [d for d in cluster.tables.get("device", []) if d["node"] == name]
            if row.get("vendor_devices") or row.get("claimable") or row.get("device_settings") or any(
                    d.get("instances") or d.get("sharing") == "mig" for d in own):
                self.opaque.add(name)
        for pod in cluster.pods.values():
            node = pod.row.get("node")
            if node and pod.status in THERE:
                self.put(pod, node, pod.row.get("devices", []))

    def put(self, pod, node, devices):
        self.take_off(pod)
        self.place[pod.name], self.devices[pod.name] = node, set(devices)
        self.on[node].append(pod)
        if pod.beyond_amounts:
            self.opaque.add(node)

    def take_off(self, pod):
        node = self.place.pop(pod.name, None)
        if node:
            self.on[node].remove(pod)

    def free(self, node, dimension):
        capacity = self.capacity[node].get(dimension, 0)
        if dimension == "gpu" and node in self.opaque:
            return capacity
        return capacity - sum(pod.request.get(dimension, 0) for pod in self.on[node]) if capacity else 0

    def takes(self, pod, node, may_leave, count):
        """By number of pods that leave the node, how many like this one it takes at most."""
        if verdict(self.cluster, pod, node) != "none":
            return [0]
        there = self.on[node]
        most = [count] * ((len(there) if may_leave else 0) + 1)

        def bound(have, need, parts):
            parts = sorted(parts, reverse=True)
            for v in range(len(most)):
                most[v] = min(most[v], max(0, have + sum(parts[:v])) // need)

        for dimension, need in pod.needs.items():
            opaque = dimension == "gpu" and node in self.opaque
            bound(self.free(node, dimension), need,
                  [] if opaque else [other.request.get(dimension, 0) for other in there])
        if pod.whole_devices and self.knows[node] and node not in self.opaque:
            taken = set().union(*(self.devices[other.name] for other in there))
            bound(len(self.whole[node] - taken), pod.whole_devices, [len(self.devices[other.name]) for other in there])
        return most


def without_pods(cluster):
    empty = dict(cluster.tables)
    empty["pod"] = []
    return Cluster(empty)


def offered(cluster, name):
    own = [row for row in cluster.tables.get("device", []) if row["node"] == name]
    if own:
        return {row.get("index", 0) for row in own if row.get("healthy", True) and row.get("sharing") != "mig"}
    return set(range(cluster.nodes[name]["capacity"].get("gpu", 0) // DEVICE))


def verdict(cluster, pod, node):
    return Rooms.verdict(type("Judge", (), {"cluster": cluster})(), pod, node)


def levels_of(cluster, topology, level):
    for row in cluster.tables.get("topology", []):
        if row["name"] == topology and level in row.get("levels", []):
            return row["levels"][:row["levels"].index(level) + 1]
    raise Unknown(f"the topology '{topology}' has no level '{level}'")


def domain_of(cluster, keys, node):
    labels = cluster.nodes[node].get("labels", {})
    return "/".join(labels[key] for key in keys) if all(key in labels for key in keys) else None


def asks_of(cluster, gap, level_kind):
    """Rows that ask for the level: of the group, and for preferences of its sub-groups."""
    rows = [cluster.groups[gap["group"]]]
    if level_kind == "preferred_level":
        rows += [row for row in cluster.tables.get("sub_group", []) if row["group"] == gap["group"]]
    return [row for row in rows if row.get(level_kind) == gap["level"]]


def check_victims(cluster, ledger, gap, commit):
    started = [cluster.pods[d["pod"]] for d in commit if d["kind"] in STARTS]
    like = [pod for pod in started if pod.kind == cluster.pods[gap["pod"]].kind]
    victims = [d for d in commit if d["kind"] in DISPLACES and d["pod"] in ledger.place]
    require(gap["achieved"] == len(victims), f"{len(victims)} pods had to leave or move, not {gap['achieved']}")
    require(0 < gap["pods"] <= len(like), f"{len(like)} such pods started, not {gap['pods']}")
    nodes = {"": list(cluster.nodes)}
    if gap["level"]:
        require({pod.group for pod in started} == {gap["group"]}, "pods of several groups have no level in common")
        asks = asks_of(cluster, gap, "required_level")
        require(asks, f"the group does not require the level '{gap['level']}'")
        keys, nodes = levels_of(cluster, asks[0]["topology"], gap["level"]), {}
        for node in cluster.nodes:
            domain = domain_of(cluster, keys, node)
            if domain is not None:
                nodes.setdefault(domain, []).append(node)
    told = {one["domain"]: one for one in gap["domains"]}
    require(len(told) == len(gap["domains"]) and set(told) == set(nodes), "it does not tell of each domain once")
    bound = gap["achieved"]
    for domain, one in told.items():
        takes = [ledger.takes(cluster.pods[gap["pod"]], node, True, gap["pods"]) for node in nodes[domain]]
        if one["too_small"]:
            require(sum(max(points) for points in takes) < gap["pods"], f"domain '{domain}' is not too small")
            continue
        price = Fraction(one["price"], one["per_victim"])
        require(price >= 0, "a price is negative")
        most = sum(max(price * pods - victims for victims, pods in enumerate(points)) for points in takes)
        proven = price * gap["pods"] - most
        require(one["bound"] <= max(0, -(-proven.numerator // proven.denominator)),
                f"domain '{domain or 'all'}': the price proves {proven} victims, not {one['bound']}")
        bound = min(bound, one["bound"])
    require(gap["bound"] == bound, f"the domains prove {bound}, not {gap['bound']}")


def check_domains(cluster, ledger, gap, commit):
    victims = [d for d in commit if d["kind"] in DISPLACES]
    for d in victims:
        ledger.take_off(cluster.pods[d["pod"]])
    wanted = cluster.pods[gap["pod"]]
    for ask in asks_of(cluster, gap, "preferred_level"):
        keys = levels_of(cluster, ask["topology"], gap["level"])
        mine = [d for d in commit if d["kind"] in STARTS and cluster.pods[d["pod"]].group == gap["group"]
                and ("group" not in ask or cluster.pods[d["pod"]].sub_group == ask["name"])]

        def home(node, keys=keys):
            domain = domain_of(cluster, keys, node)
            return ("in", domain) if domain is not None else ("at", node)
        like = [d for d in mine if cluster.pods[d["pod"]].kind == wanted.kind]
        if len({home(d["node"]) for d in mine}) != gap["achieved"] or len(like) != gap["pods"]:
            continue
        most = {}
        for node in cluster.nodes:
            most[home(node)] = most.get(home(node), 0) + ledger.takes(wanted, node, False, gap["pods"])[0]
        largest = sorted((min(pods, gap["pods"]) for pods in most.values()), reverse=True)[:max(0, gap["bound"] - 1)]
        require(gap["largest"] == largest, f"the largest domains take {largest}, not {gap['largest']}")
        require(gap["bound"] <= 1 or sum(largest) < gap["pods"], "fewer domains have room")
        require(gap["bound"] <= gap["achieved"] and gap["bound"] >= 1, "the bound is none")
        return
    raise certificate.Wrong(f"no pods of '{gap['group']}' are in {gap['achieved']} domains of {gap['level']}")


def check_fragmentation(cluster, ledger, gap):
    pod = cluster.pods[gap["pod"]]
    require(pod.status == "pending" and pod.name not in ledger.place, f"pod '{pod.name}' does not wait")
    nodes = [node for node in cluster.nodes if verdict(cluster, pod, node) == "none"]
    fit = sum(ledger.takes(pod, node, False, 1 << 52)[0] for node in nodes)
    require(gap["achieved"] == fit, f"{fit} such pods fit, not {gap['achieved']}")
    if gap["dimension"] is None:
        most = sum(min(ledger.capacity[node].get(d, 0) // need for d, need in pod.needs.items()) for node in nodes)
    else:
        need = pod.needs[gap["dimension"]]
        most = sum(max(0, ledger.free(node, gap["dimension"])) for node in nodes) // need
    require(gap["bound"] == most, f"{most} such pods are the most, not {gap['bound']}")


def check(document, report):
    if report.get("schema") != "kaisched-gaps/1":
        raise Unknown("no report with the schema kaisched-gaps/1")
    cluster = Cluster(document)
    ledger = Ledger(cluster)
    commits, order = {}, []
    for d in report["decisions"]:
        require(d["pod"] in cluster.pods and (not d["node"] or d["node"] in cluster.nodes), f"{d} names what is not there")
        if d["commit"] not in commits:
            order.append(d["commit"])
        commits.setdefault(d["commit"], []).append(d)
    for gap in report["gaps"]:
        require(gap["kind"] in ("victims", "domains", "fragmentation"), f"'{gap['kind']}' is not known")
        better = gap["bound"] - gap["achieved"] if gap["kind"] == "fragmentation" else gap["achieved"] - gap["bound"]
        require(gap["distance"] == better >= 0, "a distance is none")
        require(gap["kind"] == "fragmentation" or gap["commit"] in commits, "a commit has no decisions")
    for number in order:
        commit = commits[number]
        mine = [gap for gap in report["gaps"] if gap.get("commit") == number]
        for gap in mine:
            if gap["kind"] == "victims":
                check_victims(cluster, ledger, gap, commit)
        for gap in mine:
            if gap["kind"] == "domains":
                check_domains(cluster, ledger, gap, commit)
        for d in commit:
            if d["kind"] in DISPLACES:
                ledger.take_off(cluster.pods[d["pod"]])
        for d in commit:
            if d["kind"] in STARTS | {"move", "migrate"} and d["node"]:
                ledger.put(cluster.pods[d["pod"]], d["node"], d["devices"])
    for gap in report["gaps"]:
        if gap["kind"] == "fragmentation":
            check_fragmentation(cluster, ledger, gap)
    return len(report["gaps"])


def main(words):
    if len(words) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        with open(words[1], encoding="utf-8") as cluster, open(words[2], encoding="utf-8") as report:
            count = check(json.load(cluster), json.load(report))
    except certificate.Wrong as why:
        print(f"wrong: {why}")
        return 1
    except (Unknown, OSError, LookupError, TypeError, ValueError, AttributeError) as why:
        print(f"cannot tell: {why}")
        return 2
    print(f"valid: {count} {'gap' if count == 1 else 'gaps'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
