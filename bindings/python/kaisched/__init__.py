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

Tables are dicts of columns: numbers are numpy arrays, texts lists of str. ``ks.schema()`` says which columns there are.
Quantities are int64 in fixed units (milli-cores, bytes, milli-GPU), times are nanoseconds on a clock of your choice.
All objects may be used from several threads; calls release the interpreter lock.
"""

from kaisched._cluster import Cluster
from kaisched._core import (
    UNLIMITED,
    UNSET,
    WHOLE_DEVICE,
    Scenario,
    ScenarioOutcome,
    Session,
    Snapshot,
    read_cluster,
    schema,
    write_cluster,
)
from kaisched._core import version as __version__
from kaisched._engine import Engine, options
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

__all__ = [
    "UNLIMITED",
    "UNSET",
    "WHOLE_DEVICE",
    "AbiError",
    "ArgumentError",
    "CancelledError",
    "Cluster",
    "ConflictError",
    "DecisionKind",
    "DuplicateError",
    "Engine",
    "Error",
    "InternalError",
    "LimitError",
    "NoMemoryError",
    "NotFoundError",
    "PluginError",
    "PodStatus",
    "Scenario",
    "ScenarioOutcome",
    "Session",
    "Snapshot",
    "StaleIdError",
    "StateError",
    "StructSizeError",
    "UnsupportedError",
    "WrongKindError",
    "__version__",
    "options",
    "read_cluster",
    "schema",
    "write_cluster",
]
