"""kaisched: a deterministic scheduling engine for clusters of GPUs.

>>> import kaisched as ks
>>> cluster = ks.Cluster()
>>> cluster.apply(
...     nodes={"name": ["n1"], "capacity": {"cpu": [64000], "memory": [2**39], "gpu": [8000], "pods": [110]}},
...     queues={"name": ["team"]},
...     pod_groups={"name": ["train"], "queue": ["team"]},
...     pods={"name": ["train-0"], "group": ["train"], "request": {"cpu": [8000], "gpu": [2000]}},
... )
>>> session = ks.Engine(preset="kai").run(cluster.snapshot())
>>> session.decisions["pod_name"], session.decisions["node_name"]
(['train-0'], ['n1'])

Tables are dicts of columns: numbers are numpy arrays, texts lists of str; Arrow, pandas and Polars take and give them
as they are. ``ks.schema()`` says which columns there are. Quantities are int64 in fixed units (milli-cores, bytes,
milli-GPU), times are nanoseconds on a clock of your choice.

Workloads are played in virtual time, in seconds and GPUs:

>>> w = ks.Workload.generate(200, seed=7)
>>> fifo, easy = (ks.simulate(w, nodes="4x8", policy=p, estimates="exact") for p in ("fifo", "easy"))
>>> easy.metrics["waiting_mean"] < fifo.metrics["waiting_mean"]
True

All objects may be used from several threads; calls release the interpreter lock, and Ctrl-C ends them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kaisched._cluster import Cluster
from kaisched._core import (
    UNLIMITED,
    UNSET,
    WHOLE_DEVICE,
    Scenario,
    ScenarioOutcome,
    Session,
    SessionView,
    Snapshot,
    read_cluster,
    schema,
    write_cluster,
)
from kaisched._core import version as __version__
from kaisched._engine import Engine, options, run
from kaisched._enums import DecisionKind, PodStatus
from kaisched._errors import (
    AbiError,
    ArgumentError,
    CancelledError,
    ConflictError,
    DuplicateError,
    Error,
    InternalError,
    LimitError,
    NoMemoryError,
    NotFoundError,
    PluginError,
    StaleIdError,
    StateError,
    StructSizeError,
    UnsupportedError,
    WrongKindError,
)
from kaisched._explain import Explanation
from kaisched._federation import Federation, FederationReport
from kaisched._importers import ImportedConfig, import_config
from kaisched._policy import Policy
from kaisched._scaling import Scaling, scale
from kaisched._simulation import Comparison, Run, compare, policies, simulate
from kaisched._table import Table
from kaisched._workload import Workload, trace_forms, workload_models

if TYPE_CHECKING:
    from kaisched import forecast as forecast
    from kaisched import gym as gym
    from kaisched import plots as plots
    from kaisched import report as report
    from kaisched.sweeps import run_shards, simulate_shards, sweep

__all__ = [
    "UNLIMITED",
    "UNSET",
    "WHOLE_DEVICE",
    "AbiError",
    "ArgumentError",
    "CancelledError",
    "Cluster",
    "Comparison",
    "ConflictError",
    "DecisionKind",
    "DuplicateError",
    "Engine",
    "Error",
    "Explanation",
    "Federation",
    "FederationReport",
    "ImportedConfig",
    "InternalError",
    "LimitError",
    "NoMemoryError",
    "NotFoundError",
    "PluginError",
    "PodStatus",
    "Policy",
    "Run",
    "Scaling",
    "Scenario",
    "ScenarioOutcome",
    "Session",
    "SessionView",
    "Snapshot",
    "StaleIdError",
    "StateError",
    "StructSizeError",
    "Table",
    "UnsupportedError",
    "Workload",
    "WrongKindError",
    "__version__",
    "compare",
    "import_config",
    "options",
    "policies",
    "read_cluster",
    "run",
    "run_shards",
    "scale",
    "schema",
    "simulate",
    "simulate_shards",
    "sweep",
    "trace_forms",
    "workload_models",
    "write_cluster",
]

# Imported when they are asked for: most of them need packages that not everybody installs.
_LATER = dict.fromkeys(("forecast", "gym", "plots", "report"), "")
_LATER |= dict.fromkeys(("run_shards", "simulate_shards", "sweep"), "sweeps")


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'kaisched' has no attribute {name!r}")
    if not _LATER[name]:
        return importlib.import_module(f"kaisched.{name}")
    return getattr(importlib.import_module(f"kaisched.{_LATER[name]}"), name)
