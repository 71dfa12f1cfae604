"""Random small clusters, each with what the specification decides about it.

    python3 generate.py --spec FOLDER [--seed TEXT] [--first N] [--count N] [--contended] [--out FILE]

One case per line in the form of the recorded session cases (schema kai-session-case/1), so that the program which
judges recordings judges these too. A case follows from seed and number alone: any of them can be made again.
"""

import argparse
import json
import random
import sys

PLUGINS = ("predicates", "proportion", "priority", "elastic", "kubeflow", "ray", "nodeavailability", "gpusharingorder",
           "gpupack", "resourcetype", "subgrouporder", "taskorder", "nominatednode", "dynamicresources",
           "nodeplacement", "minruntime", "topology", "snapshot", "sg-nodelocalgreedy", "sg-multinodegang")
# Plug-ins whose absence the decisions about these clusters can show.
OPTIONAL_PLUGINS = ("predicates", "proportion", "priority", "elastic", "nodeavailability", "gpusharingorder",
                    "gpupack", "resourcetype", "nodeplacement", "topology")
NIC, FPGA = "example.com/nic", "vendor.example/fpga"
SLICES = {"nvidia.com/mig-1g.5gb": 1, "nvidia.com/mig-2g.10gb": 2, "nvidia.com/mig-3g.20gb": 3}
SMALLEST_GPU = 100      # MiB; a node that does not say how large its GPUs are counts as this
ZONE, RACK, HOST = "topology.kubernetes.io/zone", "rack", "kubernetes.io/hostname"
POWER = "power"
GPU_WORKER, CPU_WORKER = "node-role.kubernetes.io/gpu-worker", "node-role.kubernetes.io/cpu-worker"
TASK_PRIORITY = "kai.scheduler/task-priority"
LEADERS = (("training.kubeflow.org/job-role", ("master", "launcher", "worker")),
           ("ray.io/node-type", ("head", "worker")))
ON_A_NODE = ("Running",) * 12 + ("Bound", "Binding", "Releasing", "Releasing", "Releasing", "StuckInReleasing",
                                 "Pipelined")
ON_NO_NODE = ("Pending",) * 24 + ("Gated", "Succeeded", "Failed", "Unknown")
GIGA = 10 ** 9
ALL_ACTIONS = ["allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"]


class Dice:
    """A random generator with the few throws that are used here."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def one_in(self, n):
        return self.rng.randrange(n) == 0

    def of(self, *choices):
        return self.rng.choice(choices)

    def upto(self, most, least=0):
        return self.rng.randint(least, most)

    def some(self, items, most):
        items = list(items)
        return self.rng.sample(items, min(len(items), self.upto(most)))

    def shuffled(self, items):
        items = list(items)
        self.rng.shuffle(items)
        return items


# ------------------------------------------------------------------------------------------------ a case

def make_case(seed, number, contended=False):
    """A case without outcome. Which features it may have is thrown first: mixtures of all hide each other.

    `contended`: most pods run already and all actions are taken, one of them alone or all for several rounds."""
    dice = Dice(f"{seed}/{number}")
    style = {name: dice.one_in(n) for name, n in (
        ("labels", 2), ("taints", 4), ("pod_affinity", 4), ("extended", 3), ("slots", 4), ("trees", 3), ("crowd", 8),
        ("overcommitted", 8), ("priorities", 3), ("deep", 2), ("limits", 2), ("fractions", 8), ("same_age", 12),
        ("workers", 12), ("plugins", 6), ("mixed_tasks", 4), ("many_tasks", 12), ("roomy", 3))}
    # Thrown last, so that clusters without them are what they were before these were known.
    extra = Dice(f"{seed}/{number}/devices")
    style["topology"] = Dice(f"{seed}/{number}/topology").one_in(3)
    style.update(shares=extra.one_in(3), slices=extra.one_in(6), spread_devices=extra.one_in(5))
    if style["shares"]:     # of groups that are equally full the specification takes the one that it met first
        style.update(trees=False, many_tasks=False, overcommitted=False)
    style["contended"] = contended
    if contended:
        # An undo of the reference leaves traces on nodes with shared devices, and a few of many differ (conformance.md).
        style["shares"] = False
        style.update({name: style[name] and dice.one_in(3) for name in ("labels", "pod_affinity", "extended", "workers",
                                                                        "overcommitted", "plugins", "roomy")})
        style.update(gpus_only=dice.one_in(2), priorities=dice.one_in(2), promises=dice.one_in(4))
    nodes = [_node(dice, style, f"n{i}") for i in dice.shuffled(range(dice.of(1, 1, 2, 2, 3, 3, 4, 6, 9)))]
    nodes.sort(key=lambda node: node["name"])
    queues = _queues(dice, style, nodes)
    leaves = [queue["name"] for queue in queues if not queue.get("children")]
    if dice.one_in(20):             # jobs of an inner queue are not served
        leaves += [queue["name"] for queue in queues if queue.get("children")]
    count = dice.of(1, 2, 3, 4, 5, 6, 8, 12) * (3 if style["crowd"] else 1)
    ranks = dice.shuffled(range(count)) if not style["same_age"] else [dice.upto(2) for _ in range(count)]
    filled = _Filled(dice, style, nodes)
    jobs = [_job(dice, style, f"j{i}", leaves, rank, filled) for i, rank in enumerate(ranks)]
    jobs.sort(key=lambda job: (-job["priority"], job["created_rank"], job["name"]))
    if style["shares"]:
        _name_in_order(jobs)
    _number_groups(jobs)
    case = _case(dice, style, f"{seed}/{number}", nodes, queues, jobs)
    sizes = [node["gpu_memory_mib"] for node in nodes if node["gpu_memory_mib"] > SMALLEST_GPU] or [SMALLEST_GPU]
    case["resolved"]["params"].update(min_node_gpu_memory_mib=min(sizes), max_node_gpu_memory_mib=max(sizes))
    case = _contended(dice, style, case) if contended else case
    _align(Dice(f"{seed}/{number}/numa"), case)
    _claim(Dice(f"{seed}/{number}/claims"), case)
    return case


def _name_in_order(jobs):
    """Which of the pods on a node has opened a shared device first: KAI reads them in any order, the specification in
    that of the jobs, the engine by name."""
    for number, job in enumerate(jobs):
        job["name"] = f"j{number:02}"
        for index, task in enumerate(job["tasks"]):
            task["name"] = f"{job['name']}-{index}"


def _number_groups(jobs):
    """KAI reads the shared devices of a task in any order; here in the order in which they were first used."""
    known = {}
    for task in (task for job in jobs for task in job["tasks"] if task.get("gpu_groups")):
        for group in task["gpu_groups"]:
            known.setdefault((task["node"], group), len(known))
        task["gpu_groups"].sort(key=lambda group: known[task["node"], group])


def _contended(dice, style, case):
    """Actions, rounds and what only actions that evict look at."""
    case["actions"] = dice.of(ALL_ACTIONS, ALL_ACTIONS, ALL_ACTIONS[1:2], ALL_ACTIONS[2:3], ALL_ACTIONS[3:4],
                              dice.shuffled(ALL_ACTIONS))
    if dice.one_in(2):
        case.update(kind="integration", integration={"rounds_until_match": dice.upto(4, 2), "rounds_after_match": 0})
    resolved = case["resolved"]
    resolved["params"].update({
        "max_consolidation_preemptees": dice.of(16, 16, -1, 0, 1, 3), "allow_consolidating_reclaim": not dice.one_in(6),
        "use_scheduling_signatures": dice.one_in(4), "staleness_grace_period_s": dice.of(0, 60, 60, 100)})
    if resolved["params"]["queue_depth_per_action"]:
        resolved["params"]["queue_depth_per_action"] = {action: dice.upto(4, 1) for action in ALL_ACTIONS[:4]}
    arguments = {plugin["name"]: plugin.setdefault("arguments", {}) for plugin in resolved["plugins"]}
    if style["promises"]:
        for queue in resolved["queues"]:
            for kind in ("reclaim", "preempt"):
                if dice.one_in(3):
                    queue[f"{kind}_min_runtime_s"] = dice.of(0, 30, 90, 300)
        if "minruntime" in arguments:
            arguments["minruntime"].update(dice.of({}, {"reclaimResolveMethod": "queue"}))
    if "proportion" in arguments and dice.one_in(8):
        arguments["proportion"]["relcaimerSaturationMultiplier"] = dice.of("0.5", "1.5", "3")
    for job in resolved["jobs"]:
        if "last_start_age_s" in job:
            job["last_start_age_s"] = dice.of(10, 60, 200)
        if dice.one_in(15):
            job["preemption_delay_s"] = dice.of(0, 100, 990, 1000, 5000)
        if dice.one_in(6):
            job.update(stale=True, stale_age_s=dice.of(0, 59, 60, 61, 1000))
        if dice.one_in(8):
            job["staleness_grace_period_s"] = dice.of(-1, 0, 30, 60)
    return case


def _is_plain(case):
    """Nobody asks for parts of GPUs.  Zones and claims are drawn where it is so: mixtures hide each other."""
    return all(task["request_type"] == "Regular" for job in case["resolved"]["jobs"] for task in job["tasks"])


# -------------------------------------------------------------------------------------------- NUMA zones

def _align(dice, case):
    """Some clusters of one session have NUMA zones.  What is free there either follows from the pods or is given."""
    if case["kind"] != "unit" or not _is_plain(case) or not dice.one_in(6):
        return
    resolved = case["resolved"]
    reported = dice.one_in(2)
    arguments = {"reconstructAvailable": "false"} if reported else {}
    if dice.one_in(8):
        arguments["ignoreList"] = dice.of("memory", "memory,gpu", "gpu")
    resolved["plugins"].append({"name": "numa", **({"arguments": arguments} if arguments else {})})
    for node in resolved["nodes"]:
        if not dice.one_in(5):
            node["numa"] = _zones(dice, node["allocatable"], reported)
    by_name = {node["name"]: node for node in resolved["nodes"]}
    for job in resolved["jobs"]:
        for task in job["tasks"]:
            task["qos_class"] = dice.of("Guaranteed", "Guaranteed", "Burstable", "BestEffort")
            numa = by_name.get(task.get("node"), {}).get("numa")
            if numa and numa["zones"] and not dice.one_in(3):
                task["numa_zones"] = sorted(dice.some(range(len(numa["zones"])), 2)) or [0]
                if not reported and task["status"] in ("Running", "Bound", "Binding", "Allocated", "Pipelined"):
                    _occupy(task, numa, (arguments.get("ignoreList") or "").split(","))
    case["features"] = sorted({*case["features"], "numa"})


def _zones(dice, allocatable, reported):
    names = ["cpu_milli", *(name for name in ("memory", "gpu", NIC) if allocatable.get(name, 0) > 0 and dice.one_in(2))]
    zones = []
    for index in range(dice.of(1, 2, 2, 2, 3, 4)):
        sizes = {name: _part_of(dice, name, allocatable[name]) for name in names}
        if index == 0:          # a resource of which no zone has any is as good as not reported
            sizes = {name: max(size, 1000 if name == "cpu_milli" else 1) for name, size in sizes.items()}
        free = {name: dice.of(size, size, _part_of(dice, name, size)) if reported else size
                for name, size in sizes.items()}
        zones.append({"id": f"zone-{index}", "allocatable": sizes, "available": free})
    return {"policy": dice.of("single-numa-node", "single-numa-node", "restricted", "restricted", "best-effort", "none"),
            "scope": dice.of("pod", "container"), "zones": zones}


def _part_of(dice, name, amount):
    if name == "memory":
        return amount * dice.upto(4) // 4
    unit = 1000 if name == "cpu_milli" else 1
    return dice.upto(max(0, int(amount) // unit)) * unit


def _occupy(task, numa, ignored):
    """A pod that is known to be in zones has what they can hold, lowest zone first."""
    guaranteed = task["qos_class"] == "Guaranteed"
    for name, amount in task["request"].items():
        if name in ignored or (name == "cpu_milli" and amount % 1000) or numa["policy"] == "none":
            continue
        if not guaranteed and name in ("cpu_milli", "memory"):
            continue
        for index in task["numa_zones"]:
            zone = numa["zones"][index]
            taken = min(amount, zone["allocatable"].get(name, 0))
            if taken > 0:
                zone["available"][name] -= taken
                amount -= taken


# --------------------------------------------------------------------------------------- resource claims

GPU_CLASS, NIC_CLASS = "nvidia.com/gpu", "nic.example.com"
DRIVER = "nvidia.com/gpu"       # of every device, whatever its class


def _claim(dice, case):
    """In some clusters pods claim their GPUs, alone or with others of their queue."""
    if not _is_plain(case) or not dice.one_in(6):
        return
    resolved = case["resolved"]
    slices = [{"node": node["name"], "device_class": GPU_CLASS, "count": int(node["allocatable"].get("gpu", 0))}
              for node in resolved["nodes"] if not dice.one_in(8)]
    slices += [{"node": node["name"], "device_class": NIC_CLASS, "count": dice.upto(2)}
               for node in resolved["nodes"] if dice.one_in(4)]
    case["input"]["dra"] = {"device_classes": [GPU_CLASS] if dice.one_in(4) else [GPU_CLASS, NIC_CLASS],
                            "slices": slices}
    free = {one["node"]: [f"{DRIVER}/{one['node']}/{index}" for index in range(one["count"])]
            for one in slices if one["device_class"] == GPU_CLASS}
    claims, shareable = [], {}
    for job in resolved["jobs"]:
        for task in job["tasks"]:
            count = task["request"].get("gpu", 0)
            if count and count == int(count) and task["request_type"] == "Regular" and not dice.one_in(3):
                _claim_gpus(dice, task, job, int(count), free, claims, shareable)
            elif not task.get("node") and dice.one_in(10):
                _add_claim(claims, task, f"nic-{task['name']}", NIC_CLASS, dice.upto(2, 1), {})
    resolved["claims"] = claims
    case["features"] = sorted({*case["features"], "dra"})


def _claim_gpus(dice, task, job, count, free, claims, shareable):
    node = task.get("node", "")
    queue = job["queue"] if not dice.one_in(15) else "another"
    # Whether a device that one holds and another leaves is counted as leaving follows from the order in which KAI
    # reads the two, which is any.
    key = (queue, count, node, task["status"] if task["status"] in ("Releasing", "Pipelined") else "")
    if key in shareable and dice.one_in(2):
        claim = shareable[key]
        task["claims"] = [{"name": claim["name"], "claim": claim["name"]}]
    else:
        if node and len(free.get(node, [])) < count:
            return
        claim = _add_claim(claims, task, f"claim-{task['name']}", GPU_CLASS, count, {"kai.scheduler/queue": queue})
        if node:
            claim["status"] = {"devices": free[node][:count], "reserved_for": []}
            del free[node][:count]
        elif dice.one_in(6):
            task["claims"][0]["template"] = "template"
        if "template" not in task["claims"][0]:
            shareable[key] = claim
    if node:
        claim["status"]["reserved_for"].append(f"pods/{task['name']}")
    task["gpu_request"] = {"gpu": 0, "dra_gpus": {GPU_CLASS: count}}


def _add_claim(claims, task, name, device_class, count, labels):
    claim = {"name": name, "device_class": device_class, "count": count, "labels": labels}
    claims.append(claim)
    task["claims"] = [{"name": name, "claim": name}]
    return claim


def _case(dice, style, name, nodes, queues, jobs):
    plugins = _plugins(dice, style)
    if not any(plugin["name"] == "proportion" for plugin in plugins):
        for queue in queues:        # without it KAI goes by age and name, the specification by name alone
            queue["created_rank"] = 0
    return {
        "schema": "kai-session-case/1", "name": name, "kind": "unit", "suite": "random", "actions": ["allocate"],
        "features": sorted(_features(style, jobs)), "asserted": "none", "predicates_enabled": not dice.one_in(30),
        "input": {}, "expected": {},
        "resolved": {
            "params": {"queue_depth_per_action": {"allocate": dice.upto(3, 1)} if dice.one_in(12) else {},
                       "restrict_scheduling_nodes": style["workers"], "use_scheduling_signatures": False},
            "plugins": plugins, "nodes": nodes, "queues": queues, "jobs": jobs,
            "topologies": _topologies(style)},
        "rounds": []}


def _features(style, jobs):
    found = {name for name in ("labels", "taints", "pod_affinity", "extended", "slots", "overcommitted", "workers",
                               "limits", "shares", "slices", "topology") if style[name]}
    for job in jobs:
        root = job["root"]
        if root["pod_sets"] and root["pod_sets"][0]["name"] == "default":
            least = root["pod_sets"][0]["min_available"]
            found.add("elastic" if least < len(job["tasks"]) else "gang" if least > 1 else "single")
        else:
            found.add("subgroups")
    return found


def _plugins(dice, style):
    dropped = [name for name in OPTIONAL_PLUGINS if style["plugins"] and dice.one_in(3)]
    arguments = {"nodeplacement": {"cpu": dice.of("binpack", "spread"), "gpu": dice.of("binpack", "binpack", "spread")}}
    if dice.one_in(10):
        arguments["proportion"] = {"kValue": dice.of("0", "0.5", "2.5")}
    names = [name for name in PLUGINS if name not in dropped]
    if style["spread_devices"]:
        names = ["gpuspread" if name == "gpupack" else name for name in names]
    return [{"name": name, **({"arguments": arguments[name]} if name in arguments else {})} for name in names]


# ------------------------------------------------------------------------------------------------ nodes

def _node(dice, style, name):
    gpus = dice.of(0, 1, 2, 2, 4, 4, 8, 8) if not style["roomy"] else dice.of(0, 8, 8, 16)
    cores = dice.of(2, 4, 8, 16, 16, 64) if not style["roomy"] else dice.of(32, 32, 64)
    allocatable = {"cpu_milli": cores * 1000 - dice.of(0, 0, 0, 81), "gpu": gpus,
                   "memory": cores * dice.of(2, 4, 4) * GIGA + dice.of(0, 0, 123457),
                   "pods": dice.of(1, 2, 3, 5, 8) if style["slots"] and not dice.one_in(3) else 110}
    if style["extended"]:
        allocatable.update({resource: dice.upto(4, 1) for resource in dice.some((NIC, FPGA), 2)})
    node = {"name": name, "allocatable": allocatable, "labels": _node_labels(dice, style, name, gpus),
            "taints": _taints(dice) if style["taints"] else [], "max_tasks": 500,
            "gpu_memory_mib": SMALLEST_GPU, "gpu_memory_synced": True}
    if style["shares"]:
        node["gpu_memory_mib"] = dice.of(SMALLEST_GPU, SMALLEST_GPU, 1000, 1500)
    if style["slices"]:
        _divide(dice, node)
    return node


def _divide(dice, node):
    """Some nodes have GPUs that are divided into instances."""
    strategy = dice.of("", "", "mixed", "mixed", "single")
    if not strategy:
        return
    node["labels"]["nvidia.com/mig.strategy"] = strategy
    if dice.one_in(3):
        node["labels"]["node-role.kubernetes.io/mig-enabled"] = dice.of("true", "true", "false")
    if strategy == "mixed":
        node["allocatable"].update({name: dice.upto(4, 1) for name in dice.some(SLICES, 2)})
        node["allocatable"]["gpu"] = dice.of(0, 0, node["allocatable"]["gpu"])
        if not dice.one_in(4):
            node["labels"]["nvidia.com/gpu.count"] = str(node["allocatable"]["gpu"])


def _node_labels(dice, style, name, gpus):
    labels = {"nvidia.com/gpu.count": str(gpus), "nvidia.com/gpu.memory": "100"}
    if dice.one_in(20):             # a spreading placement believes the label
        labels.update(dice.of({"nvidia.com/gpu.count": str(gpus + 2)}, {"nvidia.com/gpu.count": "many"}))
    if style["topology"]:
        labels.update(_places(dice, name))
    elif style["labels"] or style["pod_affinity"]:
        labels[HOST] = name
        if not dice.one_in(4):
            labels[ZONE] = dice.of("east", "west")
        if dice.one_in(2):
            labels[RACK] = dice.of("r1", "r2", "r3", "")
        if dice.one_in(2):
            labels["disk"] = dice.of("ssd", "hdd")
    if style["workers"]:
        # One of them at least: KAI leaves nodes without out of its snapshot, so the specification never sees any.
        marks = [worker for worker in (GPU_WORKER, CPU_WORKER) if not dice.one_in(3)] or [dice.of(GPU_WORKER, CPU_WORKER)]
        labels.update({worker: "" for worker in marks})
    return labels


def _places(dice, name):
    """Labels of a node in topologies: mostly all of them, equal racks in several zones."""
    labels = {ZONE: dice.of("east", "east", "west"), RACK: dice.of("r1", "r2", "r3", "r1"), HOST: name,
              POWER: dice.of("p1", "p2")}
    if dice.one_in(12):
        labels[dice.of(*labels)] = ""
    if dice.one_in(8):
        del labels[dice.of(*labels)]
    return labels


def _taints(dice):
    return [{"key": dice.of("dedicated", "spot"), "value": dice.of("", "a", "b"),
             "effect": dice.of("NoSchedule", "NoExecute", "PreferNoSchedule")} for _ in range(dice.of(0, 1, 1, 2))]


class _Filled:
    """Where running pods go: on a node with room, unless the cluster is to be overcommitted."""

    def __init__(self, dice, style, nodes):
        self.dice, self.careless = dice, style["overcommitted"]
        self.nodes = nodes
        self.free = {node["name"]: dict(node["allocatable"]) for node in nodes}
        self.shared = {node["name"]: {} for node in nodes}      # group -> MiB left
        self.groups = 0

    def _share(self, task, node):
        """Takes a place for a task that shares devices; its groups, or None."""
        asked, free = task["gpu_request"], self.free[node["name"]]
        memory = asked.get("gpu_memory_mib") or int(asked["fraction"] * node["gpu_memory_mib"])
        if memory > node["gpu_memory_mib"]:
            return None
        rest = {name: amount for name, amount in task["request"].items() if name != "gpu"}
        if any(free.get(name, 0) < amount for name, amount in rest.items()):
            return None
        known = self.shared[node["name"]]
        chosen = [group for group, left in known.items() if left >= memory and not self.dice.one_in(3)][:asked["devices"]]
        fresh = asked["devices"] - len(chosen)
        if free["gpu"] < fresh:
            return None
        for _ in range(fresh):
            self.groups += 1
            chosen.append(f"g{self.groups}")
            known[chosen[-1]] = node["gpu_memory_mib"]
            free["gpu"] -= 1
        for name, amount in rest.items():
            free[name] -= amount
        for group in chosen:
            known[group] -= memory
        return chosen

    def place(self, task, claims_only):
        """The name of a node, or None. A claim needs no room: what it waits for is still in use."""
        if task["request_type"] in ("Fraction", "GpuMemory"):
            for node in self.dice.shuffled(self.nodes):
                groups = self._share(task, node)
                if groups:
                    task["gpu_groups"] = groups
                    return node["name"]
            return None
        request = task["request"]
        for node in self.dice.shuffled(self.nodes):
            free = self.free[node["name"]]
            known = all(name in node["allocatable"] for name in request)
            if known and (claims_only or all(free[name] >= amount for name, amount in request.items())
                          or (self.careless and self.dice.one_in(2))):
                if not claims_only:
                    for name, amount in request.items():
                        free[name] -= amount
                return node["name"]
        return None


# ----------------------------------------------------------------------------------------------- queues

def _queues(dice, style, nodes):
    """One to three levels; only leaves have jobs, but an inner queue may be a leaf for want of children."""
    total = {name: sum(node["allocatable"].get(name, 0) for node in nodes) for name in ("gpu", "cpu_milli", "memory")}
    names, parents = [], {}
    for i in range(dice.of(1, 1, 2, 2, 3, 4)):
        _add_queues(dice, f"q{i}", "", 3 if style["deep"] else dice.of(1, 2), names, parents)
    ranks = dice.shuffled(range(len(names)))
    if style["same_age"]:
        ranks = [dice.upto(1) for _ in names]
    queues = [_queue(dice, style, name, parents[name], rank, total) for name, rank in zip(names, ranks)]
    for queue in queues:
        children = sorted(name for name in names if parents[name] == queue["name"])
        if children:
            queue["children"] = children
    return sorted(queues, key=lambda queue: queue["name"])


def _add_queues(dice, name, parent, levels, names, parents):
    names.append(name)
    parents[name] = parent
    if levels > 1:
        for i in range(dice.of(0, 1, 2, 2, 3)):
            _add_queues(dice, f"{name}-{i}", name, levels - 1, names, parents)


def _queue(dice, style, name, parent, rank, total):
    return {"name": name, **({"parent": parent} if parent else {}), "created_rank": rank, "created_offset_s": 0,
            "priority": dice.of(100, 100, 50, 200) if style["priorities"] else 100,
            "gpu": _bounds(dice, style, total["gpu"], 1, style["fractions"]),
            "cpu_milli": _bounds(dice, style, total["cpu_milli"], 500, False, dice.one_in(3)),
            "memory_mb": _bounds(dice, style, total["memory"] // 10 ** 6, 500, False, dice.one_in(3))}


def _bounds(dice, style, total, unit, fractions, bounded=True):
    """Quota, limit and weight of one resource; the whole is a few shares of the cluster."""
    def part():
        amount = dice.upto(max(1, total // unit)) * unit
        return amount + 0.5 if fractions and dice.one_in(2) else amount
    bounded = bounded and not (style["roomy"] and dice.one_in(2))
    quota = dice.of(-1, 0, part(), part()) if bounded else -1
    limit = part() if style["limits"] and bounded and dice.one_in(2) else -1
    weight = dice.of(0, 0.1, 0.3, 2.5, -1) if style["fractions"] else dice.of(0, 1, 1, 1, 2, 3, 7)
    return {"quota": quota, "limit": limit, "over_quota_weight": weight}


# ------------------------------------------------------------------------------------------------- jobs

def _job(dice, style, name, leaves, rank, filled):
    count = dice.of(1, 1, 1, 2, 2, 3, 4, 6) if not style["many_tasks"] else dice.of(1, 5, 11, 13)
    root, leaf_names = _tree(dice, style, count)
    if style["topology"]:
        _constrain(dice, root, leaf_names)
    template = _template(dice, style)
    leader = dice.of(*LEADERS)
    placed = dice.of(0, 0, 0, 0, 0, 1, 1, 2)          # none, some, all pods have been started before
    if style["contended"]:
        placed = dice.of(0, 0, 1, 2, 2, 2, 2)
    tasks = []
    for i in range(count):
        asked = _template(dice, style) if style["mixed_tasks"] and dice.one_in(2) else template
        task = {"name": f"{name}-{i}", **_text_copy(asked)}
        task["labels"].update(_order_labels(dice, leader, first=i == 0))
        if leaf_names != ["default"]:
            task["sub_group"] = dice.of(*leaf_names)
        _set_status(dice, style, task, placed, filled)
        tasks.append(task)
    priority = dice.of(50, 50, 75, 100, 125) if style["priorities"] else dice.of(50, 50, 50, 100)
    return {"name": name, "queue": dice.of(*leaves), "namespace": "", "priority": priority,
            "preemptible": not dice.one_in(4 if not style["contended"] else 7), "created_rank": rank, "age_s": 1000 - rank,
            **({"last_start_age_s": 60} if any("node" in task for task in tasks) else {}),
            "root": root, "tasks": tasks}


def _text_copy(value):
    return json.loads(json.dumps(value))


def _set_status(dice, style, task, placed, filled):
    if placed == 2 or (placed == 1 and dice.one_in(2)):
        status = dice.of(*ON_A_NODE)
        if style["contended"] and not dice.one_in(4):
            status = "Running"
        if status == "Pipelined" and task["request_type"] != "Regular":
            status = "Running"
        node = filled.place(task, status == "Pipelined")
        if node:
            task.update(status=status, node=node)
            return
    task["status"] = dice.of(*ON_NO_NODE)


def _tree(dice, style, count):
    """-> (root of the sub-group tree, names of its leaves)"""
    if not style["trees"] or dice.one_in(3):
        least = dice.of(1, 1, count, count, dice.upto(count), count + dice.upto(1))
        return {"name": "", "pod_sets": [{"name": "default", "min_available": least}]}, ["default"]
    names = iter(dice.shuffled(f"s{i}" for i in range(40)))
    leaves = []
    root = _group(dice, "", names, leaves, dice.of(1, 1, 2), count)
    return root, leaves


def _group(dice, name, names, leaves, depth, count):
    group = {"name": name}
    inner = [_group(dice, next(names), names, leaves, depth - 1, count)
             for _ in range(dice.of(0, 1, 2, 2))] if depth > 1 else []
    outer = [{"name": next(names), "min_available": dice.of(0, 1, 1, 1, 2)}
             for _ in range(dice.of(1, 2, 3) if not inner else dice.of(0, 0, 1))]
    leaves += [leaf["name"] for leaf in outer]
    if inner:
        group["groups"] = inner
    if outer:
        group["pod_sets"] = outer
    if dice.one_in(2):
        group["min_sub_group"] = dice.upto(len(inner) + len(outer), 0 if dice.one_in(4) else 1)
    return {"pod_sets": [], **group} if name == "" else group


def _topologies(style):
    """A node may be in one of them and not in the other."""
    return [{"name": "net", "levels": [ZONE, RACK, HOST]},
            {"name": "supply", "levels": [POWER, RACK]}] if style["topology"] else []


def _constrain(dice, root, leaf_names):
    """Constraints of a job and of its sub-groups: of the pod set of a job without sub-groups the job's own."""
    members = [root]
    for group in members:
        members += group.get("groups", []) + (group["pod_sets"] if "pod_sets" in group else [])
    if leaf_names == ["default"]:
        members = [root]
    for member in members:
        if dice.one_in(2 if member is root else 3):
            name, levels = dice.of(("net", (ZONE, RACK, HOST)), ("net", (ZONE, RACK, RACK)), ("supply", (POWER, RACK)))
            levels = [level for level in levels for _ in range(2)]
            required, preferred = dice.of(*levels, ""), dice.of(*levels, "", "", "")
            member["topology"] = {"topology": name, **({"required": required} if required else {}),
                                  **({"preferred": preferred} if preferred else {})}


def _order_labels(dice, leader, first):
    """Of two priorities that are no numbers KAI puts each behind the other, so at most one task has such a label.
    A job is of one framework: leaders of two would not be equal."""
    labels = {}
    if dice.one_in(12):
        labels[TASK_PRIORITY] = dice.of("1", "2", "10", "-1", *(("high", "") if first else ()))
    if dice.one_in(20):
        key, values = leader
        labels[key] = dice.of(*values)
    return labels


# ------------------------------------------------------------------------------------ what a pod asks for

def _template(dice, style):
    """What the pods of a job have in common."""
    request = {"cpu_milli": dice.of(0, 100, 250, 500, 500, 1000, 2000), "pods": 1,
               "memory": dice.of(0, 1, 1, 1, 2, 4) * GIGA, "gpu": dice.of(0, 0, 1, 1, 1, 1, 2, 3)}
    if style["extended"] and dice.one_in(3):
        request[dice.of(NIC, FPGA)] = dice.upto(3, 1)
    if style["contended"] and style["gpus_only"]:
        request.update(cpu_milli=100, memory=0, gpu=dice.of(1, 1, 1, 2, 2, 3, 4))
    request = {name: amount for name, amount in request.items() if amount}
    asked = {"request": request, "gpu_request": {"gpu": request["gpu"]} if "gpu" in request else {}, "labels": {},
             "request_type": "Regular"}
    if style["shares"] and dice.one_in(2):
        _ask_for_parts(dice, asked)
    elif style["slices"] and dice.one_in(2):
        _ask_for_slices(dice, asked)
    if dice.one_in(60):
        asked["pvc_names"] = ["missing"]
    if style["taints"]:
        asked["tolerations"] = _tolerations(dice)
    affinity = {}
    if style["labels"]:
        if dice.one_in(4):
            selector = {key: dice.of(*values) for key, values in dice.some(
                ((ZONE, ("east", "west")), ("disk", ("ssd", "hdd")), (RACK, ("r1", ""))), 2)}
            if selector:            # recordings have none that is empty: its signature would not be that of no selector
                asked["node_selector"] = selector
        if dice.one_in(4):
            affinity["nodeAffinity"] = _required({"nodeSelectorTerms": [
                _node_term(dice) for _ in range(dice.of(1, 1, 2))]})
    if style["pod_affinity"]:
        asked["labels"] = {key: dice.of("a", "b") for key in dice.some(("app", "tier"), 2)}
        for kind, chance in (("podAffinity", 4), ("podAntiAffinity", 3)):
            if dice.one_in(chance):
                affinity[kind] = _required([_pod_term(dice) for _ in range(dice.of(1, 1, 2))])
    if affinity:
        asked["affinity"] = affinity
    return asked


def _ask_for_parts(dice, asked):
    """Parts of devices instead of whole ones, by share or by memory."""
    devices = dice.of(1, 1, 1, 1, 2, 3)
    asked["request"].pop("gpu", None)
    if dice.one_in(3):
        asked["gpu_request"] = {"gpu": 0, "devices": devices,
                                "gpu_memory_mib": dice.of(10, 20, 33, 50, 100, 100, 350, 500, 750, 1500)}
        asked["request_type"] = "GpuMemory"
        return
    fraction = dice.of(0.1, 0.2, 0.25, 0.29, 0.3, 0.5, 0.5, 0.5, 0.57, 0.7)
    asked["gpu_request"] = {"gpu": round(fraction * 100) * devices / 100, "devices": devices, "fraction": fraction}
    asked["request"]["gpu"] = asked["gpu_request"]["gpu"]
    asked["request_type"] = "Fraction"


def _ask_for_slices(dice, asked):
    slices = {name: dice.of(1, 1, 2) for name in dice.some(SLICES, 2)}
    if slices:
        asked["request"].pop("gpu", None)
        asked["request"].update(slices)
        asked["gpu_request"] = {"mig": slices}
        asked["request_type"] = "MigInstance"


def _required(what):
    return {"requiredDuringSchedulingIgnoredDuringExecution": what}


def _tolerations(dice):
    found = []
    for _ in range(dice.of(0, 0, 1, 1, 2)):
        if dice.one_in(8):
            found.append({"operator": "Exists"})
            continue
        one = {"key": dice.of("dedicated", "spot")}
        if dice.one_in(2):
            one["operator"] = "Exists"
        else:
            one.update(dice.of({}, {"operator": "Equal"}), value=dice.of("", "a", "b"))
        if dice.one_in(2):
            one["effect"] = dice.of("NoSchedule", "NoExecute", "PreferNoSchedule")
        found.append(one)
    return found


def _node_term(dice):
    if dice.one_in(20):
        return {}                   # a term without expressions matches no node
    expressions = []
    for _ in range(dice.of(1, 1, 2)):
        key, values = dice.of((ZONE, ("east", "west", "north")), ("disk", ("ssd", "hdd")), (RACK, ("r1", "r2", "")),
                              (HOST, ("n0", "n1", "n2", "n3")))
        operator = dice.of("In", "In", "NotIn", "Exists", "DoesNotExist")
        one = {"key": key, "operator": operator}
        if operator in ("In", "NotIn"):
            one["values"] = dice.some(values, 2) or [values[0]]
        expressions.append(one)
    return {"matchExpressions": expressions}


def _pod_term(dice):
    selector = {key: dice.of("a", "b") for key in dice.some(("app", "tier"), 2)}
    if not selector and not dice.one_in(8):
        selector = {"app": "a"}     # a selector without labels, for every pod, is the exception
    return {"labelSelector": {"matchLabels": selector}, "topologyKey": dice.of(ZONE, HOST, HOST, RACK, "nowhere")}


# ------------------------------------------------------------------------------- what is decided about it

class Specification:
    """The executable specification, used from where it lies."""

    def __init__(self, folder):
        sys.path.insert(0, str(folder))
        import oracle
        import rounds
        self._oracle, self._rounds = oracle, rounds

    def answer(self, case):
        """`decide`, or None: the specification fails where it does not say what happens."""
        try:
            return self.decide(case)
        except Exception:
            return None

    def decide(self, case):
        """Fills in the rounds of a case, and the share of every queue."""
        planned = {**case, "rounds": self._oracle.planned(case)}
        case["rounds"] = [_compact(self._oracle.answer(played)) for played in self._rounds.replay(planned)]
        if case["resolved"].get("claims"):      # what claims on shared devices use cannot be told from what is idle
            for played in case["rounds"]:
                for node in played["result"]["nodes"]:
                    node.pop("used", None)
        if not any(plugin["name"] == "proportion" for plugin in case["resolved"]["plugins"]):
            for played in case["rounds"]:
                del played["fair_share"], played["result"]["queues"]
        return case


def _compact(played):
    """Without what is not compared."""
    result = played["result"]
    kept = {"nodes": [{name: node[name] for name in ("name", "idle", "releasing", "used", "numa") if node.get(name) is not None}
                      for node in result["nodes"]],
            "tasks": [{name: task[name] for name in ("name", "status", "node") if task[name]}
                      for task in result["tasks"]],
            "queues": result["queues"]}
    return {**{name: played[name] for name in ("phase", "actions", "events", "fair_share")}, "result": kept}


def write_cases(specification, seed, first, count, contended, out):
    for number in range(first, first + count):
        json.dump(specification.decide(make_case(seed, number, contended)), out, separators=(",", ":"))
        out.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--spec", required=True, help="folder of the specification")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--contended", action="store_true", help="most pods run already, all actions are taken")
    parser.add_argument("--out", help="file to write, else standard output")
    options = parser.parse_args()
    with open(options.out, "w", encoding="utf-8") if options.out else sys.stdout as out:
        write_cases(Specification(options.spec), options.seed, options.first, options.count, options.contended, out)


if __name__ == "__main__":
    main()
