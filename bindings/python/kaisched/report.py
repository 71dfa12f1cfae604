"""Plays as files, and one page that shows them.

>>> from kaisched import report
>>> report.save(run, "run.json")               # doctest: +SKIP
>>> report.write("report.html", [run, other])  # doctest: +SKIP

``kaisched simulate --details --json=run.json`` writes the same files, and ``kaisched report run.json -o report.html``
the same page. The page needs no network and no other file. Needs ``pip install 'kaisched[report]'`` to make.
"""

from __future__ import annotations

import html
import importlib.resources
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kaisched._errors import ArgumentError

__all__ = ["Record", "page", "read", "save", "write"]

SCHEMA = "kaisched-simulate/1"
MOST_ROWS = 100  # of a table of the page

_MEMBERS = ("nodes", "jobs", "timeline", "queues", "queue_timeline")
#: Columns of Python's tables that files leave out: they follow from others.
_FOLLOWING = {"wait", "jct", "running", "lost", "gpu_seconds", "lost_gpu_seconds", "distance", "came"}
#: Lists of documents, their names in Python, and their columns.
_LISTS = {
    "queues_within_quota": ("quota_claims", ("queue", "quota", "claims", "first", "longest", "total", "open")),
    "idle_while_fitting": ("idle_refusals", ("reason", "plugin", "gpu_hours")),
}
_NEEDED = {
    "nodes": ("node", "gpus"),
    "jobs": ("job", "queue", "gpus", "submit", "run_time", "start", "end"),
    "timeline": ("time", "gpus_held", "gpus_wanted", "gpus_there", "gpus_fragmented"),
    "stays": ("job", "node", "start", "end", "gpus"),
    "queues": ("queue", "quota"),
    "queue_timeline": ("time", "queue", "held", "wanted", "fair"),
}


@dataclass(frozen=True)
class Record:
    """A play as it was written to a file: what figures are drawn from. Tables are dicts of columns, times seconds,
    amounts GPUs; a time that did not come, and a quota that there is not, is NaN."""

    label: str
    digest: str
    end: float
    metrics: Mapping[str, float]
    nodes: Mapping[str, Any]
    jobs: Mapping[str, Any]
    timeline: Mapping[str, Any]
    intervals: Mapping[str, Any]
    queues: Mapping[str, Any]
    queue_timeline: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    quota_claims: Mapping[str, Any] = field(default_factory=dict)
    idle_refusals: Mapping[str, Any] = field(default_factory=dict)
    session_cpu: Mapping[str, float] = field(default_factory=dict)


# ---- files -----------------------------------------------------------------------------------------------------------


def _column(values: Sequence[Any]) -> Any:
    if values and isinstance(values[0], str):
        return list(values)
    if values and isinstance(values[0], bool):
        return np.asarray(values, dtype=bool)
    return np.asarray([math.nan if v is None else v for v in values], dtype=np.float64)


def _mask(devices: Iterable[int]) -> int:
    return sum(1 << d for d in devices)


def _flat(document: Mapping[str, Any]) -> dict[str, float]:
    """Figures of the document by the names that tables of Python and CSV give them: ``completion_mean``."""
    made: dict[str, float] = {}
    for key, value in document.items():
        if isinstance(value, Mapping) and "p50" in value:
            made |= {f"{key}_{part}": float(v) for part, v in value.items()}
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            made[key] = float(value)
    return made


def read(path: str | Path, label: str | None = None) -> Record:
    """Reads what ``save`` or ``kaisched simulate --details --json=FILE`` has written."""
    path = Path(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise ArgumentError(f"{path}: {e.strerror}") from e
    except ValueError as e:
        raise ArgumentError(f"{path}: not JSON: {e}") from e
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ArgumentError(f"{path}: not a document of the schema {SCHEMA}")
    details = document.get("details")
    if not isinstance(details, dict):
        raise ArgumentError(f"{path}: there are no details: write it with kaisched simulate --details --json=FILE")
    for table, columns in _NEEDED.items():
        for column in columns:
            if column not in details.get(table, {}):
                raise ArgumentError(f"{path}: details.{table} has no column {column}")
    tables: dict[str, Any] = {
        name: {c: _column(v) for c, v in details[name].items() if c != "domains"} for name in _MEMBERS
    }
    tables["nodes"] |= {f"domain.{level}": labels for level, labels in details["nodes"].get("domains", {}).items()}
    stays = dict(details["stays"])
    masks = [_mask(d) for d in stays.pop("devices", [[]] * len(stays["job"]))]
    intervals = {c: _column(v) for c, v in stays.items()}
    intervals["job"] = intervals["job"].astype(np.int64)
    intervals["node"] = intervals["node"].astype(np.int64)
    intervals["devices"] = np.asarray(masks, dtype=np.uint64)
    lists = {
        name: {c: _column([row[c] for row in document.get(key, ())]) for c in columns}
        for key, (name, columns) in _LISTS.items()
    }
    return Record(
        label=label or document.get("label") or path.stem,
        digest=str(document.get("digest", "")),
        end=float(details["end"]),
        metrics=_flat(document),
        intervals=intervals,
        session_cpu=document.get("session_cpu", {}),
        parameters={k: document[k] for k in ("preset", "mode") if k in document} | document.get("parameters", {}),
        **tables,
        **lists,
    )


def _plain(values: Any) -> list[Any]:
    """A column as JSON has it."""
    made = values.tolist() if hasattr(values, "tolist") else list(values)
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in made]


def _rows(table: Mapping[str, Any], columns: Sequence[str]) -> list[dict[str, Any]]:
    """A list of a document."""
    if any(c not in table for c in columns):
        return []
    return [dict(zip(columns, row, strict=True)) for row in zip(*(_plain(table[c]) for c in columns), strict=True)]


def save(run: Any, path: str | Path) -> None:
    """Writes a run as JSON, ``kaisched-simulate/1`` with details."""
    stays = {c: _plain(v) for c, v in run.intervals.items() if c != "devices"}
    masks = run.intervals.get("devices", [0] * len(run.intervals["job"]))
    stays["devices"] = [[d for d in range(64) if int(m) >> d & 1] for m in masks]
    details: dict[str, dict[str, Any]] = {
        name: {c: _plain(v) for c, v in getattr(run, name).items() if c not in _FOLLOWING} for name in _MEMBERS
    }
    levels = [c for c in details["nodes"] if c.startswith("domain.")]
    details["nodes"]["domains"] = {c.removeprefix("domain."): details["nodes"].pop(c) for c in levels}
    metrics: dict[str, Any] = {}
    for key, value in run.metrics.items():
        name, _, part = key.rpartition("_")
        if name in ("completion", "waiting"):
            metrics.setdefault(name, {})[part] = value
        else:
            metrics[key] = value
    document = {
        "schema": SCHEMA,
        "label": run.label,
        "digest": run.digest,
        **metrics,
        **{key: _rows(getattr(run, name, {}), columns) for key, (name, columns) in _LISTS.items()},
        "session_cpu": dict(getattr(run, "session_cpu", {})),
        "parameters": {k: v for k, v in run.parameters.items() if isinstance(v, (str, int, float, bool))},
        "details": {"end": float(run.end), "stays": stays, **details},
    }
    Path(path).write_text(json.dumps(document, allow_nan=False), encoding="utf-8")


# ---- the page --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Section:
    name: str  # of its anchor
    title: str
    text: str  # what is to be seen, for those who do not see it
    figure: Any
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def _file(name: str) -> str:
    return importlib.resources.files("kaisched").joinpath(name).read_text(encoding="utf-8")


def _number(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:,.2f}".rstrip("0").rstrip(".")
    return str(value)


def _table(section: _Section) -> str:
    head = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in section.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_number(v))}</td>" for v in row) + "</tr>" for row in section.rows[:MOST_ROWS]
    )
    left = len(section.rows) - MOST_ROWS
    more = f"<p>{left:,} more rows are in the file.</p>" if left > 0 else ""
    return (
        f'<details><summary>Table: {html.escape(section.title)}</summary><div class="scroll" tabindex="0" '
        f'role="region" aria-label="Table: {html.escape(section.title)}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{more}</details>"
    )


def _block(section: _Section) -> str:
    figure = section.figure.to_json().replace("<", "\\u003c")
    return (
        f'<section id="{section.name}" aria-labelledby="{section.name}-title">'
        f'<h2 id="{section.name}-title">{html.escape(section.title)}</h2>'
        f'<p id="{section.name}-text">{html.escape(section.text)}</p>'
        f'<div class="plot" role="group" aria-labelledby="{section.name}-title" aria-describedby="{section.name}-text"'
        f' style="height:{section.figure.layout.height or 400}px"></div>'
        f'<script type="application/json">{figure}</script>{_table(section)}</section>'
    )


def _time(seconds: float) -> str:
    from kaisched.plots import unit_of

    unit = unit_of(seconds)
    return f"{seconds / unit.seconds:.1f} {unit.name}"


def _sections_of(run: Any, prefix: str, behind: str) -> list[_Section]:
    from kaisched import plots

    m = run.metrics
    jobs, stays = run.jobs, run.intervals
    names, nodes = jobs["job"], run.nodes["node"]
    timeline = run.timeline
    pieces = np.linspace(*plots.window_of(run), 13)
    at = np.searchsorted(np.asarray(timeline["time"]), pieces, side="right") - 1
    moments = [
        [float(t) / 3600, *(float(timeline[c][i]) for c in ("gpus_held", "gpus_wanted", "gpus_there", "gpus_fragmented"))]
        for t, i in zip(pieces, at, strict=True)
        if i >= 0
    ]
    middle_time = plots.busy_times(run, 1)[0]
    middle = plots.occupancy(run, middle_time)
    made = [
        _Section(
            f"{prefix}use",
            "GPUs in use" + behind,
            f"{m['utilisation']:.1%} of the GPUs were in use {_window_text(run)}. {m['fragmentation']:.1%} of those that were "
            f"free were in pieces that jobs cannot use; {m['lost_gpu_hours']:.1f} of {m['gpu_hours']:.1f} GPU hours were lost"
            f"{_gang_text(m)}.",
            plots.utilisation(run),
            ["hours", "held", "waited for", "there", "free in pieces too small"],
            moments,
        ),
        _Section(
            f"{prefix}gantt",
            "Who was where" + behind,
            f"Each row is a GPU, each bar a job from its start to its end on it. {len(stays['job']):,} stays of "
            f"{len(names):,} jobs on {len(nodes):,} nodes.",
            plots.gantt(run),
            ["job", "node", "from (h)", "to (h)", "GPUs"],
            [
                [names[j], nodes[n], float(s) / 3600, float(e) / 3600, float(g)]
                for j, n, s, e, g in zip(
                    stays["job"], stays["node"], stays["start"], stays["end"], stays["gpus"], strict=True
                )
            ],
        ),
        _Section(
            f"{prefix}map",
            "Where room is" + behind,
            "Each row is a node, each cell a GPU: the lighter, the more of it is held. Rows between nodes that are full "
            f"show room that large jobs cannot use. The slider moves through time; the table is at {_time(middle_time)}, when half of "
            "all GPU time was spent.",
            plots.fragmentation(run),
            ["node", "GPUs", "held", "whole GPUs free"],
            [
                [nodes[i], int(np.isfinite(row).sum()), float(np.nansum(row)), int((row == 0).sum())]
                for i, row in enumerate(middle)
            ],
        ),
    ]
    if len(run.queues["queue"]) > 1:
        made.append(_queue_section(run, prefix, behind))
    if len(run.idle_refusals.get("gpu_hours", ())) > 0:
        made.append(_idle_section(run, prefix, behind))
    return made


def _window_text(run: Any) -> str:
    """Of which time the charts and the use of GPUs are."""
    from kaisched import plots

    begin, end = plots.window_of(run)
    if "utilisation_of_span" not in run.metrics or (begin, end) == (0.0, float(run.end)):
        return f"over {_time(float(run.end))}"
    return (
        f"from {_time(begin)} to {_time(end)}, the time from the first to the last moment at which more GPUs were asked for than there "
        f"are ({run.metrics['utilisation_of_span']:.1%} over all {_time(float(run.end))})"
    )


def _gang_text(m: Mapping[str, float]) -> str:
    held = m.get("stale_gang_gpu_hours", 0.0) + m.get("partial_gang_gpu_hours", 0.0)
    return f", {held:.1f} of them held by gangs that could not go on" if held > 0 else ""


def _idle_section(run: Any, prefix: str, behind: str) -> _Section:
    from kaisched import plots

    table = run.idle_refusals
    rows: list[list[Any]] = [
        [plots.refuser(str(r), str(p)), str(r), float(h)]
        for r, p, h in zip(table["reason"], table["plugin"], table["gpu_hours"], strict=True)
    ]
    return _Section(
        f"{prefix}idle",
        "Idle while jobs fit" + behind,
        f"{sum(r[2] for r in rows):.1f} GPU hours were idle while jobs waited that fit on these GPUs; {rows[0][0]} kept most of them "
        f"waiting: {rows[0][2]:.1f} GPU hours.",
        plots.idle(run),
        ["refused by", "reason", "GPU hours"],
        rows,
    )


def _quota_section(runs: Sequence[Any]) -> _Section:
    from kaisched import plots

    rows: list[list[Any]] = [
        [r.label, str(c["queue"][i]), float(c["quota"][i]), int(c["claims"][i]), *(float(c[t][i]) / 3600 for t in ("first", "longest", "total"))]
        for r in runs
        for c in (r.quota_claims,)
        for i in range(len(c["queue"]))
    ]
    most = max(rows, key=lambda row: row[5])
    return _Section(
        "quotas",
        "How long queues waited within their quotas",
        "A queue waits within its quota while a job of it waits whose GPUs, with those that the queue holds, are no more than the "
        f"quota. {most[1]} waited longest, {_time(most[5] * 3600)} under {most[0]}.",
        plots.quota_waits(runs),
        ["policy", "queue", "quota", "times", "first (h)", "longest (h)", "total (h)"],
        rows,
    )


def _queue_section(run: Any, prefix: str, behind: str) -> _Section:
    from kaisched import plots

    end = float(run.end)
    samples = run.queue_timeline
    number = np.asarray(samples["queue"], dtype=np.int64)
    rows = []
    for q, name in enumerate(run.queues["queue"]):
        mine = number == q
        spans = np.diff(np.append(np.asarray(samples["time"])[mine], end))
        means = [float((np.asarray(samples[c])[mine] * spans).sum() / max(end, 1e-9)) for c in ("held", "fair", "wanted")]
        rows.append([name, float(run.queues["quota"][q]), *means])
    most = max(rows, key=lambda r: r[2])
    return _Section(
        f"{prefix}queues",
        "What queues had" + behind,
        f"What queues hold, their fair part of all that is held and their quota, if they have one. {most[0]} held most: "
        f"{most[2]:.1f} GPUs in the mean, its fair part was {most[3]:.1f}. "
        f"{run.metrics['share_error']:.1%} of the GPUs in use would have been with other queues.",
        plots.queue_shares(run),
        ["queue", "quota", "held, mean", "fair part, mean", "waited for, mean"],
        rows,
    )


def _sections(runs: Sequence[Any]) -> list[_Section]:
    from kaisched import plots

    made: list[_Section] = []
    if len(runs) > 1:
        shown = plots.compared(runs)
        rows = [[r.label, *(plots.figure_text(k, float(r.metrics[k])) for k, _, _ in shown)] for r in runs]
        best = min(runs, key=lambda r: r.metrics["completion_mean"])
        same = len({_time(r.metrics["completion_mean"]) for r in runs}) == 1
        least = "under every policy" if same else f"with {best.label}, the least of {len(runs)}"
        made.append(
            _Section(
                "comparison",
                "Policies side by side",
                f"Jobs took {_time(best.metrics['completion_mean'])} in the mean {least}. A star marks the best of each figure, unless all are equal.",
                plots.comparison(runs),
                ["policy", *(name for _, name, _ in shown)],
                rows,
            )
        )
    rows = []
    for r in runs:
        wait = plots.waits(r)
        quantiles = [_time(float(np.quantile(wait, q, method="higher"))) if len(wait) else "" for q in (0.5, 0.9, 0.99)]
        rows.append([r.label, len(wait), len(r.jobs["job"]) - len(wait), *quantiles])
    made.append(
        _Section(
            "waiting",
            "How long jobs waited",
            "; ".join(f"{r[0]}: half of the jobs that started waited at most {r[3]}, 90 % at most {r[4]}" for r in rows) + ".",
            plots.waiting(runs),
            ["policy", "started", "never started", "50 %", "90 %", "99 %"],
            rows,
        )
    )
    with_quotas = [r for r in runs if len(r.quota_claims.get("queue", ())) > 0]
    if with_quotas:
        made.append(_quota_section(with_quotas))
    for i, r in enumerate(runs):
        made += _sections_of(r, f"r{i}-", f": {r.label}") if len(runs) > 1 else _sections_of(r, "", "")
    return made


def _cards(runs: Sequence[Any]) -> str:
    made = []
    for r in runs:
        m = r.metrics
        facts = [
            ("jobs ended", f"{m['ended']:,.0f} of {m['jobs']:,.0f}"),
            ("until the end, mean", _time(m["completion_mean"])),
            ("until the start, mean", _time(m["waiting_mean"])),
            ("GPUs in use while contended", f"{m['utilisation']:.1%}"),
            ("GPU hours", f"{m['gpu_hours']:,.1f}"),
            ("of these lost", f"{m['lost_gpu_hours']:,.1f}"),
            ("jobs stopped", f"{m['evictions']:,.0f}"),
        ]
        more: tuple[tuple[str, str, Callable[[float], str]], ...] = (
            ("restarts", "restarts", lambda v: f"{v:,.0f}"),
            ("pods moved", "moves", lambda v: f"{v:,.0f}"),
            ("starts withdrawn", "withdrawn_starts", lambda v: f"{v:,.0f}"),
            ("GPU hours idle while jobs fit", "idle_fitting_gpu_hours", lambda v: f"{v:,.1f}"),
            ("longest wait within a quota", "longest_quota_claim", _time),
        )
        facts += [(name, text(float(m[key]))) for name, key, text in more if key in m]
        facts += [
            (f"CPU time of a session, {name}", f"{r.session_cpu[key] * 1000:,.2f} ms")
            for name, key in (("99 %", "p99"), ("longest", "most"))
            if key in r.session_cpu
        ]
        cells = "".join(f"<div><dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd></div>" for k, v in facts)
        made.append(
            f'<article class="card"><h3>{html.escape(r.label)}</h3><dl>{cells}</dl>'
            f'<p class="digest">digest <code>{html.escape(r.digest[:16])}</code></p></article>'
        )
    return "".join(made)


def page(runs: Any, title: str | None = None) -> str:
    """One HTML page about one run or several: the same runs make the same page, byte for byte."""
    from kaisched.plots import _runs  # says what is missing, if it is

    from plotly.offline import get_plotlyjs  # isort: skip

    all_ = _runs(runs)
    if not all_:
        raise ArgumentError("a report needs a run")
    labels = [r.label for r in all_]
    if len(set(labels)) < len(labels):
        raise ArgumentError(f"runs of a report need labels of their own, got {', '.join(labels)}")
    sections = _sections(all_)
    title = title or ("Report: " + ", ".join(labels))
    nav = "".join(f'<li><a href="#{s.name}">{html.escape(s.figure.layout.title.text)}</a></li>' for s in sections)
    parts = {
        "title": html.escape(title),
        "style": _file("report_page.css"),
        "cards": _cards(all_),
        "nav": nav,
        "sections": "".join(_block(s) for s in sections),
        "plotly": get_plotlyjs().replace("</script", "<\\/script"),
        "script": _file("report_page.js"),
    }
    text = _file("report_page.html")
    for name in ("title", "style", "cards", "nav", "sections", "script", "plotly"):
        text = text.replace(f"@{name}@", parts[name])
    return text


def write(path: str | Path, runs: Any, title: str | None = None) -> None:
    """Writes ``page`` to a file."""
    Path(path).write_text(page(runs, title), encoding="utf-8")
