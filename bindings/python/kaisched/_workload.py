"""Workloads: jobs that arrive over time."""

from __future__ import annotations

import difflib
import hashlib
import os
from typing import Any

import numpy as np

from kaisched import _core, _time
from kaisched._errors import ArgumentError, DuplicateError, UnsupportedError
from kaisched._table import Table, columns_of
from kaisched._tables import refuse_masked

_COLUMNS = {name: doc for name, doc in _core.workload_columns()}
_TIMES = {"submit", "run_time", "estimate", "deadline", "iteration_time"}


def workload_models() -> Table:
    """Models of invented workloads: ``name``, ``source``, ``jobs_per_hour``."""
    rows = _core.workload_models()
    return Table(
        {"name": [r[0] for r in rows], "source": [r[1] for r in rows], "jobs_per_hour": np.array([r[2] for r in rows])},
        "workload model",
    )


def trace_forms() -> Table:
    """Forms of traces that ``Workload.read`` knows: ``name``, ``doc``, ``profiles`` (files beside the trace)."""
    rows = _core.trace_forms()
    return Table(
        {"name": [r[0] for r in rows], "doc": [r[1] for r in rows], "profiles": [r[2] for r in rows]}, "trace form"
    )


class Workload:
    """Jobs that arrive over time: when, how long they run, what they ask for. Immutable and picklable.

    >>> import kaisched as ks
    >>> w = ks.Workload({"submit": [0, "30m"], "run_time": ["2h", 2700], "gpus_total": [16, 4]})
    >>> len(w), w.run_time.tolist(), w.gpus.tolist(), w.pods.tolist()
    (2, [7200.0, 2700.0], [16.0, 4.0], [2, 1])

    Columns are those of the CSV (docs/workloads.md); only ``run_time`` is needed. Times are seconds, texts such as
    ``"1h30m"``, or time deltas; NaN and None are "not told". ``pods``, ``gpus``, ``cpu`` and ``memory`` may have a list
    for pods of several sizes.

    ``columns``: a dict of sequences or arrays, a pandas or Polars data frame, a pyarrow table.
    ``gpus_per_node``: most GPUs of one pod where a row says ``gpus_total``.
    """

    __slots__ = ("_body", "_jobs")

    def __init__(self, columns: Any, *, gpus_per_node: int = 8) -> None:
        given = columns_of(columns, "workload")
        rows: int | None = None
        told: list[tuple[str, str, Any]] = []
        for name, values in given.items():
            if name not in _COLUMNS:
                near = difflib.get_close_matches(str(name), _COLUMNS, 1)
                hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(_COLUMNS)}"
                raise UnsupportedError(f"workload has no column {name}{hint}")
            form, converted = _column(name, values)
            if rows is not None and len(converted) != rows:
                raise ArgumentError(f"workload, column {name}: {len(converted)} rows, the columns before have {rows}")
            rows = len(converted)
            told.append((name, form, converted))
        if "job" not in given:  # so that no row is empty
            told.append(("job", "texts", [f"job-{i + 1}" for i in range(rows or 0)]))
        _check_names(next(values for name, _, values in told if name == "job"))
        self._take(_core.Workload.from_columns(told, rows or 0, gpus_per_node))

    def _take(self, body: _core.Workload) -> None:
        self._body = body
        self._jobs: Table | None = None

    @classmethod
    def _of(cls, body: _core.Workload) -> Workload:
        made = cls.__new__(cls)
        made._take(body)
        return made

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        form: str = "csv",
        *,
        profile: str | os.PathLike[str] = "",
        part: str = "",
        gpu: str = "v100",
        processors: str = "gpu",
        gpus_per_node: int = 8,
        cores_per_node: int = 64,
    ) -> Workload:
        """Reads a trace. ``trace_forms()`` says which forms there are, docs/workloads.md what becomes of them.

        ``profile``: the file or folder beside the trace. ``part``: of a trace with several workloads the one to read.
        ``gpu``: row of a table of throughputs. ``processors``: what a processor of SWF is, ``"gpu"`` or ``"core"``.
        """
        return cls._of(
            _core.Workload.read(
                os.fspath(path), form, os.fspath(profile), part, gpu, processors, gpus_per_node, cores_per_node
            )
        )

    @classmethod
    def generate(
        cls,
        jobs: int = 1000,
        *,
        seed: int = 1,
        model: str | None = None,
        jobs_per_hour: float | None = None,
        sizes: str | None = None,
        run_times: str | None = None,
        rhythm: str | None = None,
        queues: int = 0,
        gpus_per_node: int = 8,
        elastic: bool = False,
    ) -> Workload:
        """Invents jobs. Equal arguments give equal jobs on every machine. None: as the model says.

        ``model``: of ``workload_models()``. ``sizes``: GPUs and weights, ``"1:70,8:30"``. ``run_times``:
        ``"log-normal:15m:2.2"`` or ``"powers:1.5:3:80,3:4:20"``. ``rhythm``: ``"none"``, ``"day"`` or ``"week"``.
        ``queues``: jobs are in ``queue-1`` to ``queue-N``; 0: in none. ``elastic``: jobs of several pods may run with
        one, and have curves of speed.
        """
        return cls._of(
            _core.Workload.generate(
                jobs, seed, model, jobs_per_hour, sizes, run_times, rhythm, queues, gpus_per_node, elastic
            )
        )

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The jobs as CSV, exact to the nanosecond; written to a file as well if there is a path."""
        text = self._body.csv()
        if path is not None:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        return text

    # ---- what is in it

    @property
    def jobs(self) -> Table:
        """The columns of docs/workloads.md that some job needs, a row per job by ``submit``: ``Workload(w.jobs) == w``
        where times have at most 15 digits. Times are float64 seconds, NaN: not told. ``gpus`` is of each pod."""
        if self._jobs is None:
            self._jobs = Table(self._body.columns(), "job")
        return self._jobs

    @property
    def names(self) -> list[str]:
        """Names of the jobs."""
        return self._body.names

    @property
    def queues(self) -> list[str]:
        """Queues of the jobs; empty: the one that the simulation names."""
        return self._body.queues

    @property
    def submit(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """When the jobs arrive: float64 seconds."""
        return self._body.submit

    @property
    def run_time(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """How long the jobs run with all their pods and without interruption: float64 seconds."""
        return self._body.run_time

    @property
    def gpus(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """GPUs of all pods of each job, float64."""
        return self._body.gpus

    @property
    def pods(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Number of pods of each job, int64."""
        return self._body.pods

    @property
    def left_out(self) -> int:
        """Rows of the trace that say nothing to play, such as jobs that never ran."""
        return self._body.left_out

    @property
    def figures(self) -> dict[str, Any]:
        """What is in the workload, in numbers: ``jobs``, ``gpu_hours``, ``mean_gpus`` (busy if nobody waited),
        ``run_time`` (percentiles, seconds)..."""
        return self._body.figures()

    @property
    def digest(self) -> str:
        """SHA-256 of the CSV as 64 hexadecimal digits."""
        return hashlib.sha256(self._body.csv().encode()).hexdigest()

    # ---- other workloads

    def select(self, which: Any) -> Workload:
        """The jobs that a mask, a slice or row numbers name, in their order."""
        rows = np.arange(len(self))[which if isinstance(which, slice) else np.asarray(which)]
        return Workload._of(self._body.select(rows.tolist()))

    def head(self, count: int) -> Workload:
        """The first jobs."""
        return self.select(slice(0, count))

    def shift(self) -> Workload:
        """The same jobs, moved in time so that the first one arrives at 0."""
        return Workload._of(self._body.shift())

    def __len__(self) -> int:
        return self._body.size

    def __eq__(self, other: object) -> bool:
        return self._body.equals(other._body) if isinstance(other, Workload) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, tuple[str, int]]:
        return _restored, (self._body.csv(), self._body.left_out)

    def __repr__(self) -> str:
        f = self.figures
        return f"<Workload: {f['jobs']} jobs, {f['gpu_hours']:.1f} GPU hours, arriving within {f['last_submit']:.0f} s>"

    def _repr_html_(self) -> str:
        return self.jobs._repr_html_()


def _restored(text: str, left_out: int) -> Workload:
    return Workload._of(_core.Workload.parse(text, left_out))


def _check_names(names: Any) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        first = seen.setdefault(name, row)
        if first != row and name:  # the reader says what is wrong with none
            raise DuplicateError(f"workload, row {row}: job: {name!r} stands in row {first} already")


def _column(name: str, values: Any) -> tuple[str, Any]:
    """Form and values of one column, for the extension module."""
    where = f"workload, column {name}"
    if isinstance(values, (str, bytes)):
        raise ArgumentError(f"{where}: expected one entry per row, got a single text")
    refuse_masked(values, where)
    if isinstance(values, (list, tuple)) and not all(isinstance(v, (int, float)) for v in values):
        return "texts", [_field(v, where, name in _TIMES) for v in values]
    try:
        array = np.asarray(values)
    except ValueError as e:
        raise ArgumentError(f"{where}: {e}") from e
    if array.ndim != 1:
        raise ArgumentError(f"{where}: expected one value per row, got an array of shape {array.shape}")
    if array.dtype.kind == "m" and name in _TIMES:
        if np.isnat(array).any():
            return "texts", ["" if np.isnat(t) else f"{int(t)}ns" for t in array.astype("m8[ns]")]
        return "nanoseconds", np.ascontiguousarray(array.astype("m8[ns]").astype(np.int64))
    if array.dtype.kind == "f":
        if np.isinf(array).any():
            raise ArgumentError(f"{where}: row {int(np.flatnonzero(np.isinf(array))[0])} is infinite")
        return "numbers", np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind in "iub" and (array.size == 0 or int(array.max()) <= np.iinfo(np.int64).max):
        return "integers", np.ascontiguousarray(array, dtype=np.int64)
    return "texts", [_field(v, where, name in _TIMES) for v in array.tolist()]


def _field(value: Any, where: str, is_time: bool) -> str | None:
    """One value as a field of CSV."""
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)) or value is np.ma.masked:
        return None
    if isinstance(value, str):
        return value
    if is_time:
        return f"{_time.nanoseconds(value, where)}ns"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return np.format_float_positional(value, trim="-")
    if isinstance(value, (list, tuple, np.ndarray)):
        return "|".join(_field(v, where, is_time) or "" for v in value)
    missing = getattr(value, "__module__", "").startswith("pandas")  # pandas.NA, pandas.NaT
    if missing:
        return None
    raise ArgumentError(f"{where}: {value!r} is neither a number nor a text")
