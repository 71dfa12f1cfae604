"""Many plays: policies, traces, seeds and sizes of clusters, on one core, on all, or on a cluster of Dask or Ray.

A cell is one play. Cells know nothing of each other, and each of them is the same bytes wherever it is played: a sweep
has the same digest on one core and on a hundred machines, and after workers were lost.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import kaisched as ks
from kaisched._errors import ArgumentError

__all__ = ["Shard", "Submits", "Sweep", "run_shards", "simulate_shards", "split", "split_cluster", "sweep"]


class Submits(Protocol):
    """All that a sweep needs of an executor: that of ``concurrent.futures``."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]: ...


@dataclass(frozen=True)
class _Cell:
    names: Mapping[str, Any]  # trace, policy, cluster, seed
    workload: Any
    policy: Any
    told: Mapping[str, Any]  # of simulate
    key: str


@dataclass(frozen=True)
class Sweep:
    """``table`` has a row for each cell, in the order trace, cluster, seed, policy; ``played`` says how many of them
    were played now and not found in the journal."""

    table: Any
    played: int

    @property
    def digest(self) -> str:
        """SHA-256 over names and digests of all cells."""
        columns = [list(self.table[c]) for c in ("trace", "cluster", "seed", "policy", "digest")]
        lines = "".join(json.dumps([str(v) for v in row]) + "\n" for row in zip(*columns, strict=True))
        return hashlib.sha256(lines.encode()).hexdigest()

    def mean(self, metric: str) -> dict[str, float]:
        """Mean of a metric over all cells of each policy."""
        sums: dict[str, list[float]] = {}
        for policy, value in zip(self.table["policy"], self.table[metric], strict=True):
            sums.setdefault(policy, []).append(float(value))
        return {policy: sum(values) / len(values) for policy, values in sums.items()}


# ---- cells -----------------------------------------------------------------------------------------------------------


def _named(what: Any, kind: str) -> dict[str, Any]:
    """Things with names of their own: those of a mapping, texts, or numbers in order."""
    if isinstance(what, Mapping):
        return {str(name): one for name, one in what.items()}
    if isinstance(what, str) or not isinstance(what, Sequence):
        what = [what]
    made: dict[str, Any] = {}
    for i, one in enumerate(what):
        name = one if isinstance(one, str) else _name_of(one) or f"{kind}-{i + 1}"
        if name in made:
            raise ArgumentError(f"two {kind} are named {name}: give a dict with names")
        made[name] = one
    return made


def _name_of(one: Any) -> str:
    if isinstance(one, ks.Policy):
        return one.name or type(one).__name__
    return getattr(one, "__name__", "")


def _where(cluster: Any) -> dict[str, Any]:
    """A cluster as ``simulate`` is told it. What may change and cannot be sent is taken as it is now."""
    if isinstance(cluster, str):
        return {"nodes": cluster}
    return {"cluster": cluster.snapshot() if isinstance(cluster, ks.Cluster) else cluster}


def _identity(of: Any) -> str:
    """What makes a policy, cluster or value of an option another one, as text."""
    if isinstance(of, ks.Engine):
        return json.dumps(of.options, sort_keys=True, default=str)
    if isinstance(of, ks.Snapshot):
        return of.digest
    if of is None or isinstance(of, (str, int, float, bool)):
        return repr(of)
    if isinstance(of, Mapping):
        return "{" + ",".join(f"{k}:{_identity(v)}" for k, v in sorted(of.items())) + "}"
    if isinstance(of, (list, tuple)):
        return "[" + ",".join(_identity(v) for v in of) + "]"
    if getattr(type(of), "__module__", "") == "datetime":
        return repr(of)
    state = {k: v for k, v in vars(of).items() if not k.startswith("_")} if hasattr(of, "__dict__") else {}
    return f"{type(of).__module__}.{type(of).__qualname__}{_identity(state)}"


def _cells(traces: Any, policies: Any, clusters: Any, seeds: Sequence[int], told: Mapping[str, Any]) -> Iterator[_Cell]:
    named_policies = _named(policies, "policy")
    for trace_name, trace in _named(traces, "trace").items():
        workloads = {seed: trace(seed) if callable(trace) else trace for seed in seeds}
        for cluster_name, cluster in _named(clusters, "cluster").items():
            where = _where(cluster)
            for seed, workload in workloads.items():
                if not isinstance(workload, ks.Workload):
                    raise ArgumentError(f"trace {trace_name}: expected a Workload or a function of a seed")
                drawn = {} if callable(trace) else {"estimate_seed": seed}
                for policy_name, policy in named_policies.items():
                    names = {"trace": trace_name, "cluster": cluster_name, "seed": seed, "policy": policy_name}
                    words = {**told, **where, **drawn}
                    says = json.dumps(
                        [ks.__version__, list(names.values()), workload.digest, _identity(policy), _identity(words)]
                    )
                    key = hashlib.sha256(says.encode()).hexdigest()
                    yield _Cell(names, workload, policy, words, key)


@dataclass(frozen=True)
class _Options:
    """An engine that can be sent."""

    options: Mapping[str, Any]

    def engine(self) -> ks.Engine:
        return ks.Engine(**self.options)


def _sendable(policy: Any) -> Any:
    return _Options(policy.options) if isinstance(policy, ks.Engine) else policy


def _play(cell: _Cell) -> dict[str, Any]:
    """Plays a cell, anywhere: the row of the table."""
    policy = cell.policy.engine() if isinstance(cell.policy, _Options) else cell.policy
    run = ks.simulate(cell.workload, policy=policy, label=cell.names["policy"], **cell.told)
    return {**cell.names, **run.metrics, "digest": run.digest}


# ---- the journal -----------------------------------------------------------------------------------------------------


class _Journal:
    """A line for each finished cell. A line that was not written to its end is as if it were not there."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self._file = None
        if path is None:
            return
        text = Path(path).read_text(encoding="utf-8", errors="replace") if Path(path).exists() else ""
        for line in text.splitlines():
            try:
                told = json.loads(line)
                self.rows[told["cell"]] = dict(told["row"])
            except (ValueError, KeyError, TypeError):
                continue
        self._file = Path(path).open("a", encoding="utf-8")
        if text and not text.endswith("\n"):
            self._file.write("\n")

    def add(self, key: str, row: dict[str, Any]) -> None:
        self.rows[key] = row
        if self._file is None:
            return
        self._file.write(json.dumps({"cell": key, "row": row}) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> _Journal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


# ---- where cells are played ------------------------------------------------------------------------------------------


class _Here:
    """Plays at once, in this process."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(function(*arguments))
        except Exception as e:
            done.set_exception(e)
        return done


class _Ray:
    """Tasks of Ray; those of workers that die are repeated."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        future: Future[Any] = self._ray.remote(max_retries=5)(function).remote(*arguments).future()
        return future


def _opened(executor: Any, workers: int, closing: ExitStack) -> Submits:
    if executor is None:
        if workers == 1:
            return _Here()
        # Not forked: the threads of who calls would be missing in a copy.
        return closing.enter_context(ProcessPoolExecutor(workers or os.cpu_count(), mp_context=get_context("spawn")))
    if workers != 1:
        raise ArgumentError("workers are those of the executor: give one of the two")
    if executor == "ray":
        import ray

        ray.init(ignore_reinit_error=True, log_to_driver=False)
        return _Ray(ray)
    if hasattr(executor, "get_executor"):  # a client of dask.distributed
        adapted: Executor = executor.get_executor(pure=False, retries=5)
        return adapted
    if not hasattr(executor, "submit"):
        raise ArgumentError(f"executor is {executor!r}, expected something with submit, a Dask client or 'ray'")
    chosen: Submits = executor
    return chosen


def _completed(on: Submits, cells: Sequence[_Cell]) -> Iterator[tuple[_Cell, dict[str, Any]]]:
    if isinstance(on, _Here):  # one after the other, so that each is in the journal before the next begins
        for cell in cells:
            yield cell, on.submit(_play, cell).result()
        return
    futures = {on.submit(_play, replace(cell, policy=_sendable(cell.policy))): cell for cell in cells}
    try:
        for future in as_completed(futures):
            if future.exception() is not None:
                break
            yield futures.pop(future), future.result()
    finally:
        for future in futures:
            future.cancel()
    failed = [f for f in futures if f.done() and not f.cancelled() and f.exception() is not None]
    for future in [f for f in futures if f.done() and not f.cancelled() and f not in failed]:
        yield futures[future], future.result()  # what was played is kept
    for future in failed:
        future.result()


def sweep(
    traces: Any,
    policies: Any,
    clusters: Any,
    *,
    seeds: Sequence[int] = (0,),
    workers: int = 1,
    executor: Any = None,
    journal: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **told: Any,
) -> Sweep:
    """Plays every trace on every cluster with every seed under every policy.

    ``traces``: workloads, or functions of a seed that return one; ``policies``: what ``simulate`` takes; ``clusters``:
    texts such as ``"16x8"``, clusters or snapshots. Each may be one, a sequence, or a dict with names. The seed of a
    workload that is no function is that of its estimates. All other keywords are those of ``simulate``.

    ``workers=0`` uses all cores, ``workers=N`` so many processes; ``executor`` is anything with the ``submit`` of
    ``concurrent.futures``, a ``dask.distributed.Client``, or ``"ray"``. Cells that ``journal``, a file, has are not
    played again. ``progress`` shows a bar (tqdm).
    """
    cells = list(_cells(traces, policies, clusters, seeds, told))
    with ExitStack() as closing:
        book = closing.enter_context(_Journal(journal))
        left = [cell for cell in cells if cell.key not in book.rows]
        bar = None
        if progress:
            from tqdm.auto import tqdm

            bar = closing.enter_context(tqdm(total=len(cells), initial=len(cells) - len(left), unit="play"))
        if left:
            for cell, row in _completed(_opened(executor, workers, closing), left):
                book.add(cell.key, row)
                if bar is not None:
                    bar.update()
        rows = [book.rows[cell.key] for cell in cells]
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    return Sweep(_table(columns), len(left))


def _table(columns: Mapping[str, list[Any]]) -> Any:
    import numpy as np

    made = {c: v if v and isinstance(v[0], str) else np.asarray(v) for c, v in columns.items()}
    return ks.Table(made, "sweep")


# ---- shards ----------------------------------------------------------------------------------------------------------


def split(workload: Any, by: Mapping[str, str] | Callable[[str], str] | Sequence[str]) -> dict[str, Any]:
    """Parts of a workload by shard: ``by`` maps queues to shards, or is the shard of each job."""
    if isinstance(by, Mapping):
        missing = sorted(set(workload.queues) - set(by))
        if missing:
            raise ArgumentError(f"no shard is named for queue {missing[0]!r}")
        shard_of_job = [by[q] for q in workload.queues]
    elif callable(by):
        shard_of_job = [by(q) for q in workload.queues]
    else:
        shard_of_job = list(by)
    if len(shard_of_job) != len(workload):
        raise ArgumentError(f"by has {len(shard_of_job)} shards, the workload {len(workload)} jobs")
    return {
        name: workload.select([i for i, shard in enumerate(shard_of_job) if shard == name])
        for name in sorted(set(shard_of_job))
    }


def _play_shard(workload: Any, told: Mapping[str, Any]) -> Any:
    policy = told.get("policy", "kai")
    return ks.simulate(workload, **{**told, "policy": policy.engine() if isinstance(policy, _Options) else policy})


def simulate_shards(
    workload: Any, shards: Mapping[str, Any], *, by: Any, workers: int = 1, executor: Any = None, **told: Any
) -> dict[str, Any]:
    """Pools of nodes with an engine each, as KAI's shards: every pool has its own jobs and knows nothing of the others.

    ``shards`` maps names of pools to nodes (``"16x8"``), clusters, or dicts of keywords of ``simulate``; ``by`` says
    to which of them jobs belong, see ``split``. Runs by name; pools without jobs have none.
    """
    parts = split(workload, by)
    unknown = sorted(set(parts) - set(shards))
    if unknown:
        raise ArgumentError(f"there is no shard {unknown[0]!r}, there are {', '.join(sorted(shards))}")
    futures: dict[str, Future[Any]] = {}
    with ExitStack() as closing:
        on = _opened(executor, workers, closing)
        for name, part in parts.items():
            where = shards[name]
            if not isinstance(where, Mapping):
                where = _where(where)
            words = {**told, "label": name, **where}
            if "policy" in words:
                words["policy"] = _sendable(words["policy"])
            futures[name] = on.submit(_play_shard, part, words)
        return {name: future.result() for name, future in futures.items()}


@dataclass(frozen=True)
class Shard:
    """What a session over one pool of nodes decided."""

    decisions: Any
    reasons: Any
    digest: str


def split_cluster(cluster: Any, label: str = "kai.scheduler/node-pool") -> dict[str, str]:
    """Pools of nodes as clusters of their own: JSON (``kaisched-cluster/1``) by the value of a label, nodes that lack it
    under the empty name. A pod belongs to the pool of its node, else to the one that its node selector or its labels
    name. Queues and topologies are in every pool that has nodes or pods."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        ks.write_cluster(path, cluster.snapshot() if isinstance(cluster, ks.Cluster) else cluster)
        document = json.loads(path.read_text(encoding="utf-8"))
    pool_of_node: dict[str, str] = {row["name"]: row.get("labels", {}).get(label, "") for row in document.get("node", ())}
    pool_of_group: dict[str, str] = {}
    pool_of_pod: dict[str, str] = {}
    for row in document.get("pod", ()):
        told = row.get("node_selector", {}).get(label) or row.get("labels", {}).get(label) or ""
        pool = pool_of_node.get(row["node"], "") if row.get("node") else told
        pool_of_pod[row["name"]] = pool
        group = row.get("group")
        if group and pool_of_group.setdefault(group, pool) != pool:
            raise ArgumentError(
                f"pod_group {group}: its pods are in the shards {pool_of_group[group]!r} and {pool!r} (label {label})"
            )

    def pool_of(table: str, row: Mapping[str, Any]) -> str | None:
        """None: a row that every pool has."""
        if table == "node":
            return pool_of_node[row["name"]]
        if table == "pod":
            return pool_of_pod[row["name"]]
        if table == "pod_group":
            return pool_of_group.get(row["name"], "")
        if row.get("node"):
            return pool_of_node[row["node"]]
        return pool_of_group.get(row["group"], "") if row.get("group") else None

    made = {}
    for pool in sorted({*pool_of_node.values(), *pool_of_pod.values()}):
        part = {
            name: [row for row in rows if pool_of(name, row) in (None, pool)] if isinstance(rows, list) else rows
            for name, rows in document.items()
        }
        made[pool] = json.dumps(part)
    return made


def _decide_shard(text: str, options: Mapping[str, Any], now: int) -> Shard:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shard.json"
        path.write_text(text, encoding="utf-8")
        snapshot, _ = ks.read_cluster(path)
    session = ks.Engine(**options).run(snapshot, now)
    names = {"kind", "action", "commit", "pod_name", "group_name", "node_name", "devices"}
    decisions = {c: v for c, v in session.decisions.items() if c in names}
    reasons = {c: v for c, v in session.reasons.items() if c in ("group_name", "text")}
    return Shard(ks.Table(decisions, "decision"), ks.Table(reasons, "reason"), session.digest)


def run_shards(
    cluster: Any,
    label: str = "kai.scheduler/node-pool",
    *,
    now: int = 0,
    workers: int = 1,
    executor: Any = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    **common: Any,
) -> dict[str, Shard]:
    """A session for every pool of nodes, each with an engine of its own, see ``split_cluster``. ``common`` are options of
    all engines, ``options`` those of single pools."""
    parts = split_cluster(cluster, label)
    unknown = sorted(set(options or {}) - set(parts))
    if unknown:
        raise ArgumentError(f"there is no shard {unknown[0]!r}, there are {', '.join(map(repr, parts))}")
    with ExitStack() as closing:
        on = _opened(executor, workers, closing)
        told = {name: {**common, **(options or {}).get(name, {})} for name in parts}
        futures = {name: on.submit(_decide_shard, text, told[name], now) for name, text in parts.items()}
        return {name: future.result() for name, future in futures.items()}
