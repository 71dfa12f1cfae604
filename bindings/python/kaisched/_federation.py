"""Many clusters with one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kaisched import _core, _tables
from kaisched._errors import ArgumentError
from kaisched._simulation import PolicyLike, engine_of
from kaisched._table import Table, columns_of


@dataclass(frozen=True, repr=False)
class FederationReport:
    """What a federation has decided. In a notebook it shows itself."""

    placed: Table
    """Groups that got a member: which one, why (``by``) and not the ``runner_up``, in which ``stage`` they are."""
    waits: Table
    """Groups that wait, in the order of the line: how it stands with every member (``verdicts`` of ``members``), and
    where they would start first."""
    members: Table
    """Who decided, by round, with the digest of its session; and members that failed, with the reason."""
    sessions: list[_core.Session]
    """The sessions of members, in the order of the rows of ``members``."""
    digest: str
    """SHA-256 over who got which member, who waits, and all sessions."""

    def __repr__(self) -> str:
        lines = [
            f"{group}: {member}" + (f"; {by} and not {other}" if other else "")
            for group, member, by, other in zip(
                self.placed["group_name"],
                self.placed["member"],
                self.placed["by"],
                self.placed["runner_up"],
                strict=True,
            )
        ]
        return "\n".join([*lines, f"{self.waits.rows} wait"])

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in (self.placed, self.waits, self.members))


class Federation(_core.Federation):
    """Clusters that share one line of pod groups and one tree of queues.

    A group is in one member or in none. ``order``: what is better about one member than about another, first first, of
    ``preference``, ``data``, ``price``, ``entitlement``, ``wait``, ``fit``; None: all in this order. ``fit``: ``pack``
    keeps members free for large gangs, ``spread`` does not. ``window``: groups that are sent before members decide, 0:
    all. ``rounds``: times that members decide in one ``decide``. ``room_asked``: members that are asked to make room
    for a group that fits nowhere as it is.
    """

    def __init__(
        self,
        *,
        order: Iterable[str] | None = None,
        fit: Literal["pack", "spread"] = "pack",
        window: int = 0,
        rounds: int = 64,
        room_asked: int = 1,
    ) -> None:
        super().__init__(None if order is None else list(order), fit, window, rounds, room_asked)
        self._dimensions = ["cpu", "memory", "gpu", "pods"]

    def add(
        self,
        name: str,
        cluster: _core.Cluster,
        engine: PolicyLike = "kai",
        *,
        labels: Mapping[str, str] | None = None,
        price: int = 0,
        data: Iterable[str] = (),
        open: bool = True,
    ) -> None:
        """Adds a cluster of this process, and the engine that decides in it: an ``Engine``, a policy by name, or a
        ``Policy``. You go on to feed the cluster; what is decided is in it already. ``price``: of a GPU for an hour, an
        integer in a unit of your choice; ``data``: keys of data that are there; ``open``: takes new groups.
        """
        if not isinstance(cluster, _core.Cluster):
            raise ArgumentError(f"cluster: expected a Cluster, got {type(cluster).__name__}")
        self.add_member(name, cluster, engine_of(engine, {})[0], _pairs(labels), price, list(data), open)

    def add_known(
        self,
        name: str,
        summary: str,
        *,
        labels: Mapping[str, str] | None = None,
        price: int = 0,
        data: Iterable[str] = (),
        open: bool = True,
    ) -> None:
        """Adds a member that is elsewhere and known by its ``summary``, the JSON of ``summary`` there. Groups are
        offered to it, and ``answer`` tells what has become of them."""
        self.add_known_member(name, summary, _pairs(labels), price, list(data), open)

    def change(
        self,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        price: int = 0,
        data: Iterable[str] = (),
        open: bool = True,
    ) -> None:
        """Replaces what is said about a member. ``open=False``: no new groups, those that are there stay."""
        self.change_member(name, _pairs(labels), price, list(data), open)

    def submit(self, *, op: str = "add", **tables: Any) -> None:
        """Takes tables in, as ``Cluster.apply``: resources, topologies and queues over all members, and whole groups
        that wait (``pod_groups``, ``sub_groups``, ``pods``). All or none."""
        self.submit_tables(_tables.build(tables, op, lambda: self._dimensions))
        for kind in ("resource", "resources"):
            if kind in tables and op == "add":
                self._dimensions += [str(name) for name in columns_of(tables[kind], kind)["name"]]

    def wish(
        self,
        group: str,
        *,
        members: Iterable[str] = (),
        required: Mapping[str, str] | None = None,
        preferred: Iterable[tuple[str, str, int]] = (),
        data: Mapping[str, int] | None = None,
        most_price: int | None = None,
    ) -> None:
        """What a group says about members, instead of what it said before: ``members``, only these; ``required``,
        labels that the member has; ``preferred``, labels as (key, value, weight); ``data``, keys and what it costs to
        have the data elsewhere, such as gigabytes; ``most_price``, of a GPU for an hour."""
        if most_price is not None and most_price < 0:
            raise ArgumentError(f"most_price: is {most_price}, expected 0 or more")
        limit = _core.UNLIMITED if most_price is None else most_price
        weights = list((data or {}).items())
        self.wish_for(group, list(members), _pairs(required), list(preferred), weights, limit)

    def decide(self, now: int = 0) -> FederationReport:
        """Decides at ``now`` nanoseconds: groups go to their best members, the engines of these decide, and who is not
        started goes on to the next one. What is decided is in the clusters of the members; carry it out and tell them
        as ever."""
        made = self.decide_tables(now)
        return FederationReport(
            made["federated_place"], made["federated_wait"], made["member_session"], made["sessions"], made["digest"]
        )


def _pairs(labels: Mapping[str, str] | None) -> list[tuple[str, str]]:
    return [(str(key), str(value)) for key, value in (labels or {}).items()]
