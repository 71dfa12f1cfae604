"""Workloads played in virtual time."""

import pickle

import numpy as np
import pytest

import kaisched as ks

TWO_JOBS = {"submit": [0, 0, 60], "run_time": [600, 60, 60], "gpus_total": [6, 4, 2]}


@pytest.fixture(scope="module")
def workload():
    return ks.Workload.generate(150, seed=5, queues=3)


@pytest.fixture(scope="module")
def run(workload):
    return ks.simulate(workload, nodes="4x8", policy="las", grace=0, start_overhead="30s", checkpoints="10m")


def test_tables_agree_with_each_other(workload, run):
    """Times, sums and figures that can be had from one table are those of the others."""
    jobs, timeline, intervals = run.jobs, run.timeline, run.intervals
    assert jobs["job"] == workload.names and jobs["queue"] == workload.queues
    for name in ("submit", "run_time", "gpus"):
        assert (jobs[name] == getattr(workload, name)).all()
    assert (jobs["wait"] == jobs["start"] - jobs["submit"]).all()
    assert np.allclose(jobs["jct"], jobs["end"] - jobs["submit"])
    assert (jobs["running"] + 1e-6 >= jobs["run_time"]).all() and jobs["came"].all()
    assert run.metrics["evictions"] == jobs["evictions"].sum() > 0
    m = run.metrics
    assert m["completion_mean"] == pytest.approx(jobs["jct"].mean())
    assert m["waiting_most"] == pytest.approx(jobs["wait"].max())
    assert m["gpu_hours"] == pytest.approx(jobs["gpu_seconds"].sum() / 3600)
    assert m["lost_gpu_hours"] == pytest.approx(jobs["lost_gpu_seconds"].sum() / 3600)
    assert m["makespan"] == pytest.approx(jobs["end"].max() - jobs["submit"].min())
    held = intervals["gpus"] * (intervals["end"] - intervals["start"])
    assert np.bincount(intervals["job"], held, len(workload)) == pytest.approx(jobs["gpu_seconds"])
    for i in range(0, timeline.rows, 7):
        at = timeline["time"][i]
        there = (intervals["start"] <= at) & (at < intervals["end"])
        assert intervals["gpus"][there].sum() == pytest.approx(timeline["gpus_held"][i])
    assert (np.diff(intervals["start"]) >= 0).all() and intervals["node"].max() < run.nodes.rows
    assert run.nodes["gpus"].tolist() == [8.0] * 4 and run.nodes["node"][0] == "node-00000"
    assert run.counts["starts"] == intervals["pods"].sum()
    assert len(run.sessions) == run.counts["sessions"] and run.end == jobs["end"].max()


def test_pieces_are_means(run):
    held = run.pieces("held", 10)
    assert held.mean() * (run.end - run.timeline["time"][0]) == pytest.approx(run.jobs["gpu_seconds"].sum())
    assert run.pieces("there", 3) == pytest.approx([32.0] * 3)
    with pytest.raises(ks.ArgumentError, match="'heldd'"):
        run.pieces("heldd")
    with pytest.raises(ks.ArgumentError, match="count"):
        run.pieces("held", 0)
    nothing = ks.simulate(ks.Workload({"run_time": []}), nodes="1x8")
    assert nothing.pieces("held").tolist() == [] and nothing.jobs.rows == nothing.intervals.rows == 0


def test_a_run_is_a_value(run):
    copy = pickle.loads(pickle.dumps(run))
    assert copy.digest == run.digest and copy.metrics == run.metrics and copy.cluster.digest == run.cluster.digest
    assert (copy.intervals["end"] == run.intervals["end"]).all() and copy.jobs.name == "job"
    for table in (run.jobs, copy.jobs):
        with pytest.raises(ValueError, match="read-only"):
            table["end"][0] = 0
    assert "las" in repr(run) and "mean" in run._repr_html_()


def test_what_is_told_matters(workload):
    plain = ks.simulate(workload, nodes="4x8", policy="las")
    again = ks.simulate(workload, nodes="4x8", policy="las", label="other")
    assert again.digest == plain.digest and again.label == "other"
    told = {
        "nodes": "3x8",
        "policy": "fifo",
        "period": 600,
        "start_overhead": "1m",
        "checkpoints": "never",
        "until": "5h",
        "replan": False,
        "options": {"queue_depth.allocate": 1},
        "outages": [{"node": "node-00001", "from": "1h", "to": "2h"}],
        "pools": [{"nodes": ["node-00002", "node-00003"], "least": 1, "start_time": "5m"}],
        "profiles": [{"start_overhead": 120}],
    }
    digests = {
        ks.simulate(workload, **{"nodes": "4x8", "policy": "las"} | {key: value}).digest for key, value in told.items()
    }
    assert len(digests | {plain.digest}) == len(told) + 1
    assert (
        ks.simulate(workload, nodes="4x8", policy="sjf", estimates="exact").digest
        != ks.simulate(workload, nodes="4x8", policy="sjf", estimates=4).digest
    )
    assert (
        ks.simulate(workload, nodes="4x8", policy="kai", equal_quotas=True).digest
        != ks.simulate(workload, nodes="4x8", policy="kai").digest
    )


def test_times_and_what_did_not_come():
    w = ks.Workload(TWO_JOBS)
    run = ks.simulate(w, nodes="1x8", policy="fifo", until=300)
    assert run.jobs["start"][0] == 0 and np.isnan(run.jobs["start"][1:]).all() and np.isnan(run.jobs["jct"]).all()
    assert run.end == 300 and run.intervals["end"].tolist() == [300.0]
    assert run.metrics["never_started"] == 2
    skips = ks.simulate(w, nodes="1x8", policy="fifo-skip")
    assert skips.jobs["start"].tolist() == [0.0, 600.0, 60.0]
    elastic = ks.simulate({"run_time": [60], "pods": [4], "gpus": [1], "min_pods": [2]}, nodes="1x2")
    assert elastic.jobs["end"].tolist() == [120.0]
    assert elastic.intervals["pods"].tolist() == [2] and elastic.intervals["gpus"].tolist() == [2.0]


def test_jobs_are_as_fast_as_their_gpus():
    told = {"nodes": "1x8:T4", "profiles": [{"gpu_speeds": {"T4": 0.25}}]}
    assert ks.simulate({"run_time": [60], "gpus": [8]}, **told).jobs["jct"].tolist() == [240.0]


def test_a_cluster_instead_of_nodes(workload):
    tables = {
        "nodes": {
            "name": [f"node-{i:05}" for i in range(4)],
            "capacity": {"cpu": [10**9] * 4, "memory": [2**50] * 4, "gpu": [8000] * 4, "pods": [10**6] * 4},
        },
        "queues": {"name": ["default", "queue-1", "queue-2", "queue-3"]},
    }
    cluster = ks.Cluster()
    cluster.apply(**tables)
    plain = ks.simulate(workload, nodes="4x8", policy="drf")
    assert ks.simulate(workload, cluster=cluster, policy="drf").digest == plain.digest
    cluster.apply(
        pod_groups={"name": ["old"], "queue": ["queue-1"]},
        pods={"name": ["old-0"], "group": ["old"], "request": {"gpu": [1000]}, "status": [6], "node": ["node-00000"]},
    )
    filled = cluster.snapshot()
    assert ks.simulate(workload, cluster=filled, policy="drf").digest == plain.digest
    assert filled.table("pods").rows == 1  # the cluster of the host stays as it is
    one = ks.simulate(workload, cluster=filled, policy="fifo")
    assert one.digest == ks.simulate(workload, nodes="4x8", policy="fifo").digest
    assert one.cluster.table("queues")["name"] == ["default"]


@pytest.mark.parametrize(
    ("told", "error", "message"),
    [
        ({}, ks.ArgumentError, "name a cluster"),
        ({"nodes": "1x8", "cluster": ks.Cluster()}, ks.ArgumentError, "name a cluster"),
        ({"nodes": "8"}, ks.ArgumentError, 'nodes: "8"'),
        ({"nodes": "1x8", "policy": "fifoo"}, ks.NotFoundError, "no policy 'fifoo'; there are kai"),
        ({"nodes": "1x8", "policy": 3}, ks.ArgumentError, "policy: expected a name"),
        ({"nodes": "1x8", "policy": ks.Engine(), "options": {"mode": "strict"}}, ks.ArgumentError, "options"),
        ({"nodes": "1x8", "options": {"placement.gpu": "spred"}}, ks.ArgumentError, "spred"),
        ({"nodes": "1x8", "period": "soon"}, ks.ArgumentError, "period: .*'soon'"),
        ({"nodes": "1x8", "wake": -1}, ks.ArgumentError, "wake"),
        ({"nodes": "1x8", "grace": True}, ks.ArgumentError, "grace"),
        ({"nodes": "1x8", "until": np.timedelta64("NaT")}, ks.ArgumentError, "until"),
        ({"nodes": "1x8", "estimates": "guessed"}, ks.ArgumentError, "estimates"),
        ({"nodes": "1x8", "estimates": 0.5}, ks.ArgumentError, "estimates"),
        ({"nodes": "1x8", "outages": [{"from": 1}]}, ks.ArgumentError, "outage 0 says no node"),
        ({"nodes": "1x8", "outages": [{"node": "n", "form": 1}]}, ks.UnsupportedError, "outage 0 has no form"),
        ({"nodes": "1x8", "outages": [{"node": "n"}]}, ks.ArgumentError, "no node 'n'"),
        ({"nodes": "1x8", "profiles": [{"speeds": {2: 2.0}}]}, ks.ArgumentError, "speed"),
        ({"nodes": "1x8", "queue": ""}, ks.Error, "queue"),
    ],
)
def test_errors_name_what_is_wrong(told, error, message):
    with pytest.raises(error, match=message):
        ks.simulate(ks.Workload(TWO_JOBS), **told)


def test_policies_side_by_side(workload):
    mine = ks.Engine(actions=["allocate"])
    compared = ks.compare(workload, {"a": "fifo", "b": "easy", "c": mine}, nodes="4x8", estimates="exact", threads=2)
    assert list(compared) == ["a", "b", "c"] and len(compared) == 3
    assert compared["b"].digest == ks.simulate(workload, nodes="4x8", policy="easy", estimates="exact").digest
    table = compared.table
    assert table["policy"] == ["a", "b", "c"] and table.keys() - {"policy"} == compared["a"].metrics.keys()
    assert table["completion_mean"][1] == compared["b"].metrics["completion_mean"]
    change = compared.difference("a", "b")
    assert (np.diff(change["end"]) >= 0).all() and change.rows == len(workload)
    row = change["job"][0]
    assert change["end"][0] == compared["b"].jobs["end"][row] - compared["a"].jobs["end"][row]
    assert "jobs ended" in repr(compared) and "<th>policy</th>" in compared._repr_html_()
    with pytest.raises(ks.NotFoundError, match="'d'; there are a, b, c"):
        compared["d"]
    with pytest.raises(ks.ArgumentError, match="told twice"):
        ks.compare(workload, ["fifo", "fifo"], nodes="4x8")
    with pytest.raises(ks.ArgumentError, match="policy is told"):
        ks.compare(workload, ["fifo"], nodes="4x8", policy="easy")
    with pytest.raises(ks.NotFoundError, match="nobody"):
        ks.compare(workload, ["fifo", "nobody"], nodes="4x8")
    assert set(ks.compare(workload, nodes="4x8").runs) == {"fifo", "easy", "sjf", "srtf", "las", "kai"}


def test_names_of_policies():
    known = ks.policies()
    assert known["name"][0] == "kai" and known["needs_estimates"].dtype == bool
    w = ks.Workload(TWO_JOBS)
    for name in known["name"]:
        assert ks.simulate(w, nodes="2x8", nodes_per_rack=1, policy=name, estimates="exact").metrics["ended"] == 3


def test_columns_that_a_policy_does_not_look_at_are_named(workload):
    knows, ignores = (ks.simulate(workload, nodes="4x8", policy=name, equal_quotas=True) for name in ("kai", "kube-default"))
    assert "queue.quota" in ignores.unread
    assert "queue.quota" not in knows.unread
