"""Tables of other libraries, in and out. Those of pandas, Polars and pyarrow are tried where these are installed."""

import gc
import warnings

import numpy as np
import pytest

import kaisched as ks


class Stream:
    """Something that shows an Arrow stream and nothing else."""

    def __init__(self, *columns, rows):
        self.columns, self.rows = columns, rows

    def __arrow_c_stream__(self, requested_schema=None):
        return ks._core.arrow_stream(self.columns, self.rows)


def test_every_form_comes_back():
    numbers = {
        str(np.dtype(t)): np.arange(-2 if np.dtype(t).kind != "u" else 0, 3).astype(t)[-3:]
        for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?")
    }
    texts = {
        "text": ["", "größe", "x" * 100],
        "list": [["a", ""], [], ["量"]],
        "integers": [[1, 2], [], [-5]],
        "matrix": np.arange(6).reshape(3, 2),
    }
    table = ks.Table(numbers | texts, "made")
    columns = ks._core.arrow_columns(table.__arrow_c_stream__())
    assert columns.keys() == table.keys()
    for name in numbers:
        assert columns[name].dtype == table[name].dtype and (columns[name] == table[name]).all()
    assert columns["text"] == texts["text"] and columns["list"] == texts["list"]
    assert [row.tolist() for row in columns["integers"]] == texts["integers"]
    assert columns["matrix"].tolist() == texts["matrix"].tolist()


def test_memory_is_shared_and_kept():
    array = np.arange(1000)
    stream = ks.Table({"a": array}).__arrow_c_stream__()
    address = array.ctypes.data
    del array
    gc.collect()
    column = ks._core.arrow_columns(stream)["a"]
    del stream
    gc.collect()
    assert column.ctypes.data == address and column.sum() == 499500 and not column.flags.writeable


def test_streams_that_cannot_be_read():
    stream = ks.Table({"a": np.arange(3)}).__arrow_c_stream__()
    ks._core.arrow_columns(stream)
    with pytest.raises(ks.StateError, match="read already"):
        ks._core.arrow_columns(stream)
    with pytest.raises(TypeError):
        ks._core.arrow_columns(object())
    with pytest.raises(ks.UnsupportedError, match="complex128"):
        ks.Table({"a": np.zeros(2, complex)}).__arrow_c_stream__()
    with pytest.raises(ks.ArgumentError, match="column b has 1 rows"):
        ks._core.arrow_stream([("a", "numbers", np.zeros(2)), ("b", "string", ["x"])], 2)


def test_tables_of_the_library_are_streams(snapshot):
    """All kinds of tables, with rows and without, give the columns that they have."""
    session = ks.Engine().run(snapshot)
    tables = [
        session.decisions,
        session.reasons,
        session.placements,
        session.queue_shares,
        session.statistics,
        session.attempts,
        session.candidates("giant-0"),
        session.certify("giant"),
    ]
    tables += [snapshot.table(info["name"]) for info in ks.schema() if info["input"]]
    for table in tables:
        columns = ks._core.arrow_columns(table.__arrow_c_stream__())
        assert list(columns) == list(table), table.name
        for name, values in table.items():
            assert len(columns[name]) == len(values) == table.rows


def test_a_cluster_takes_streams_and_frames(tables):
    pods = [
        ("name", "string", ["gang-0", "gang-1", "giant-0"]),
        ("group", "string", ["gang", "gang", "giant"]),
        ("request", "numbers", np.array([[1000, 0, 8000, 1], [1000, 0, 8000, 1], [1000, 0, 16000, 1]])),
    ]
    expected = ks.Cluster()
    expected.apply(**tables)
    cluster = ks.Cluster()
    cluster.apply(**tables | {"pods": Stream(*pods, rows=3)})
    assert cluster.snapshot().digest == expected.snapshot().digest
    copy = ks.Cluster()
    for info in ks.schema():
        if info["input"]:
            table = cluster.snapshot().table(info["name"])
            copy.apply(**{info["name"]: Stream(*[(n, table._form(n), v) for n, v in table.items()], rows=table.rows)})
    assert copy.snapshot().digest == expected.snapshot().digest
    with pytest.raises(ks.ArgumentError, match="queues: expected a dict of columns, a data frame or an Arrow table"):
        cluster.apply(queues=[1])


def test_pandas(tables, snapshot):
    pandas = pytest.importorskip("pandas")
    w = ks.Workload.generate(30, queues=2)
    frame = w.jobs.to_pandas()
    assert ks.Workload(frame) == w and len(frame) == 30
    frame["submit"] = pandas.to_timedelta(frame["submit"], unit="s")
    assert np.abs(ks.Workload(frame).submit - w.submit).max() < 1e-6
    frame["estimate"] = pandas.Series([pandas.NA] * 29 + [60.0], dtype="Float64")
    assert ks.Workload(frame).jobs["estimate"][-1] == 60
    nodes = snapshot.table("nodes").to_pandas()
    assert nodes["capacity.gpu"].tolist() == [8000, 8000]
    cluster = ks.Cluster()
    cluster.apply(queues=pandas.DataFrame({"name": ["a", "b"], "priority": [1, 2]}))
    assert cluster.snapshot().table("queues")["priority"].tolist() == [1, 2]


def test_polars(snapshot):
    polars = pytest.importorskip("polars")
    w = ks.Workload.generate(30, queues=2)
    frame = w.jobs.to_polars()
    assert frame.shape == (30, len(w.jobs)) and ks.Workload(frame) == w
    changed = frame.with_columns(
        polars.col("queue").cast(polars.Categorical), estimate=polars.when(polars.col("gpus") > 1).then(60.0)
    )
    told = ks.Workload(polars.concat([changed[:10], changed[10:]], rechunk=False))
    assert told.queues == w.queues
    assert (np.isnan(told.jobs["estimate"]) == (w.gpus <= 1)).all()
    lists = polars.DataFrame(snapshot.table("nodes"))["labels"].to_list()
    assert lists == [["zone", "a"], ["zone", "b"]]
    cluster = ks.Cluster()
    cluster.apply(queues=polars.DataFrame({"name": ["a" * 20, "b"], "priority": [1, 2]}))
    assert cluster.snapshot().table("queues")["name"] == ["a" * 20, "b"]


def test_pyarrow(snapshot):
    pa = pytest.importorskip("pyarrow")
    w = ks.Workload.generate(30, queues=2)
    table = w.jobs.to_arrow()
    assert ks.Workload(table) == w
    chunks = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    assert chunks.column("job").num_chunks == 2 and ks.Workload(chunks) == w
    columns = ks._core.arrow_columns(
        pa.table(
            {
                "b": pa.array([True, None, False]),
                "i": pa.array([1, None, 3], pa.int32()),
                "t": pa.array([1, None, 3], pa.duration("ms")),
                "s": pa.array(["a", None, "c"], pa.large_string()),
                "v": pa.array(["a", None, "c" * 30], pa.string_view()),
                "d": pa.array(["a", None, "a"]).dictionary_encode(),
                "l": pa.array([[1], None, [2, 3]], pa.list_(pa.int64())),
                "f": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int64(), 2)),
                "n": pa.nulls(3),
            }
        )
        .slice(0, 3)
        .__arrow_c_stream__()
    )
    assert columns["b"] == [True, None, False] and columns["s"] == ["a", None, "c"]
    assert columns["v"] == ["a", None, "c" * 30] and columns["d"] == ["a", None, "a"] and columns["n"] == [None] * 3
    assert np.isnan(columns["i"][1]) and columns["i"][2] == 3 and np.isnat(columns["t"][1])
    assert columns["t"].dtype == "m8[ms]" and columns["l"][1] is None and columns["l"][2].tolist() == [2, 3]
    assert columns["f"].tolist() == [[1, 2], [3, 4], [5, 6]]
    sliced = ks._core.arrow_columns(
        pa.table({"b": [True, False, True], "s": ["a", "b", "c"], "i": [1, 2, 3]}).slice(1).__arrow_c_stream__()
    )
    assert sliced["b"].tolist() == [False, True] and sliced["s"] == ["b", "c"] and sliced["i"].tolist() == [2, 3]
    with pytest.raises(ks.UnsupportedError, match="column x: values of the Arrow type"):
        ks._core.arrow_columns(pa.table({"x": pa.array([1, 2], pa.decimal128(5))}).__arrow_c_stream__())
    empty = ks._core.arrow_columns(pa.table({"x": pa.array([], pa.int64())}).__arrow_c_stream__())
    assert len(empty["x"]) == 0
    assert snapshot.table("nodes").to_arrow().column("capacity").type == pa.list_(pa.int64(), 4)


def test_the_interchange_protocol():
    """`__dataframe__`, as pandas without pyarrow and others offer it."""
    pandas = pytest.importorskip("pandas")
    if not hasattr(pandas.DataFrame, "__dataframe__"):
        pytest.skip("this pandas has no __dataframe__")

    class Only:
        def __init__(self, frame):
            self.frame = frame

        def __dataframe__(self, nan_as_null=False, allow_copy=True):
            return self.frame.__dataframe__(nan_as_null, allow_copy)

    warnings.filterwarnings("ignore", message="The Dataframe Interchange Protocol")
    frame = pandas.DataFrame({"job": ["a", "größe"], "run_time": [60.5, 30], "pods": [1, 2]})
    assert ks.Workload(Only(frame)) == ks.Workload(frame)


def test_tables_show_themselves(snapshot):
    nodes = snapshot.table("nodes")
    assert isinstance(nodes, dict) and nodes.rows == 2 and nodes.copy().name == "node"
    assert "zone, a" in repr(nodes) and "capacity.gpu" in nodes._repr_html_()
    escaped = ks.Table({"a": ["<b>"] * 30})
    assert "&lt;b&gt;" in escaped._repr_html_() and "the first 20 are shown" in escaped._repr_html_()
    assert repr(escaped).endswith("...")
    assert ks.Table({"a": []}, "none").rows == 0 and "0 rows" in repr(ks.Table({"a": []}))
    assert nodes.select([1])["name"] == ["n2"] and nodes.select(np.array([True, False]))["labels"] == [["zone", "a"]]
    assert nodes.select(slice(0, 1)).rows == 1
    with pytest.raises(ks.ArgumentError, match="mask has 3 rows"):
        nodes.select([True, False, True])
