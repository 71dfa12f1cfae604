"""Columns in and out."""

import gc
import pickle

import numpy as np
import pytest

import kaisched as ks

EMPTY = ks.Cluster().snapshot().digest


def test_round_trip_of_every_kind(cluster):
    cluster.apply(
        resources={"name": ["vendor.com/npu"]},
        topologies={"name": ["racks"], "levels": [["rack"]], "primary": [True]},
        devices={"node": ["n1"] * 8, "index": range(8), "links": [[1, 2, 3]] + [[]] * 7},
        sub_groups={"group": ["gang"], "name": ["half"]},
    )
    snapshot = cluster.snapshot()
    copy = ks.Cluster()
    for info in ks.schema():
        if info["input"]:
            copy.apply(**{info["name"]: snapshot.table(info["name"])})
    assert copy.snapshot().digest == snapshot.digest
    assert snapshot.dimension_names == ["cpu", "memory", "gpu", "pods", "vendor.com/npu"]
    links = snapshot.table("devices")["links"]
    assert links[0].tolist() == [1, 2, 3]
    assert links[7].size == 0


def test_output_is_read_only_and_owns_its_memory(snapshot):
    capacity = snapshot.table("nodes")["capacity"]
    assert capacity.dtype == np.int64
    assert capacity.shape == (2, 4)
    expected = capacity.copy()
    del snapshot
    gc.collect()
    assert (capacity == expected).all()
    with pytest.raises(ValueError, match="read-only"):
        capacity[0, 0] = 1
    assert not capacity.flags.writeable


def test_names_of_tables_in_singular_and_plural(snapshot):
    for name in ("node", "nodes", 4):
        assert snapshot.table(name)["name"] == ["n1", "n2"]
    assert snapshot.table("topologies")["name"] == []
    with pytest.raises(ks.UnsupportedError, match="'nodez'"):
        snapshot.table("nodez")


def test_texts(snapshot):
    nodes = snapshot.table("nodes")
    assert nodes["labels"] == [["zone", "a"], ["zone", "b"]]
    cluster = ks.Cluster()
    cluster.apply(queues={"name": np.array(["größe", "量"])})
    assert sorted(cluster.snapshot().table("queue")["name"]) == ["größe", "量"]


@pytest.mark.parametrize("values", [np.ma.masked_array([1, 2], [True, False]), np.ma.masked_array([1, 2])])
def test_masked_arrays_are_refused(values):
    cluster = ks.Cluster()
    with pytest.raises(ks.ArgumentError, match="priority.*masked array"):
        cluster.apply(queues={"name": ["a", "b"], "priority": values})
    with pytest.raises(ks.ArgumentError, match="gpu.*masked array"):
        cluster.apply(nodes={"name": ["a", "b"], "capacity": {"gpu": values}})
    with pytest.raises(ks.ArgumentError, match="name.*masked array"):
        cluster.apply(queues={"name": np.ma.masked_array(["a", "b"], [True, False])})


def test_dicts_by_resource_fill_in_defaults(snapshot):
    queue = snapshot.table("queues")
    assert queue["quota"].tolist() == [[-1, -1, 16000]]
    assert queue["limit"].tolist() == [[-1, -1, -1]]
    assert snapshot.table("pods")["request"][2].tolist() == [1000, 0, 16000, 1]


def test_new_resources_count_in_the_same_call():
    cluster = ks.Cluster()
    cluster.apply(
        nodes={"name": ["n"], "capacity": {"vendor.com/npu": [4], "pods": [10]}},
        resources={"name": ["vendor.com/npu"]},
    )
    assert cluster.snapshot().table("nodes")["capacity"].tolist() == [[0, 0, 0, 10, 4]]


def test_change_and_remove(cluster):
    before = cluster.snapshot()
    cluster.apply(op="change", nodes={"name": ["n2"], "unschedulable": np.array([True])})
    assert cluster.snapshot().table("node")["unschedulable"].tolist() == [0, 1]
    with pytest.raises(ks.ArgumentError, match="cpu, memory missing"):
        cluster.apply(op="change", queues={"name": ["team"], "limit": {"gpu": [1]}})
    cluster.apply(op="change", nodes={"name": ["n2"], "unschedulable": [0]})
    assert cluster.snapshot().digest == before.digest
    assert cluster.snapshot().version > before.version

    cluster.apply(
        op="remove",
        nodes={"name": ["n1", "n2"]},
        queues={"name": ["team"]},
        pod_groups={"name": ["gang", "giant"]},
        pods={"name": ["gang-0", "gang-1", "giant-0"]},
    )
    assert cluster.snapshot().digest == EMPTY


def test_identifiers_instead_of_names(cluster):
    queue = cluster.find("queue", "team")
    cluster.apply(pod_groups={"name": ["more"], "queue": np.array([queue], dtype=np.uint64)})
    assert "team" in cluster.snapshot().table("pod_groups")["queue"]
    with pytest.raises(ks.NotFoundError):
        cluster.find("queue", "nobody")
    group = np.array([cluster.find("pod_group", "gang")], dtype=np.uint64)
    with pytest.raises(ks.WrongKindError):
        cluster.apply(pod_groups={"name": ["other"], "queue": group})


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("created", [1.5], "float64"),
        ("created", [2**70], "object"),
        ("created", [[1]], "shape"),
        ("created", ["now"], "<U3"),
        ("created", {"gpu": [1]}, "dict"),
        ("created", [1, 2], "2 rows"),
        ("preemptible", [300], "do not fit uint8"),
        ("preemptible", [-1], "do not fit uint8"),
        ("namespace", "x", "single text"),
        ("namespace", [1], "expected str, got 1"),
        ("namespace", ["a\0b"], "NUL"),
        ("namespace", ["\ud800"], "expected str"),
    ],
)
def test_nothing_is_rounded_cut_or_guessed(cluster, column, values, message):
    before = cluster.snapshot().digest
    with pytest.raises(ks.ArgumentError, match=message) as caught:
        cluster.apply(pod_groups={"name": ["g"], "queue": ["team"], column: values})
    assert column in str(caught.value)
    assert cluster.snapshot().digest == before


def test_wrong_names(cluster):
    with pytest.raises(ks.UnsupportedError, match="did you mean capacity"):
        cluster.apply(nodes={"name": ["n"], "capacitee": [1]})
    with pytest.raises(ks.UnsupportedError, match="nodez"):
        cluster.apply(nodez={"name": ["n"]})
    with pytest.raises(ks.UnsupportedError, match="results"):
        cluster.apply(decisions={"kind": [1]})
    with pytest.raises(ks.ArgumentError, match="twice"):
        cluster.apply(node={"name": ["n"]}, nodes={"name": ["n"]})
    with pytest.raises(ks.ArgumentError, match="add, change, remove"):
        cluster.apply(op="upsert", nodes={"name": ["n"]})
    with pytest.raises(ks.ArgumentError, match="no resource is named tpu"):
        cluster.apply(nodes={"name": ["n"], "capacity": {"tpu": [1]}})


def test_empty_tables(cluster):
    before = cluster.snapshot().digest
    cluster.apply()
    cluster.apply(nodes={"name": [], "capacity": np.zeros((0, 4))}, queues={"name": [], "priority": []})
    assert cluster.snapshot().digest == before


def test_snapshots_are_values(cluster):
    snapshot = cluster.snapshot()
    cluster.apply(queues={"name": ["other"]})
    assert snapshot.table("queues")["name"] == ["team"]
    for copy in (ks.Snapshot.load(snapshot.save()), pickle.loads(pickle.dumps(snapshot))):
        assert copy.digest == snapshot.digest
        assert copy.save() == snapshot.save()
    with pytest.raises(ks.Error):
        ks.Snapshot.load(snapshot.save()[:-1])


def test_a_data_frame_is_a_dict_of_columns():
    class Frame:
        """What a data frame shows: keys that are columns, columns that are arrays, iteration over something else."""

        def __init__(self, **columns):
            self.columns = columns

        def keys(self):
            return self.columns.keys()

        def __getitem__(self, name):
            return np.array(self.columns[name])

    cluster = ks.Cluster()
    cluster.apply(queues=Frame(name=["a", "b"], priority=[1, 2]))
    assert cluster.snapshot().table("queues")["priority"].tolist() == [1, 2]
