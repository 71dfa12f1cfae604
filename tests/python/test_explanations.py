"""Questions why and what if."""

import pytest

import kaisched as ks


@pytest.fixture
def session(snapshot):
    """The gang starts on both nodes, the giant waits."""
    return ks.Engine().run(snapshot)


def test_candidates(session):
    nodes = session.candidates("giant-0")
    assert nodes["node_name"] == ["n1", "n2"]
    assert nodes["fits"].tolist() == [0, 0]
    assert session.candidates("gang-0")["chosen"].sum() == 1


def test_remedies_say_what_would_let_a_group_start(session, snapshot):
    nothing = session.remedies(["gang", "giant"])  # one does not wait, for the other there is no GPU left
    assert nothing["remedy"].tolist() == [0, 0] and nothing["change"] == ["", ""] and nothing["complete"].all()
    empty = ks.Engine().open(snapshot)
    found = empty.remedies(["giant"])
    request = found["change"].index("pod_request")
    assert found["group_name"][request] == "giant" and found["remedy"][request] > 0
    assert found["dimension"][request] == "gpu"
    assert found["before"][request] == 16000 and 0 < found["after"][request] <= 8000
    assert found["text"][request].startswith("if ") and found["starts"][request] == 1
    few = empty.remedies(["giant"], trials=1, evictions=False)
    assert not few["complete"].any() and max(few["trials"]) <= 1
    assert empty.remedies([])["change"] == []


def test_a_certificate_proves_that_a_group_cannot_start(session):
    proof = session.certify("giant")
    assert proof["assumption"][0] == "empty"
    assert all(need > have for need, have in zip(proof["need"], proof["have"], strict=True))
    assert sorted(n for nodes in proof["nodes"] for n in nodes) == ["n1", "n2"]
    assert session.certify("gang")["kind"] == ["none"]


def test_a_choice_names_the_runner_up(session):
    why = session.choice("gang-0")
    assert why["what"][0] == "chosen"
    assert {why["node_name"][0], why["runner_up"][0]} == {"n1", "n2"}
    assert why["pod_name"] == ["gang-0"] * len(why["what"])
    with pytest.raises(ks.StateError):
        session.choice("giant-0")


def test_share_steps_add_up_to_the_share(session):
    steps = session.share_steps("team")
    assert (steps["before"] + steps["given"] == steps["after"]).all()
    of_gpus = [
        given
        for given, name, dimension in zip(steps["given"], steps["queue_name"], steps["dimension"], strict=True)
        if (name, dimension) == ("team", "gpu")
    ]
    assert sum(of_gpus) == session.queue_shares["fair_share"][0][2]


def test_a_victim_and_who_it_left_for(cluster):
    cluster.apply(
        op="change",
        pods={"name": ["gang-0", "gang-1"], "status": [6, 6], "node": ["n1", "n2"]},
        pod_groups={"name": ["giant"], "priority": [100]},
    )
    smaller = {"cpu": [1], "memory": [0], "gpu": [8000], "pods": [1]}
    cluster.apply(op="change", pods={"name": ["giant-0"], "request": smaller})
    session = ks.Engine(actions=["allocate", "preempt"]).run(cluster.snapshot())
    kinds = dict(zip(session.decisions["pod_name"], session.decisions["kind"], strict=True))
    gone = next(pod for pod, kind in kinds.items() if kind == ks.DecisionKind.EVICT)
    why = session.victim(gone)
    rows = set(zip(why["what"], why["group_name"], strict=True))
    assert {("placed", "giant"), ("victim", "gang"), ("protected", "giant")} <= rows
    assert set(why["kind"]) == {"evict"}
    with pytest.raises(ks.StateError):
        session.victim("giant-0")


def test_what_if_takes_tables_as_a_cluster_does(session):
    small = {
        "pod_groups": {"name": ["late"], "queue": ["team"]},
        "pods": {"name": ["late-0"], "group": ["late"], "request": {"cpu": [1000], "gpu": [1000]}},
    }
    full = session.what_if(**small)
    assert full["group_name"] == ["late"] and full["way"] != ["now"]
    assert full["reasons"][0]
    more = {"nodes": {"name": ["n3"], "capacity": {"cpu": [64000], "memory": [2**40], "gpu": [8000], "pods": [110]}}}
    free = session.what_if(["late"], displace=False, ends=0, **small, **more)
    assert free["way"] == ["now"]
    assert free["placed_pods"] == [["late-0"]] and free["placed_nodes"] == [["n3"]]
    assert session.what_if(["giant"], displace=False, ends=0)["knowledge"] == ["never"]
    removed = session.what_if(["giant"], op="remove", ends=0, pods={"name": ["gang-0"]})
    assert removed["group_name"] == ["giant"]
    with pytest.raises(ks.NotFoundError, match="nobody"):
        session.what_if(["nobody"])
    with pytest.raises(ks.UnsupportedError):
        session.what_if(decisions={"kind": [1]})


def test_entities_are_named_or_identified(session, cluster):
    assert session.share_steps(cluster.find("queue", "team"))["text"] == session.share_steps("team")["text"]
    identifiers = session.decisions["group"]
    assert session.certify(identifiers[-1])["group_name"][0] == "giant"
    for wrong in ("nobody", 0):
        with pytest.raises(ks.NotFoundError):
            session.certify(wrong)
    with pytest.raises(ks.WrongKindError):
        session.candidates(cluster.find("queue", "team"))
