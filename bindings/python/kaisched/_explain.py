"""Why: what a session can say about one pod or group, as text and as a page for notebooks."""

from __future__ import annotations

import html
from typing import Any

from kaisched import _core, _picture
from kaisched._enums import DecisionKind, PodStatus
from kaisched._errors import Error, NotFoundError
from kaisched._table import Table

_SHOWN_NODES = 12


class Explanation:
    """What a session says about one pod or pod group. In a notebook it shows itself, with the scores of nodes as
    bars and a picture of the cluster."""

    subject: str
    """Name of the pod or group."""
    what: str
    """``pod`` or ``pod group``."""
    sentences: list[str]
    """What became of it and why, a sentence each."""
    candidates: Table | None
    """How the nodes stand for the pod: those that can take it first, best first."""
    choice: Table | None
    """Why its node was chosen, if this session placed the pod."""
    victim: Table | None
    """Why it had to leave or move, if this session made it."""
    certificate: Table | None
    """A proof that the group cannot start, if it waits."""
    picture: str
    """The cluster at the end of the session as HTML, with the pods that are explained in green."""

    def __init__(self, session: _core.Session, subject: str, what: str, pods: list[str]) -> None:
        self.subject = subject
        self.what = what
        self.sentences = []
        self.candidates = None
        self.choice = None
        self.victim = None
        self.certificate = None
        self.picture = _picture.cluster(session.snapshot, session.placements, set(pods))

    def __repr__(self) -> str:
        lines = [f"{self.what} {self.subject}", *(f"  {sentence}" for sentence in self.sentences)]
        for name, score, note in self._nodes():
            lines.append(f"  {name:<24} {score:>12}  {note}".rstrip())
        return "\n".join(lines)

    def _nodes(self) -> list[tuple[str, str, str]]:
        """Name, score and what else there is to say of the first nodes."""
        if self.candidates is None:
            return []
        c = self.candidates
        return [
            (
                c["node_name"][i],
                f"{c['score'][i]:.6g}" if c["fits"][i] else "",
                "chosen" if c["chosen"][i] else c["text"][i],
            )
            for i in range(min(c.rows, _SHOWN_NODES))
        ]

    def _repr_html_(self) -> str:
        sentences = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.sentences)
        return (
            f"<div><b>{html.escape(self.what)} {html.escape(self.subject)}</b><ul>{sentences}</ul>"
            f"{self._bars()}{self.picture}</div>"
        )

    def _bars(self) -> str:
        c = self.candidates
        if c is None or c.rows == 0:
            return ""
        fitting = [float(c["score"][i]) for i in range(c.rows) if c["fits"][i]]
        least, most = min(fitting, default=0.0), max(fitting, default=0.0)
        rows = []
        for i, (name, score, note) in enumerate(self._nodes()):
            part = (
                (float(c["score"][i]) - least) / (most - least)
                if c["fits"][i] and most > least
                else float(c["fits"][i])
            )
            color = "#2e7d32" if c["chosen"][i] else "#90a4ae"
            bar = (
                f"<div style='width:{max(part, 0.02) * 160:.0f}px;height:10px;background:{color}'></div>"
                if c["fits"][i]
                else ""
            )
            rows.append(
                f"<tr><td style='text-align:left'>{html.escape(name)}</td><td>{bar}</td><td>{score}</td>"
                f"<td style='text-align:left'>{html.escape(note)}</td></tr>"
            )
        more = f"<p>and {c.rows - _SHOWN_NODES} more nodes</p>" if c.rows > _SHOWN_NODES else ""
        return (
            "<table><thead><tr><th>node</th><th></th><th>score</th><th></th></tr></thead><tbody>"
            f"{''.join(rows)}</tbody></table>{more}"
        )


def _texts(table: Table) -> list[str]:
    return [text for text in table["text"] if text]


def _row_of(names: list[str], ids: Any, of: str | int) -> int | None:
    if isinstance(of, str):
        return names.index(of) if of in names else None
    found = (ids == of).nonzero()[0]
    return int(found[0]) if len(found) else None


def _of_pod(session: _core.Session, row: int) -> Explanation:
    placements = session.placements
    pod = placements["pod_name"][row]
    made = Explanation(session, pod, "pod", [pod])
    decisions = session.decisions
    kinds = {
        DecisionKind(kind) for kind, name in zip(decisions["kind"], decisions["pod_name"], strict=True) if name == pod
    }
    status = PodStatus(placements["status"][row])
    node = placements["node_name"][row]
    made.sentences.append(f"is {status.name.lower().replace('_', ' ')}" + (f" on {node}" if node else ""))
    if kinds & {DecisionKind.EVICT, DecisionKind.MOVE, DecisionKind.MIGRATE}:
        made.victim = session.victim(pod)
        made.sentences += _texts(made.victim)
    if kinds & {DecisionKind.BIND, DecisionKind.PIPELINE, DecisionKind.MOVE, DecisionKind.MIGRATE}:
        made.choice = session.choice(pod)
        made.sentences += _texts(made.choice)
    if status in (PodStatus.PENDING, PodStatus.GATED):
        pods = session.snapshot.table("pods")
        group = pods["group"][pods["name"].index(pod)]
        reasons = session.reasons
        made.sentences += [reasons["text"][i] for i, name in enumerate(reasons["group_name"]) if name == group]
    try:
        made.candidates = session.candidates(pod)
    except Error:  # a pod that was on its node before, which no decision put there
        made.sentences.append("was there when the session opened")
    return made


def _of_group(session: _core.Session, group: str) -> Explanation:
    pods = session.snapshot.table("pods")
    members = [name for name, of in zip(pods["name"], pods["group"], strict=True) if of == group]
    made = Explanation(session, group, "pod group", members)
    decisions = session.decisions
    started = [
        n
        for n, g, kind in zip(decisions["pod_name"], decisions["group_name"], decisions["kind"], strict=True)
        if g == group and kind in (DecisionKind.BIND, DecisionKind.PIPELINE)
    ]
    if started:
        made.sentences.append(
            f"{len(started)} of its pods have got places: {', '.join(started[:4])}"
            + (", ..." if len(started) > 4 else "")
        )
    reasons = session.reasons
    waits = [i for i, name in enumerate(reasons["group_name"]) if name == group]
    made.sentences += [reasons["text"][i] for i in waits]
    if waits:
        made.certificate = session.certify(group)
        made.sentences += _texts(made.certificate)[:1]
        pod = next((reasons["pod"][i] for i in waits if reasons["pod"][i]), None)
        if pod is not None:
            made.candidates = session.candidates(int(pod))
    if not made.sentences:
        made.sentences.append("waits for nothing")
    return made


def explain(session: _core.Session, of: str | int) -> Explanation:
    """Why a pod is where it is, or why it or its group waits. ``of``: a name, or an identifier of a column."""
    placements = session.placements
    row = _row_of(placements["pod_name"], placements["pod"], of)
    if row is not None:
        return _of_pod(session, row)
    groups = session.snapshot.table("pod_groups")
    if isinstance(of, str) and of in groups["name"]:
        return _of_group(session, of)
    raise NotFoundError(f"there is no pod and no pod group {of!r}")
