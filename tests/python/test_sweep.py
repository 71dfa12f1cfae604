"""Sweeps: the same table in one process, in several, on Dask and on Ray, in one go or in parts."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import kaisched as ks
from kaisched.sweeps import run_shards, simulate_shards, split, split_cluster

sys.path.insert(0, str(Path(__file__).parent))
import sweep_support  # noqa: E402

POLICIES = {"fifo": "fifo", "engine": ks.Engine(mode="compat", **{"placement.gpu": "spread"}), "OldestLast": sweep_support.OldestLast()}
WHAT = {"clusters": ["2x8", "3x8"], "seeds": [1, 2], "estimates": "exact"}


@pytest.fixture(scope="module")
def serial():
    return ks.sweep(sweep_support.drawn, POLICIES, **WHAT)


def test_every_cell_is_a_play(serial):
    table = serial.table
    assert table.rows == serial.played == 12
    assert table["policy"][:3] == ["fifo", "engine", "OldestLast"]
    assert list(zip(table["cluster"], table["seed"].tolist(), strict=True))[::3] == [("2x8", 1), ("2x8", 2), ("3x8", 1), ("3x8", 2)]
    run = ks.simulate(sweep_support.drawn(2), nodes="3x8", policy=POLICIES["engine"], estimates="exact")
    at = [i for i in range(12) if (table["policy"][i], table["cluster"][i], table["seed"][i]) == ("engine", "3x8", 2)][0]
    assert table["digest"][at] == run.digest
    assert table["completion_mean"][at] == run.metrics["completion_mean"]
    assert set(serial.mean("completion_mean")) == {"fifo", "engine", "OldestLast"}


def test_the_seed_of_a_workload_is_that_of_its_estimates():
    jobs = {"fixed": ks.Workload.generate(jobs=60, jobs_per_hour=90)}
    first, second = ks.sweep(jobs, "sjf", "2x8", seeds=[1, 2], estimates=5.0).table["digest"]
    assert first != second
    assert first == ks.simulate(jobs["fixed"], nodes="2x8", policy="sjf", estimates=5.0, estimate_seed=1).digest


def test_on_all_cores_and_with_any_executor(serial):
    assert ks.sweep(sweep_support.drawn, POLICIES, **WHAT, workers=2).digest == serial.digest
    with ThreadPoolExecutor(2) as pool:
        assert ks.sweep(sweep_support.drawn, POLICIES, **WHAT, executor=pool).digest == serial.digest


def test_clusters_of_all_kinds(tmp_path):
    cluster = ks.Cluster()
    for name in ("n1", "n2"):
        cluster.apply(nodes={"name": [name], "capacity": {"cpu": [10**9], "memory": [2**50], "gpu": [8000], "pods": [1000]}})
    cluster.apply(queues={"name": ["default"]})
    kinds = {"cluster": cluster, "snapshot": cluster.snapshot()}
    told = {"seeds": [1], "estimates": "exact", "journal": tmp_path / "journal"}
    found = ks.sweep(sweep_support.drawn, ["fifo", "sjf"], kinds, workers=2, **told)
    run = ks.simulate(sweep_support.drawn(1), cluster=cluster, policy="sjf", estimates="exact")
    assert list(found.table["digest"])[1::2] == [run.digest] * 2
    assert ks.sweep(sweep_support.drawn, ["fifo", "sjf"], kinds, **told).played == 0
    cluster.apply(nodes={"name": ["n3"], "capacity": {"gpu": [8000], "pods": [1000]}})
    assert ks.sweep(sweep_support.drawn, ["fifo", "sjf"], kinds, **told).played == 2


class Counting:
    """An executor that plays at once, until it has had enough."""

    def __init__(self, most=10**9):
        self.most = most
        self.played = 0

    def submit(self, function, /, *arguments):
        done = Future()
        self.played += 1
        if self.played > self.most:
            done.set_exception(KeyboardInterrupt())
        else:
            done.set_result(function(*arguments))
        return done


def test_what_was_played_is_not_played_again(serial, tmp_path):
    journal = tmp_path / "journal"
    with pytest.raises(KeyboardInterrupt):
        ks.sweep(sweep_support.drawn, POLICIES, **WHAT, executor=Counting(5), journal=journal)
    kept = journal.read_text().splitlines()
    assert len(kept) == 5
    journal.write_text("\n".join(kept) + '\n{"cell": "half a li')  # the machine went away
    on = Counting()
    again = ks.sweep(sweep_support.drawn, POLICIES, **WHAT, executor=on, journal=journal)
    assert again.digest == serial.digest and again.played == on.played == 12 - len(kept)
    none = Counting()
    third = ks.sweep(sweep_support.drawn, POLICIES, **WHAT, executor=none, journal=journal)
    assert third.digest == serial.digest and third.played == none.played == 0
    assert {c: list(v) for c, v in third.table.items()} == {c: list(v) for c, v in serial.table.items()}


def test_other_cells_are_other_lines(tmp_path):
    journal = tmp_path / "journal"

    def played(policy="fifo", cluster="2x8", trace=sweep_support.drawn, **told):
        return ks.sweep(trace, policy, cluster, journal=journal, **told).played

    class Patient(sweep_support.OldestLast):
        def __init__(self, patience):
            self.patience = patience

    assert played() == 1
    assert [played(), played(seeds=[0])] == [0, 0]
    assert [played(policy="sjf"), played(cluster="3x8"), played(seeds=[3]), played(estimates="exact")] == [1] * 4
    assert [played(policy=Patient(1)), played(policy=Patient(2)), played(policy=Patient(2))] == [1, 1, 0]
    assert [played(policy={"fifo": ks.Engine()}), played(policy={"fifo": ks.Engine(mode="compat")})] == [1, 1]
    assert played(trace={"drawn": ks.Workload.generate(jobs=5)}) == 1


def test_progress_and_errors(capsys):
    pytest.importorskip("tqdm", reason="tqdm absent")
    ks.sweep(sweep_support.drawn, "fifo", "2x8", progress=True)
    assert "1/1" in capsys.readouterr().err
    for told, says in (
        ({"traces": "no workload", "policies": "fifo", "clusters": "2x8"}, "expected a Workload or a function of a seed"),
        ({"traces": sweep_support.drawn, "policies": ["fifo", "fifo"], "clusters": "2x8"}, "two policy are named fifo"),
        ({"traces": sweep_support.drawn, "policies": "fifo", "clusters": "2x8", "executor": 3}, "executor is 3"),
        ({"traces": sweep_support.drawn, "policies": "fifo", "clusters": "2x8", "executor": Counting(), "workers": 2}, "one of the two"),
        ({"traces": sweep_support.drawn, "policies": "fifo", "clusters": "2y8"}, "2y8"),
    ):
        with pytest.raises(ks.ArgumentError, match=says):
            ks.sweep(**told)


# ---- clusters --------------------------------------------------------------------------------------------------------


def _dask_words(*words):
    return [sys.executable, "-c", f"from distributed.cli.{words[0]} import main; main()", *words[1:]]


@pytest.fixture
def dask_cluster(tmp_path):
    """A scheduler and two workers, each a process of its own on this machine."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed absent")
    place = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "1h"}
    told = tmp_path / "scheduler.json"
    words = ["--no-dashboard", "--scheduler-file", str(told)]
    out = (tmp_path / "dask.log").open("w")
    scheduler = subprocess.Popen(_dask_words("dask_scheduler", "--host", "127.0.0.1", "--port", "0", *words), env=place, stdout=out, stderr=out)
    worker_words = ["--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path), *words]
    workers = [subprocess.Popen(_dask_words("dask_worker", *worker_words), env=place, stdout=out, stderr=out) for _ in range(2)]
    started = [scheduler, *workers]
    try:
        for _ in range(600):
            if told.exists() and told.stat().st_size > 0:
                break
            assert scheduler.poll() is None, (tmp_path / "dask.log").read_text()
            time.sleep(0.1)
        with distributed.Client(scheduler_file=str(told), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            yield client, workers
    finally:
        for one in started:
            one.kill()
            one.wait()
        out.close()


@pytest.mark.filterwarnings("default")  # those of other people's packages
def test_a_worker_of_dask_dies(dask_cluster, tmp_path):
    """In the middle of its cell: the cell is played by the other one, and nothing differs."""
    client, workers = dask_cluster
    folder = tmp_path / "signs"
    folder.mkdir()
    told = {"clusters": "2x8", "seeds": [1, 2, 3], "journal": tmp_path / "journal"}
    (folder / "go-on").touch()
    alone = ks.sweep(sweep_support.drawn, ["fifo", sweep_support.SlowOnce(folder)], clusters="2x8", seeds=[1, 2, 3])
    for sign in folder.iterdir():
        sign.unlink()

    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(ks.sweep, sweep_support.drawn, ["fifo", sweep_support.SlowOnce(folder)], executor=client, **told)
        pids = {worker.pid: worker for worker in workers}
        busy = []
        for _ in range(600):
            busy = [pid for pid in pids if (folder / f"plays-{pid}").exists()]
            if busy:
                break
            assert not begun.done(), begun.result()
            time.sleep(0.1)
        os.kill(busy[0], signal.SIGKILL)  # it plays and cannot get on
        pids[busy[0]].wait()
        (folder / "go-on").touch()
        found = begun.result(timeout=120)
    assert sum(worker.poll() is None for worker in workers) == 1
    assert found.digest == alone.digest and found.played == 6


@pytest.mark.ray
def test_ray():
    ray = pytest.importorskip("ray", reason="ray absent")
    try:
        found = ks.sweep(sweep_support.drawn, ["fifo", "sjf"], "2x8", executor="ray", seeds=[1, 2])
    finally:
        ray.shutdown()
    assert found.digest == ks.sweep(sweep_support.drawn, ["fifo", "sjf"], "2x8", seeds=[1, 2]).digest


# ---- shards ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_queues():
    return ks.Workload.generate(jobs=40, seed=4, queues=2, jobs_per_hour=60)


def test_shards_know_nothing_of_each_other(two_queues):
    shards = {"a": "2x8", "b": {"nodes": "1x8", "policy": "sjf"}}
    by = {"queue-1": "a", "queue-2": "b"}
    runs = simulate_shards(two_queues, shards, by=by, policy="fifo", estimates="exact")
    assert sorted(runs) == ["a", "b"]
    for name, queue, nodes, policy in (("a", "queue-1", "2x8", "fifo"), ("b", "queue-2", "1x8", "sjf")):
        part = two_queues.select([q == queue for q in two_queues.queues])
        assert runs[name].digest == ks.simulate(part, nodes=nodes, policy=policy, estimates="exact").digest
        assert runs[name].label == name
    with ThreadPoolExecutor(2) as pool:
        again = simulate_shards(two_queues, shards, by=by, policy="fifo", estimates="exact", executor=pool)
    assert {n: r.digest for n, r in again.items()} == {n: r.digest for n, r in runs.items()}


def test_jobs_have_one_shard(two_queues):
    parts = split(two_queues, ["x", "y"] * 20)
    assert sorted(parts["x"].names + parts["y"].names) == sorted(two_queues.names)
    assert split(two_queues, lambda queue: queue[-1]).keys() == {"1", "2"}
    for by, says in (({"queue-1": "a"}, "no shard is named for queue 'queue-2'"), (["a"], "by has 1 shards, the workload 40 jobs")):
        with pytest.raises(ks.ArgumentError, match=says):
            split(two_queues, by)
    with pytest.raises(ks.ArgumentError, match="there is no shard 'b', there are a"):
        simulate_shards(two_queues, {"a": "2x8"}, by={"queue-1": "a", "queue-2": "b"})


def node_pools(**more):
    """Two pools and a node without one; a job for each, one that runs, and one that says nothing."""
    cluster = ks.Cluster()
    pool = "kai.scheduler/node-pool"
    names = ["a-0", "b-0", "none-0", "runs-0"]
    cluster.apply(
        nodes={"name": ["a1", "a2", "b1", "n1"], "capacity": {"cpu": [64000] * 4, "memory": [2**39] * 4, "gpu": [8000] * 4, "pods": [110] * 4},
               "labels": [[pool, "a"], [pool, "a"], [pool, "b"], []]},
        queues={"name": ["team"]},
        pod_groups={"name": [n[:-2] for n in names], "queue": ["team"] * 4, **more},
        pods={"name": names, "group": [n[:-2] for n in names], "request": {"cpu": [1000] * 4, "gpu": [8000, 4000, 2000, 8000]},
              "labels": [[pool, "a"], [], [], []], "node_selector": [[], [pool, "b"], [], []],
              "status": [int(ks.PodStatus.PENDING)] * 3 + [int(ks.PodStatus.RUNNING)], "node": ["", "", "", "a1"]},
    )
    return cluster


def test_node_pools_are_decided_as_shards():
    found = run_shards(node_pools())
    placed = {name: dict(zip(s.decisions["pod_name"], s.decisions["node_name"], strict=True)) for name, s in found.items()}
    assert placed == {"": {"none-0": "n1"}, "a": {"a-0": "a2"}, "b": {"b-0": "b1"}}
    with ThreadPoolExecutor(2) as pool:
        assert {n: s.digest for n, s in run_shards(node_pools(), executor=pool).items()} == {n: s.digest for n, s in found.items()}
    assert run_shards(node_pools(), options={"b": {"mode": "compat"}})["b"].digest != found["b"].digest
    with pytest.raises(ks.ArgumentError, match="there is no shard 'c', there are '', 'a', 'b'"):
        run_shards(node_pools(), options={"c": {}})


def test_groups_are_in_one_shard():
    cluster = node_pools()
    cluster.apply(pods={"name": ["b-1"], "group": ["b"], "request": {"gpu": [1000]}, "labels": [["kai.scheduler/node-pool", "a"]]})
    with pytest.raises(ks.ArgumentError, match="pod_group b: its pods are in the shards 'b' and 'a'"):
        split_cluster(cluster)
