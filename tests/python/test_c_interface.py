"""Drives the C interface from Python with ctypes: nothing but the header's rules, and the same answers."""

import ctypes as c
import os
from pathlib import Path

import numpy as np
import pytest

import kaisched as ks


class Error(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("code", c.c_int32),
        ("where", c.c_uint32),
        ("pad", c.c_uint32),
        ("subject", c.c_uint64),
        ("message", c.c_char * 232),
    ]


class Column(c.Structure):
    _fields_ = [
        ("id", c.c_uint32),
        ("type", c.c_uint32),
        ("width", c.c_uint32),
        ("flags", c.c_uint32),
        ("data", c.c_void_p),
        ("offsets", c.POINTER(c.c_uint32)),
    ]


class Table(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("kind", c.c_uint32),
        ("op", c.c_uint32),
        ("column_count", c.c_uint32),
        ("rows", c.c_uint64),
        ("columns", c.POINTER(Column)),
    ]


DTYPES = {1: np.uint8, 2: np.uint32, 3: np.int64, 4: np.uint64, 5: np.float64}
STRING, STRING_LIST, I64_LIST = 6, 7, 8


@pytest.fixture(scope="module")
def library():
    path = os.environ.get("KAISCHED_LIBRARY")
    if path is None:
        built = sorted(Path(__file__).parents[2].glob("build/*/lib/libkaisched.so"), key=lambda p: p.stat().st_mtime)
        if not built:
            pytest.skip("libkaisched.so is not built; tests/python/run.sh builds it")
        path = str(built[-1])
    loaded = c.CDLL(path)
    loaded.kaisched_version_string.restype = c.c_char_p
    loaded.kaisched_status_name.restype = c.c_char_p
    return loaded


class Client:
    """Calls that fail raise; handles are kept and given back at the end."""

    def __init__(self, library):
        self.library = library
        self.undo = []

    def call(self, name, *arguments):
        error = Error(struct_size=c.sizeof(Error))
        status = getattr(self.library, "kaisched_" + name)(*arguments, c.byref(error))
        assert status == error.code
        if status != 0:
            raise AssertionError(f"{name}: {status} {error.message.decode()}")

    def make(self, name, give_back, *arguments):
        handle = c.c_void_p()
        self.call(name, *arguments, c.byref(handle))
        self.undo.append((give_back, handle))
        return handle

    def text(self, name, handle):
        needed = c.c_size_t()
        self.call(name, handle, None, c.c_size_t(0), c.byref(needed))
        buffer = c.create_string_buffer(needed.value)
        self.call(name, handle, buffer, needed, None)
        return buffer.value.decode()

    def table(self, name, handle, kind):
        table = c.POINTER(Table)()
        self.call(name, handle, c.c_uint32(kind), c.byref(table))
        return read_table(table.contents)

    def close(self):
        for give_back, handle in reversed(self.undo):
            function = getattr(self.library, "kaisched_" + give_back)
            function.restype = None
            function(handle)


@pytest.fixture
def client(library):
    client = Client(library)
    yield client
    client.close()


def read_table(table):
    """A table as a dict from column id to a list with one entry per row."""
    assert table.struct_size == c.sizeof(Table) == 32
    rows = table.rows
    result = {}
    for column in table.columns[: table.column_count]:
        if column.type in DTYPES:
            dtype = np.dtype(DTYPES[column.type])
            size = rows * column.width * dtype.itemsize
            values = np.frombuffer(c.string_at(column.data, size) if size else b"", dtype)
            result[column.id] = values.reshape(rows, column.width).tolist() if column.width > 1 else values.tolist()
            continue
        offsets = column.offsets[: rows + 1]
        scale = 8 if column.type == I64_LIST else 1
        data = c.string_at(column.data, offsets[-1] * scale) if offsets[-1] else b""
        pieces = [data[a * scale : b * scale] for a, b in zip(offsets, offsets[1:], strict=False)]
        if column.type == STRING:
            result[column.id] = [p.decode() for p in pieces]
        elif column.type == STRING_LIST:
            result[column.id] = [[e.decode() for e in p.split(b"\0")[:-1]] for p in pieces]
        else:
            result[column.id] = [np.frombuffer(p, np.int64).tolist() for p in pieces]
    return result


def write_table(info, columns):
    """A table to add entities, and what must stay alive while it is used."""
    kept, written = [], []
    rows = len(next(iter(columns.values())))
    for column in info["columns"]:
        if column["name"] not in columns:
            continue
        values = columns[column["name"]]
        entry = Column(id=column["id"], type=column["type_id"])
        if column["type_id"] in DTYPES:
            array = np.ascontiguousarray(values, DTYPES[column["type_id"]])
            entry.width = array.shape[1] if array.ndim == 2 else 1
            entry.data = array.ctypes.data
            kept.append(array)
        else:
            if column["type_id"] == STRING:
                pieces, scale = [v.encode() for v in values], 1
            elif column["type_id"] == STRING_LIST:
                pieces, scale = [b"".join(e.encode() + b"\0" for e in v) for v in values], 1
            else:
                pieces, scale = [np.asarray(v, np.int64).tobytes() for v in values], 8
            offsets = np.concatenate([[0], np.cumsum([len(p) // scale for p in pieces])]).astype(np.uint32)
            data = c.create_string_buffer(b"".join(pieces))
            entry.data = c.cast(data, c.c_void_p)
            entry.offsets = offsets.ctypes.data_as(c.POINTER(c.c_uint32))
            kept += [data, offsets]
        written.append(entry)
    array = (Column * len(written))(*written)
    table = Table(c.sizeof(Table), info["kind"], 1, len(written), rows, array)
    return table, (kept, array)


def plain(columns, info):
    """A dict of columns of the package, in the form of `read_table`."""
    ids = {column["name"]: column["id"] for column in info["columns"]}
    result = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            result[ids[name]] = values.tolist()
        else:
            result[ids[name]] = [v if isinstance(v, str) else list(v) for v in values]
    return result


def test_same_library(library):
    assert c.sizeof(Error) == 256
    assert library.kaisched_version_string().decode() == ks.__version__
    assert library.kaisched_status_name(-21) == b"stale_id"


def test_same_answers_through_both_interfaces(client, cluster):
    cluster.apply(devices={"node": ["n1"] * 8, "index": range(8), "links": [[7] * 8] * 8})
    snapshot = cluster.snapshot()
    infos = {info["name"]: info for info in ks.schema()}

    handle = client.make("cluster_create", "cluster_destroy")
    written = [write_table(i, snapshot.table(i["name"])) for i in infos.values() if i["input"]]
    pointers = (c.POINTER(Table) * len(written))(*(c.pointer(table) for table, _ in written))
    client.call("cluster_apply", handle, pointers, c.c_size_t(len(written)))
    c_snapshot = client.make("cluster_snapshot", "snapshot_release", handle)
    assert client.text("snapshot_digest", c_snapshot) == snapshot.digest
    for info in infos.values():
        if info["input"]:
            assert client.table("snapshot_table", c_snapshot, info["kind"]) == plain(snapshot.table(info["name"]), info)

    engine = client.make("engine_create", "engine_destroy", c.c_uint32(1), None, c.c_size_t(0))
    c_session = client.make("run", "session_close", engine, c_snapshot, c.c_int64(9))
    session = ks.Engine().run(snapshot, now=9)
    assert client.text("session_digest", c_session) == session.digest
    results = {
        "reason": session.reasons,
        "decision": session.decisions,
        "placement": session.placements,
        "statistic": session.statistics,
        "attempt": session.attempts,
        "queue_share": session.queue_shares,
    }
    for name, columns in results.items():
        read = client.table("session_table", c_session, infos[name]["kind"])
        identifiers = {col["id"] for col in infos[name]["columns"] if col["unit"] == "id"}  # those of another cluster
        expected = plain(columns, infos[name])
        for column in expected.keys() - identifiers:
            assert read[column] == expected[column], (name, column)


def test_snapshots_travel_between_the_interfaces(client, snapshot):
    data = snapshot.save()
    handle = client.make("snapshot_load", "snapshot_release", data, c.c_size_t(len(data)))
    assert client.text("snapshot_digest", handle) == snapshot.digest


def test_errors_name_function_and_place(client, library):
    error = Error(struct_size=c.sizeof(Error))
    handle = client.make("cluster_create", "cluster_destroy")
    found = c.c_uint64(5)
    status = library.kaisched_cluster_find(handle, c.c_uint32(4), b"nobody", c.byref(found), c.byref(error))
    assert (status, error.code, error.where, found.value) == (-20, -20, 22, 0)
    assert b"nobody" in error.message
