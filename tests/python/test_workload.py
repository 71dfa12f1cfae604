"""Workloads: columns in and out, traces, errors."""

import datetime
import pickle

import numpy as np
import pytest

import kaisched as ks


@pytest.fixture
def workload():
    return ks.Workload.generate(120, seed=3, queues=2)


def test_columns_take_the_forms_that_people_have():
    expected = ks.Workload({"submit": [0.0, 90.0], "run_time": [3600.0, 0.5]})
    assert expected.submit.tolist() == [0, 90] and expected.run_time.tolist() == [3600, 0.5]
    for submit, run_time in [
        ([0, 90], ["1h", "500ms"]),
        (np.array([0, 90], np.int32), np.array([3600, 0.5])),
        (["0", "1m30s"], [datetime.timedelta(hours=1), np.timedelta64(500, "ms")]),
        (np.array([0, 90], "m8[s]"), np.array([3_600_000, 500], "m8[ms]")),
        ((None, "90"), ("3600", 0.5)),
        ([np.nan, 90], [3600, 0.5]),
    ]:
        assert ks.Workload({"submit": submit, "run_time": run_time}) == expected


def test_pods_of_several_sizes():
    told = ks.Workload({"run_time": [60], "pods": [[1, 4]], "gpus": [[0, 8]], "cpu": ["2|16"]})
    assert told.pods.tolist() == [5] and told.gpus.tolist() == [32]
    assert told.jobs["pods"] == ["1|4"] and told.jobs["cpu"] == ["2|16"]
    assert ks.Workload(told.jobs) == told
    split = ks.Workload({"run_time": [60], "gpus_total": [10]}, gpus_per_node=4)
    assert split.jobs["pods"] == ["2|1"] and split.jobs["gpus"] == ["4|2"]


def test_all_columns_come_back():
    told = {
        "job": ["a,b", 'say "c"'],
        "submit": [1.25, 3.0],
        "run_time": [10.0, 20.0],
        "queue": ["größe", ""],
        "user": ["", "u"],
        "model": ["m", ""],
        "pods": [2, 3],
        "gpus": [0.5, 1],
        "cpu": [0.5, 4],
        "memory": [2**36, 1],
        "gpu_models": [["A100", "H100"], ["T4"]],
        "estimate": [np.nan, 25],
        "deadline": [100, np.nan],
        "priority": [50, -3],
        "preemptible": [True, False],
        "min_pods": [1, 0],
        "after": [[], ["ok:a,b"]],
        "speedup": [["1:1", "2:1.8"], []],
        "iterations": [5, 0],
        "iteration_time": [2.0, 0],
    }
    made = ks.Workload(told)
    assert ks.Workload(made.jobs) == made
    assert made.jobs.keys() == told.keys()
    for name, values in told.items():
        came = made.jobs[name]
        if isinstance(came, list):
            assert came == values
        else:
            np.testing.assert_array_equal(came, np.asarray(values), name)
    shared = ks.Workload({"run_time": [1], "gpu_memory": [2**34]})
    assert shared.jobs["gpu_memory"].tolist() == [2**34]
    assert {name for name in told} | {"gpu_memory", "gpus_total"} == {n for n, _ in ks._core.workload_columns()}


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"run_time": ["soon"]}, ks.ArgumentError, 'row 0: run_time: .*found "soon"'),
        ({"run_time": [1, -1]}, ks.ArgumentError, "row 1: run_time"),
        ({"run_time": [1, np.inf]}, ks.ArgumentError, "run_time: row 1 is infinite"),
        ({"run_time": [1, None]}, ks.ArgumentError, "row 1: run_time"),
        ({"submit": [1]}, ks.ArgumentError, "run_time"),
        ({"runtime": [1]}, ks.UnsupportedError, "no column runtime; did you mean run_time"),
        ({"run_time": [1, 2], "gpus": [1]}, ks.ArgumentError, "column gpus: 1 rows"),
        ({"run_time": [[1, 2]]}, ks.ArgumentError, "run_time"),
        ({"run_time": np.ones((2, 2))}, ks.ArgumentError, "shape"),
        ({"run_time": "60"}, ks.ArgumentError, "single text"),
        ({"run_time": np.ma.masked_array([1, 2], [True, False])}, ks.ArgumentError, "run_time: .*masked"),
        ({"run_time": [1], "gpus": [1.5]}, ks.ArgumentError, 'row 0: gpus: .*"1.5"'),
        ({"run_time": [1], "gpus": [1], "gpus_total": [2]}, ks.ArgumentError, "gpus_total"),
        ({"run_time": [1], "job": ["a\nb"]}, ks.ArgumentError, "row 0: job: .*control"),
        ({"run_time": [1], "job": [""]}, ks.ArgumentError, "row 0: job: expected a name"),
        ({"run_time": [1, 1], "job": ["a", "a"]}, ks.DuplicateError, "row 1: job: 'a' stands in row 0"),
        ({"run_time": [object()]}, ks.ArgumentError, "run_time"),
        (7, ks.ArgumentError, "expected a dict of columns"),
    ],
)
def test_errors_name_row_and_column(columns, error, message):
    with pytest.raises(error, match=message):
        ks.Workload(columns)


def test_no_jobs():
    empty = ks.Workload({"run_time": []})
    assert len(empty) == 0 and empty.jobs.rows == 0 and empty.gpus.tolist() == []
    assert pickle.loads(pickle.dumps(empty)) == empty


def test_files(workload, tmp_path):
    path = tmp_path / "jobs.csv"
    assert workload.to_csv(path) == path.read_text(encoding="utf-8") == workload.to_csv()
    assert ks.Workload.read(path) == workload
    (tmp_path / "log.swf").write_text("1 5 0 60 4 -1 -1 4 120 -1 1 7 1 1 2 1 -1 -1\n", encoding="utf-8")
    swf = ks.Workload.read(tmp_path / "log.swf", "swf")
    assert swf.submit.tolist() == [5] and swf.gpus.tolist() == [4] and swf.queues == ["queue-2"]
    cores = ks.Workload.read(tmp_path / "log.swf", "swf", processors="core")
    assert cores.gpus.tolist() == [0] and cores.jobs["cpu"].tolist() == [4]
    assert swf.shift().submit.tolist() == [0]
    with pytest.raises(ks.NotFoundError, match="no form 'xls'"):
        ks.Workload.read(path, "xls")
    with pytest.raises(ks.ArgumentError, match="processors"):
        ks.Workload.read(path, processors="tpu")
    with pytest.raises(ks.Error, match="missing.csv"):
        ks.Workload.read(tmp_path / "missing.csv")
    assert "swf" in ks.trace_forms()["name"]


def test_invented_workloads(workload):
    assert len(workload) == 120 and set(workload.queues) == {"queue-1", "queue-2"}
    assert ks.Workload.generate(120, seed=3, queues=2) == workload != ks.Workload.generate(120, seed=4, queues=2)
    narrow = ks.Workload.generate(50, sizes="4:1", run_times="log-normal:10m:0.1", rhythm="none", jobs_per_hour=60)
    assert set(narrow.gpus.tolist()) == {4.0} and 300 < np.median(narrow.run_time) < 1200
    for name in ks.workload_models()["name"]:
        assert len(ks.Workload.generate(3, model=name)) == 3
    for wrong in ({"model": "x"}, {"rhythm": "x"}, {"sizes": "x"}, {"run_times": "x"}):
        with pytest.raises(ks.Error, match="x"):
            ks.Workload.generate(1, **wrong)


def test_a_workload_is_a_value(workload):
    copy = pickle.loads(pickle.dumps(workload))
    assert copy == workload and copy.digest == workload.digest and hash(copy) == hash(workload)
    assert workload != "something else"
    with pytest.raises(ValueError, match="read-only"):
        workload.submit[0] = 1
    first = workload.head(5)
    assert first.names == workload.names[:5] and len(first) == 5
    large = workload.select(workload.gpus > 1)
    assert (large.gpus > 1).all() and len(large) == (workload.gpus > 1).sum()
    assert workload.select([3, 1]).names == [workload.names[1], workload.names[3]]
    assert workload.figures["gpu_hours"] == pytest.approx((workload.gpus * workload.run_time).sum() / 3600)
    assert "120 jobs" in repr(workload) and "120 rows" in workload._repr_html_()
