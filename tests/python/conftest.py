"""A small cluster that most tests share."""

import numpy as np
import pytest

import kaisched as ks


@pytest.fixture
def tables():
    """Two nodes of eight GPUs, one queue, a gang that fits, and one whose pods are larger than any node."""
    return {
        "nodes": {
            "name": ["n1", "n2"],
            "capacity": np.array([[64000, 2**40, 8000, 110]] * 2),
            "labels": [["zone", "a"], ["zone", "b"]],
        },
        "queues": {"name": ["team"], "quota": {"gpu": [16000]}},
        "pod_groups": {"name": ["gang", "giant"], "queue": ["team", "team"], "created": [1, 2], "min_member": [2, 1]},
        "pods": {
            "name": ["gang-0", "gang-1", "giant-0"],
            "group": ["gang", "gang", "giant"],
            "request": {"cpu": [1000] * 3, "gpu": [8000, 8000, 16000]},
        },
    }


@pytest.fixture
def cluster(tables):
    built = ks.Cluster()
    built.apply(**tables)
    return built


@pytest.fixture
def snapshot(cluster):
    return cluster.snapshot()
