"""Nodes to add for what waits, and nodes to give back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kaisched import _core, _tables
from kaisched._errors import ArgumentError
from kaisched._simulation import PolicyLike, engine_of
from kaisched._table import Table, columns_of

_TYPE_COLUMNS = ("name", "price", "most", "new_domains")


@dataclass(frozen=True, repr=False)
class Scaling:
    """What ``scale`` answers. In a notebook it shows itself."""

    summary: Table
    """One row: ``cost`` and ``lower_bound`` of an hour, whether the set is proven ``cheapest`` and ``minimal``, and
    what giving back would save (``saved``)."""
    additions: Table
    """A row for each node to add: ``name``, ``type``, ``price``."""
    groups: Table
    """A row for each group that was asked about: pods that ``waited``, that are ``placed`` and where, and the
    ``reasons`` why the rest waits whatever is bought."""
    nodes: Table
    """A row for each node that was looked at: ``returned``, the moves that it takes, or what ``keeps`` it."""

    @property
    def cost(self) -> int:
        """Of all nodes to add, for an hour."""
        return int(self.summary["cost"][0])

    @property
    def lower_bound(self) -> int:
        """No set of offered nodes that lets as much start costs less."""
        return int(self.summary["lower_bound"][0])

    @property
    def cheapest(self) -> bool:
        """Proven: no cheaper set does."""
        return bool(self.summary["cheapest"][0])

    @property
    def saved(self) -> int:
        """By giving nodes back, for an hour, as far as prices are known."""
        return int(self.summary["saved"][0])

    @property
    def add(self) -> dict[str, int]:
        """How many nodes to add, by type."""
        counts: dict[str, int] = {}
        for name in self.additions["type"]:
            counts[name] = counts.get(name, 0) + 1
        return counts

    @property
    def give_back(self) -> list[str]:
        """Nodes to give back, in this order."""
        return [n for n, goes in zip(self.nodes["name"], self.nodes["returned"], strict=True) if goes]

    def __repr__(self) -> str:
        add = ", ".join(f"{count} x {name}" for name, count in self.add.items()) or "nothing"
        proof = "proven cheapest" if self.cheapest else f"no set costs less than {self.lower_bound}"
        placed, waited = int(self.groups["placed"].sum()), int(self.groups["waited"].sum())
        return "\n".join(
            [
                f"add {add}" + (f" for {self.cost} an hour; {proof}" if self.add else ""),
                f"{placed} of {waited} pods start then",
                f"give back {', '.join(self.give_back) or 'nothing'}" + (f"; saves {self.saved}" if self.saved else ""),
            ]
        )

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in (self.summary, self.additions, self.groups, self.nodes))


def scale(
    cluster: _core.Snapshot | _core.Cluster,
    types: Any = None,
    now: int = 0,
    *,
    nodes: Any = None,
    devices: Any = None,
    numa_zones: Any = None,
    engine: PolicyLike = "kai",
    queues: Iterable[str] = (),
    groups: Iterable[str] = (),
    up: bool = True,
    down: bool = True,
    strategy: Literal["search", "first_fit"] = "search",
    verifications: int = 400,
    type_label: str = "node.kubernetes.io/instance-type",
) -> Scaling:
    """Which nodes to add so that what waits starts at the least cost, and which to give back.

    ``types``: what can be had, as columns ``name``, ``price`` (of one node for an hour, an integer in a unit of your
    choice), ``most`` (how many) and, if wanted, ``new_domains`` (a dict for each type: so many nodes share a new value
    of a label, ``{"rack": 4}``); ``nodes``, ``devices``, ``numa_zones``: columns as of ``Cluster.apply``, with a node
    for each type, by its name. Or ``types`` is the path of a file ``kaisched-node-types/1`` that has all of it. None:
    ask only what can be given back.

    The cluster is decided as it is by ``engine`` (an ``Engine``, a policy by name, or a ``Policy``) at ``now``
    nanoseconds, without making anybody leave; every answer has been decided on a cluster that is so changed. Nothing
    changes. ``queues``, ``groups``: add nodes for these alone. ``up``, ``down``: which of the two is asked.
    ``verifications``: sessions that are opened for each. ``type_label`` names the type, and so the price, of nodes that
    are there.
    """
    base = cluster.snapshot() if isinstance(cluster, _core.Cluster) else cluster
    if strategy not in ("search", "first_fit"):
        raise ArgumentError(f"strategy: expected 'search' or 'first_fit', got {strategy!r}")
    told = {"nodes": nodes, "devices": devices, "numa_zones": numa_zones}
    given = {name: columns for name, columns in told.items() if columns is not None}
    file = os.fspath(types) if isinstance(types, (str, os.PathLike)) else ""
    if file and given:
        raise ArgumentError(f"{next(iter(given))}: the file {file} has all tables")
    question = {
        "queues": list(queues),
        "groups": list(groups),
        "up": up and types is not None,
        "down": down,
        "first_fit": strategy == "first_fit",
        "verifications": verifications,
        "type_label": type_label,
    }
    tables = _tables.build(given, "add", lambda: base.dimension_names)
    offers = [] if file or types is None else _offers(columns_of(types, "types"))
    found = _core.scale(engine_of(engine, {})[0], base, int(now), offers, tables, file, question)
    return Scaling(found["scaling"], found["node_addition"], found["scaled_group"], found["returned_node"])


def _offers(columns: Mapping[str, Any]) -> list[tuple[str, int, int, list[tuple[str, int]]]]:
    for name in columns:
        if name not in _TYPE_COLUMNS:
            raise ArgumentError(f"types has no column {name}; there are {', '.join(_TYPE_COLUMNS)}")
    for name in _TYPE_COLUMNS[:3]:
        if name not in columns:
            raise ArgumentError(f"types: there is no column {name}")
    names = list(columns["name"])
    price, most = (_tables.numbers(columns[name], "i64", 1, f"types, column {name}") for name in ("price", "most"))
    domains = list(columns.get("new_domains", [{}] * len(names)))
    for name, values in (("price", price), ("most", most), ("new_domains", domains)):
        if len(values) != len(names):
            raise ArgumentError(f"types, column {name}: {len(values)} rows, the column name has {len(names)}")
    return [
        (str(name), int(price[i]), int(most[i]), [(str(label), int(n)) for label, n in dict(domains[i] or {}).items()])
        for i, name in enumerate(names)
    ]
