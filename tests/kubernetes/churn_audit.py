"""Judges a churn by the audit log of the API server and the list of jobs alone; no code is shared with the scheduler.

    python3 tests/kubernetes/churn_audit.py FOLDER

FOLDER is what `churn.py --keep FOLDER` has left: audit.log and jobs.json. The exit status is 1 if a rule is violated:

starts      an eviction names the group that it is for, and the pods of that group that were promised room then, or one pod if none
            was, start within a bound; with them the group has its gang
cycles      no cycle binds and evicts the same pod. Events say which cycle a binding or an eviction belongs to
told        every eviction has its event
circles     two groups do not evict each other while no job comes and no pod ends, and no pod, with those that its job makes in its
            place, is evicted more than so many times
bindings    no pod is bound twice, and no node has more GPUs in use than it has
ends        all jobs complete
"""

import argparse
import json
import math
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

SCHEDULER = "system:serviceaccount:kube-system:kaisched"
WITHIN = 30  # seconds from an eviction to the start that it was for
SHORTEST_CYCLE = 0.1  # seconds between two cycles at least: `settle`
MOST_EVICTIONS = 20  # of a pod and those that its job makes in its place
INDEX = "batch.kubernetes.io/job-completion-index"  # which pod of its job it is
FOR_NOBODY = {"stalegangeviction"}  # actions that make no room for a group
# What the rules read, for kube-apiserver.
POLICY = f"""apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: true
rules:
- {{level: None, resources: [{{group: coordination.k8s.io}}]}}
- {{level: RequestResponse, verbs: [create], resources: [{{resources: [pods]}}]}}
- level: Request
  verbs: [create, update, patch, delete]
  resources:
  - {{resources: [pods, pods/status, pods/binding, pods/eviction]}}
  - {{group: batch, resources: [jobs/status]}}
- {{level: Request, users: ["{SCHEDULER}"], verbs: [create], resources: [{{group: events.k8s.io}}]}}
- {{level: Metadata, users: ["{SCHEDULER}"], verbs: [get, create, update, patch, delete]}}
- {{level: None}}
"""


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def percentile(values, part):
    """The smallest value that so large a part of the values does not exceed."""
    return sorted(values)[max(math.ceil(part * len(values)) - 1, 0)]


@dataclass
class Pod:
    """What became of a pod. Times are seconds, cycles the times that their events name; None: has not happened."""

    name: str
    group: str
    job: str
    index: str  # of its place in the job, if that counts them
    gpus: int
    made: float
    promised: list = field(default_factory=list)  # (when, cycle, node); the node is empty where a promise was taken back
    node: str = ""
    bound: float = None
    bound_in: str = None
    evicted: float = None
    evicted_in: str = None
    action: str = ""
    evictor: str = ""  # the group that the eviction is for
    ended: float = None
    gone: float = None

    def is_promised(self, when, cycle):
        """Whether it waited for a place at that time, or got the promise of one in that cycle."""
        if any(node and of == cycle for _, of, node in self.promised):
            return True
        before = [node for at, _, node in self.promised if at <= when]
        return bool(before and before[-1]) and (self.bound is None or self.bound > when)


class Log:
    """Pods and jobs as the entries of an audit log tell of them."""

    def __init__(self, entries):
        self.pods = {}  # by uid
        self.uids = defaultdict(list)  # by name, the latest last
        self.completed = {}  # jobs, by name
        self.requests = Counter()  # of the scheduler that write
        self.refused = Counter()  # of these and of those that read, by status, verb and resource
        self.bound_twice = []
        ordered = sorted((one for one in entries if "objectRef" in one), key=lambda one: one["stageTimestamp"])
        for one in ordered:
            if self.what(one) == ("create", "pods") and self.succeeded(one):
                self.take_pod(one)
        for one in ordered:
            self.take(one)

    @staticmethod
    def what(entry):
        of = entry["objectRef"]
        return entry["verb"], of["resource"] + (f"/{of['subresource']}" if of.get("subresource") else "")

    @staticmethod
    def succeeded(entry):
        return entry["responseStatus"]["code"] < 300

    def take_pod(self, entry):
        made = entry["responseObject"]
        about = made["metadata"]
        owner = (about.get("ownerReferences") or [{"name": about["name"], "uid": about["uid"]}])[0]
        named = about.get("annotations", {}).get("pod-group-name")
        group = f"{about['namespace']}/" + (named or f"pg-{owner['name']}-{owner['uid']}")
        asked = [one.get("resources", {}).get("requests", {}).get("nvidia.com/gpu", 0) for one in made["spec"]["containers"]]
        index = about.get("labels", {}).get(INDEX, "")
        self.pods[about["uid"]] = Pod(about["name"], group, owner["name"], index, sum(map(int, asked)), seconds(entry["stageTimestamp"]))
        self.uids[about["name"]].append(about["uid"])

    def take(self, entry):
        verb, resource = self.what(entry)
        body = entry.get("requestObject") or {}
        by_scheduler = entry["user"]["username"] == SCHEDULER
        if by_scheduler and verb not in ("get", "list", "watch"):
            self.requests[f"{verb} {resource}"] += 1
        if not self.succeeded(entry):
            if by_scheduler:
                self.refused[entry["responseStatus"]["code"], verb, resource] += 1
            return
        when = seconds(entry["stageTimestamp"])
        if resource == "events" and by_scheduler:
            self.take_event(body)
        elif resource == "jobs/status":
            if any(one["type"] == "Complete" and one["status"] == "True" for one in body.get("status", {}).get("conditions") or []):
                self.completed.setdefault(entry["objectRef"]["name"], when)
        elif (pod := self.pod_of(entry, body)) is None:
            return
        elif (verb, resource) == ("create", "pods/binding"):
            if pod.bound is not None:
                self.bound_twice.append(pod)
            pod.bound, pod.node = when, body["target"]["name"]
        elif by_scheduler and (verb, resource) in (("delete", "pods"), ("create", "pods/eviction")):
            pod.evicted = pod.evicted or when
        elif resource == "pods/status" and by_scheduler and "nominatedNodeName" in body.get("status", {}):
            pod.promised.append((when, None, body["status"]["nominatedNodeName"] or ""))
        elif resource == "pods/status" and body.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            pod.ended = pod.ended or seconds(entry["requestReceivedTimestamp"])  # others may know before the request is answered
        elif (verb, resource) == ("delete", "pods"):
            pod.gone = pod.gone or seconds(entry["requestReceivedTimestamp"])

    def pod_of(self, entry, body):
        """That with the uid in the request, else the latest of that name."""
        if not self.what(entry)[1].startswith("pods"):
            return None
        options = body.get("deleteOptions") or body
        uid = (options.get("preconditions") or {}).get("uid") or body.get("metadata", {}).get("uid")
        if uid is None:
            when = seconds(entry["stageTimestamp"])
            uid = next((one for one in reversed(self.uids[entry["objectRef"].get("name")]) if self.pods[one].made <= when), None)
        return self.pods.get(uid)

    def take_event(self, event):
        pod = self.pods.get(event["regarding"].get("uid"))
        if pod is None:
            return
        cycle = event["eventTime"]
        if event["reason"] == "Scheduled":
            pod.bound_in = cycle
        elif event["reason"] == "Pipelined":
            pod.promised.append((seconds(cycle), cycle, event["note"].rsplit(" ", 1)[1]))
            pod.promised.sort(key=lambda one: one[0])
        elif event["reason"] == "Evict":
            pod.evicted_in = cycle
            pod.action, pod.evictor = re.fullmatch(r"evicted by (\S+?)(?: for (\S+))?", event["note"]).groups(default="")


class Verdict:
    """What is counted, and what is violated: `violations` has a sentence for each."""

    def __init__(self, entries, plan, within=WITHIN):
        self.log = Log(entries)
        self.plan = plan
        self.within = within
        self.members = defaultdict(list)  # pods by group
        for pod in self.log.pods.values():
            self.members[pod.group].append(pod)
        self.least = {one["name"]: one["least"] for one in plan["jobs"]}
        self.evictions = sorted((pod for pod in self.log.pods.values() if pod.evicted is not None), key=lambda pod: pod.evicted)
        self.delays = []  # from evictions to the starts that they were for
        self.mutual = set()  # pairs of groups that have evicted each other at some time
        self.violations = []
        for rule in (self.judge_starts, self.judge_cycles, self.judge_circles, self.judge_bindings, self.judge_ends):
            self.violations.extend(f"{rule.__name__.removeprefix('judge_')}: {one}" for one in rule())

    # ---- starts ----

    def judge_starts(self):
        for victim in self.evictions:
            what = f"{victim.name} of {victim.group} leaves {victim.node}"
            if victim.evicted_in is None:
                yield f"{what}, and no event says for which group"
            elif not victim.evictor:
                if victim.action not in FOR_NOBODY:
                    yield f"{what} by {victim.action} for no group"
            elif (start := self.start_after(victim)) is None:
                yield f"{what} by {victim.action} for {victim.evictor}, which does not start{self.broken_promise(victim)}"
            else:
                self.delays.append(max(start - victim.evicted, 0))
                if start > victim.evicted + self.within:
                    late = f"{start - victim.evicted:.1f} s later"
                    yield f"{what} by {victim.action} for {victim.evictor}, which starts {late}{self.broken_promise(victim)}"

    def meant(self, victim):
        """The pods that the eviction was for."""
        group = self.members.get(victim.evictor, [])
        promised = [pod for pod in group if pod.is_promised(victim.evicted, victim.evicted_in)]
        if promised:
            return promised
        later = [pod for pod in group if pod.bound is not None and (pod.bound > victim.evicted or pod.bound_in == victim.evicted_in)]
        return sorted(later, key=lambda pod: pod.bound)[:1]

    def broken_promise(self, victim):
        """When a pod that the eviction was for lost its place again, if one did."""
        for pod in self.meant(victim):
            for when, _, node in pod.promised:
                if when > victim.evicted and not node:
                    return f"; the promise to {pod.name} is taken back after {when - victim.evicted:.1f} s"
        return ""

    def start_after(self, victim):
        """When all pods that the eviction was for had started, and their group had its gang; None: never."""
        group = self.members.get(victim.evictor, [])
        meant = self.meant(victim)
        if not meant or any(pod.bound is None for pod in meant):
            return None
        start = max(pod.bound for pod in meant)
        for when in sorted({start, *(pod.bound for pod in group if pod.bound is not None and pod.bound > start)}):
            there = sum(pod.bound is not None and pod.bound <= when and (pod.evicted is None or pod.evicted > when) for pod in group)
            if there >= self.least.get(group[0].job, 1):
                return when
        return None

    # ---- the other rules ----

    def judge_cycles(self):
        for pod in self.evictions:
            if pod.bound is None:
                continue
            known = pod.bound_in is not None and pod.evicted_in is not None
            if pod.bound_in == pod.evicted_in if known else pod.evicted - pod.bound < SHORTEST_CYCLE:
                yield f"{pod.name} of {pod.group} is bound to {pod.node} and evicted by one cycle"

    def judge_circles(self):
        arrivals = {group: min(pod.made for pod in pods) for group, pods in self.members.items()}
        changes = sorted([*arrivals.values(), *(pod.ended for pod in self.log.pods.values() if pod.ended is not None)])
        last = {}  # (victim, evictor): when
        for pod in self.evictions:
            if not pod.evictor or pod.evictor == pod.group:
                continue
            before = last.get((pod.evictor, pod.group))
            if before is not None:
                self.mutual.add(frozenset((pod.group, pod.evictor)))
                if not any(before < when <= pod.evicted for when in changes):
                    yield f"{pod.evictor} and {pod.group} evict each other, with nothing that has changed in between"
            last[pod.group, pod.evictor] = pod.evicted
        for (job, index), times in self.losses().items():
            if times > MOST_EVICTIONS:
                yield f"{f'pod {index} of ' if index else ''}job {job} is evicted {times} times"

    def losses(self):
        """How often each pod was evicted, with those that its job has made in its place."""
        cycles = defaultdict(set)
        for pod in self.evictions:
            cycles[pod.job, pod.index].add(pod.evicted_in or pod.evicted)
        return {place: len(of) for place, of in cycles.items()}

    def judge_bindings(self):
        for pod in self.log.bound_twice:
            yield f"{pod.name} of {pod.group} is bound twice"
        steps = defaultdict(list)
        for pod in self.log.pods.values():
            if pod.bound is not None:
                steps[pod.node].append((pod.bound, pod.gpus))
                over = [when for when in (pod.ended, pod.gone) if when is not None]
                if over:
                    steps[pod.node].append((min(over), -pod.gpus))
        for node, has in self.plan["nodes"].items():
            held = 0
            for when, gpus in sorted(steps[node]):
                held += gpus
                if held > has:
                    yield f"{node} with {has} GPUs has {held} in use at {datetime.fromtimestamp(when):%H:%M:%S.%f}"
                    break

    def judge_ends(self):
        for one in self.plan["jobs"]:
            if one["name"] not in self.log.completed:
                yield f"job {one['name']} does not complete"

    # ---- the table ----

    def rows(self):
        """(what, how many, more about it)."""
        log = self.log
        pods = log.pods.values()
        bound = [pod for pod in pods if pod.bound is not None]
        losses = self.losses()
        actions = Counter(pod.action or "no event" for pod in self.evictions)
        kept = sum(delay <= self.within for delay in self.delays)
        late = (
            f"half within {percentile(self.delays, 0.5):.1f} s, 99 % within {percentile(self.delays, 0.99):.1f} s, longest {max(self.delays):.1f} s"
            if self.delays
            else ""
        )
        stays = [pod.evicted - pod.bound for pod in self.evictions if pod.bound is not None]
        complete = sum(one["name"] in log.completed for one in self.plan["jobs"])
        yield "jobs", len(self.plan["jobs"]), f"{complete} complete"
        yield "bindings", len(bound), f"of {len({pod.group for pod in bound})} groups"
        yield "evictions", len(self.evictions), ", ".join(f"{action} {n}" for action, n in actions.most_common())
        yield "evictions followed by their start", kept, late
        yield "evictions that make no group room", sum(not pod.evictor and pod.action in FOR_NOBODY for pod in self.evictions), ""
        one_cycle = sum(one.startswith("cycles: ") for one in self.violations)
        yield "pods bound and evicted by one cycle", one_cycle, f"shortest time between both {min(stays):.1f} s" if stays else ""
        yield "pods evicted more than once", sum(n > 1 for n in losses.values()), f"most often {max(losses.values(), default=0)} times, with those made in their place"
        yield "pairs of groups that evicted each other", len(self.mutual), "with arrivals or ends in between"
        yield "circles", sum(one.startswith("circles: ") for one in self.violations), ""
        yield "requests that write", sum(log.requests.values()), ""
        refused = ", ".join(f"{code} {verb} {resource} {n}" for (code, verb, resource), n in sorted(log.refused.items()))
        yield "requests refused", sum(log.refused.values()), refused
        yield "violations", len(self.violations), ""

    def table(self):
        return "\n".join(f"{what:40} {number:6}  {more}".rstrip() for what, number, more in self.rows())


def read(folder, within=WITHIN):
    """The verdict about what is in the folder."""
    with open(folder / "audit.log") as log:
        entries = [json.loads(line) for line in log]
    return Verdict(entries, json.loads((folder / "jobs.json").read_text()), within)


def tell(verdict):
    """Prints table and violations. @return the exit status."""
    print(verdict.table())
    for one in verdict.violations:
        print(one)
    return 1 if verdict.violations else 0


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path)
    words.add_argument("--within", type=float, default=WITHIN, help="seconds from an eviction to the start that it is for (default: %(default)s)")
    given = words.parse_args()
    sys.exit(tell(read(given.folder, given.within)))


if __name__ == "__main__":
    main()
