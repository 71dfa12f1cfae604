"""What users write, for a strict type checker. It is not run."""

from typing import Any

import numpy as np
from typing_extensions import assert_type

import kaisched as ks

Integers = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


class Widest(ks.Policy):
    name = "widest"
    base = "easy"
    scores_by_class = True

    def score_nodes(self, view: ks.SessionView, pod: int, nodes: Integers) -> Floats:
        idle: Integers = view.node_idle[nodes, 2]
        return np.asarray(idle - view.pod_request(pod)[2], np.float64)

    def order_groups(self, view: ks.SessionView, groups: Integers) -> Integers:
        return -view.group_gpus(groups)


def play() -> str:
    workload = ks.Workload.generate(100, seed=1, queues=2)
    assert_type(workload.gpus, Floats)
    assert_type(len(workload), int)
    run = ks.simulate(workload, nodes="4x8", policy=Widest(), grace="30s", checkpoints=600, estimates=2.0)
    assert_type(run, ks.Run)
    assert_type(run.jobs, ks.Table)
    assert_type(run.pieces("held", 10), Floats)
    assert_type(run.metrics["jain"], float)
    compared = ks.compare(workload, {"a": "fifo", "b": ks.Engine(actions=["allocate"]), "c": Widest()}, nodes="4x8")
    assert_type(compared["a"], ks.Run)
    assert_type(compared.table.rows, int)
    return run.digest


def decide() -> list[str]:
    cluster = ks.Cluster(on_invalid="quarantine")
    cluster.apply(queues={"name": ["q"]}, nodes={"name": ["n"], "capacity": np.ones((1, 4), np.int64)})
    snapshot = cluster.snapshot()
    assert_type(snapshot, ks.Snapshot)
    session = ks.Engine(preset="kai", policies=[Widest()]).run(snapshot, now=5)
    assert_type(session, ks.Session)
    assert_type(session.decisions, ks.Table)
    why = session.fork().explain("pod")
    assert_type(why, ks.Explanation)
    try:
        session.what_if(["group"], queues={"name": ["other"]})
    except ks.StaleIdError as e:
        assert_type(e.subject, int)
    assert_type(ks.run(snapshot, options={"placement.gpu": "spread"}), ks.Session)
    return why.sentences


def extend(cluster: ks.Cluster) -> list[ks.Session]:
    answer = ks.scale(cluster, {"name": ["a"], "price": [1], "most": [2]}, nodes={"name": ["a"]}, strategy="first_fit")
    assert_type(answer, ks.Scaling)
    assert_type(answer.add, dict[str, int])
    assert_type(answer.groups, ks.Table)
    assert_type(ks.Engine().run(cluster.snapshot()).gaps(), ks.Table)
    line = ks.Federation(order=["price", "fit"], fit="spread")
    line.add("east", cluster, ks.Engine(), labels={"region": "eu"}, price=3)
    line.submit(queues={"name": ["q"]})
    line.wish("g", preferred=[("region", "eu", 5)], data={"corpus": 7}, most_price=9)
    assert_type(line.stage("g"), tuple[str, str])
    report = line.decide(now=1)
    assert_type(report, ks.FederationReport)
    assert_type(report.placed, ks.Table)
    return report.sessions


def ask() -> Floats:
    seen = ks.forecast.RunTimes({"run_time": [60.0], "estimate": [120.0]}, near=0)
    assert_type(seen.ratios, Floats)
    told = ks.forecast.starts(ks.Cluster(), ["group"], seen, now=0, engine=Widest(), scenarios=10)
    assert_type(told, ks.forecast.Starts)
    assert_type(told.at, Integers)
    assert_type(told.table, ks.Table)
    by = ks.forecast.margin(told.waits[:, 0], told.waits[:, 2], [60.0])
    low, high = ks.forecast.widen(told.waits[:, 0], told.waits[:, 2], by)
    assert_type(low, Floats)
    return high
