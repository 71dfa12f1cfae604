"""Objects of small clusters."""


def node(name, gpus=8, cpu="64", labels=None):
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}},
        "status": {"allocatable": {"cpu": cpu, "memory": "256Gi", "pods": "110", "nvidia.com/gpu": str(gpus)},
                   "conditions": [{"type": "Ready", "status": "True"}]},
    }  # fmt: skip


def queue(name, quota, parent=None, priority=100):
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    spec = {"priority": priority, "resources": {"cpu": free, "memory": free, "gpu": {**free, "quota": quota}}}
    if parent:
        spec["parentQueue"] = parent
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def group(name, queue, members, **spec):
    return {
        "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name, "namespace": "team"},
        "spec": {"queue": queue, "minMember": members, **spec},
    }  # fmt: skip


def pod(name, gpus=1, group=None, scheduler="kaisched", on=None, annotations=None):
    notes = {**(annotations or {})}
    if group:
        notes["pod-group-name"] = group
    requests = {"cpu": "1"}
    if gpus:
        requests["nvidia.com/gpu"] = str(gpus)
    made = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "team", "annotations": notes},
        "spec": {"schedulerName": scheduler, "terminationGracePeriodSeconds": 0,
                 "containers": [{"name": "main", "image": "none", "resources": {"requests": requests, "limits": requests}}]},
        "status": {"phase": "Pending"},
    }  # fmt: skip
    if on:
        made["spec"]["nodeName"] = on
        made["status"]["phase"] = "Running"
    return made


def gang(name, queue, members, gpus=1, **more):
    """Group and pods."""
    return group(name, queue, members), [pod(f"{name}-{i}", gpus, group=name, **more) for i in range(members)]


def lease(holder, name="kaisched", namespace="kube-system", seconds=3):
    return {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name, "namespace": namespace},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": seconds, "leaseTransitions": 0},
    }  # fmt: skip
