"""Tables of columns: what the package gives, and what it takes."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kaisched import _core
from kaisched._errors import ArgumentError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_DIMENSIONS = ("cpu", "memory", "gpu", "pods")
_SCHEMA = {table["name"]: {c["name"]: c["type"] for c in table["columns"]} for table in _core.schema()}
_SHOWN_ROWS = 10
_SHOWN_ROWS_HTML = 20


class Table(dict[str, Any]):
    """A dict of columns, by name: numbers are read-only numpy arrays, texts lists of str, lists of them lists of lists.

    Arrays with two dimensions have a row per row of the table. The memory of the library is shared, not copied, and
    lives as long as any array. Data frames are made without a word about columns: ``table.to_pandas()``,
    ``table.to_polars()``, ``table.to_arrow()``, and whatever else reads an Arrow C stream.
    """

    name: str
    """What is in the rows: ``decision``, ``job``..."""

    def __init__(self, columns: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), name: str = "") -> None:
        super().__init__(columns)
        self.name = name
        for key, values in self.items():
            if isinstance(values, np.ndarray) and values.flags.writeable:
                shown = values.view()
                shown.flags.writeable = False
                self[key] = shown

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def copy(self) -> Table:
        """A table of its own with the same columns."""
        return Table(self, self.name)

    def __reduce__(self) -> tuple[type[Table], tuple[dict[str, Any], str]]:
        return Table, (dict(self), self.name)

    def select(self, which: Any) -> Table:
        """The rows that a mask, a slice or row numbers name, as a table of their own."""
        if not isinstance(which, slice):
            which = np.asarray(which)
            if which.dtype == bool and len(which) != self.rows:
                raise ArgumentError(f"the mask has {len(which)} rows, the table {self.name} has {self.rows}")
            which = np.flatnonzero(which) if which.dtype == bool else which.astype(np.int64)

        def part(values: Any) -> Any:
            if isinstance(values, np.ndarray) or isinstance(which, slice):
                return values[which]
            return [values[i] for i in which.tolist()]

        return Table({name: part(values) for name, values in self.items()}, self.name)

    # ---- other libraries

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as one record batch. The memory of numbers is shared. Arrow's own form is the only one given."""
        return _core.arrow_stream([(name, self._form(name), values) for name, values in self.items()], self.rows)

    def _form(self, name: str) -> str:
        values = self[name]
        if isinstance(values, np.ndarray):
            return "numbers"
        known = _SCHEMA.get(self.name, {}).get(name)
        if known in ("string", "string_list", "i64_list"):
            return str(known)
        if not values or isinstance(values[0], str):
            return "string"
        return "string_list" if all(isinstance(v, str) for row in values for v in row) else "i64_list"

    def to_arrow(self) -> pyarrow.Table:
        """A ``pyarrow.Table`` over the same memory."""
        import pyarrow

        return pyarrow.table(_Stream(self))

    def to_polars(self) -> polars.DataFrame:
        """A ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(_Stream(self))

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``; of a column with a value per resource one column each: ``capacity.gpu``."""
        import pandas

        return pandas.DataFrame(dict(self._flat()))

    def _flat(self) -> Iterable[tuple[str, Any]]:
        for name, values in self.items():
            if not isinstance(values, np.ndarray) or values.ndim == 1:
                yield name, values
                continue
            for i in range(values.shape[1]):
                yield f"{name}.{_DIMENSIONS[i] if i < len(_DIMENSIONS) else i}", values[:, i]

    # ---- for people

    def _shown(self, rows: int) -> tuple[list[str], list[list[str]]]:
        names, columns = [], []
        for name, values in self._flat():
            names.append(name)
            columns.append([_text(value) for value in values[:rows]])
        return names, [list(row) for row in zip(*columns, strict=True)]

    def __repr__(self) -> str:
        names, rows = self._shown(_SHOWN_ROWS)
        lines = [f"Table {self.name}: {self.rows} rows"] if self.rows != 1 else [f"Table {self.name}: 1 row"]
        widths = [max(len(cell) for cell in cells) for cells in zip(names, *rows, strict=True)]
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in [names, *rows]
        ]
        return "\n".join([*lines, "..."] if self.rows > _SHOWN_ROWS else lines)

    def _repr_html_(self) -> str:
        names, rows = self._shown(_SHOWN_ROWS_HTML)

        def cells(tag: str, texts: Sequence[str]) -> str:
            return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)

        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
        more = f"; the first {_SHOWN_ROWS_HTML} are shown" if self.rows > _SHOWN_ROWS_HTML else ""
        return (
            f'<div style="overflow-x:auto"><table><caption style="text-align:left">{html.escape(self.name)}: '
            f"{self.rows} row{'s' if self.rows != 1 else ''}{more}</caption>"
            f"<thead><tr>{cells('th', names)}</tr></thead><tbody>{body}</tbody></table></div>"
        )


class _Stream:
    """A table as nothing but a stream: as a dict it would be read column by column."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.6g}"
    if isinstance(value, (list, np.ndarray)):
        return ", ".join(map(str, value))
    return str(value)


# ---- tables of others ------------------------------------------------------------------------------------------------


def columns_of(source: Any, what: str) -> Mapping[str, Any]:
    """Columns by name of a dict, a data frame, or anything that speaks one of the interchange protocols."""
    if isinstance(source, Mapping):
        return source
    if hasattr(source, "keys") and hasattr(source, "__getitem__"):
        return {name: source[name] for name in source.keys()}  # noqa: SIM118 - a data frame iterates differently
    if hasattr(source, "__arrow_c_stream__"):
        found: dict[str, Any] = _core.arrow_columns(source.__arrow_c_stream__())
        return found
    if hasattr(source, "__dataframe__"):
        frame = source.__dataframe__()
        return {
            name: _exchanged(frame.get_column_by_name(name), f"{what}, column {name}") for name in frame.column_names()
        }
    raise ArgumentError(
        f"{what}: expected a dict of columns, a data frame or an Arrow table, got {type(source).__name__}"
    )


_KINDS = {0: "i", 1: "u", 2: "f", 20: "b"}  # DtypeKind of the protocol; 21 are texts
_TEXT = 21


def _buffer(buffer: Any, dtype: np.dtype[Any], count: int) -> np.ndarray[Any, Any]:
    """A copy of the memory of a column: whoever offered it may go."""
    import ctypes

    raw = (ctypes.c_char * (count * dtype.itemsize)).from_address(buffer.ptr).raw if count else b""
    return np.frombuffer(raw, dtype, count)


def _exchanged(column: Any, where: str) -> Any:
    """Values of a column of the data frame interchange protocol."""
    kind, bits, _, _ = column.dtype
    pieces: list[Any] = []
    for chunk in column.get_chunks():
        if chunk.null_count:
            raise ArgumentError(f"{where}: {chunk.null_count} values are missing")
        size, first = chunk.size(), chunk.offset
        data, _ = chunk.get_buffers()["data"]
        if kind == _TEXT:
            ends_buffer, (_, end_bits, _, _) = chunk.get_buffers()["offsets"]
            ends = _buffer(ends_buffer, np.dtype(f"i{end_bits // 8}"), first + size + 1)[first:]
            text = _buffer(data, np.dtype("u1"), int(ends[-1])).tobytes()
            pieces.append([text[a:b].decode() for a, b in zip(ends[:-1], ends[1:], strict=True)])
        elif kind in _KINDS and bits >= 8:
            pieces.append(_buffer(data, np.dtype(f"{_KINDS[kind]}{bits // 8}"), first + size)[first:])
        else:
            raise ArgumentError(f"{where}: values of kind {kind} with {bits} bits are not read")
    if kind == _TEXT:
        return [text for piece in pieces for text in piece]
    return np.concatenate(pieces) if pieces else np.zeros(0)
