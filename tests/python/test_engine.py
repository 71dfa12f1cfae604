"""Options, sessions and results."""

import threading
import warnings

import pytest

import kaisched as ks


def test_decisions_and_reasons(snapshot):
    session = ks.Engine(preset="kai", mode="strict").run(snapshot, now=5)
    decisions = session.decisions
    kinds = [ks.DecisionKind(k) for k in decisions["kind"]]
    assert kinds == [ks.DecisionKind.BIND, ks.DecisionKind.BIND, ks.DecisionKind.UNSCHEDULABLE]
    assert decisions["pod_name"][:2] == ["gang-0", "gang-1"]
    assert sorted(decisions["node_name"][:2]) == ["n1", "n2"]
    assert [d.tolist() for d in decisions["devices"]] == [list(range(8)), list(range(8)), []]
    assert decisions["group_name"][2] == "giant"
    assert decisions["commit"][0] == decisions["commit"][1] == 1

    reasons = session.reasons
    assert reasons["group_name"] == ["giant"]
    assert "giant" in reasons["text"][0] or "GPU" in reasons["text"][0] or "gpu" in reasons["text"][0]
    assert session.queue_shares["allocated"][0].tolist() == [2000, 0, 16000]
    statuses = dict(zip(session.placements["pod_name"], session.placements["status"], strict=True))
    assert ks.PodStatus(statuses["giant-0"]) == ks.PodStatus.PENDING
    assert session.statistics["groups_placed"].tolist() == [1, 0, 0, 0, 0]  # of the five actions


def test_equal_input_gives_equal_digests(cluster, tables):
    engine = ks.Engine()
    other = ks.Cluster()
    other.apply(**tables)
    assert engine.run(cluster.snapshot()).digest == engine.run(other.snapshot()).digest
    assert engine.run(cluster.snapshot()).digest != ks.Engine(mode="compat").run(cluster.snapshot()).digest


def test_sessions_go_on(snapshot):
    engine = ks.Engine()
    session = engine.open(snapshot)
    assert set(session.decisions["kind"]) == {ks.DecisionKind.UNSCHEDULABLE}
    session.run("allocate")
    assert session.decisions["kind"][0] == ks.DecisionKind.BIND
    assert session.digest == engine.run(snapshot).digest
    with pytest.raises(ks.Error, match="dance"):
        session.run("dance")


def test_results_are_the_callers_own(snapshot):
    session = ks.Engine().run(snapshot)
    session.decisions.clear()
    assert session.decisions["kind"].size == 3
    assert session.decisions["kind"] is session.decisions["kind"]  # converted once


def test_results_outlive_everything(cluster):
    pods = ks.Engine().run(cluster.snapshot()).decisions["pod"]
    del cluster
    assert pods.all(where=[True, True, False])


def test_options_are_typed():
    engine = ks.Engine(mode="compat")
    assert engine.get("mode") == "compat"
    values = engine.options
    of_engines = [o for o in ks.options() if o["applies_to"] == "engine"]
    assert set(values) == {o["name"] for o in of_engines}
    types = {"boolean": bool, "integer": int, "number": float, "choice": str, "list": list}
    for option in of_engines:
        value = values[option["name"]]
        assert type(value) is types[option["type"]], option["name"]
        engine.set(option["name"], value)
        assert option["doc"]
    assert engine.options["mode"] == "compat" or engine.options != values  # `preset` among them replaces the others


def test_options_that_do_not_exist():
    with pytest.raises(ks.Error, match="mood"):
        ks.Engine(mood="strict")
    with pytest.raises(ks.ArgumentError, match="mode"):
        ks.Engine(mode="roughly")


def test_one_engine_in_many_threads(cluster):
    engine = ks.Engine()
    expected = engine.run(cluster.snapshot()).digest
    digests = []

    def work():
        for _ in range(20):
            digests.append(engine.run(cluster.snapshot()).digest)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(digests) == {expected}
    assert len(digests) == 80


def test_one_call(cluster):
    session = ks.run(cluster, now=5, options={"actions": ["allocate"]})
    assert session.digest == ks.run(cluster.snapshot(), now=5, options={"actions": ["allocate"]}).digest
    assert session.decisions.rows == 3 and session.snapshot.digest == cluster.snapshot().digest
    assert "predicates" in ks.Engine().part_names


def test_a_fork_goes_on_alone(snapshot):
    opened = ks.Engine().open(snapshot)
    fork = opened.fork()
    fork.run_group("allocate", "gang")
    assert sorted(fork.decisions["pod_name"])[-2:] == ["gang-0", "gang-1"]
    assert set(opened.decisions["kind"].tolist()) == {ks.DecisionKind.UNSCHEDULABLE}
    with pytest.raises(ks.NotFoundError, match="nobody"):
        fork.run_group("allocate", "nobody")
    with pytest.raises(ks.NotFoundError, match="allocat"):
        fork.run_group("allocat", "giant")


def test_decisions_by_hand(snapshot):
    session = ks.Engine().open(snapshot)
    start = session.mark()
    assert session.allocate("gang-0", "n2")
    assert not session.allocate("gang-1", "n2")  # nothing is left there
    assert not session.allocate("giant-0", "n1")
    session.rollback(start)
    assert session.allocate("gang-0", "n1") and session.allocate("gang-1", "n2")
    session.commit()
    placed = session.decisions
    bound = placed["kind"] == ks.DecisionKind.BIND
    assert [(p, n) for p, n, b in zip(placed["pod_name"], placed["node_name"], bound, strict=True) if b] == [
        ("gang-0", "n1"),
        ("gang-1", "n2"),
    ]
    with pytest.raises(ks.NotFoundError, match="n9"):
        session.allocate("giant-0", "n9")
    with pytest.raises(ks.StateError):
        session.rollback(start)


def test_evict_and_claim_by_hand(cluster):
    cluster.apply(op="change", pods={"name": ["gang-0", "gang-1"], "status": [6, 6], "node": ["n1", "n2"]})
    small = {"cpu": [1], "memory": [0], "gpu": [8000], "pods": [1]}
    cluster.apply(op="change", pods={"name": ["giant-0"], "request": small})
    session = ks.Engine().open(cluster.snapshot())
    assert not session.allocate("giant-0", "n1")
    session.evict("gang-0")
    assert session.pipeline("giant-0", "n1")
    session.commit()
    kinds = dict(zip(session.decisions["pod_name"], session.decisions["kind"].tolist(), strict=True))
    assert kinds["gang-0"] == ks.DecisionKind.EVICT and kinds["giant-0"] == ks.DecisionKind.PIPELINE


def test_old_names_are_accepted_with_a_warning(snapshot):
    with pytest.warns(DeprecationWarning) as caught:
        engine = ks.Engine("volcano-default", actions=["tiers"], **{"tiers.actions": ["allocate"]})
    assert [str(one.message).partition(" since")[0] for one in caught] == [
        "action 'tiers' is called 'volcano'",
        "option 'tiers.actions' is called 'volcano.actions'",
    ]
    assert {one.filename for one in caught} == {__file__}  # where the old name is written
    assert engine.get("actions") == ["volcano"]
    assert engine.get("tiers.actions") == engine.get("volcano.actions") == ["allocate"]
    assert "tiers" not in engine.options
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.set("tiers.actions", ["allocate"])  # once for each engine
        present = ks.Engine("volcano-default", **{"volcano.actions": ["allocate"]})
    assert engine.run(snapshot).digest == present.run(snapshot).digest
    with pytest.warns(DeprecationWarning, match="'volcano.tiers'") as caught:
        ks.run(snapshot, preset="volcano-default", options={"tiers": ["gang", "predicates"]})
    assert caught[0].filename == __file__
    session = present.open(snapshot)
    with pytest.warns(DeprecationWarning, match="action 'tiers' is called 'volcano'") as caught:
        session.run("tiers")
    assert caught[0].filename == __file__
