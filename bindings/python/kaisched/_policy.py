"""Policies that are written in Python."""

from __future__ import annotations

from typing import Any

from kaisched import _core


class Policy:
    """A part of a policy: the methods that a class derived from it has are asked with arrays, the others are not.

    >>> import numpy as np, kaisched as ks
    >>> class LargestFirst(ks.Policy):
    ...     def order_groups(self, view, groups):
    ...         return -view.group_gpus(groups)
    >>> w = ks.Workload({"run_time": [60, 60], "gpus": [1, 8]})
    >>> ks.simulate(w, nodes="1x8", policy=LargestFirst()).jobs["start"].tolist()
    [60.0, 0.0]

    Rows are int64 numbers; ``view`` (a ``SessionView``) says what they stand for, and can be used until the method
    returns.

    ``order_groups(view, groups)``
        when groups are lined up: keys, int64 [n] or [n, 2]; the smaller first, equal ones are left to the next part.
    ``filter_nodes(view, pod, nodes)``
        for each pod: bool [n], True: the node may be used.
    ``score_nodes(view, pod, nodes)``
        for each pod, or each class of pods: float64 [n], added to what other parts say; the largest sum wins.
    ``divide_shares(view, queues, shares)``
        once per session: fair shares, int64 [n, 3] in milli-cores, bytes and milli-GPU; ``shares``: as divided before.
    ``judge_victims(view, action, waiting, groups)``
        for each group that would make others leave: bool [n], True: the group is spared.
    ``permit(view, group, pods)``
        before pods that have places start: bool.
    ``session_open(view)``, ``session_close()``
        once per session: nothing.

    What a method says must depend on its arguments only: no clock, no randomness, else plays cannot be repeated.
    """

    name: str = ""
    """As the option ``parts`` names it; empty: the name of the class."""
    base: str = "fifo-skip"
    """The policy by name whose parts follow this one where ``simulate`` is told this policy alone."""
    scores_by_class: bool = False
    """The score of a node follows from the class of the pod and from what that node is and holds, whatever other nodes
    there are. Where this holds for all parts that score, as for those of ``best-fit``, ``score_nodes`` is asked once
    per class, and again only about nodes that have changed."""
    order_is_shared: bool = False
    """The key of a group depends on what other groups hold: then ``order_groups`` is asked again after every start."""

    def create(self) -> Any:
        """The object that one session asks. Policies that keep something between calls give back a new one."""
        return self

    def session_open(self, view: _core.SessionView) -> None:
        """Called once before the first action of a session."""

    def session_close(self) -> None:
        """Called once after the last action."""


def name_of(policy: Policy) -> str:
    """The name under which an engine knows a policy."""
    return policy.name or type(policy).__name__
