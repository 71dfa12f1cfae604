#!/usr/bin/env python3
"""Checks a certificate that a pod group cannot start, without the engine.

    kaisched convert CLUSTER cluster.json
    kaisched explain cluster.json GROUP --json > proof.json
    tools/check_certificate.py cluster.json proof.json

Everything a certificate states is computed again from the rows of the cluster file: what nodes have free, which labels
and taints they have, what the gang needs, what queues hold. Prints `valid` (exit status 0), what is wrong (1), or that
it cannot tell (2): a file that is no certificate, or one that leans on something that is not known here.

Amounts only bound from above what can be placed: requests for memory of GPUs, for instances of divided GPUs, for claims
and for devices of vendors count as if they fitted. The sentence `text` of a certificate is not read.
"""
import json
import re
import sys

ON_NODE = {"allocated", "binding", "bound", "running", "releasing", "stuck_in_releasing"}
HOLDING = {"allocated", "binding", "bound", "running"}
ACTIVE = HOLDING | {"pipelined"}
STATUSES = ["pending", "gated", "allocated", "pipelined", "binding", "bound", "running", "releasing",
            "stuck_in_releasing", "succeeded", "failed", "unknown"]
QUOTA_DIMENSIONS = ("cpu", "memory", "gpu")
DEVICE = 1000  # milli-GPU
MOST_DEVICES = 64
IMPLIED = "default"  # the only pod set of a group without sub-groups

# What pods ask for: pods with equal values of these columns are of one kind.
ASK = {"request": {}, "device_count": 0, "node_selector": {}, "node_affinity": [], "tolerations": [], "affinity": [],
       "anti_affinity": [], "host_ports": [], "obstacle": "", "gpu_memory": 0, "claims": [], "containers": [],
       "claimed_gpus": 0, "qos": "", "sharing": "", "device_requests": [], "annotations": {}, "node_preferences": [],
       "spread": [], "preferences": [], "load": []}
COLUMNS = {
    "pod": set(ASK) | set("name group sub_group status node devices created priority leader labels nominated_node "
                          "numa_zones outdated device_grants mig_instances".split()),
    "node": set("name capacity ready unschedulable labels taints gpu_memory numa_policy numa_scope claimable "
                "vendor_devices device_settings position power_idle power_max cpu_utilization cpu_deviation "
                "memory_utilization memory_deviation power_feeds".split()),
    "queue": set("name parent priority created quota limit over_quota_weight usage reclaim_min_runtime "
                 "preempt_min_runtime max_runtime gpu_limits guarantee reclaimable hierarchy node_groups".split()),
    "sub_group": set("group name parent min_member min_sub_group topology required_level preferred_level unit".split()),
}


class Wrong(Exception):
    """The certificate says something that is not true."""


class Unknown(Exception):
    """The certificate cannot be judged."""


def require(holds, said):
    if not holds:
        raise Wrong(said)


# ---- constraints given as text, in the forms of Kubernetes ----------------------------------------------------------

def integer(text):
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None


def requirement_holds(text, labels):
    """`key`, `!key`, `key=value`, `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key>1`, `key<1`."""
    match = re.fullmatch(r"\s*(!?)\s*([^\s=!<>()]+)\s*(?:(==|=|!=|>|<|in\b|notin\b)\s*(.*?))?\s*", text)
    if not match:
        raise Unknown(f"the selector '{text}' is not understood")
    absent, key, operator, rest = match.groups()
    value = labels.get(key)
    if operator is None:
        return (value is None) == bool(absent)
    if absent:
        raise Unknown(f"the selector '{text}' is not understood")
    if operator in ("in", "notin"):
        if not re.fullmatch(r"\([^()]*\)", rest):
            raise Unknown(f"the selector '{text}' is not understood")
        return (value in [one.strip() for one in rest[1:-1].split(",")]) == (operator == "in")
    if operator in (">", "<"):
        have, bound = integer(value), integer(rest)
        return have is not None and bound is not None and (have > bound if operator == ">" else have < bound)
    return (value == rest) == (operator != "!=")


def selector_holds(text, labels):
    """All requirements; an empty selector matches no node."""
    return bool(text.strip()) and all(requirement_holds(one, labels) for one in re.split(r",(?![^(]*\))", text))


def tolerates(tolerations, taint):
    body, _, effect = taint.rpartition(":")
    key, _, value = body.partition("=")
    if effect == "PreferNoSchedule":
        return True
    if effect not in ("NoSchedule", "NoExecute"):
        raise Unknown(f"the taint '{taint}' is not understood")
    for one in tolerations:
        form = re.fullmatch(r"([^=:]+)(=[^:]*)?(?::(NoSchedule|NoExecute|PreferNoSchedule))?", one)
        if not form:
            raise Unknown(f"the toleration '{one}' is not understood")
        if (form[3] in (None, effect) and form[1] in ("*", key) and (form[2] is None or form[2][1:] == value)):
            return True
    return False


# ---- the cluster ----------------------------------------------------------------------------------------------------

def is_instance(dimension):
    return dimension.startswith("nvidia.com/mig-")


class Pod:
    def __init__(self, row):
        self.row, self.name = row, row["name"]
        self.group, self.sub_group = row.get("group", ""), row.get("sub_group") or IMPLIED
        status = row.get("status", "pending")
        self.status = STATUSES[status] if isinstance(status, int) else status
        self.places = [row["node"]] if row.get("node") and self.status in ON_NODE else []
        self.devices = set(row.get("devices", [])) if self.places else set()
        self.request = {d: amount for d, amount in row["request"].items() if amount}
        self.request.setdefault("pods", 1)
        ask = {key: row.get(key, default) for key, default in ASK.items()} | {"request": self.request}
        self.kind = json.dumps(ask, sort_keys=True)
        self.beyond_amounts = bool(row.get("gpu_memory") or row.get("claims") or row.get("claimed_gpus") or
                                   row.get("device_requests") or any(map(is_instance, self.request)))
        gpu = 0 if self.beyond_amounts else self.request.get("gpu", 0)
        count = row.get("device_count") or max(1, gpu // DEVICE)
        self.whole_devices = count if gpu and gpu == count * DEVICE else 0
        # What bounds tell of: 0 where amounts do not say what fits.
        self.needs = {d: amount for d, amount in self.request.items()
                      if not (is_instance(d) or (d == "gpu" and self.beyond_amounts))}


class Cluster:
    def __init__(self, document):
        if not isinstance(document, dict) or document.get("schema") != "kaisched-cluster/1":
            raise Unknown("the cluster is no JSON object with the schema kaisched-cluster/1")
        for kind, known in COLUMNS.items():
            for row in document.get(kind, []):
                if set(row) - known:
                    raise Unknown(f"columns of a {kind} are not known: {', '.join(sorted(set(row) - known))}")
        self.tables = document
        self.pods = {row["name"]: Pod(row) for row in document.get("pod", [])}
        self.nodes = {row["name"]: row for row in document.get("node", [])}
        self.queues = {row["name"]: row for row in document.get("queue", [])}
        self.groups = {row["name"]: row for row in document.get("pod_group", [])}

    def bound_of(self, queue, column, dimension):
        """A quota or limit; None: unlimited."""
        told = self.queues[queue].get(column, -1)
        value = told.get(dimension, -1) if isinstance(told, dict) else told
        return None if value == -1 else value

    def path(self, queue):
        while queue:
            yield queue
            queue = self.queues[queue].get("parent", "")

    def preemptible(self, pod):
        """False for pods of no group, which nobody evicts. Semi-preemptible groups may lose some."""
        row = self.groups.get(pod.group)
        return row is not None and bool(row.get("preemptible", True) or row.get("semi_preemptible", False))

    def take_in(self, after, group):
        """What was decided before the proof, which holds after it: pods that started, that leave, that have claims."""
        if set(after) - {"placed", "leaving", "claiming"}:
            raise Unknown("it holds after changes that are not known here")
        for one in after.get("placed", []):
            pod = self.pods.get(one["pod"])
            require(pod is not None and one["node"] in self.nodes, f"pod or node of {one} does not exist")
            require(pod.status in HOLDING | {"pending", "pipelined"}, f"pod '{pod.name}' cannot have started: it is {pod.status}")
            pod.status = "allocated"
            if one["node"] not in pod.places:
                pod.places.append(one["node"])
                pod.devices |= set(one.get("devices", []))
        for name in after.get("leaving", []):
            require(name in self.pods and self.pods[name].places, f"pod '{name}' is on no node and cannot leave it")
            self.pods[name].status = "releasing"
        for name in after.get("claiming", []):
            require(name in self.pods and self.pods[name].group == group, f"pod '{name}' is not of the group")
            self.pods[name].status = "pipelined"


def check_started(cluster, after):
    """What is said to have started has room. Where it goes is a premise, that it fits is not."""
    rooms = Rooms(cluster, None, "as_is")
    for one in after.get("placed", []):
        for dimension in cluster.pods[one["pod"]].needs:
            require(rooms.free[one["node"]].get(dimension, -1) >= 0, f"pods do not fit on node '{one['node']}'")


# ---- what the group needs -------------------------------------------------------------------------------------------

class Member:
    """A member of the tree of a group: a pod set, or a set of members."""

    def __init__(self, name, ask, minimum, is_set):
        self.name, self.ask, self.minimum, self.is_set = name, ask, minimum, is_set
        self.members, self.pods = [], []

    def count(self, statuses):
        return sum(pod.status in statuses for pod in self.pods)

    def needed(self):
        return len(self.members) if self.is_set and self.minimum is None else self.minimum

    def active(self):
        return sum(one.satisfied() for one in self.members) if self.is_set else self.count(ACTIVE)

    def satisfied(self):
        return self.active() >= self.needed()

    def ready(self, more=frozenset()):
        able = (sum(one.ready(more) for one in self.members) if self.is_set
                else self.count(ACTIVE | {"pending"} | more))
        return able >= self.needed()

    def waiting(self):
        return [pod for pod in self.pods if pod.status == "pending"]

    def below(self):
        yield self
        for one in self.members:
            yield from one.below()

    def missing(self):
        """Members that have to start something, and how many of them at least."""
        open_ones = [one for one in self.members if not one.satisfied()]
        return open_ones, min(self.needed() - self.active(), len(open_ones))

    def starting(self):
        """Pods that wait in members that have to start something."""
        return [pod for one in self.missing()[0] for pod in one.starting()] if self.is_set else self.waiting()

    def least(self, value):
        """The least that any choice of pods comes to."""
        if self.is_set:
            members, number = self.missing()
            return sum(sorted(one.least(value) for one in members)[:number])
        return sum(sorted(value(pod) for pod in self.waiting())[:max(0, self.needed() - self.active())])


def tree_of(cluster, name):
    """The tree of a group, and the pods of it that belong to no pod set."""
    group = cluster.groups[name]
    rows = [row for row in cluster.tables.get("sub_group", []) if row["group"] == name]
    root = Member(None, group, group.get("min_sub_group") if rows else None, True)
    parents = {row.get("parent", "") for row in rows}
    all_members = {row["name"]: Member(row["name"], row, None, True) for row in rows}
    for row in rows:
        one = all_members[row["name"]]
        one.is_set = row["name"] in parents or row.get("min_sub_group") is not None
        one.minimum = row.get("min_sub_group") if one.is_set else row.get("min_member", 0)
        all_members.get(row.get("parent", ""), root).members.append(one)
    if not rows:
        root.members.append(Member(None, {}, group.get("min_member", 1), False))
        all_members[IMPLIED] = root.members[0]
    strays = []
    for pod in cluster.pods.values():
        if pod.group == name:
            home = all_members.get(pod.sub_group)
            (home.pods if home and not home.is_set else strays).append(pod)
    return root, strays


def need_of(root):
    """If the gangs are complete the least that can start is any one pod."""
    if not root.satisfied():
        return root
    any_pod = Member(None, root.ask, 1, False)
    any_pod.pods = [pod for one in root.below() for pod in one.waiting()]
    return any_pod


# ---- what nodes have ------------------------------------------------------------------------------------------------

class Rooms:
    """What every node has under an assumption."""

    def __init__(self, cluster, group, assumption):
        self.cluster, self.free, self.whole_devices, self.known = cluster, {}, {}, {}
        devices = {}
        for row in cluster.tables.get("device", []):
            devices.setdefault(row["node"], []).append(row)
        there = {name: [] for name in cluster.nodes}
        for pod in cluster.pods.values():
            stays = assumption == "as_is" or (
                assumption == "without_preemptible" and pod.status in HOLDING and pod.group != group and
                not cluster.preemptible(pod))
            for node in pod.places if assumption == "as_is" else pod.places[-1:]:
                if stays:
                    there[node].append(pod)
        for name, node in cluster.nodes.items():
            capacity, own = node["capacity"], devices.get(name, [])
            free = {d: amount - sum(pod.request.get(d, 0) for pod in there[name]) for d, amount in capacity.items()
                    if amount}
            divided = any(row.get("instances") or row.get("sharing") == "mig" for row in own)
            opaque = bool(node.get("vendor_devices") or node.get("claimable") or node.get("device_settings") or divided)
            opaque = opaque or any(pod.beyond_amounts for pod in there[name])
            gpu = capacity.get("gpu", 0)
            offered = [row for row in own if row.get("healthy", True) and row.get("sharing") != "mig"]
            if own:
                whole = {row.get("index", 0) for row in offered}
            else:
                whole = set(range(gpu // DEVICE)) if gpu % DEVICE == 0 and gpu // DEVICE <= MOST_DEVICES else set()
            # Where devices are offered in part, parts of several may count as a whole one.
            in_part = any(row.get("share", DEVICE) != DEVICE for row in offered)
            self.known[name] = not opaque and not in_part and bool(own or whole)
            for pod in there[name]:
                whole -= pod.devices
            if opaque and "gpu" in free:
                free["gpu"] = gpu
            self.free[name], self.whole_devices[name] = free, len(whole)

    def verdict(self, pod, node):
        """What keeps the pod from the node whatever else is there, or `none`."""
        row = self.cluster.nodes[node]
        labels, alternatives = row.get("labels", {}), pod.row.get("node_affinity", [])
        if pod.row.get("obstacle"):
            return "obstacle"
        if row.get("unschedulable", False):
            return "node_unschedulable"
        if not row.get("ready", True):
            return "node_not_ready"
        if not all(tolerates(pod.row.get("tolerations", []), taint) for taint in row.get("taints", [])):
            return "taint"
        if (any(labels.get(key) != value for key, value in pod.row.get("node_selector", {}).items()) or
                (alternatives and not any(selector_holds(one, labels) for one in alternatives))):
            return "node_selector"
        return "none"

    def amount(self, node, dimension):
        return max(0, self.free[node].get(dimension, 0))

    def takes(self, pod, count, node):
        """Most pods like this one that fit if no others are put there."""
        if self.verdict(pod, node) != "none":
            return 0
        most = [count] + [self.amount(node, d) // amount for d, amount in pod.needs.items()]
        if pod.whole_devices and self.known[node]:
            most.append(self.whole_devices[node] // pod.whole_devices)
        return min(most)

    def bound(self, kinds, node, why, dimension):
        """Most pods of some kinds that the node takes for a reason; kinds are (pod, number of such pods)."""
        if why in ("obstacle", "node_unschedulable", "node_not_ready", "taint", "node_selector"):
            require(all(self.verdict(pod, node) == why for pod, _ in kinds), f"{why} does not keep all pods from '{node}'")
            return 0
        each = [(pod, self.takes(pod, count, node)) for pod, count in kinds if self.verdict(pod, node) == "none"]
        if why == "none":
            return sum(most for _, most in each)
        among = [pod for pod, most in each if most] or [pod for pod, _ in each]
        require(among, f"'{node}' takes no such pods, but not for {why}")
        if why == "resource":
            least = min(pod.needs.get(dimension, 0) for pod in among)
            require(least > 0, f"some pods need no {dimension} on '{node}'")
            return self.amount(node, dimension) // least
        if why == "resource_busy":
            least = min(pod.whole_devices for pod in among)
            require(least > 0 and self.known[node], f"whole devices say nothing about '{node}'")
            return self.whole_devices[node] // least
        raise Unknown(f"reason '{why}' is not known here")


# ---- proofs ---------------------------------------------------------------------------------------------------------

def check_bound(proof, cluster, rooms, need, waiting, nodes):
    """`need` has no place on these nodes. `waiting`: the pods of the group that could start."""
    kind, dimension = proof["kind"], proof.get("dimension")
    if kind not in ("counting_bound", "sum_bound", "matching_cut"):
        raise Unknown(f"bounds of kind '{kind}' are not known here")
    numbers = {}
    for pod in waiting:
        numbers[pod.kind] = numbers.get(pod.kind, 0) + 1
    kinds = {}
    for name in proof["pods"]:
        require(name in cluster.pods and cluster.pods[name] in waiting, f"pod '{name}' is no pod of the group that could start")
        pod = cluster.pods[name]
        require(pod.kind not in kinds, f"pod '{name}' asks for the same as another one")
        kinds[pod.kind] = (pod, numbers[pod.kind])
    require(kinds, "no pod is in question")
    if kind != "matching_cut":
        require(set(kinds) == set(numbers), "pods that could start instead are left out")
    if kind == "sum_bound":
        needed = need.least(lambda pod: pod.needs.get(dimension, 0))
    else:
        needed = need.least(lambda pod: int(pod.kind in kinds))
    require(proof["need"] == needed, f"it says that {proof['need']} are needed: {needed} are")
    listed, have = [], 0
    for one in proof["nodes"]:
        for node in one["nodes"]:
            require(node in nodes, f"node '{node}' does not exist or is elsewhere")
            is_amount = kind == "sum_bound" and one["why"] == "resource" and one.get("dimension") == dimension
            if is_amount and one["most"] == rooms.amount(node, dimension):
                most = one["most"]
            else:
                most = rooms.bound(list(kinds.values()), node, one["why"], one.get("dimension"))
                require(kind != "sum_bound" or most == 0, f"node '{node}' could take some of the pods")
            require(one["most"] == most, f"it says that node '{node}' takes {one['most']}: {most} is right")
            listed.append(node)
            have += most
    require(len(listed) == len(set(listed)), "a node is listed twice")
    require(set(listed) == set(nodes), f"nodes are left out: {', '.join(sorted(set(nodes) - set(listed))[:3])}")
    require(proof["have"] == have, f"it says that the nodes have {proof['have']}: {have} is right")
    require(needed > have, f"{needed} are needed and {have} are there: that is enough")


def check_domains(proof, cluster, rooms, root, need, waiting):
    scope = need
    if "sub_group" in proof:
        found = [one for one in necessary(need) if one.name == proof["sub_group"]]
        require(found, f"sub-group '{proof['sub_group']}' need not start")
        scope = found[0]
    require(scope.ask.get("topology") == proof["topology"] and scope.ask.get("required_level") == proof["level"],
            "the pods need not be together in one domain of this level")
    levels = [row["levels"] for row in cluster.tables.get("topology", []) if row["name"] == proof["topology"]]
    require(levels and proof["level"] in levels[0], "the topology has no such level")
    keys = levels[0][:levels[0].index(proof["level"]) + 1]
    domains, outside = {}, set()
    for name, node in cluster.nodes.items():
        values = [node.get("labels", {}).get(key) for key in keys]
        if None in values:
            outside.add(name)
        else:
            domains.setdefault(".".join(values), set()).add(name)
    require(set(proof["outside"]) == outside, "other nodes are outside of the topology")
    told = [one["domain"] for one in proof["domains"]]
    require(sorted(told) == sorted(domains), "these are not the domains of the level")
    require(scope.least(lambda pod: 1) > 0, "nothing has to start")
    for one in proof["domains"]:
        try:
            check_bound(one["bound"], cluster, rooms, scope, waiting, domains[one["domain"]])
        except Wrong as why:
            raise Wrong(f"domain '{one['domain']}': {why}") from None


def necessary(member):
    """The member and those below it that have to start whatever is chosen."""
    yield member
    if member.is_set:
        members, number = member.missing()
        for one in members if number == len(members) else []:
            yield from necessary(one)


def check_queue(proof, cluster, group, need, assumption):
    what, queue, dimension = proof["what"], proof["queue"], proof["dimension"]
    row = cluster.groups[group]
    require(queue in cluster.path(row.get("queue", "")), f"queue '{queue}' is not on the path of the group")
    if what not in ("queue_limit", "queue_quota"):
        raise Unknown(f"'{what}' of a queue is not known here")
    is_quota = what == "queue_quota"
    if is_quota:
        require(not row.get("preemptible", True) and not row.get("semi_preemptible", False),
                "quotas do not bind preemptible groups")
    require(dimension in QUOTA_DIMENSIONS, f"queues have no bound for {dimension}")
    bound = cluster.bound_of(queue, "quota" if is_quota else "limit", dimension)
    require(bound is not None, f"queue '{queue}' has no such bound")
    held = 0
    if assumption != "empty":
        fixed_only = is_quota or assumption == "without_preemptible"
        if fixed_only and any(one.get("semi_preemptible") for one in cluster.groups.values()):
            raise Unknown("what semi-preemptible groups hold is not known here")
        if dimension == "gpu" and any(pod.beyond_amounts for pod in cluster.pods.values()):
            raise Unknown("GPUs that are held by memory, instances, claims or vendors' rules are not known here")
        for name, one in cluster.groups.items():
            if queue not in cluster.path(one.get("queue", "")) or (fixed_only and one.get("preemptible", True)):
                continue
            members = {id(pod) for member in tree_of(cluster, name)[0].below() for pod in member.pods}
            held += sum(pod.request.get(dimension, 0) for pod in cluster.pods.values()
                        if id(pod) in members and pod.status in HOLDING)
    needed = need.least(lambda pod: pod.needs.get(dimension, 0))
    require(proof["need"] == needed, f"it says that {proof['need']} of {dimension} are asked for: {needed} are")
    require(proof["have"] == bound - held, f"it says that {proof['have']} of {dimension} are left: {bound - held} are")
    require(needed > bound - held, "the queue has enough left")


def check_structure(proof, cluster, group, root, strays):
    what, queue = proof["what"], cluster.groups[group].get("queue", "")
    waiting_strays = any(pod.status == "pending" for pod in strays)
    if what == "queue_missing":
        parents = {row.get("parent", "") for row in cluster.queues.values()}
        require(queue not in cluster.queues or queue in parents, f"queue '{queue}' exists and has no child queues")
        return
    if not root.ready():
        gated = root.ready({"gated"})
        right = "gated" if gated else "sub_group_missing" if waiting_strays else "gang_incomplete"
        require(what == right, f"it says {what}: {right} is right")
        lacking = [one for one in root.below() if not one.is_set and not one.ready() and one.name == proof.get("sub_group")]
        require(lacking, "another sub-group lacks pods")
        told = (lacking[0].needed(), lacking[0].count(ACTIVE | {"pending"}))
        require((proof["need"], proof["have"]) == told, f"it says {proof['need']} and {proof['have']}: {told} is right")
        return
    require(not any(one.waiting() for one in root.below()), "there are enough pods")
    gated = any(one.count({"gated"}) for one in root.below())
    require(what == ("gated" if gated else "sub_group_missing") and (gated or waiting_strays), f"{what} is not so")
    require((proof["need"], proof["have"]) == (1, 0), "1 pod is needed, none is there")


def check(document, proof):
    """Raises Wrong or Unknown, or returns the assumption under which the group cannot start."""
    cluster, group = Cluster(document), proof["group"]
    require(group in cluster.groups, f"there is no pod group '{group}'")
    kind, assumption = proof["kind"], proof.get("assumption")
    if kind == "none":
        raise Unknown("it says that there is no proof")
    if assumption not in ("as_is", "without_preemptible", "empty"):
        raise Unknown(f"assumption '{assumption}' is not known here")
    cluster.take_in(proof.get("after", {}), group)
    check_started(cluster, proof.get("after", {}))
    root, strays = tree_of(cluster, group)
    if kind == "structure":
        require(assumption == "empty", "what the group lacks does not depend on other pods")
        check_structure(proof, cluster, group, root, strays)
        return assumption
    need = need_of(root)
    waiting = need.starting()
    if kind == "queue_bound":
        check_queue(proof, cluster, group, need, assumption)
        return assumption
    rooms = Rooms(cluster, group, assumption)
    if kind == "domain_bound":
        check_domains(proof, cluster, rooms, root, need, waiting)
    elif kind in ("counting_bound", "sum_bound", "matching_cut"):
        require(proof["bound"]["kind"] == kind, "the bound is of another kind")
        check_bound(proof["bound"], cluster, rooms, need, waiting, set(cluster.nodes))
    else:
        raise Unknown(f"certificates of kind '{kind}' are not known here")
    return assumption


def certificates_in(document):
    """Those of an output of `kaisched explain`, or the document itself."""
    if "explanations" in document:
        return [one["certificate"] for one in document["explanations"] if "certificate" in one]
    return [document.get("certificate", document)]


def main(arguments):
    if len(arguments) != 2:
        print("usage: check_certificate.py CLUSTER.json CERTIFICATE.json")
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            cluster = json.load(file)
        with open(arguments[1], encoding="utf-8") as file:
            proofs = certificates_in(json.load(file))
        if not proofs:
            raise Unknown("there is no certificate")
        for proof in proofs:
            print(f"{proof['group']}: valid ({proof['kind']}, {check(cluster, proof)})")
        return 0
    except Wrong as why:
        print(f"wrong: {why}")
        return 1
    except Unknown as why:
        print(f"cannot tell: {why}")
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as why:
        print(f"cannot tell: {type(why).__name__}: {why}")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
