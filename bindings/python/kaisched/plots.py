"""Figures of plays: who was where when, how full the cluster was, what queues had, how long jobs waited.

Every function takes what ``kaisched.simulate`` returns, or what ``kaisched.report.read`` reads from a file, and returns
a plotly figure. Needs ``pip install 'kaisched[report]'``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

try:
    import plotly.graph_objects as go
except ImportError as _absent:  # pragma: no cover - said to who has not installed it
    raise ImportError("kaisched.plots needs plotly: pip install 'kaisched[report]'") from _absent

__all__ = ["comparison", "fragmentation", "gantt", "idle", "queue_shares", "quota_waits", "utilisation", "waiting"]

#: Six of Okabe and Ito's colours, which are told apart with any kind of colour vision, on light and dark.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
#: Lines differ by their strokes as well.
STROKES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
#: Light and dark tell amounts apart in grey as well.
SCALE = "Cividis"

MOST_BARS = 4000
MOST_POINTS = 2000
_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (86400.0, "d"))


class Span(NamedTuple):
    """Unit of a time axis: seconds that are one, and its name."""

    seconds: float
    name: str


def unit_of(longest: float) -> Span:
    """The largest unit of which ``longest`` seconds are at least three."""
    fitting = [Span(*u) for u in _UNITS if longest >= 3 * u[0]]
    return fitting[-1] if fitting else Span(*_UNITS[0])


def window_of(run: Any, whole: bool = False) -> tuple[float, float]:
    """Seconds from and until which charts over time show a run: the contended window (docs/simulation.md), with
    ``whole`` or without contention the whole time."""
    begin, end = (float(run.metrics.get(f"contended_{edge}", 0.0)) for edge in ("from", "until"))
    return (0.0, float(run.end)) if whole or not begin < end else (begin, end)


def _numbers(table: Mapping[str, Any], column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(table[column], dtype=np.float64)


def _runs(of: Any) -> list[Any]:
    """Runs of one run, a comparison, a mapping or a sequence."""
    if hasattr(of, "runs"):
        of = of.runs
    if isinstance(of, Mapping):
        return list(of.values())
    return list(of) if isinstance(of, Iterable) else [of]


def _figure(title: str, x: str, y: str, **layout: Any) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        title={"text": title, "x": 0, "xanchor": "left", "xref": "paper", "font": {"size": 16}},
        font={"family": "system-ui, sans-serif", "size": 13},
        template="none",
        margin={"l": 64, "r": 16, "t": 48, "b": 104},
        legend={"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 0, "yanchor": "bottom"},
        hovermode="closest",
        colorway=list(PALETTE),
    )
    grid = {"gridcolor": "rgba(128,128,128,0.25)", "zeroline": False, "automargin": True}
    figure.update_xaxes(title_text=x, **grid)
    figure.update_yaxes(title_text=y, **grid)
    figure.update_layout(**layout)
    return figure


def _thinned(
    time: np.ndarray[Any, Any], end: float, window: tuple[float, float], *values: np.ndarray[Any, Any]
) -> list[np.ndarray[Any, Any]]:
    """A step function until ``end``; with many steps the mean over pieces of time: half of them equal pieces of the
    window, half of the whole."""
    if len(time) == 0:
        return [np.zeros(1), *[np.zeros(1) for _ in values]]
    end = max(end, float(time[-1]))
    edges = np.append(time, end)
    if len(time) <= MOST_POINTS:
        return [edges, *[np.append(v, v[-1]) for v in values]]
    inside = np.clip(np.linspace(*window, MOST_POINTS // 2), edges[0], end)
    cuts = np.unique(np.concatenate([np.linspace(edges[0], end, MOST_POINTS // 2 + 1), inside]))
    made = [cuts]
    for v in values:
        area = np.concatenate([[0.0], np.cumsum(v * np.diff(edges))])
        mean = np.diff(np.interp(cuts, edges, area)) / np.diff(cuts)
        made.append(np.append(mean, mean[-1]))
    return made


# ---- who was where ---------------------------------------------------------------------------------------------------


class _Bar(NamedTuple):
    job: int
    start: float
    end: float
    lane: float  # of the lowest device, from the top of the chart
    height: float
    gpus: float


def _lanes_of(run: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """First lane and number of lanes of every node: one for each GPU."""
    counts = np.maximum(np.ceil(_numbers(run.nodes, "gpus")), 1).astype(np.int64)
    return np.concatenate([[0], np.cumsum(counts)[:-1]]), counts


def _devices(mask: int) -> list[int]:
    return [d for d in range(64) if mask >> d & 1]


def _pieces(devices: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Neighbouring devices as first one and number."""
    first = previous = None
    for d in devices:
        if previous is not None and d == previous + 1:
            previous = d
            continue
        if first is not None and previous is not None:
            yield first, previous - first + 1
        first = previous = d
    if first is not None and previous is not None:
        yield first, previous - first + 1


def _bars(run: Any) -> list[_Bar]:
    """A bar for neighbouring devices of a stay. On nodes of which some stay does not name its devices, those that are
    free are taken in order: how many are held is what the run says, which ones is not."""
    first, counts = _lanes_of(run)
    stays = run.intervals
    masks = stays.get("devices", np.zeros(len(stays["job"]), dtype=np.uint64))
    until = [np.zeros((int(n),)) for n in counts]  # by device, when it is free again
    nameless = {int(n) for n, g, m in zip(stays["node"], stays["gpus"], masks, strict=True) if g > 0 and m == 0}
    used: list[_Bar] = []
    rows = zip(stays["job"], stays["node"], stays["start"], stays["end"], stays["gpus"], masks, strict=True)
    for job, node, start, end, gpus, mask in rows:
        devices = [] if int(node) in nameless else _devices(int(mask))
        if not devices and gpus > 0:
            free = [d for d in range(int(counts[node])) if until[node][d] <= start]
            devices = free[: max(1, math.ceil(gpus - 1e-9))] or [0]
            until[node][devices] = end
        for d, n in _pieces(devices):
            used.append(_Bar(int(job), start, end, float(first[node] + d), n, gpus))
    return used


def _colour_of_jobs(run: Any) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Names of groups, at most as many as there are colours, and the group of each job: its queue where there are
    several, else jobs in turn."""
    queues = list(run.jobs["queue"])
    names, counts = np.unique(np.asarray(queues, dtype=object).astype(str), return_counts=True)
    if len(names) <= 1:
        return ["jobs"], np.zeros(len(queues), dtype=np.int64)
    order = [str(n) for n in names[np.argsort(-counts, kind="stable")]]
    kept = order if len(order) <= len(PALETTE) else order[: len(PALETTE) - 1]
    labels = sorted(kept) + (["others"] if len(kept) < len(order) else [])
    number = {name: i for i, name in enumerate(labels)}
    return labels, np.asarray([number.get(q, len(labels) - 1) for q in queues], dtype=np.int64)


def gantt(run: Any, whole: bool = False) -> go.Figure:
    """GPUs over time: a row for each GPU, nodes from top to bottom, a bar for each stay of a job. Shows the contended
    window; ``whole``, or zooming out: the whole time. Of runs with more than a few thousand bars the part of each node
    that is held is drawn instead, in that window alone."""
    window = window_of(run, whole)
    unit = unit_of(window[1])
    bars = _bars(run)
    if len(bars) > MOST_BARS:
        return _use_of_nodes(run, window)
    first, counts = _lanes_of(run)
    lanes = int(counts.sum())
    figure = _figure(
        f"GPUs over time: {run.label}", f"time ({unit.name})", "", height=min(900, 200 + 14 * lanes), barmode="overlay"
    )
    labels, group = _colour_of_jobs(run)
    names = run.jobs["job"]
    for g, label in enumerate(labels):
        mine = [b for b in bars if group[b.job] == g]
        if not mine:
            continue
        figure.add_bar(
            orientation="h",
            name=label,
            base=[b.start / unit.seconds for b in mine],
            x=[(b.end - b.start) / unit.seconds for b in mine],
            y=[b.lane + b.height / 2 for b in mine],
            width=[b.height * 0.92 for b in mine],
            marker={"color": PALETTE[g], "line": {"color": "rgba(127,127,127,0.7)", "width": 0.5}},
            customdata=[[names[b.job], b.gpus, b.start / unit.seconds, b.end / unit.seconds] for b in mine],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]:g} GPUs on the node<br>%{customdata[2]:.2f} to "
            + f"%{{customdata[3]:.2f}} {unit.name}<extra>{label}</extra>",
        )
    _name_nodes(figure, run, first, counts)
    _show(figure, window, unit)
    figure.update_layout(showlegend=len(labels) > 1)
    return figure


def _show(figure: go.Figure, window: tuple[float, float], unit: Span) -> None:
    """What of the time axis is seen first."""
    figure.update_xaxes(range=[edge / unit.seconds for edge in window])


def _name_nodes(figure: go.Figure, run: Any, first: Any, counts: Any) -> None:
    names = [str(n) for n in run.nodes["node"]]
    step = max(1, math.ceil(len(names) / 40))
    middle = first + counts / 2
    figure.update_yaxes(
        tickvals=list(middle[::step]), ticktext=names[::step], range=[float(counts.sum()), 0], showgrid=False
    )
    edges = [float(f) for f in first[1:]] if len(names) <= 200 else []
    figure.update_layout(
        shapes=[
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": e, "y1": e, "line": {"width": 1, "color": "#888888"}}
            for e in edges
        ]
    )


def _use_of_nodes(run: Any, window: tuple[float, float]) -> go.Figure:
    """Part of each node that is held, over equal pieces of a window."""
    pieces = 300
    unit = unit_of(window[1])
    edges = np.linspace(*window, pieces + 1)
    held = np.zeros((len(run.nodes["node"]), pieces))
    stays = run.intervals
    for node, start, end, gpus in zip(stays["node"], stays["start"], stays["end"], stays["gpus"], strict=True):
        i, k = np.searchsorted(edges, [start, end], side="right") - 1
        for piece in range(max(int(i), 0), min(int(k), pieces - 1) + 1):
            held[node, piece] += gpus * max(0.0, min(end, edges[piece + 1]) - max(start, edges[piece]))
    capacity = np.maximum(_numbers(run.nodes, "gpus"), 1e-9)[:, None] * np.diff(edges)[None, :]
    figure = _figure(f"Use of nodes over time: {run.label}", f"time ({unit.name})", "")
    figure.add_heatmap(
        z=np.round(held / capacity, 4),
        x=edges[:-1] / unit.seconds,
        y=[str(n) for n in run.nodes["node"]],
        colorscale=SCALE,
        zmin=0,
        zmax=1,
        colorbar={"title": {"text": "held"}, "tickformat": ".0%"},
        hovertemplate="%{y}<br>%{x:.2f} " + unit.name + "<br>%{z:.0%} held<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed")
    figure.update_layout(height=min(900, 220 + 12 * len(run.nodes["node"])))
    return figure


# ---- how full, and whose ---------------------------------------------------------------------------------------------


def utilisation(run: Any, whole: bool = False) -> go.Figure:
    """GPUs that are held, there and waited for, and those of the free ones that no pod of the workload could use.
    Shows the contended window; ``whole``, or zooming out: the whole time."""
    t = run.timeline
    window = window_of(run, whole)
    unit = unit_of(window[1])
    time, held, wanted, there, fragmented = _thinned(
        _numbers(t, "time"),
        float(run.end),
        window,
        *(_numbers(t, c) for c in ("gpus_held", "gpus_wanted", "gpus_there", "gpus_fragmented")),
    )
    figure = _figure(f"GPUs in use: {run.label}", f"time ({unit.name})", "GPUs", hovermode="x unified", height=380)
    x = time / unit.seconds
    common = {"mode": "lines", "x": x, "hovertemplate": "%{y:.1f}"}
    figure.add_scatter(
        y=held, name="held", line={"shape": "hv", "color": PALETTE[0], "width": 1}, fill="tozeroy", **common
    )
    figure.add_scatter(y=there, name="there", line={"shape": "hv", "color": PALETTE[2], "width": 2, "dash": "dash"}, **common)
    figure.add_scatter(y=wanted, name="waited for", line={"shape": "hv", "color": PALETTE[1], "width": 2, "dash": "dot"}, **common)
    figure.add_scatter(
        y=fragmented,
        name="free in pieces too small",
        line={"shape": "hv", "color": PALETTE[3], "width": 2, "dash": "dashdot"},
        **common,
    )
    figure.update_yaxes(rangemode="tozero")
    _show(figure, window, unit)
    return figure


def queue_shares(run: Any, whole: bool = False) -> go.Figure:
    """What each queue holds over time, its fair part of all that is held (max-min by quota), and its quota. Shows the
    contended window; ``whole``, or zooming out: the whole time."""
    window = window_of(run, whole)
    unit = unit_of(window[1])
    names, held_by = _largest_queues(run)
    figure = _figure(f"Queues: {run.label}", f"time ({unit.name})", "GPUs", hovermode="x unified", height=420)
    samples = run.queue_timeline
    number = np.asarray(samples["queue"], dtype=np.int64)
    time = _numbers(samples, "time")
    quotas = _numbers(run.queues, "quota")
    for i, q in enumerate(held_by):
        mine = number == q
        colour = PALETTE[i % len(PALETTE)]
        t, held, fair = _thinned(
            time[mine], float(run.end), window, _numbers(samples, "held")[mine], _numbers(samples, "fair")[mine]
        )
        common = {"mode": "lines", "x": t / unit.seconds, "legendgroup": names[i], "hovertemplate": "%{y:.1f}"}
        figure.add_scatter(y=held, name=f"{names[i]} holds", line={"shape": "hv", "color": colour, "width": 2}, **common)
        figure.add_scatter(
            y=fair, name=f"{names[i]} fair part", line={"shape": "hv", "color": colour, "width": 1.5, "dash": "dot"}, **common
        )
        if np.isfinite(quotas[q]) and quotas[q] > 0:
            figure.add_scatter(
                x=[0, float(run.end) / unit.seconds],
                y=[quotas[q]] * 2,
                name=f"{names[i]} quota",
                legendgroup=names[i],
                mode="lines",
                line={"color": colour, "width": 1.5, "dash": "longdash"},
                hovertemplate="%{y:.1f}",
            )
    figure.update_yaxes(rangemode="tozero")
    _show(figure, window, unit)
    return figure


def _largest_queues(run: Any) -> tuple[list[str], list[int]]:
    """Names and rows of the queues that hold most, as many as there are colours, by name."""
    names = [str(n) for n in run.queues["queue"]]
    hours = np.zeros(len(names))
    row = {name: i for i, name in enumerate(names)}
    for queue, amount in zip(run.jobs["queue"], _gpu_seconds(run), strict=True):
        hours[row[queue]] += amount
    rows = sorted(np.argsort(-hours, kind="stable")[: len(PALETTE)].tolist())
    return [names[r] for r in rows], rows


def _gpu_seconds(run: Any) -> np.ndarray[Any, Any]:
    """What each job held."""
    sums = np.zeros(len(run.jobs["job"]))
    stays = run.intervals
    amount = (_numbers(stays, "end") - _numbers(stays, "start")) * _numbers(stays, "gpus")
    np.add.at(sums, np.asarray(stays["job"], dtype=np.int64), amount)
    return sums


# ---- where room is ---------------------------------------------------------------------------------------------------


def occupancy(run: Any, at: float) -> np.ndarray[Any, Any]:
    """Part of each GPU that is held at a time, 0 to 1: a row for each node, NaN where it has no such GPU."""
    first, counts = _lanes_of(run)
    gpus = _numbers(run.nodes, "gpus")
    width = int(counts.max()) if len(counts) else 1
    map_ = np.full((len(counts), width), np.nan)
    for n, count in enumerate(counts):
        map_[n, : int(count) if gpus[n] > 0 else 0] = 0.0
    stays = run.intervals
    masks = stays.get("devices")
    here = (_numbers(stays, "start") <= at) & (at < _numbers(stays, "end"))
    rows = np.flatnonzero(here)
    named = np.zeros(len(rows), dtype=bool) if masks is None else np.asarray(masks)[rows] != 0
    for i in [*rows[named], *rows[~named]]:
        node, held = int(stays["node"][i]), float(stays["gpus"][i])
        devices = _devices(int(masks[i])) if masks is not None else []
        if devices:
            map_[node, devices] = np.minimum(1.0, map_[node, devices] + held / len(devices))
            continue
        for d in range(int(counts[node])):  # devices are not told apart: the first ones are filled
            part = min(held, 1.0 - map_[node, d])
            map_[node, d] += part
            held -= part
    return map_


def busy_times(run: Any, moments: int) -> list[float]:
    """Times that cut what was spent of GPU time into equal parts, each in the middle of its part."""
    time = np.append(_numbers(run.timeline, "time"), float(run.end))
    spent = np.concatenate([[0.0], np.cumsum(_numbers(run.timeline, "gpus_held") * np.diff(time))])
    if len(time) < 2 or spent[-1] <= 0:
        return [float(run.end) / 2]
    parts = (np.arange(moments) + 0.5) / moments * spent[-1]
    return [float(t) for t in np.interp(parts, spent, time)]


def fragmentation(run: Any, at: float | None = None, moments: int = 12) -> go.Figure:
    """Nodes by GPUs, in the order of the topology: what is held of each GPU. With ``at`` at that time in seconds, else
    at several times, with a slider: between two of them as much GPU time is spent as between any others."""
    unit = unit_of(float(run.end))
    times = [float(at)] if at is not None else busy_times(run, moments)
    figure = _figure(f"Map of the cluster: {run.label}", "GPU of the node", "")
    names = [str(n) for n in run.nodes["node"]]
    domains = [labels for column, labels in run.nodes.items() if column.startswith("domain.")]
    places = [" / ".join([*(str(labels[i]) for labels in domains), name]) for i, name in enumerate(names)]
    order = sorted(range(len(names)), key=lambda i: places[i])
    for i, t in enumerate(times):
        z = occupancy(run, t)[order]
        figure.add_heatmap(
            z=np.round(z, 3),
            x=[str(d) for d in range(z.shape[1])],
            y=[places[k] for k in order],
            colorscale=SCALE,
            zmin=0,
            zmax=1,
            xgap=2,
            ygap=2,
            visible=i == len(times) // 2,
            name=f"{t / unit.seconds:.1f} {unit.name}",
            colorbar={"title": {"text": "held"}, "tickformat": ".0%", "thickness": 14},
            hovertemplate="%{y}<br>GPU %{x}<br>%{z:.0%} held<extra>" + f"{t / unit.seconds:.1f} {unit.name}</extra>",
        )
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(showgrid=False, type="category")
    figure.update_layout(height=min(900, 260 + 22 * len(names)), margin={"b": 150 if len(times) > 1 else 56})
    if len(times) > 1:
        figure.update_layout(
            sliders=[
                {
                    "active": len(times) // 2,
                    "currentvalue": {"prefix": "at "},
                    "pad": {"t": 48},
                    "steps": [
                        {
                            "method": "restyle",
                            "label": f"{t / unit.seconds:.1f} {unit.name}",
                            "args": [{"visible": [k == i for k in range(len(times))]}],
                        }
                        for i, t in enumerate(times)
                    ],
                }
            ],
        )
    return figure


# ---- how long, and under which policy --------------------------------------------------------------------------------


def waits(run: Any) -> np.ndarray[Any, Any]:
    """Seconds from submit to the first start, of jobs that started, ascending."""
    wait = _numbers(run.jobs, "start") - _numbers(run.jobs, "submit")
    return np.sort(wait[np.isfinite(wait)])


#: Ticks of axes of waits, in seconds. Waits from nothing to weeks are on one axis: it is logarithmic.
_WAIT_TICKS = {
    1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 36000: "10 h", 86400: "1 d", 864000: "10 d",
    8640000: "100 d",
}  # fmt: skip
SHORTEST_WAIT = 1.0
"""Seconds: shorter waits are drawn as this, as a logarithm of nothing cannot be drawn."""


def _wait_text(seconds: float) -> str:
    unit = unit_of(seconds)
    return f"{seconds / unit.seconds:.4g} {unit.name}"


def _log_axis(figure: go.Figure, longest: float) -> None:
    figure.update_xaxes(
        type="log",
        range=[math.log10(SHORTEST_WAIT), math.log10(max(longest, 10 * SHORTEST_WAIT) * 1.1)],
        tickvals=list(_WAIT_TICKS),
        ticktext=list(_WAIT_TICKS.values()),
    )


def waiting(runs: Any) -> go.Figure:
    """What part of the jobs started within a time, a line for each run. The axis of time is logarithmic; waits below a
    second are drawn as a second."""
    all_ = _runs(runs)
    sorted_ = [waits(run) for run in all_]
    longest = max((float(w[-1]) for w in sorted_ if len(w)), default=SHORTEST_WAIT)
    figure = _figure("Waiting for the first start", "waited at most", "jobs", height=380)
    for i, (run, wait) in enumerate(zip(all_, sorted_, strict=True)):
        part = np.arange(1, len(wait) + 1) / max(1, len(run.jobs["job"]))
        if len(wait) > MOST_POINTS:
            keep = np.unique(np.linspace(0, len(wait) - 1, MOST_POINTS).astype(np.int64))
            wait, part = wait[keep], part[keep]
        x = np.concatenate([[0.0], wait, [longest]])
        figure.add_scatter(
            x=np.maximum(x, SHORTEST_WAIT),
            y=np.concatenate([[0.0], part, part[-1:] if len(part) else [0.0]]),
            customdata=[_wait_text(float(v)) for v in x],
            name=run.label,
            mode="lines",
            line={"shape": "hv", "color": PALETTE[i % len(PALETTE)], "dash": STROKES[i % len(STROKES)], "width": 2},
            hovertemplate="%{y:.0%} within %{customdata}",
        )
    _log_axis(figure, longest)
    figure.update_yaxes(tickformat=".0%", range=[0, 1.02])
    figure.update_layout(showlegend=len(all_) > 1)
    return figure


def quota_waits(runs: Any) -> go.Figure:
    """How long each queue waited within its quota at most (docs/simulation.md), a bar for each run; logarithmic."""
    all_ = _runs(runs)
    figure = _figure("Longest wait within the quota", "", "", barmode="group")
    longest = SHORTEST_WAIT
    rows = 0
    for i, run in enumerate(all_):
        times = _numbers(run.quota_claims, "longest") if "longest" in run.quota_claims else np.zeros(0)
        longest = max(longest, float(times.max(initial=0.0)))
        rows = max(rows, len(times))
        figure.add_bar(
            orientation="h",
            name=run.label,
            x=np.maximum(times, SHORTEST_WAIT),
            y=[str(q) for q in run.quota_claims.get("queue", ())],
            marker={"color": PALETTE[i % len(PALETTE)]},
            text=[_wait_text(float(t)) for t in times],
            hovertemplate="%{y}: %{text}",
        )
    _log_axis(figure, longest)
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(showlegend=len(all_) > 1, height=min(900, 220 + rows * (12 + 14 * len(all_))))
    return figure


def refuser(reason: str, plugin: str) -> str:
    """What refused jobs, as people read it: a plug-in, or the reason of the engine."""
    return plugin or reason.replace("_", " ")


def idle(run: Any) -> go.Figure:
    """GPU hours that were idle while jobs waited that fit, by what kept these waiting."""
    table = run.idle_refusals
    hours = _numbers(table, "gpu_hours") if "gpu_hours" in table else np.zeros(0)
    names = [refuser(str(r), str(p)) for r, p in zip(table.get("reason", ()), table.get("plugin", ()), strict=True)]
    figure = _figure(f"Idle while jobs fit: {run.label}", "GPU hours", "", height=200 + 32 * len(names))
    figure.add_bar(
        orientation="h", x=hours, y=names, marker={"color": PALETTE[1]}, hovertemplate="%{y}: %{x:.1f} GPU hours<extra></extra>"
    )
    figure.update_yaxes(autorange="reversed", type="category")
    return figure


#: What a comparison shows: key of the metrics, its name, and whether less of it is better.
COMPARED = (
    ("completion_mean", "until the end, mean", True),
    ("completion_p99", "until the end, 99 %", True),
    ("waiting_mean", "until the start, mean", True),
    ("utilisation", "GPUs in use while contended", False),
    ("idle_fitting_gpu_hours", "GPU hours idle while jobs fit", True),
    ("worst_fairness", "slowest for its part", True),
    ("longest_quota_claim", "longest wait of a queue within its quota", True),
    ("lost_gpu_hours", "lost GPU hours", True),
    ("evictions", "jobs stopped by decisions", True),
    ("restarts", "restarts of jobs", True),
    ("moves", "moves of pods", True),
    ("withdrawn_starts", "starts withdrawn", True),
)


def figure_text(key: str, value: float) -> str:
    """A metric as people read it."""
    if key == "utilisation":
        return f"{value:.1%}"
    if key in ("worst_fairness", "lost_gpu_hours", "idle_fitting_gpu_hours"):
        return f"{value:.2f}"
    if key in ("evictions", "restarts", "moves", "withdrawn_starts"):
        return f"{value:,.0f}"
    unit = unit_of(value)
    return f"{value / unit.seconds:.1f} {unit.name}"


def compared(runs: Any) -> list[tuple[str, str, bool]]:
    """Those of ``COMPARED`` that all runs have: files of older versions lack some."""
    return [row for row in COMPARED if all(row[0] in r.metrics for r in _runs(runs))]


def best_ones(key: str, values: Sequence[float], less: bool) -> list[bool]:
    """Which of the values of a figure are the best, as they are read. None if all read the same."""
    texts = [figure_text(key, v) for v in values]
    best = figure_text(key, min(values) if less else max(values))
    return [text == best and len(set(texts)) > 1 for text in texts]


def comparison(runs: Any) -> go.Figure:
    """A small chart for each figure, a bar for each run; the best of each is marked with a star, unless all are
    equal."""
    all_ = _runs(runs)
    labels = [str(r.label) for r in all_]
    shown = compared(all_)
    rows = len(shown)
    figure = _figure("Policies side by side", "", "", height=180 + rows * (40 + 26 * len(all_)), showlegend=False, bargap=0.25, margin={"l": 64, "r": 16, "t": 48, "b": 16})
    notes = []
    for i, (key, name, less) in enumerate(shown):
        values = [float(r.metrics[key]) for r in all_]
        best = best_ones(key, values, less)
        top = 1 - i / rows
        axis = "" if i == 0 else str(i + 1)
        figure.add_bar(
            orientation="h",
            x=values,
            y=labels,
            xaxis=f"x{axis}",
            yaxis=f"y{axis}",
            marker={"color": [PALETTE[0] if b else PALETTE[4] for b in best]},
            text=[figure_text(key, v) + (" \u2605" if b else "") for v, b in zip(values, best, strict=True)],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{text}<extra>" + name + "</extra>",
        )
        span = [top - 0.94 / rows, top - 0.27 / rows]
        figure.update_layout(
            {
                f"xaxis{axis}": {"domain": [0, 1], "anchor": f"y{axis}", "showticklabels": False, "showgrid": False, "range": [0, max([*values, 1e-9]) * 1.35]},
                f"yaxis{axis}": {"domain": span, "anchor": f"x{axis}", "autorange": "reversed", "automargin": True},
            }
        )
        notes.append(
            {"text": f"<b>{name}</b> ({'less' if less else 'more'} is better)", "xref": "paper", "yref": "paper", "x": 0, "y": top - 0.24 / rows, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
        )
    figure.update_layout(annotations=notes)
    return figure
