"""Makes a case smaller while it still shows the same difference."""

import copy

BATCH = 48


def shrink(case, shows, steps=400):
    """`shows(cases)` says of each case whether it shows the difference. -> the smallest case found."""
    for _ in range(steps):
        smaller = next((one for batch in _batches(edits(case)) for one, hit in zip(batch, shows(batch)) if hit), None)
        if smaller is None:
            return case
        case = smaller
    return case


def _batches(items):
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def edits(case):
    """Cases that are a little simpler than this one, the boldest changes first."""
    for change in _changes(case["resolved"]):
        edited = copy.deepcopy(case)
        if change(edited["resolved"]) is not False:
            edited["resolved"]["jobs"].sort(key=lambda job: (-job["priority"], job["created_rank"], job["name"]))
            yield edited


def _changes(resolved):
    jobs, nodes, queues = resolved["jobs"], resolved["nodes"], resolved["queues"]
    for half in (slice(0, len(jobs) // 2), slice(len(jobs) // 2, None)):
        if len(jobs) > 3:
            yield lambda r, half=half: r["jobs"].__delitem__(half)
    yield from (_drop("jobs", i) for i in range(len(jobs)))
    yield from (_drop_node(i) for i in range(len(nodes)) if len(nodes) > 1)
    yield from (_drop_queue(i) for i in range(len(queues)) if len(queues) > 1)
    for i, job in enumerate(jobs):
        yield _flatten(i)
        yield from (_drop_task(i, k) for k in range(len(job["tasks"])))
    yield from _simpler_options(resolved)
    yield from _simpler_members(resolved)
    for i, job in enumerate(jobs):
        yield from _simpler_tree(i, job["root"], ())
        for k, task in enumerate(job["tasks"]):
            yield from _simpler_task(i, k, task)


def _drop_plugin(i):
    def change(resolved):
        if resolved["plugins"].pop(i)["name"] == "proportion":      # see _case of generate.py
            for queue in resolved["queues"]:
                queue["created_rank"] = 0
    return change


def _drop(part, i):
    def change(resolved):
        del resolved[part][i]
    return change


def _drop_node(i):
    def change(resolved):
        gone = resolved["nodes"].pop(i)["name"]
        for job in resolved["jobs"]:
            job["tasks"] = [task for task in job["tasks"] if task.get("node") != gone]
        resolved["jobs"] = [job for job in resolved["jobs"] if job["tasks"]]
    return change


def _drop_queue(i):
    """Without a queue its children and its jobs belong to its parent."""
    def change(resolved):
        gone = resolved["queues"].pop(i)
        parent = gone.get("parent")
        if any(job["queue"] == gone["name"] for job in resolved["jobs"]) and not parent:
            return False
        for queue in resolved["queues"]:
            if queue.get("parent") == gone["name"]:
                queue.pop("parent")
                if parent:
                    queue["parent"] = parent
            queue.pop("children", None)
        for queue in resolved["queues"]:
            children = sorted(q["name"] for q in resolved["queues"] if q.get("parent") == queue["name"])
            if children:
                queue["children"] = children
        for job in resolved["jobs"]:
            if job["queue"] == gone["name"]:
                job["queue"] = parent
    return change


def _drop_task(i, k):
    def change(resolved):
        del resolved["jobs"][i]["tasks"][k]
        if not resolved["jobs"][i]["tasks"]:
            del resolved["jobs"][i]
    return change


def _flatten(i):
    """No sub-groups, and a gang of one or of all."""
    def change(resolved):
        job = resolved["jobs"][i]
        flat = {"name": "", "pod_sets": [{"name": "default", "min_available": 1}]}
        if job["root"] == flat:
            return False
        job["root"] = flat
        for task in job["tasks"]:
            task.pop("sub_group", None)
    return change


def _set(place, key, value):
    """Sets (or with None removes) a member of the object that `place` finds; no change if it is so already."""
    def change(resolved):
        holder = place(resolved)
        if holder.get(key) == value:
            return False
        if value is None:
            del holder[key]
        else:
            holder[key] = value
    return change


def _simpler_options(resolved):
    yield _set(lambda r: r["params"], "queue_depth_per_action", {})
    yield _set(lambda r: r["params"], "restrict_scheduling_nodes", False)
    for i, plugin in enumerate(resolved["plugins"]):
        yield _drop_plugin(i)
        yield _set(lambda r, i=i: r["plugins"][i], "arguments", None)


def _simpler_members(resolved):
    for i, queue in enumerate(resolved["queues"]):
        yield _set(lambda r, i=i: r["queues"][i], "priority", 100)
        for resource in ("gpu", "cpu_milli", "memory_mb"):
            for key, value in (("quota", -1), ("limit", -1), ("over_quota_weight", 1)):
                yield _set(lambda r, i=i, resource=resource: r["queues"][i][resource], key, value)
    for i, job in enumerate(resolved["jobs"]):
        for key, value in (("priority", 50), ("preemptible", True)):
            yield _set(lambda r, i=i: r["jobs"][i], key, value)
    for i, node in enumerate(resolved["nodes"]):
        yield _set(lambda r, i=i: r["nodes"][i], "taints", [])
        yield from (_set(lambda r, i=i: r["nodes"][i]["labels"], key, None) for key in node["labels"])
        amounts = node["allocatable"]
        yield from (_set(lambda r, i=i: r["nodes"][i]["allocatable"], key, None) for key in amounts if "/" in key)
        for key, value in (("pods", 110), ("cpu_milli", 1000000), ("memory", 10 ** 13)):
            yield _set(lambda r, i=i: r["nodes"][i]["allocatable"], key, value)


def _simpler_tree(i, group, path):
    """`path` leads from the root of the tree to the group: numbers of children."""
    def place(resolved):
        found = resolved["jobs"][i]["root"]
        for step in path:
            found = found["groups"][step]
        return found
    yield _set(place, "min_sub_group", None)
    for k, leaf in enumerate(group.get("pod_sets") or []):
        for least in {0, 1, leaf["min_available"] - 1} - {leaf["min_available"], -1}:
            yield _set(lambda r, k=k: place(r)["pod_sets"][k], "min_available", least)
        yield _drop_leaf(i, place, k)
    for k, child in enumerate(group.get("groups") or []):
        yield _drop_group(i, place, k)
        yield from _simpler_tree(i, child, (*path, k))


def _members(group):
    return len(group.get("pod_sets") or []) + len(group.get("groups") or [])


def _drop_leaf(i, place, k):
    def change(resolved):
        group = place(resolved)
        if _members(group) < 2:
            return False
        gone = group["pod_sets"].pop(k)["name"]
        job = resolved["jobs"][i]
        job["tasks"] = [task for task in job["tasks"] if task.get("sub_group", "default") != gone]
        return bool(job["tasks"])
    return change


def _drop_group(i, place, k):
    """The members of a group that is dropped belong to the group above."""
    def change(resolved):
        group = place(resolved)
        gone = group["groups"].pop(k)
        group["groups"] += gone.get("groups") or []
        group["pod_sets"] = (group.get("pod_sets") or []) + (gone.get("pod_sets") or [])
        if not group["groups"]:
            del group["groups"]
    return change


def _simpler_task(i, k, task):
    def place(resolved):
        return resolved["jobs"][i]["tasks"][k]
    for key in ("node_selector", "affinity", "tolerations", "pvc_names"):
        if key in task:
            yield _set(place, key, None)
    yield _set(place, "labels", {})
    for kind, terms in (task.get("affinity") or {}).items():
        yield _set(lambda r: place(r)["affinity"], kind, None)
        required = next(iter(terms.values()))
        if isinstance(required, list) and len(required) > 1:
            yield from (_drop_term(place, kind, number) for number in range(len(required)))
    for number in range(len(task.get("tolerations") or [])):
        yield lambda r, number=number: place(r)["tolerations"].__delitem__(number)
    if "node" in task:
        yield _waits(place)
    if task["status"] not in ("Pending", "Running"):
        yield _set(place, "status", "Running" if "node" in task else "Pending")
    for key, amount in task["request"].items():
        if key != "pods":
            yield _asks(place, key, 0)
            if amount > 1:
                yield _asks(place, key, amount // 2)


def _drop_term(place, kind, number):
    def change(resolved):
        terms = place(resolved)["affinity"][kind]
        del next(iter(terms.values()))[number]
    return change


def _waits(place):
    def change(resolved):
        task = place(resolved)
        del task["node"]
        task["status"] = "Pending"
    return change


def _asks(place, key, amount):
    def change(resolved):
        task = place(resolved)
        task["request"][key] = amount
        if amount == 0:
            del task["request"][key]
        if key == "gpu":
            task["gpu_request"] = {"gpu": amount} if amount else {}
    return change
