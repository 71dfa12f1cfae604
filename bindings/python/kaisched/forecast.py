"""When will my job start, and how sure is that? Intervals, because nobody knows how long jobs run.

>>> import kaisched as ks
>>> from kaisched import forecast
>>> cluster = ks.Cluster()
>>> cluster.apply(
...     nodes={"name": ["n1"], "capacity": {"cpu": [64000], "memory": [2**39], "gpu": [8000], "pods": [110]}},
...     queues={"name": ["team"]},
...     pod_groups={"name": ["train", "next"], "queue": ["team"] * 2, "created": [0, 1],
...                 "last_start": [0, ks.UNSET], "runtime_estimate": [7200 * 10**9] * 2},
...     pods={"name": ["train-0", "next-0"], "group": ["train", "next"], "request": {"gpu": [8000] * 2},
...           "status": [ks.PodStatus.RUNNING, ks.PodStatus.PENDING], "node": ["n1", ""]},
... )
>>> before = forecast.RunTimes({"run_time": [900, 1800, 3600, 5400, 9000], "estimate": [7200] * 5})
>>> told = forecast.starts(cluster, ["next"], before, now=3000 * 10**9, scenarios=200, seed=1)
>>> told.point.tolist(), told.waits.tolist()
([7200000000000], [[600.0, 2400.0, 6000.0]])

What-if of a session takes the estimates of groups as if they were true. Here the ratio of run time to estimate is
drawn from jobs that have ended, once for every group in each of many scenarios, and what-if is asked in each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kaisched import _core
from kaisched._errors import ArgumentError, NotFoundError
from kaisched._simulation import PolicyLike, Run, engine_of
from kaisched._table import Table, columns_of

__all__ = ["RunTimes", "Starts", "margin", "starts", "widen"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

_LONGEST = 73 * 366 * 86400 * 10**9  # as the longest time that a workload may say
_SECOND = 10**9


# ---- what is known of run times --------------------------------------------------------------------------------------


class RunTimes:
    """How long jobs have run, and how that compares with what was expected of them. Immutable.

    ``seen``: columns of jobs, one entry per job (a dict, or a data frame as for ``Workload``). ``run_time``: seconds,
    from 0 on. ``ended``: False: it still runs, and has run so long; no such column: all have ended. Without those that
    run the long jobs would be missing. ``estimate``: seconds, above 0; NaN, or no such column: it had none.

    ``by``: the name of one more column, ``"queue"`` or ``"user"``: jobs are drawn from those of the same queue or user
    where there are ``least`` of them, else from all. ``near``: of these, from so many whose estimates are nearest, as a
    ratio, and all that are as near as the last of them; 0: from all. Who asks for ten days is more often done long
    before than who asks for an hour.

    A group that has an estimate gets it times the ratio ``run_time / estimate`` of a job that was drawn; a group
    without one gets the run time of a job that was drawn. If it has run for a time t already, only jobs that ran
    longer, by the same measure, are drawn from: those named above, or if none of them did, all. Jobs that still run
    count by the product-limit estimate (Kaplan, Meier, J. Am. Stat. Assoc. 53, 1958). Beyond the longest of what
    has been seen, t or a job that still runs, nothing is known but that time s: a run time exceeds x with probability
    s / x then (Gott, Nature 363, 1993), so that in half of the cases it is 2 s at most.
    """

    def __init__(self, seen: Any, *, by: str = "", least: int = 20, near: int = 100) -> None:
        columns = columns_of(seen, "jobs seen")
        if by not in ("", "queue", "user"):
            raise ArgumentError(f"by: expected 'queue', 'user' or '', got {by!r}")
        _check_number("least", least, 1)
        _check_number("near", near, 0)
        for name in ("run_time", by):
            if name and name not in columns:
                raise ArgumentError(f"jobs seen: there is no column {name}")
        run_time = _seconds(columns["run_time"], "run_time", 0.0)
        estimate = np.full(len(run_time), np.nan)
        if "estimate" in columns:
            estimate = _seconds(columns["estimate"], "estimate", np.nextafter(0.0, 1.0), missing=True)
        ended = np.asarray(columns["ended"] if "ended" in columns else np.ones(len(run_time), bool))
        if ended.dtype != bool or ended.ndim != 1:
            raise ArgumentError("jobs seen, column ended: expected True or False per row")
        keys = [str(key) for key in columns[by]] if by else [""] * len(run_time)
        for name, count in (("estimate", len(estimate)), ("ended", len(ended)), (by, len(keys))):
            if count != len(run_time):
                raise ArgumentError(f"jobs seen, column {name}: {count} rows, the column run_time has {len(run_time)}")
        self.by = by
        """What jobs are told apart by: ``"queue"``, ``"user"`` or ``""``."""
        self._near = int(near)
        with np.errstate(over="ignore"):  # a run time by a tiny estimate
            ratio = np.minimum(run_time / estimate, float(_LONGEST))
        self._ratios = _samples(ratio, ended, estimate, keys, int(least))
        self._run_times = _samples(run_time, ended, np.ones(len(run_time)), keys, int(least))

    @classmethod
    def of_run(cls, run: Run, until: float = np.inf, *, by: str = "", least: int = 20, near: int = 100) -> RunTimes:
        """The jobs of a play that had ended at a time in seconds or were running then, with the estimates that the
        workload gives them. Of those that had been stopped before, only those that had ended. ``by``, ``least`` and
        ``near``: as above."""
        told, jobs = run.workload.jobs, run.jobs
        ended = jobs["end"] <= until
        runs = ~ended & (jobs["start"] <= until) & (jobs["starts"] == 1) & np.isfinite(until)
        which = np.flatnonzero(ended | runs)
        columns: dict[str, Any] = {
            "run_time": np.where(ended, told["run_time"], until - jobs["start"])[which],
            "ended": ended[which],
        }
        if "estimate" in told:
            columns["estimate"] = np.asarray(told["estimate"])[which]
        if by in ("queue", "user"):
            of = told.get(by, [""] * len(ended))
            columns[by] = [of[row] or (str(run.parameters["queue"]) if by == "queue" else "") for row in which.tolist()]
        return cls(columns, by=by, least=least, near=near)

    @property
    def jobs(self) -> int:
        """How many jobs there are to draw from, those that still run included."""
        return len(self._run_times[""].values)

    @property
    def ratios(self) -> Floats:
        """Run time by estimate of the jobs that have ended and had an estimate, float64, in ascending order."""
        having = self._ratios[""]
        return np.asarray(having.values[having.ended], np.float64)

    def draw(self, at: Floats, estimate: int, elapsed: int = 0, key: str = "") -> Integers:
        """Run times of a group, int64 nanoseconds from its start on, in the shape of ``at``: float64 from 0 up to, but
        not, 1, the probability that it is shorter. -1: nothing is known.

        ``estimate``: nanoseconds, or ``UNSET``. ``elapsed``: nanoseconds that it has run for. ``key``: its queue or
        user, whichever ``by`` says.
        """
        samples, unit = (self._run_times, _SECOND) if estimate < 0 else (self._ratios, estimate)
        everybody = samples[""]
        if not everybody.ended.any():
            return np.full(at.shape, -1, np.int64)
        left = samples.get(key, everybody)
        if estimate > 0:
            left = left.near(estimate / _SECOND, self._near)
        if elapsed > 0:
            least = elapsed / unit if unit > 0 else np.inf
            left = left.beyond(least) or everybody.beyond(least)
        total = left.draw(at) * float(unit) if left else float(elapsed) / (1.0 - at)
        whole: Integers = np.rint(np.minimum(total, float(_LONGEST))).astype(np.int64)
        whole[whole <= elapsed] = elapsed + 1 if elapsed > 0 else 0
        return whole


@dataclass(frozen=True, eq=False)
class _Sample:
    """Jobs by value, and of one value those that have ended first."""

    values: Floats
    ended: np.ndarray[Any, np.dtype[np.bool_]]
    estimates: Floats

    def __bool__(self) -> bool:
        return len(self.values) > 0

    def _part(self, which: Any) -> _Sample:
        return _Sample(self.values[which], self.ended[which], self.estimates[which])

    def near(self, estimate: float, count: int) -> _Sample:
        """The jobs whose estimates are nearest. Quotients and not logarithms: these are the same on every machine."""
        if not 0 < count < len(self.values):
            return self
        far = np.maximum(self.estimates / estimate, estimate / self.estimates)
        return self._part(far <= np.partition(far, count - 1)[count - 1])

    def beyond(self, value: float) -> _Sample:
        """The jobs that are known to have more."""
        return self._part(self.values > value)

    def draw(self, at: Floats) -> Floats:
        """Values by the product-limit estimate; beyond the largest one by the law that has no scale."""
        at_risk = np.arange(len(self.values), 0, -1)
        below = 1.0 - np.cumprod(1.0 - self.ended / at_risk)
        row = np.searchsorted(below, at, side="right")
        inside = row < len(self.values)
        rest = 1.0 - below[-1]
        beyond = (at - below[-1]) / rest if rest > 0 else np.zeros(at.shape)
        largest = float(self.values[-1])
        drawn = np.where(inside, self.values[np.minimum(row, len(self.values) - 1)], 0.0)
        return np.asarray(np.where(inside, drawn, largest / (1.0 - np.where(inside, 0.0, beyond))), np.float64)


def _check_number(name: str, told: Any, least: int) -> None:
    if isinstance(told, bool) or not isinstance(told, (int, np.integer)) or told < least:
        raise ArgumentError(f"{name}: expected an integer from {least} on, got {told!r}")


def _seconds(values: Any, name: str, least: float, missing: bool = False) -> Floats:
    where = f"jobs seen, column {name}"
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{where}: expected seconds as numbers") from None
    if array.ndim != 1:
        raise ArgumentError(f"{where}: expected one value per row, got an array of shape {array.shape}")
    bad = ~(np.isfinite(array) & (array >= least))
    if missing:
        bad &= ~np.isnan(array)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ArgumentError(
            f"{where}: row {row} is {array[row]}, expected seconds {'above 0' if least > 0 else 'from 0 on'}"
        )
    return array


def _samples(
    values: Floats, ended: np.ndarray[Any, Any], estimates: Floats, keys: Sequence[str], least: int
) -> dict[str, _Sample]:
    """Under the key "" the jobs that have a value, under other keys theirs, where they are enough."""
    rows = np.flatnonzero(~np.isnan(values))
    rows = rows[np.lexsort((estimates[rows], ~ended[rows], values[rows]))]
    by_key: dict[str, list[int]] = {}
    for row in rows.tolist():
        by_key.setdefault(keys[row], []).append(row)
    chosen = {key: np.array(some) for key, some in by_key.items() if key and len(some) >= least} | {"": rows}
    return {key: _Sample(values[some], ended[some], estimates[some]) for key, some in chosen.items()}


# ---- starts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Starts:
    """When groups start in each of many scenarios. Immutable; times are int64 nanoseconds on the clock of ``now``,
    -1: it does not start, as far as the scenario tells."""

    groups: list[str]
    """The groups that were asked about, in the order in which they were named."""
    now: int
    """When it was asked."""
    quantiles: tuple[float, ...]
    """The parts of the scenarios that ``at`` and ``waits`` are told for."""
    starts: Integers
    """When each group starts in each scenario, [groups, scenarios]."""
    knowledge: list[list[str]]
    """What is known about the start, [groups][scenarios]: ``known``, ``no_estimate``, ``never`` or ``horizon``, as
    what-if says (docs/explanations.md)."""
    point: Integers
    """When each group starts by the estimates as they are, [groups]: what what-if says."""
    earliest: Integers
    """When each group would have a place in each scenario if nobody else were served before it, [groups, scenarios]."""

    @property
    def at(self) -> Integers:
        """The earliest time by which a group has started in a part of the scenarios, [groups, quantiles]; -1: in so
        many scenarios it does not start."""
        return self._quantiles(self.starts)

    @property
    def waits(self) -> Floats:
        """``at`` as seconds from ``now`` on, float64 [groups, quantiles]; inf: it does not start."""
        return self._seconds(self.at)

    @property
    def bounds(self) -> Floats:
        """Seconds from ``now`` on, float64 [groups, 2]: the first quantile of ``earliest`` and the last one of
        ``starts``. For policies that backfill, which what-if leaves out: a group that is let past others starts between
        the two."""
        first = self._seconds(self._quantiles(self.earliest))[:, 0]
        return np.stack([np.minimum(first, self.waits[:, 0]), self.waits[:, -1]], axis=1)

    def _quantiles(self, times: Integers) -> Integers:
        ordered = np.sort(np.where(times < 0, np.iinfo(np.int64).max, times), axis=1)
        ranks = [max(int(-(-Fraction(repr(q)) * self.scenarios // 1)), 1) - 1 for q in self.quantiles]
        found = ordered[:, ranks]
        return np.where(found == np.iinfo(np.int64).max, -1, found)

    def _seconds(self, times: Integers) -> Floats:
        return np.where(times < 0, np.inf, (times - self.now) / _SECOND)

    @property
    def without(self) -> Floats:
        """Part of the scenarios in which a group does not start, float64 [groups]."""
        return np.asarray((self.starts < 0).mean(axis=1))

    @property
    def scenarios(self) -> int:
        """How many scenarios there are."""
        return int(self.starts.shape[1])

    @property
    def table(self) -> Table:
        """A row per group: ``group``, ``point``, a column for each quantile (``q5``, ``q50``, ``q95``), all in seconds
        from ``now`` on (inf: it does not start), and ``without``."""
        waits = self.waits
        named = {f"q{100 * q:.12g}": waits[:, i] for i, q in enumerate(self.quantiles)}
        columns = {"group": list(self.groups), "point": self._seconds(self.point), **named, "without": self.without}
        return Table(columns, "start")

    def __repr__(self) -> str:
        return f"<Starts: {len(self.groups)} groups in {self.scenarios} scenarios>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def starts(
    cluster: _core.Snapshot | _core.Cluster,
    groups: Iterable[str] | None,
    run_times: RunTimes,
    *,
    now: int,
    engine: PolicyLike = "kai",
    scenarios: int = 200,
    seed: int = 0,
    quantiles: Iterable[float] = (0.05, 0.5, 0.95),
    ends: int = 256,
    policy_actions: bool = False,
) -> Starts:
    """When groups that wait will start, as often as scenarios are drawn. The same arguments give the same bytes.

    One session decides over ``cluster`` at ``now`` (nanoseconds, as ``Engine.run``); ``engine``: an ``Engine``, a
    policy by name, or a ``Policy``. In each scenario every group that runs or waits gets a run time of ``run_times``,
    and what-if of that session is asked for the groups: they start in the order of the queues as others end, nobody new
    comes, nobody is displaced. Nothing changes. ``groups``: names of groups that wait; None: all of them. A job that
    does not exist yet is asked about as a group of a cluster that has it.

    What is drawn for a group depends on ``seed`` and its name alone, not on the other groups. ``quantiles``: from 0 to
    1, ascending; the q-quantile is the smallest start that at least a part q of the scenarios does not exceed.
    ``ends``: points in time at which groups end, looked at in each scenario. ``policy_actions``: at these points the
    policy's own ``allocate`` and ``backfill`` decide, not ``allocate`` alone: for policies that backfill.

    A group to which the session gives places starts at ``now``, also if others have to leave first. A group that waits
    and has run before is drawn like a new one. Raises ``NotFoundError`` for a group that is not
    there, and ``ArgumentError`` for one that does not wait.

    Method: Monte Carlo over run times; what is learnt of jobs that have ended instead of what users say: Tsafrir,
    Etsion, Feitelson, "Backfilling using system-generated predictions rather than user runtime estimates", IEEE TPDS
    18(6), 2007. docs/forecasts.md says how often the intervals were right.
    """
    for name, number, least in (("scenarios", scenarios, 1), ("seed", seed, 0), ("now", now, 0), ("ends", ends, 1)):
        _check_number(name, number, least)
    if not isinstance(run_times, RunTimes):
        raise ArgumentError(f"run_times: expected RunTimes, got {run_times!r}")
    parts = _checked_quantiles(quantiles)
    base = cluster.snapshot() if isinstance(cluster, _core.Cluster) else cluster
    session = engine_of(engine, {})[0].run(base, int(now))
    begun = _started(session)
    there = _Groups(base, int(now), begun)
    asked = there.waiting() if groups is None else _checked_groups(groups, there)

    open_ones = [name for name in asked if name not in begun]  # for the others the session has just decided
    change = {name: there.draws(name, run_times, int(scenarios), int(seed)) for name in there.live}
    told = [name for name, drawn in change.items() if drawn[0] >= 0]
    columns = np.array([change[name] for name in told], np.int64).reshape(len(told), int(scenarios))
    when = np.full((len(asked), int(scenarios)), int(now), np.int64)
    earliest = when.copy()
    knowledge = [["known"] * int(scenarios) for _ in asked]
    point = np.full(len(asked), int(now), np.int64)
    rows = [i for i, name in enumerate(asked) if name not in begun]

    def ask(estimates: Integers | None) -> Table:
        if estimates is None or not told:
            return session.what_if(open_ones, displace=False, ends=int(ends), policy_actions=policy_actions)
        groups_changed = {"name": told, "runtime_estimate": estimates}
        return session.what_if(
            open_ones, op="change", displace=False, ends=int(ends), policy_actions=policy_actions, pod_groups=groups_changed
        )

    if open_ones:
        point[rows] = ask(None)["expected"]
    for scenario in range(int(scenarios)):
        if open_ones:
            answer = ask(columns[:, scenario])
            when[rows, scenario], earliest[rows, scenario] = answer["expected"], answer["earliest"]
            for row, known in zip(rows, answer["knowledge"], strict=True):
                knowledge[row][scenario] = known
    return Starts(asked, int(now), parts, when, knowledge, point, earliest)


def _checked_quantiles(told: Iterable[float]) -> tuple[float, ...]:
    try:
        parts = tuple(float(q) for q in told)
    except (TypeError, ValueError):
        raise ArgumentError(f"quantiles: expected numbers from 0 to 1, got {told!r}") from None
    if not parts or not all(0 <= q <= 1 for q in parts) or list(parts) != sorted(set(parts)):
        raise ArgumentError(f"quantiles: expected numbers from 0 to 1, ascending, got {parts}")
    return parts


def _checked_groups(told: Iterable[str], there: _Groups) -> list[str]:
    if isinstance(told, str):
        raise ArgumentError(f"groups: expected names of groups, got a single text, {told!r}")
    asked = list(told)
    for i, name in enumerate(asked):
        if name not in there.live:
            raise NotFoundError(f"groups, entry {i}: there is no pod group {name!r}")
        if not there.waits[name]:
            raise ArgumentError(f"groups, entry {i}: pod group {name!r} does not wait, none of its pods is pending")
        if name in asked[:i]:
            raise ArgumentError(f"groups, entry {i}: pod group {name!r} is named twice")
    return asked


def _started(session: _core.Session) -> set[str]:
    """Groups to which the session gives places, now or as soon as others have left."""
    made = session.decisions
    places = ("bind", "pipeline")
    kinds = [_core.decision_kind_name(int(kind)) for kind in made["kind"]]
    return {group for kind, group in zip(kinds, made["group_name"], strict=True) if kind in places}


class _Groups:
    """What a cluster says of its groups."""

    def __init__(self, of: _core.Snapshot, now: int, begun: set[str]) -> None:
        table, pods = of.table("pod_group"), of.table("pod")
        self.live = {name: row for row, name in enumerate(table["name"])}
        self.waits = dict.fromkeys(self.live, False)
        self._placed: set[str] = set()
        for group, node, status in zip(pods["group"], pods["node"], pods["status"].tolist(), strict=True):
            if node:
                self._placed.add(group)
            elif status == 0 and group in self.waits:
                self.waits[group] = True
        self._table, self._now, self._begun = table, now, begun

    def waiting(self) -> list[str]:
        return [name for name, waits in self.waits.items() if waits]

    def draws(self, name: str, of: RunTimes, scenarios: int, seed: int) -> Integers:
        """Run times of a group in all scenarios."""
        row = self.live[name]
        start = int(self._table["last_start"][row])
        runs = name in self._placed and start != _core.UNSET and name not in self._begun
        elapsed = max(self._now - start, 0) if runs else 0
        key = str(self._table[of.by][row]) if of.by else ""
        return of.draw(_uniform(name, scenarios, seed), int(self._table["runtime_estimate"][row]), elapsed, key)


def _uniform(name: str, count: int, seed: int) -> Floats:
    """Numbers from 0 up to, but not, 1, that depend on seed and name alone. PCG64 is the same in every numpy."""
    digest = np.frombuffer(hashlib.sha256(name.encode()).digest(), "<u4")
    raw = np.random.PCG64(np.random.SeedSequence([seed, *digest.tolist()])).random_raw(count)
    return np.asarray((raw >> np.uint64(11)) * 2.0**-53, np.float64)


# ---- calibration -----------------------------------------------------------------------------------------------------


def margin(low: Any, high: Any, actual: Any, coverage: float = 0.9) -> float:
    """By how much intervals of the past should have been wider to hold a part ``coverage`` of what came true.

    ``low``, ``high``, ``actual``: seconds from 0 on that groups had to wait after they were asked about, as the
    intervals said (``Starts.waits``) and as it was; one entry per question. The margin is a difference of
    log(1 + seconds), since errors grow with the wait; below 0: the intervals were too wide. inf: there are too few
    questions for that coverage, or too many of them were without a start. ``widen`` applies it.

    Split conformal prediction with the score of conformalized quantile regression: Romano, Patterson, Candès, NeurIPS
    2019. What it promises, it promises where future questions are like those of the past.
    """
    bounds = [_waits(values, name) for name, values in (("low", low), ("high", high), ("actual", actual))]
    if len({len(b) for b in bounds}) > 1:
        raise ArgumentError(f"margin: low, high and actual have {', '.join(str(len(b)) for b in bounds)} entries")
    if not 0 < coverage < 1:
        raise ArgumentError(f"coverage: expected a number between 0 and 1, got {coverage!r}")
    under, over, true = (np.log1p(b) for b in bounds)
    if np.isinf(true).any():
        raise ArgumentError("actual: what has not started yet cannot be compared")
    scores = np.sort(np.maximum(under - true, true - over))
    rank = int(-(-Fraction(repr(float(coverage))) * (len(scores) + 1) // 1))
    return float(scores[rank - 1]) if rank <= len(scores) else np.inf


def widen(low: Any, high: Any, by: float) -> tuple[Floats, Floats]:
    """Intervals of seconds, wider by a ``margin``: both ends, float64. An interval that a margin below 0 would turn
    over becomes the point between its ends."""
    under, over = (np.log1p(_waits(values, name)) for name, values in (("low", low), ("high", high)))
    if len(under) != len(over):
        raise ArgumentError(f"widen: low has {len(under)} entries, high has {len(over)}")
    if bool((under > over).any()):
        raise ArgumentError(f"widen: entry {int(np.flatnonzero(under > over)[0])}: low is above high")
    if np.isnan(by):
        raise ArgumentError("by: expected a margin, got nan")
    with np.errstate(invalid="ignore"):  # inf less inf, which is not taken
        least = np.maximum(under - by, 0.0) if by < np.inf else np.zeros(len(under))
        most = np.where(np.isinf(over), over, over + by)
        middle = (under + over) / 2
    turned = least > most
    return np.expm1(np.where(turned, middle, least)), np.expm1(np.where(turned, middle, most))


def _waits(values: Any, name: str) -> Floats:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: expected seconds as numbers") from None
    if array.ndim != 1 or not bool((array >= 0).all()):
        raise ArgumentError(f"{name}: expected one wait per entry, in seconds from 0 on")
    return array
