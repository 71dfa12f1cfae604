#!/usr/bin/env python3
"""From nothing to a decision with the Python standard library alone: python3 main.py [PRESET]

KAISCHED_LIBRARY is the path of libkaisched.so; without it the loader looks for it. Where an extension module may be
built, `pip install .` gives the package `kaisched`, which does all of this in ten lines.
"""

import ctypes
import os
import sys
from contextlib import ExitStack
from ctypes import POINTER, byref, c_char, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

# ---- kaisched.h: what this program uses of it ------------------------------------------------------------------------

ABI_VERSION = 0x00000001
OP_ADD = 1
TYPE_I64 = 3
TABLE_QUEUE, TABLE_NODE, TABLE_POD_GROUP, TABLE_POD, TABLE_DECISION, TABLE_REASON = 3, 4, 6, 8, 32, 33
QUEUE_NAME = 1
NODE_NAME, NODE_CAPACITY = 1, 2
GROUP_NAME, GROUP_QUEUE, GROUP_MIN_MEMBER = 1, 2, 6
POD_NAME, POD_GROUP, POD_REQUEST = 1, 2, 4
DECISION_KIND, DECISION_DEVICES, DECISION_POD_NAME, DECISION_NODE_NAME = 1, 5, 9, 10
REASON_GROUP_NAME, REASON_TEXT = 2, 12


class Error(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("code", c_int32), ("where", c_uint32), ("pad", c_uint32),
                ("subject", c_uint64), ("message", c_char * 232)]  # fmt: skip


class Col(ctypes.Structure):
    _fields_ = [("id", c_uint32), ("type", c_uint32), ("width", c_uint32), ("flags", c_uint32),
                ("data", c_void_p), ("offsets", POINTER(c_uint32))]  # fmt: skip


class Table(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("kind", c_uint32), ("op", c_uint32), ("column_count", c_uint32),
                ("rows", c_uint64), ("columns", POINTER(Col))]  # fmt: skip

    def column(self, id: int) -> Col:
        return next(c for c in self.columns[: self.column_count] if c.id == id)

    def texts(self, id: int) -> list[str]:
        c = self.column(id)
        start, ends = c.data or 0, c.offsets  # the data is NULL where no row has a text
        return [ctypes.string_at(start + ends[i], ends[i + 1] - ends[i]).decode() for i in range(self.rows)]

    def lists(self, id: int) -> list[list[int]]:
        c = self.column(id)
        values = ctypes.cast(c.data, POINTER(c_int64))
        return [values[c.offsets[i] : c.offsets[i + 1]] for i in range(self.rows)]

    def bytes(self, id: int) -> list[int]:
        return ctypes.cast(self.column(id).data, POINTER(c_uint8))[: self.rows]


class KeyValue(ctypes.Structure):
    _fields_ = [("key", c_char_p), ("value", c_char_p)]


# The header promises these sizes for ever; another one means that the declarations above are wrong.
assert [ctypes.sizeof(t) for t in (Error, Col, Table, KeyValue)] == [256, 32, 32, 16]

# Every one of these returns a status and takes an error as its last argument; handles are c_void_p.
FALLIBLE = {
    "engine_create": [c_uint32, POINTER(KeyValue), c_size_t, POINTER(c_void_p)],
    "cluster_create": [POINTER(c_void_p)],
    "cluster_apply": [c_void_p, POINTER(POINTER(Table)), c_size_t],
    "cluster_snapshot": [c_void_p, POINTER(c_void_p)],
    "run": [c_void_p, c_void_p, c_int64, POINTER(c_void_p)],
    "session_table": [c_void_p, c_uint32, POINTER(POINTER(Table))],
    "staging_create": [c_uint32, c_uint32, c_uint64, POINTER(c_void_p)],
    "staging_texts": [c_void_p, c_uint32, c_char_p, c_size_t],
    "staging_numbers": [c_void_p, c_uint32, c_uint32, c_uint32, POINTER(c_void_p)],
    "staging_table": [c_void_p, POINTER(POINTER(Table))],
}
GIVE_BACK = ["engine_destroy", "cluster_destroy", "snapshot_release", "session_close", "staging_destroy"]


class KaischedError(Exception):
    """What a failed call says: the name of its status and the sentence of its kaisched_error."""


class Library:
    def __init__(self, path: str) -> None:
        self._so = ctypes.CDLL(path)
        self._so.kaisched_abi_version.restype = c_uint32
        self._so.kaisched_status_name.restype = c_char_p
        self._so.kaisched_value_name.argtypes = [c_uint32, c_uint32, c_uint64]
        self._so.kaisched_value_name.restype = c_char_p
        loaded = self._so.kaisched_abi_version()
        if loaded >> 16 != ABI_VERSION >> 16 or loaded < ABI_VERSION:  # before anything else is called
            raise KaischedError(f"abi: {path} has version {loaded:#x}, this program needs {ABI_VERSION:#x}")
        for name, arguments in FALLIBLE.items():
            function = getattr(self._so, f"kaisched_{name}")
            function.argtypes, function.restype = [*arguments, POINTER(Error)], c_int32
        for name in GIVE_BACK:
            function = getattr(self._so, f"kaisched_{name}")
            function.argtypes, function.restype = [c_void_p], None

    def call(self, name: str, *arguments) -> None:
        error = Error(struct_size=ctypes.sizeof(Error))
        status = getattr(self._so, f"kaisched_{name}")(*arguments, byref(error))
        if status != 0:
            raise KaischedError(f"{self._so.kaisched_status_name(status).decode()}: {error.message.decode()}")

    def handle(self, stack: ExitStack, name: str, give_back: str, *arguments) -> c_void_p:
        """Calls a function whose last argument receives a handle, which is given back when the stack unwinds."""
        made = c_void_p()
        self.call(name, *arguments, byref(made))
        stack.callback(getattr(self._so, f"kaisched_{give_back}"), made)
        return made

    def staged(self, stack: ExitStack, kind: int, rows: int, columns: dict) -> POINTER(Table):
        """A table in memory of the library, where no garbage collector moves it. A column is a list with one text, one
        number or one tuple of numbers for each row."""
        staging = self.handle(stack, "staging_create", "staging_destroy", kind, OP_ADD, rows)
        for id, values in columns.items():
            if isinstance(values[0], str):
                texts = "".join(text + "\0" for text in values).encode()
                self.call("staging_texts", staging, id, texts, len(texts))
            else:
                flat = [number for row in values for number in (row if isinstance(row, tuple) else (row,))]
                memory = c_void_p()
                self.call("staging_numbers", staging, id, TYPE_I64, len(flat) // rows, byref(memory))
                ctypes.memmove(memory, (c_int64 * len(flat))(*flat), 8 * len(flat))
        table = POINTER(Table)()
        self.call("staging_table", staging, byref(table))
        return table

    def table(self, session: c_void_p, kind: int) -> Table:
        """A result, borrowed until the session is closed."""
        table = POINTER(Table)()
        self.call("session_table", session, kind, byref(table))
        return table.contents

    def value_name(self, kind: int, column: int, value: int) -> str:
        return self._so.kaisched_value_name(kind, column, value).decode()


# ---- the program -----------------------------------------------------------------------------------------------------


def main(preset: str) -> None:
    library = Library(os.environ.get("KAISCHED_LIBRARY", "libkaisched.so"))
    with ExitStack() as stack:  # gives everything back, the last one first, also when something fails
        options = (KeyValue * 1)((b"preset", preset.encode()))
        engine = library.handle(stack, "engine_create", "engine_destroy", ABI_VERSION, options, len(options))
        cluster = library.handle(stack, "cluster_create", "cluster_destroy")

        node = (64_000, 512 << 30, 8000, 110)  # milli-cores, bytes, milli-GPU, pods
        large, small = (8000, 64 << 30, 6000), (8000, 64 << 30, 4000)
        tables = [
            library.staged(stack, TABLE_NODE, 2, {NODE_NAME: ["node-1", "node-2"], NODE_CAPACITY: [node, node]}),
            library.staged(stack, TABLE_QUEUE, 1, {QUEUE_NAME: ["team"]}),
            library.staged(stack, TABLE_POD_GROUP, 2, {
                GROUP_NAME: ["train", "tune"],
                GROUP_QUEUE: ["team", "team"],
                GROUP_MIN_MEMBER: [2, 2],
            }),
            library.staged(stack, TABLE_POD, 4, {
                POD_NAME: ["train-0", "train-1", "tune-0", "tune-1"],
                POD_GROUP: ["train", "train", "tune", "tune"],
                POD_REQUEST: [large, large, small, small],
            }),
        ]  # fmt: skip
        library.call("cluster_apply", cluster, (POINTER(Table) * len(tables))(*tables), len(tables))

        snapshot = library.handle(stack, "cluster_snapshot", "snapshot_release", cluster)
        session = library.handle(stack, "run", "session_close", engine, snapshot, 0)  # time is an argument

        made = library.table(session, TABLE_DECISION)
        pods, nodes = made.texts(DECISION_POD_NAME), made.texts(DECISION_NODE_NAME)
        kinds = [library.value_name(TABLE_DECISION, DECISION_KIND, kind) for kind in made.bytes(DECISION_KIND)]
        for kind, pod, node_name, devices in zip(kinds, pods, nodes, made.lists(DECISION_DEVICES)):
            if kind != "unschedulable":  # the reasons say more about those
                print(f"{kind} {pod} on {node_name}, GPUs", *devices)
        reasons = library.table(session, TABLE_REASON)
        for group, text in zip(reasons.texts(REASON_GROUP_NAME), reasons.texts(REASON_TEXT)):
            print(f"{group} waits: {text}")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "kai")
    except (KaischedError, OSError) as failure:
        sys.exit(str(failure))
