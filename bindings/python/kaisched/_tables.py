"""Dicts of columns to the form that the extension module reads."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from kaisched import _core
from kaisched._errors import ArgumentError, UnsupportedError
from kaisched._table import columns_of

OPERATIONS = {"add": 1, "change": 2, "remove": 3}
_KINDS = {table["kind"]: table for table in _core.schema() if table["input"]}
_DTYPES: dict[str, Any] = {"u8": np.uint8, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f64": np.float64}
_ID_TYPE = 4  # u64: a column that names entities may hold their identifiers instead
_QUOTA_NAMES = ["cpu", "memory", "gpu"]

Column = tuple[int, int, int, Any]
Table = tuple[int, int, int, list[Column]]


def build(tables: Mapping[str, Any], op: str, dimensions: Any) -> list[Table]:
    """Tables for ``apply_tables``, in the order in which entities refer to each other.

    ``dimensions`` is called without arguments for the names of the resource dimensions, if a column needs them.
    """
    if op not in OPERATIONS:
        raise ArgumentError(f"op is {op!r}, expected one of {', '.join(OPERATIONS)}")
    given: dict[int, Mapping[str, Any]] = {}
    for name, columns in tables.items():
        kind = _core.kind_of(name)
        if kind not in _KINDS:
            raise UnsupportedError(f"{name} are results, not input")
        if kind in given:
            raise ArgumentError(f"{name} are given twice")
        given[kind] = columns_of(columns, name)

    order = [kind for kind in _KINDS if kind in given]
    if op == "remove":
        order.reverse()
    new_names = list(given.get(_core.kind_of("resource"), {}).get("name", ())) if op == "add" else []

    def all_dimensions() -> list[str]:
        return [*dimensions(), *new_names]

    return [_build_one(_KINDS[kind], OPERATIONS[op], given[kind], all_dimensions) for kind in order]


def _build_one(info: Any, op: int, columns: Mapping[str, Any], dimensions: Any) -> Table:
    by_name = {column["name"]: column for column in info["columns"]}
    built: list[Column] = []
    rows: int | None = None
    for name in columns:
        if name not in by_name:
            near = difflib.get_close_matches(str(name), by_name, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UnsupportedError(f"{info['name']} has no column {name}{hint}")
        where = f"{info['name']}, column {name}"
        column = by_name[name]
        values = columns[name]
        if isinstance(values, Mapping):
            values = _matrix(column, values, op, dimensions, where)
        type_id, width, values = _convert(column, values, where)
        if rows is not None and len(values) != rows:
            raise ArgumentError(f"{where}: {len(values)} rows, the columns before have {rows}")
        rows = len(values)
        built.append((column["id"], type_id, width, values))
    return info["kind"], op, rows or 0, built


def _convert(column: Any, values: Any, where: str) -> tuple[int, int, Any]:
    """Type, width and values of one column."""
    if column["refers_to"] and getattr(getattr(values, "dtype", None), "kind", "") == "u":
        return _ID_TYPE, 1, numbers(values, "u64", 1, where)
    if column["shape"] == "ragged":
        refuse_masked(values, where)
        if isinstance(values, str):
            raise ArgumentError(f"{where}: expected one entry per row, got a single text")
        # Anything that can be iterated: pandas and arrow columns, numpy arrays of texts, tuples.
        return column["type_id"], 0, values if isinstance(values, (list, tuple)) else list(values)
    array = numbers(values, column["type"], 1 if column["shape"] == "one" else 2, where)
    return column["type_id"], array.shape[1] if array.ndim == 2 else 1, array


def refuse_masked(values: Any, where: str) -> None:
    """What is masked would count as if it were there."""
    if isinstance(values, np.ma.MaskedArray):
        raise ArgumentError(f"{where}: expected values, got a masked array; use filled() or compressed()")


def numbers(values: Any, type_name: str, ndim: int, where: str) -> np.ndarray[Any, Any]:
    """A C-contiguous array of the type; no value is ever rounded, cut or wrapped."""
    refuse_masked(values, where)
    dtype = np.dtype(_DTYPES[type_name])
    try:
        array = np.asarray(values)
    except ValueError as e:
        raise ArgumentError(f"{where}: {e}") from e
    if array.size == 0:
        return np.zeros((0,) if ndim == 1 else (0, 1), dtype)
    if array.ndim != ndim:
        shape = "one value per row" if ndim == 1 else "a matrix with one row per entity or a dict by resource"
        raise ArgumentError(f"{where}: expected {shape}, got an array of shape {array.shape}")
    allowed = "biuf" if dtype.kind == "f" else "biu"
    if array.dtype.kind not in allowed:
        raise ArgumentError(f"{where}: expected {dtype}, got {array.dtype}")
    if dtype.kind != "f" and not np.can_cast(array.dtype, dtype, "safe"):
        bounds = np.iinfo(dtype)
        if int(array.min()) < bounds.min or int(array.max()) > bounds.max:
            raise ArgumentError(f"{where}: values from {array.min()} to {array.max()} do not fit {dtype}")
    return np.ascontiguousarray(array, dtype=dtype)


def _matrix(column: Any, values: Mapping[str, Any], op: int, dimensions: Any, where: str) -> Any:
    """A matrix from a dict of arrays by name of resource. Resources that are not named get the column's default."""
    if column["shape"] not in ("dimensions", "quotas"):
        raise ArgumentError(f"{where}: expected one value per row, got a dict")
    names = _QUOTA_NAMES if column["shape"] == "quotas" else dimensions()
    for name in values:
        if name not in names:
            raise ArgumentError(f"{where}: no resource is named {name}; there are {', '.join(names)}")
    missing = [name for name in names if name not in values]
    if op == OPERATIONS["change"] and missing:
        raise ArgumentError(f"{where}: a change replaces all resources; {', '.join(missing)} missing")
    arrays = {name: numbers(v, column["type"], 1, f"{where}, {name}") for name, v in values.items()}
    rows = {len(a) for a in arrays.values()}
    if len(rows) > 1:
        raise ArgumentError(f"{where}: the resources have different numbers of rows")
    default = _DTYPES[column["type"]](column["fallback"] or 0)
    matrix = np.full((rows.pop() if rows else 0, len(names)), default, dtype=_DTYPES[column["type"]])
    for name, array in arrays.items():
        matrix[:, names.index(name)] = array
    return matrix
