"""The mutable model of a cluster."""

from __future__ import annotations

from typing import Any

from kaisched import _core, _tables


class Cluster(_core.Cluster):
    """Nodes, devices, topologies, queues, pod groups and pods, fed by tables of changes.

    ``on_invalid`` says what becomes of bad rows: ``"reject"`` refuses the whole delta, ``"quarantine"`` leaves out the
    row and what depends on it; ``snapshot().table("quarantine")`` then says what and why.
    """

    def __init__(self, on_invalid: str = "reject") -> None:
        super().__init__()
        self.set("on_invalid", on_invalid)

    def set(self, option: str, value: str) -> None:
        """Sets one option of clusters, for the deltas that follow."""
        self.set_text(option, value)

    def get(self, option: str) -> str:
        """Value of one option."""
        return self.get_text(option)

    def apply(self, *, op: str = "add", **tables: Any) -> None:
        """Applies tables: all of them, or none if any row is bad.

        Each keyword is a kind of table (``nodes``, ``queues``, ``pod_groups``, ``pods``...), each value a dict of
        columns with one entry per row, a data frame (pandas, Polars, whatever offers ``__dataframe__``) or an Arrow
        table (``__arrow_c_stream__``). Numbers: anything that numpy makes an integer or float array of, without
        rounding. Texts: sequences of str; lists of texts or numbers: sequences of sequences. Columns with one value per
        resource (``capacity``, ``request``, ``quota``, ``limit``...): a matrix, or a dict of arrays by resource.
        Columns that name another entity: names, or identifiers as uint64.

        ``op`` is ``"add"`` for new entities, ``"change"`` to set the given columns of named ones, ``"remove"``.
        Entities are added before what refers to them and removed after. Input is copied; arrays must not change
        during the call.
        """
        self.apply_tables(_tables.build(tables, op, lambda: self.snapshot().dimension_names))
