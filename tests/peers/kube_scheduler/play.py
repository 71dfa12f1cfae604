#!/usr/bin/env python3
"""Lets a real kube-scheduler place drawn pods, one after the other, and asks kaisched what it would have done.

    tests/peers/kube_scheduler/play.py --program build/release/bin/kaisched --seed 1 --pods 200 --out recorded.ks

kube-scheduler and its API server are those of the lab (examples/kubernetes/lab), which Go builds once per machine. No pod
runs; a pod that has a node is told to have started. Each pod is asked about alone: what the scheduler did is compared with
preset kube-default over the same state. Compared are the nodes that can take the pod, the points of each of them (but for
what is added to all alike), whether the node that was taken is among the best, whom a pod of higher priority drives out and
from where, and that a pod waits. Of the best nodes kube-scheduler takes any. What it did becomes a scenario as well, which
`kaisched test` compares where there was one answer alone.
"""

import argparse
import datetime
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "kubernetes"))
import lab as laboratory  # noqa: E402

PRESET = "kube-default"
CLASSES = {"batch": 1, "low": 10, "middle": 20, "high": 30, "top": 40}
BEGAN = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
GI = 1 << 30
UNITS = {"cpu": "cpu", "memory": "memory", "gpu": "nvidia.com/gpu", "pods": "pods"}
VERBOSE = "--vmodule=schedule_one=10"  # the points of every node
EFFECTS = {"team": "NoSchedule", "drain": "NoExecute", "busy": "PreferNoSchedule", "old": "PreferNoSchedule"}


# ---- drawing ----


def amounts(of):
    """As a scenario writes them: milli-cores, bytes and counts."""
    scale = {"cpu": "{}m", "memory": "{}", "gpu": "{}", "pods": "{}"}
    return " ".join(f"{name}={scale[name].format(value)}" for name, value in of.items() if value)


def draw_nodes(draw, count):
    nodes = []
    for i in range(count):
        labels = {"kubernetes.io/hostname": f"n{i:02}", "zone": draw.choice("abc"), "cores": str(draw.choice((4, 8, 16)))}
        if draw.random() < 0.5:
            labels["disk"] = draw.choice(("ssd", "hdd"))
        has = {
            "cpu": draw.choice((4000, 8000, 8000, 15500, 32000)), "memory": draw.choice((8 * GI, 16 * GI, 31 * GI + 12345, 64 * GI)),
            "gpu": draw.choice((0, 0, 2, 4, 8)), "pods": draw.choice((110, 110, 3, 5, 9)),
        }  # fmt: skip
        if has["pods"] < 10:
            labels["room"] = "little"
        taints = [key for key in EFFECTS if draw.random() < 0.13]
        nodes.append({"name": f"n{i:02}", "labels": labels, "has": has, "taints": taints, "closed": draw.random() < 0.05})
    return nodes


def draw_terms(draw, most):
    """A term of node affinity as (key, operator, values)."""
    choices = (
        ("zone", "In", draw.sample("abc", 2)), ("zone", "NotIn", [draw.choice("abc")]), ("disk", "Exists", []), ("disk", "DoesNotExist", []),
        ("disk", "In", ["ssd"]), ("cores", "Gt", ["4"]), ("cores", "Lt", ["16"]),
    )  # fmt: skip
    return draw.sample(choices, draw.randint(1, most))


def draw_pod(draw, i):
    asks = {
        "cpu": draw.choice((0, 100, 250, 500, 1000, 1500, 2000, 4000)), "memory": draw.choice((0, 100 << 20, GI, 3 * GI, 5 * GI, 8 * GI)),
        "gpu": draw.choice((0, 0, 0, 1, 1, 2, 4)),
    }  # fmt: skip
    if draw.random() < 0.1:
        asks = dict.fromkeys(asks, 0)
    pod = {"name": f"p{i:03}", "asks": asks, "class": draw.choices(list(CLASSES), (2, 1, 1, 1, 1))[0], "labels": {}, "created": i,
           "tolerates": [], "selector": {}, "affinity": [], "prefers": [], "near": [], "apart": []}  # fmt: skip
    if draw.random() < 0.4:
        pod["tolerates"] = [key for key in EFFECTS if draw.random() < 0.5]
    if draw.random() < 0.15:
        pod["selector"] = {"zone": draw.choice("abc")}
    elif not any(asks.values()):
        pod["selector"] = {"room": "little"}
    if draw.random() < 0.25:
        pod["affinity"] = [draw_terms(draw, 2) for _ in range(draw.randint(1, 2))]
    if draw.random() < 0.25:
        pod["prefers"] = [(draw.randint(1, 100), draw_terms(draw, 2)) for _ in range(draw.randint(1, 3))]
    # Here nobody is driven out because of where others must not be, so only those care who cannot take from anybody.
    if pod["class"] == "batch":
        pod["labels"] = {"app": draw.choice(("web", "db"))}
        if draw.random() < 0.4:
            pod[draw.choice(("near", "apart"))] = [(draw.choice(("kubernetes.io/hostname", "zone")), draw.choice(("web", "db")))]
    return pod


# ---- as Kubernetes says it ----


def node_object(node):
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": node["name"], "labels": node["labels"]},
        "spec": {"unschedulable": node["closed"], "taints": [{"key": key, "value": "yes", "effect": EFFECTS[key]} for key in node["taints"]]},
        "status": {"allocatable": quantities(node["has"]), "conditions": [{"type": "Ready", "status": "True"}]},
    }  # fmt: skip


def quantities(of):
    return {UNITS[name]: f"{value}m" if name == "cpu" else str(value) for name, value in of.items() if value}


def expressions(term):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": values} for key, operator, values in term]}


def pod_object(pod):
    asks = quantities(pod["asks"])
    limits = {name: value for name, value in asks.items() if name == "nvidia.com/gpu"}
    spec = {
        "terminationGracePeriodSeconds": 0, "priorityClassName": pod["class"],
        "containers": [{"name": "main", "image": "none", "resources": {"requests": asks, "limits": limits}}],
        "tolerations": [{"key": key, "operator": "Exists", "effect": EFFECTS[key]} for key in pod["tolerates"]],
        "nodeSelector": pod["selector"], "affinity": {},
    }  # fmt: skip
    if pod["affinity"]:
        near = {"nodeSelectorTerms": [expressions(term) for term in pod["affinity"]]}
        spec["affinity"].setdefault("nodeAffinity", {})["requiredDuringSchedulingIgnoredDuringExecution"] = near
    if pod["prefers"]:
        wishes = [{"weight": weight, "preference": expressions(term)} for weight, term in pod["prefers"]]
        spec["affinity"].setdefault("nodeAffinity", {})["preferredDuringSchedulingIgnoredDuringExecution"] = wishes
    for kind, terms in (("podAffinity", pod["near"]), ("podAntiAffinity", pod["apart"])):
        if terms:
            selects = [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}} for key, app in terms]
            spec["affinity"][kind] = {"requiredDuringSchedulingIgnoredDuringExecution": selects}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod["name"], "namespace": "team", "labels": pod["labels"]}, "spec": spec}


# ---- as a scenario says it ----


def listed(texts):
    return "[" + ",".join(f'"{text}"' for text in texts) + "]"


def mapped(pairs):
    return "{" + ",".join(f'"{key}"={value}' for key, value in pairs.items()) + "}"


def requirement(key, operator, values):
    some = "(" + ",".join(values) + ")"
    return {"In": f"{key} in {some}", "NotIn": f"{key} notin {some}", "Exists": key, "DoesNotExist": f"!{key}",
            "Gt": f"{key}>{values[0] if values else ''}", "Lt": f"{key}<{values[0] if values else ''}"}[operator]  # fmt: skip


def node_line(node):
    line = f"node {node['name']} {amounts(node['has'])} labels={mapped(node['labels'])}"
    if node["taints"]:
        line += f" taints={listed(f'{key}=yes:{EFFECTS[key]}' for key in node['taints'])}"
    return line + (" unschedulable" if node["closed"] else "")


def pod_lines(pod, on=None, started=None):
    """The group and the pod, which run if there is a node."""
    name = pod["name"]
    start = f" last_start={started}s" if on else ""
    line = f"  pod {name} {amounts(pod['asks'])} created={pod['created']}s labels={mapped(pod['labels'])}"
    if on:
        line += f" node={on} status=running"
    if pod["tolerates"]:
        line += f" tolerations={listed(f'{key}:{EFFECTS[key]}' for key in pod['tolerates'])}"
    if pod["selector"]:
        line += f" node_selector={mapped(pod['selector'])}"
    if pod["affinity"]:
        line += f" node_affinity={listed(','.join(requirement(*one) for one in term) for term in pod['affinity'])}"
    if pod["prefers"]:
        line += f" node_preferences={listed(f'{weight}: ' + ','.join(requirement(*one) for one in term) for weight, term in pod['prefers'])}"
    for column, terms in (("affinity", pod["near"]), ("anti_affinity", pod["apart"])):
        if terms:
            line += f" {column}={listed(f'{key}: app={app}' for key, app in terms)}"
    return [f"pod_group {name} created={pod['created']}s priority={CLASSES[pod['class']]} namespace=team{start}", line]


def opening(nodes, title):
    return [f'scenario 1 "{title}"', "rule O12 O13 O15 O16", f"option preset={PRESET}", "", *map(node_line, nodes), "queue all", ""]


# ---- the real one ----


class Peer:
    """kube-scheduler over drawn nodes."""

    def __init__(self, lab, nodes):
        self.lab = lab
        for node in nodes:
            lab.create(node_object(node))
        lab.start_scheduler(flags=[VERBOSE])
        self.read = 0

    def said(self):
        """What the scheduler has logged since it was asked before."""
        with open(self.lab.folder / "scheduler.log") as log:
            log.seek(self.read)
            text = log.read()
        self.read += len(text.encode())
        return text

    def decide(self, pod, there):
        """@return node, pods that had to go, and points by node and plug-in (none where there was one node alone). No node: it waits."""
        self.said()
        made = self.lab.create(pod_object(pod))
        path = self.lab.place({**made, "apiVersion": "v1", "kind": "Pod"})
        until = time.monotonic() + 60
        while True:
            now = self.lab.ask("GET", path)
            node = now["spec"].get("nodeName")
            waits = any(one["type"] == "PodScheduled" and one.get("reason") == "Unschedulable" for one in now.get("status", {}).get("conditions", []))
            if node or (waits and not now["status"].get("nominatedNodeName")):
                break
            if time.monotonic() > until:
                raise RuntimeError(f"{pod['name']} is not decided: {now.get('status')}\n{self.lab.log('scheduler')[-3000:]}")
            time.sleep(0.01)
        points = {}
        scored = rf'"Plugin scored node for pod" pod="team/{pod["name"]}" plugin="(\w+)" node="(\w+)" score=(-?\d+)'
        for plugin, on, score in re.findall(scored, self.said()):
            points.setdefault(on, {})[plugin] = int(score)
        left = {one["metadata"]["name"] for one in self.lab.items("/api/v1/namespaces/team/pods")}
        return node, sorted(set(there) - left), points

    def started(self, pod, second):
        at = (BEGAN + datetime.timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.lab.patch(f"{self.path(pod)}/status", {"status": {"phase": "Running", "startTime": at}})

    def end(self, pod):
        try:
            self.lab.ask("DELETE", self.path(pod), {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
        except urllib.error.HTTPError as why:
            if why.code != 404:
                raise

    @staticmethod
    def path(pod):
        return f"/api/v1/namespaces/team/pods/{pod['name']}"


# ---- the comparison ----


class Engine:
    def __init__(self, program, folder, settings):
        self.program, self.file = program, Path(folder) / "state.ks"
        self.options = [f"--preset={PRESET}", *(f"--set={one}" for one in settings)]

    def call(self, *words):
        done = subprocess.run([self.program, *words, "--json"], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return json.loads(done.stdout)

    def decide(self, lines, pod):
        """@return decisions as (kind, pod, node), and points of the nodes on which the pod could start now."""
        self.file.write_text("\n".join(lines) + "\n")
        decisions = self.file.with_suffix(".json")
        self.call("run", self.file, *self.options, f"--decisions={decisions}")
        told = self.call("explain", self.file, f"pod/{pod['name']}", *self.options, "--nodes=0")["explanations"][0]
        best = told.get("candidates", {}).get("best", [])
        candidates = {one["node"]: one["score"] for one in best if one["starts_now"]}
        return [(one["kind"], one["pod_name"], one["node_name"]) for one in json.loads(decisions.read_text())["decision"]], candidates


def compare(real, decisions, candidates):
    """@return what differs, as text; nothing if the engine allows what the real scheduler did."""
    node, victims, points = real
    if node is None:
        found = [one for one in decisions if one[0] != "unschedulable"]
        return f"it waits, here {found}" if found else None
    if victims:
        evicted = sorted(pod for kind, pod, _ in decisions if kind == "evict")
        where = [on for kind, _, on in decisions if kind == "pipeline"]
        return None if (evicted, where) == (victims, [node]) else f"{victims} leave {node}, here {evicted} leave {where}"
    if [kind for kind, _, _ in decisions] != ["bind"]:
        return f"starts on {node}, here {decisions}"
    open_to = set(points) or {node}
    if set(candidates) != open_to:
        return f"nodes {sorted(open_to)} can take it, here {sorted(candidates)}"
    offsets = {on: sum(points[on].values()) - candidates[on] for on in points}
    if len(set(offsets.values())) > 1:
        return f"points {points}, here {candidates}"
    if candidates[node] != max(candidates.values()):
        return f"starts on {node}, here {candidates}"
    return None


class Story:
    """What happens to drawn pods, as a scenario and as a comparison."""

    def __init__(self, peer, engine, nodes, draw):
        self.peer, self.engine, self.draw = peer, engine, draw
        self.opened = opening(nodes, "a state")
        self.pods, self.running = {}, {}  # running: node and second
        self.lines, self.moments, self.differs = [], [], 0
        self.counts = dict.fromkeys(("started", "started where several nodes could", "drove others out", "waited"), 0)

    def go_on(self, i):
        pod = draw_pod(self.draw, i)
        self.pods[pod["name"]] = pod
        state = list(self.opened)
        for name, (on, since) in self.running.items():
            state += pod_lines(self.pods[name], on, since)
        state += pod_lines(pod)
        real = self.peer.decide(pod, self.running)
        decisions, candidates = self.engine.decide(state, pod)
        self.moments.append({"state": state, "pod": pod, "real": real})
        if why := compare(real, decisions, candidates):
            self.differs += 1
            print(f"{pod['name']} ({pod['class']}, {amounts(pod['asks'])}): {why}")
        self.lines += [*pod_lines(pod), "run", *expected(pod, real, decisions, candidates)]
        self.settle(pod, i, *real)
        if self.running and self.draw.random() < 0.15:
            gone = self.draw.choice(sorted(self.running))
            self.peer.end(self.pods[gone])
            self.forget(gone)
        self.lines.append("")
        time.sleep(0.02)  # the scheduler hears of what has changed before it hears of the next pod

    def settle(self, pod, i, node, victims, points):
        name = pod["name"]
        for gone in victims:
            self.forget(gone)
        self.counts["waited" if node is None else "drove others out" if victims else "started"] += 1
        self.counts["started where several nodes could"] += len(points) > 1
        if node is None:
            self.peer.end(pod)
            self.lines += [f"remove pod {name}", f"remove pod_group {name}"]
            return
        second = 1000 + self.draw.randrange(900) * 1000 + i  # no two have started together
        self.peer.started(pod, second)
        self.running[name] = (node, second)
        self.lines += [f"change pod_group {name} last_start={second}s", f"change pod {name} node={node} status=running"]

    def forget(self, name):
        self.running.pop(name)
        self.lines += [f"remove pod {name}", f"remove pod_group {name}"]


def expected(pod, real, decisions, candidates):
    """As expectations: only what nobody could have decided in another way. In which order victims leave is nobody's rule."""
    node, victims, _ = real
    if node is None:
        return ["expect counts unschedulable=1"]
    if victims:
        here = [gone for kind, gone, _ in decisions if kind == "evict"]
        order = sorted(victims, key=lambda gone: here.index(gone) if gone in here else len(here))
        return [*(f"expect evict {gone} {node}" for gone in order), f"expect pipeline {pod['name']} {node}"]
    best = [one for one, score in candidates.items() if score == max(candidates.values())]
    return [f"expect bind {pod['name']} {node}"] if best == [node] else ["expect counts bind=1"]


def compare_again(a):
    moments = json.loads(a.again.read_text())
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(a.program, folder, a.set)
        told = [compare(one["real"], *engine.decide(one["state"], one["pod"])) for one in moments]
    print(f"{told.count(None)} of {len(told)} allowed")
    return 0 if a.set or told.count(None) == len(told) else 1


def main():
    say = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    say.add_argument("--program", default="build/release/bin/kaisched")
    say.add_argument("--seed", type=int, default=1)
    say.add_argument("--pods", type=int, default=200)
    say.add_argument("--nodes", type=int, default=8)
    say.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="another policy, to see what it does differently")
    say.add_argument("--out", type=Path, help="keep the scenario")
    say.add_argument("--moments", type=Path, help="keep what was decided in which state")
    say.add_argument("--again", type=Path, help="compare such moments anew, without a lab")
    a = say.parse_args()
    if a.again:
        return compare_again(a)
    try:
        lab_program = laboratory.find()
    except laboratory.Absent as why:
        print(f"skipped: lab absent: {why}")
        return 0
    draw = random.Random(a.seed)
    nodes = draw_nodes(draw, a.nodes)
    title = f"kube-scheduler {laboratory.VERSION[1:]}: {a.pods} pods on {a.nodes} nodes, seed {a.seed}"
    with laboratory.Lab(lab_program) as lab, tempfile.TemporaryDirectory() as folder:
        lab.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        for name, value in CLASSES.items():
            lab.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
        story = Story(Peer(lab, nodes), Engine(a.program, folder, a.set), nodes, draw)
        for i in range(a.pods):
            story.go_on(i)
    if a.moments:
        a.moments.write_text(json.dumps(story.moments))
    head = ["# What a real kube-scheduler did, one pod after the other: written by tests/peers/kube_scheduler/play.py."]
    text = "\n".join([*head, *opening(nodes, title), *story.lines]).rstrip("\n") + "\n"
    out = a.out or Path(tempfile.mkstemp(suffix=".ks")[1])
    out.write_text(text)
    tested = subprocess.run([a.program, "test", str(out)], capture_output=True, text=True)
    if not a.set:
        print(tested.stdout + tested.stderr, end="")
    if not a.out:
        out.unlink()
    told = ", ".join(f"{number} {what}" for what, number in story.counts.items())
    print(f"{title}: {told}; {a.pods - story.differs} of {a.pods} allowed by {PRESET}")
    return 1 if story.differs or (tested.returncode and not a.set) else 0


if __name__ == "__main__":
    sys.exit(main())
