"""Pictures of clusters for notebooks: nodes in the domains of their topology, a square for each GPU."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from kaisched import _core
from kaisched._enums import PodStatus

_MOST_NODES = 400
_CELL = 10
_COLORS = {"free": "#eceff1", "held": "#90a4ae", "shown": "#2e7d32"}
_ON_NODE = [
    PodStatus.ALLOCATED,
    PodStatus.BINDING,
    PodStatus.BOUND,
    PodStatus.RUNNING,
    PodStatus.RELEASING,
    PodStatus.STUCK_IN_RELEASING,
]


def cluster(snapshot: _core.Snapshot, placements: Mapping[str, Any] | None = None, shown: Collection[str] = ()) -> str:
    """A cluster as HTML. ``placements``: where pods are, if not where the snapshot says. ``shown``: pods in green."""
    nodes, pods = snapshot.table("nodes"), snapshot.table("pods")
    rows = {name: row for row, name in enumerate(nodes["name"])}
    held, of_shown = np.zeros(len(rows)), np.zeros(len(rows))
    where = pods if placements is None else placements
    names, places = (pods["name"], pods["node"]) if placements is None else (where["pod_name"], where["node_name"])
    request = dict(zip(pods["name"], pods["request"][:, 2] / 1000, strict=True))
    on_node = np.isin(where["status"], _ON_NODE)
    for pod, node, is_there in zip(names, places, on_node, strict=True):
        if is_there and node in rows:
            (of_shown if pod in shown else held)[rows[node]] += request[pod]
    drawn = [_node(name, nodes["capacity"][row, 2] / 1000, held[row], of_shown[row]) for name, row in rows.items()]
    levels = _levels(snapshot)
    labels = [dict(_pairs(nodes["labels"][row])) for row in rows.values()]
    domains = [tuple(one.get(level, "") for level in levels) for one in labels]
    body = _domains(sorted(range(len(drawn)), key=lambda row: domains[row])[:_MOST_NODES], domains, drawn, levels, 0)
    more = f"<p>and {len(drawn) - _MOST_NODES} more nodes</p>" if len(drawn) > _MOST_NODES else ""
    gpus, used = nodes["capacity"][:, 2].sum() / 1000, held.sum() + of_shown.sum()
    return f"<div><b>{len(rows)} nodes, {gpus:g} GPUs, {used:g} of them held</b>{body}{more}</div>"


def _levels(snapshot: _core.Snapshot) -> list[str]:
    """Labels of the topology that counts, the widest first."""
    trees = snapshot.table("topologies")
    if trees.rows == 0:
        return []
    primary = int(np.argmax(trees["primary"]))
    levels: list[str] = trees["levels"][primary]
    return levels


def _pairs(labels: list[str]) -> list[tuple[str, str]]:
    return list(zip(labels[::2], labels[1::2], strict=True))


def _domains(rows: list[int], domains: list[tuple[str, ...]], drawn: list[str], levels: list[str], depth: int) -> str:
    """Nodes of one domain, each domain inside of it in a frame of its own."""
    if depth == len(levels):
        return "".join(drawn[row] for row in rows)
    inside: dict[str, list[int]] = {}
    for row in rows:
        inside.setdefault(domains[row][depth], []).append(row)
    frames = [
        "<div style='border:1px solid #b0bec5;border-radius:4px;padding:4px;margin:2px'>"
        f"<small>{html.escape(levels[depth])} {html.escape(name) or '(none)'}</small>"
        f"{_domains(of, domains, drawn, levels, depth + 1)}</div>"
        for name, of in inside.items()
    ]
    return f"<div style='display:flex;flex-wrap:wrap;align-items:flex-start'>{''.join(frames)}</div>"


def _node(name: str, gpus: float, held: float, shown: float) -> str:
    """A node: its GPUs as squares, filled from the left; those of pods that are shown first."""
    cells = max(int(np.ceil(gpus)), 1) * _CELL
    bars = [("free", 0.0, gpus), ("shown", 0.0, shown), ("held", shown, held)]
    rects = "".join(
        f"<rect x='{start * _CELL:.1f}' width='{width * _CELL:.1f}' height='{_CELL}' fill='{_COLORS[kind]}'/>"
        for kind, start, width in bars
        if width > 0
    )
    lines = "".join(f"<path d='M{x} 0V{_CELL}' stroke='white'/>" for x in range(_CELL, cells, _CELL))
    title = html.escape(f"{name}: {held + shown:g} of {gpus:g} GPUs held", quote=True)
    return (
        f"<div style='white-space:nowrap' title='{title}'><svg width='{cells}' height='{_CELL}'>{rects}{lines}</svg>"
        f" <small>{html.escape(name)}</small></div>"
    )
