"""Workloads played in virtual time, and policies side by side."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, Literal

import numpy as np

from kaisched import _core, _time
from kaisched._engine import Engine, OptionValue
from kaisched._errors import ArgumentError, NotFoundError, UnsupportedError
from kaisched._policy import Policy, name_of
from kaisched._table import Table
from kaisched._time import Time
from kaisched._workload import Workload

PolicyLike = str | Engine | Policy
"""What can decide: a policy by name, an engine with options of one's own, or a policy that is written in Python."""

Series = Literal["held", "wanted", "there", "running", "waiting"]
_SERIES = {
    "held": "gpus_held",
    "wanted": "gpus_wanted",
    "there": "gpus_there",
    "running": "jobs_running",
    "waiting": "jobs_waiting",
}


_BETWEEN_LOOKS = 0.1
"""Seconds. A thread that waits for a lock hears of a signal only when it wakes up."""


def policies() -> Table:
    """The policies that have names: ``name``, ``meaning``, ``actions``, ``parts`` and ``settings`` (as options of an
    engine), ``needs_estimates``, ``one_queue``, ``replan``."""
    rows = _core.policy_list()
    return Table(
        {
            name: [row[name] for row in rows]
            if isinstance(rows[0][name], str)
            else np.array([row[name] for row in rows])
            for name in rows[0]
        },
        "policy",
    )


class Run:
    """What became of a workload. Immutable and picklable; times are seconds (NaN: it did not come to that)."""

    label: str
    """What it is called in tables and plots."""
    workload: Workload
    jobs: Table
    """A row per job, as in the workload: ``job``, ``queue``, ``gpus`` (of all its pods), ``submit``, ``run_time``,
    ``start`` (the first one), ``end``, ``wait`` (until the start), ``jct`` (until the end), ``running``, ``lost``,
    ``gpu_seconds``, ``lost_gpu_seconds``, ``starts``, ``evictions``, ``failures``, ``distance``, ``came``; of the lost
    GPU seconds those of gangs that had too few places to begin (``partial_gang_gpu_seconds``), and of gangs that had
    lost pods and could not go on (``stale_gang_gpu_seconds``)."""
    timeline: Table
    """A row per moment at which something changed, good until the next one: ``time``, ``gpus_held``, ``gpus_wanted``,
    ``gpus_there``, ``jobs_running``, ``jobs_waiting``, ``gpus_fragmented``, ``gpus_misplaced``."""
    intervals: Table
    """A row per stay of a job on a node, by ``start``: ``job`` and ``node`` (rows of ``jobs`` and ``nodes``),
    ``start``, ``end``, ``pods``, ``gpus``, ``devices`` (bits of those of the node; none if they changed, or if the
    cluster does not name them)."""
    nodes: Table
    """The nodes of the cluster: ``node``, ``gpus``, ``devices`` (that it tells apart), and for each level of the topology
    the domains of nodes, such as ``domain.rack``."""
    queues: Table
    """The queues of jobs, by name: ``queue``, ``quota`` (NaN: none)."""
    queue_timeline: Table
    """A row when something of a queue has changed, good until its next one: ``time``, ``queue`` (row of ``queues``),
    ``held``, ``wanted``, ``fair`` (its part of all that is held, by max-min fairness)."""
    quota_claims: Table
    """A row per queue that has a quota: ``queue``, ``quota``, how often jobs of it waited whose GPUs were within the
    quota (``claims``), how long the ``first`` time, the ``longest`` time and in ``total``, and whether they still wait
    when the play ends (``open``)."""
    idle_refusals: Table
    """What kept jobs waiting that fit on free GPUs, most first: ``reason``, ``plugin`` (empty: the policy names none),
    ``gpu_hours``."""
    unread: tuple[str, ...]
    """Columns that the cluster or the workload fills and the policy does not look at, as ``table.column``: what it cannot
    use."""
    session_cpu: dict[str, float]
    """CPU time of sessions in seconds, ``p99`` and ``most``. All else is the same in every run with the same
    arguments."""
    sessions: np.ndarray[Any, np.dtype[np.float64]]
    """When sessions were held."""
    metrics: dict[str, float]
    """Figures of the run, named as the columns of ``kaisched compare --csv``: ``completion_mean``,
    ``utilisation``..."""
    counts: dict[str, int]
    """``sessions``, ``decisions``, ``starts``, ``evictions`` and ``moves`` of pods, starts that were ``withdrawn`` by the
    session that had decided them, ``restless`` moments."""
    digest: str
    """SHA-256 over everything that happened, as 64 hexadecimal digits."""
    end: float
    """The last moment at which something changed, or ``until``."""
    cluster: _core.Snapshot
    """The cluster at the start."""
    parameters: dict[str, Any]
    """What ``simulate`` was told beside the workload, as texts and numbers."""

    def __init__(
        self, label: str, workload: Workload, played: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> None:
        self.label = label
        self.workload = workload
        self.jobs = Table(played["jobs"], "job")
        self.timeline = Table(played["timeline"], "moment")
        self.intervals = Table(played["intervals"], "interval")
        self.nodes = Table(played["nodes"], "node")
        self.queues = Table(played["queues"], "queue")
        self.queue_timeline = Table(played["queue_timeline"], "moment")
        self.quota_claims = Table(played["quota_claims"], "queue")
        self.idle_refusals = Table(played["idle_refusals"], "reason")
        self.unread = tuple(played["unread"])
        self.session_cpu = dict(played["session_cpu"])
        self.sessions = played["sessions"]
        self.metrics = dict(played["metrics"])
        self.counts = dict(played["counts"])
        self.digest = played["digest"]
        self.end = played["end"]
        self.cluster = played["cluster"]
        self.parameters = dict(parameters)

    def pieces(self, what: Series, count: int = 100) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Means of a figure of the timeline over equal pieces of time, float64 [count]: GPUs ``held``, ``wanted`` and
        ``there``, jobs ``running`` and ``waiting``."""
        if what not in _SERIES:
            raise ArgumentError(f"pieces of {what!r}: expected one of {', '.join(_SERIES)}")
        if count < 1:
            raise ArgumentError(f"pieces: count is {count}, expected 1 at least")
        times = self.timeline["time"]
        if len(times) == 0:
            return np.zeros(0)
        values = self.timeline[_SERIES[what]]
        ends = np.append(times, max(self.end, times[-1]))
        until = np.concatenate([[0.0], np.cumsum(values * np.diff(ends))])
        edges = np.linspace(ends[0], ends[-1], count + 1)
        if ends[-1] == ends[0]:
            return np.full(count, float(values[-1]))
        means: np.ndarray[Any, np.dtype[np.float64]] = np.diff(np.interp(edges, ends, until)) / (edges[1] - edges[0])
        return means

    def __repr__(self) -> str:
        m = self.metrics
        return (
            f"<Run {self.label}: {m['ended']} of {m['jobs']} jobs ended, mean JCT {m['completion_mean']:.0f} s, "
            f"{m['utilisation']:.1%} of the GPUs in use, digest {self.digest[:12]}>"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(words)}</th><td>{html.escape(text)}</td></tr>"
            for words, text in _words(self.metrics)
        )
        return f"<table><caption style='text-align:left'><b>{html.escape(self.label)}</b></caption>{rows}</table>"


def _span(seconds: float) -> str:
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.1f} s"


def _words(m: Mapping[str, float]) -> list[tuple[str, str]]:
    return [
        ("jobs ended", f"{m['ended']} of {m['jobs']}"),
        (
            "until the end, mean / 50 % / 99 %",
            " / ".join(_span(m[f"completion_{what}"]) for what in ("mean", "p50", "p99")),
        ),
        ("until the start, mean / 99 %", " / ".join(_span(m[f"waiting_{what}"]) for what in ("mean", "p99"))),
        ("from the first job to the last end", _span(m["makespan"])),
        ("GPUs in use, contended / whole time", f"{m['utilisation']:.1%} / {m['utilisation_of_span']:.1%}"),
        ("idle while as many are waited for", f"{m['idle_though_asked']:.1%}"),
        ("GPU hours idle while jobs fit", f"{m['idle_fitting_gpu_hours']:.1f}"),
        ("lost GPU hours", f"{m['lost_gpu_hours']:.1f} of {m['gpu_hours']:.1f}"),
        ("of these held by gangs that could not go on", f"{m['stale_gang_gpu_hours'] + m['partial_gang_gpu_hours']:.1f}"),
        ("jobs stopped by decisions / restarts", f"{m['evictions']} / {m['restarts']}"),
        ("pods moved / starts withdrawn", f"{m['moves']} / {m['withdrawn_starts']}"),
        ("longest wait of a queue within its quota", _span(m["longest_quota_claim"])),
        ("slowest for its part", f"{m['worst_fairness']:.2f}"),
        ("Jain's index of slowdowns", f"{m['jain']:.3f}"),
    ]


# ---- what simulate is told -------------------------------------------------------------------------------------------


def engine_of(policy: PolicyLike, options: Mapping[str, OptionValue]) -> tuple[Engine, str, dict[str, Any]]:
    """The engine, its label, and what the policy wants of the play."""
    if isinstance(policy, Engine):
        if options:
            raise ArgumentError("options are told beside an Engine, which has its own")
        return policy, str(policy.get("preset")), {}
    if isinstance(policy, str):
        name, own = policy, None
    elif isinstance(policy, Policy):
        name, own = policy.base, policy
    else:
        raise ArgumentError(f"policy: expected a name, an Engine or a Policy, got {policy!r}")
    engine = Engine()
    wishes = _core.apply_policy(engine, name)
    for option, value in options.items():
        engine.set(option, value)
    if own is not None:
        engine.add(own)
    return engine, name if own is None else name_of(own), wishes


def _checkpoints(told: Time | Literal["always", "never"]) -> dict[str, Any]:
    if isinstance(told, str) and told in ("always", "never"):
        return {"keeps_work": told == "always"}
    return {"checkpoint_interval": _time.nanoseconds(told, "checkpoints")}


def _estimates(told: str | float) -> dict[str, Any]:
    if isinstance(told, str):
        if told not in ("none", "given", "exact"):
            raise ArgumentError(f"estimates: expected 'none', 'given', 'exact' or the largest factor, got {told!r}")
        return {"estimates": told}
    if not 1 <= told < np.inf:
        raise ArgumentError(f"estimates: the largest factor is {told}, expected 1 at least")
    return {"estimates": "drawn", "estimate_factor": float(told)}


def _checked(kind: str, told: Iterable[Mapping[str, Any]], keys: set[str], needed: str) -> list[Mapping[str, Any]]:
    rows = list(told)
    for i, row in enumerate(rows):
        for key in row:
            if key not in keys:
                raise UnsupportedError(f"{kind} {i} has no {key}; there are {', '.join(sorted(keys))}")
        if needed and needed not in row:
            raise ArgumentError(f"{kind} {i} says no {needed}")
    return rows


def _outages(told: Iterable[Mapping[str, Any]]) -> list[Any]:
    keys = {"node", "from", "to", "notice", "saves_work", "devices"}
    return [
        (
            o["node"],
            _time.nanoseconds(o.get("from", 0), f"outage of {o['node']}, from"),
            _time.nanoseconds(o["to"], f"outage of {o['node']}, to") if o.get("to") is not None else -1,
            _time.nanoseconds(o.get("notice", 0), f"outage of {o['node']}, notice"),
            bool(o.get("saves_work", False)),
            [int(d) for d in o.get("devices", ())],
        )
        for o in _checked("outage", told, keys, "node")
    ]


def _pools(told: Iterable[Mapping[str, Any]]) -> list[Any]:
    keys = {"nodes", "least", "start_time", "idle_time"}
    return [
        (
            list(p["nodes"]),
            int(p.get("least", 0)),
            _time.nanoseconds(p.get("start_time", 0), "pool, start_time"),
            _time.nanoseconds(p.get("idle_time", 0), "pool, idle_time"),
        )
        for p in _checked("pool", told, keys, "nodes")
    ]


def _profiles(told: Iterable[Mapping[str, Any]]) -> list[Any]:
    keys = {"model", "speeds", "start_overhead", "checkpoint_interval", "gpu_speeds", "traffic"}

    def time(row: Mapping[str, Any], key: str) -> int:
        return _time.nanoseconds(row[key], f"profile, {key}") if row.get(key) is not None else -1

    return [
        (
            p.get("model", ""),
            sorted((int(n), round(float(s) * 1e6)) for n, s in dict(p.get("speeds", {})).items()),
            time(p, "start_overhead"),
            time(p, "checkpoint_interval"),
            [(str(m), round(float(s) * 1e6)) for m, s in dict(p.get("gpu_speeds", {})).items()],
            int(p.get("traffic", 0)),
        )
        for p in _checked("profile", told, keys, "")
    ]


def simulate(
    workload: Workload,
    *,
    nodes: str | None = None,
    cluster: _core.Snapshot | _core.Cluster | None = None,
    policy: PolicyLike = "kai",
    options: Mapping[str, OptionValue] | None = None,
    nodes_per_rack: int = 0,
    equal_quotas: bool = False,
    queue: str = "default",
    period: Time = 0,
    wake: Time = 0,
    grace: Time = 0,
    start_overhead: Time = 0,
    checkpoints: Time | Literal["always", "never"] = "always",
    estimates: Literal["none", "given", "exact"] | float = "given",
    estimate_seed: int = 0,
    until: Time | None = None,
    replan: bool | None = None,
    repeat: bool | None = None,
    one_queue: bool | None = None,
    near: bool | None = None,
    preferred_level: str = "",
    usage_half_life: Time | None = None,
    outages: Iterable[Mapping[str, Any]] = (),
    pools: Iterable[Mapping[str, Any]] = (),
    profiles: Iterable[Mapping[str, Any]] = (),
    label: str | None = None,
    _stop: _core.Stop | None = None,
) -> Run:
    """Plays a workload in virtual time, as ``kaisched simulate`` does (docs/simulation.md). The same arguments give the
    same run, to the byte. Ctrl-C ends it.

    >>> import kaisched as ks
    >>> w = ks.Workload({"submit": [0, 0, 60], "run_time": [600, 60, 60], "gpus_total": [6, 4, 2]})
    >>> run = ks.simulate(w, nodes="1x8", policy="fifo")
    >>> run.jobs["start"].tolist()
    [0.0, 600.0, 600.0]

    Where: ``nodes`` are equal ones (``"16x8"``, ``"8x8:V100,4x4:T4"``), in racks of ``nodes_per_rack``, with a queue
    for each that jobs name and with ``equal_quotas`` an equal part of the GPUs for each; or ``cluster``, whose groups
    and pods are left out. ``queue``: of jobs that name none.

    How: ``policy`` is one of ``policies()``, a preset, an ``Engine``, or an object of a class derived from ``Policy``;
    ``options`` are set on top. ``replan``, ``repeat``, ``one_queue``, ``near`` and ``usage_half_life`` are as the
    policy says unless they are told. ``estimates``: what sessions are told of run times; a number F draws factors from
    1 to F by ``estimate_seed``.

    Times (seconds, texts such as ``"1h30m"``, time deltas): a session every ``period`` (0: at every change) and at
    least every ``wake`` while jobs wait; a place is free ``grace`` after an eviction; a start makes no progress for
    ``start_overhead``; ``checkpoints`` are kept ``"always"``, ``"never"`` or so often; nothing is played from
    ``until``.

    ``outages``, ``pools`` and ``profiles`` are dicts with the keys of a play file.
    """
    if not isinstance(workload, Workload):
        workload = Workload(workload)
    if (nodes is None) == (cluster is None):
        raise ArgumentError("name a cluster: nodes, such as '16x8', or cluster")
    engine, name, settings = engine_of(policy, options or {})
    for key, told in {"replan": replan, "repeat": repeat, "one_queue": one_queue, "near": near}.items():
        if told is not None:
            settings[key] = bool(told)
    for key, time in {"period": period, "wake": wake, "grace": grace, "start_overhead": start_overhead}.items():
        settings[key] = _time.nanoseconds(time, key)
    if usage_half_life is not None:
        settings["usage_half_life"] = _time.nanoseconds(usage_half_life, "usage_half_life")
    if until is not None:
        settings["horizon"] = _time.nanoseconds(until, "until")
    settings |= _checkpoints(checkpoints) | _estimates(estimates)
    settings |= {
        "estimate_seed": estimate_seed,
        "preferred_level": preferred_level,
        "queue": queue,
        "nodes_per_rack": nodes_per_rack,
        "equal_quotas": equal_quotas,
    }
    over = cluster.snapshot() if isinstance(cluster, _core.Cluster) else cluster
    played = _core.simulate(
        workload._body,
        engine,
        nodes or "",
        over,
        settings,
        _outages(outages),
        _pools(pools),
        _profiles(profiles),
        _stop or _core.Stop(),
    )
    parameters = {
        "nodes": nodes,
        "policy": name,
        "options": {o: engine.get(o) for o in sorted(options or {})},
    } | settings
    return Run(name if label is None else label, workload, played, parameters)


class Comparison:
    """One workload under several policies."""

    runs: dict[str, Run]
    """By label, in the order in which they were told."""

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self.runs = dict(runs)

    @property
    def table(self) -> Table:
        """A row per policy: ``policy``, and every figure of ``Run.metrics``."""
        runs = list(self.runs.values())
        columns: dict[str, Any] = {"policy": [run.label for run in runs]}
        for name in runs[0].metrics if runs else ():
            columns[name] = np.array([run.metrics[name] for run in runs])
        return Table(columns, "policy")

    def difference(self, first: str, second: str) -> Table:
        """Jobs that ended in both plays: ``job`` (row), ``end`` and ``start``, the seconds by which they are later in
        the second one; largest gain first, largest loss last."""
        a, b = self[first].jobs, self[second].jobs
        end = b["end"] - a["end"]
        rows = np.flatnonzero(~np.isnan(end))
        rows = rows[np.argsort(end[rows], kind="stable")]
        return Table({"job": rows, "end": end[rows], "start": (b["start"] - a["start"])[rows]}, "difference")

    def __getitem__(self, label: str) -> Run:
        if label not in self.runs:
            raise NotFoundError(f"there is no run '{label}'; there are {', '.join(self.runs)}")
        return self.runs[label]

    def __iter__(self) -> Any:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        words = [_words(run.metrics) for run in self.runs.values()]
        names = ["policy", *(name for name, _ in words[0])] if words else ["policy"]
        return names, [[label, *(text for _, text in w)] for label, w in zip(self.runs, words, strict=True)]

    def __repr__(self) -> str:
        names, rows = self._rows()
        columns = list(zip(*rows, strict=True)) or [()]
        first = max((len(name) for name in names), default=0)
        lines = []
        for name, cells in zip(names, columns, strict=True):
            lines.append(f"{name:<{first}}  " + "  ".join(f"{cell:>24}" for cell in cells))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names, rows = self._rows()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<div style='overflow-x:auto'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def compare(
    workload: Workload,
    policies: Sequence[PolicyLike] | Mapping[str, PolicyLike] = ("fifo", "easy", "sjf", "srtf", "las", "kai"),
    *,
    threads: int | None = None,
    **told: Any,
) -> Comparison:
    """Plays one workload under several policies, ``threads`` at a time (None: one per core).

    ``policies``: names, engines and policies in Python, or a dict of them by label. Everything else is told to
    ``simulate``.
    """
    if not isinstance(workload, Workload):
        workload = Workload(workload)
    if isinstance(policies, str):
        policies = [policies]
    if isinstance(policies, Mapping):
        named = dict(policies)
    else:
        named = {}
        for policy in policies:
            label = policy if isinstance(policy, str) else name_of(policy) if isinstance(policy, Policy) else "engine"
            if label in named:
                raise ArgumentError(f"policies: '{label}' is told twice; a dict gives each a label of its own")
            named[label] = policy
    for key in ("policy", "label"):
        if key in told:
            raise ArgumentError(f"{key} is told to simulate; compare has policies")
    stop = _core.Stop()
    with ThreadPoolExecutor(max_workers=threads or os.cpu_count() or 1) as pool:
        try:
            pending = {
                label: pool.submit(simulate, workload, policy=policy, label=label, _stop=stop, **told)
                for label, policy in named.items()
            }
            while wait(pending.values(), timeout=_BETWEEN_LOOKS, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in pending.values()):
                    break
            return Comparison({label: future.result() for label, future in pending.items()})
        except BaseException:  # Ctrl-C as well: the others end before it goes on
            stop.ask()
            pool.shutdown(cancel_futures=True)
            raise
