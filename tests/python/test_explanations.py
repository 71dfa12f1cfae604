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


def test_gaps_say_how_far_from_the_best(cluster):
    cluster.apply(
        op="change",
        pods={"name": ["gang-0", "gang-1"], "status": [6, 6], "node": ["n1", "n2"]},
        pod_groups={"name": ["giant"], "priority": [100]},
    )
    smaller = {"cpu": [1], "memory": [0], "gpu": [8000], "pods": [1]}
    cluster.apply(op="change", pods={"name": ["giant-0"], "request": smaller})
    session = ks.Engine(actions=["allocate", "preempt"]).run(cluster.snapshot())
    gaps = session.gaps()
    victims = [i for i, kind in enumerate(gaps["kind"]) if kind == "victims"]
    assert victims == [0] and gaps["gap"][0] == 1 and gaps["group_name"][0] == "giant"
    assert gaps["achieved"][0] == 2 and gaps["bound"][0] == 1  # one node is enough, but half a gang cannot stay
    assert (gaps["distance"] == abs(gaps["achieved"] - gaps["bound"])).all() and gaps["action"][0] == "preempt"
    by_hand = ks.Engine().open(cluster.snapshot())
    by_hand.evict("gang-0")
    with pytest.raises(ks.StateError):
        by_hand.gaps()


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


def test_an_explanation_shows_itself(session):
    started, waiting, group = session.explain("gang-0"), session.explain("giant-0"), session.explain("giant")
    assert started.what == "pod" and started.choice is not None and started.victim is None
    assert any("binding on n" in sentence for sentence in started.sentences)
    assert "chosen" in repr(started) and "background:#2e7d32" in started._repr_html_()
    assert waiting.choice is None and "is pending" in waiting.sentences and len(waiting.sentences) > 1
    assert group.what == "pod group" and group.certificate is not None
    assert group.sentences[0] == session.reasons["text"][0] in repr(group)
    assert "2 of its pods have got places: gang-0, gang-1" in session.explain("gang").sentences
    assert session.explain(int(session.placements["pod"][0])).subject == session.placements["pod_name"][0]
    with pytest.raises(ks.NotFoundError, match="'nobody'"):
        session.explain("nobody")


def test_an_explanation_of_one_who_had_to_go(cluster):
    cluster.apply(
        op="change",
        pods={"name": ["gang-0", "gang-1"], "status": [6, 6], "node": ["n1", "n2"]},
        pod_groups={"name": ["giant"], "priority": [100]},
    )
    smaller = {"cpu": [1], "memory": [0], "gpu": [8000], "pods": [1]}
    cluster.apply(op="change", pods={"name": ["giant-0"], "request": smaller})
    untouched = ks.Engine(actions=["allocate"]).run(cluster.snapshot())
    assert "was there when the session opened" in untouched.explain("gang-0").sentences
    session = ks.Engine(actions=["allocate", "preempt"]).run(cluster.snapshot())
    kinds = dict(zip(session.decisions["pod_name"], session.decisions["kind"], strict=True))
    gone = session.explain(next(pod for pod, kind in kinds.items() if kind == ks.DecisionKind.EVICT))
    assert gone.victim is not None and any("giant" in sentence for sentence in gone.sentences)


def test_pictures_of_clusters(cluster, session):
    cluster.apply(topologies={"name": ["zones"], "levels": [["zone"]], "primary": [True]})
    empty = cluster.snapshot()._repr_html_()
    assert "2 nodes, 16 GPUs, 0 of them held" in empty and "zone a" in empty and "n2: 0 of 8 GPUs held" in empty
    assert "#2e7d32" not in empty
    shown = session.explain("gang").picture
    assert shown in session.explain("gang")._repr_html_()
    assert "16 of them held" in shown and shown.count("fill='#2e7d32'") == 2 and "fill='#90a4ae'" not in shown
    assert "fill='#90a4ae'" in session.explain("gang-0").picture and "zone" not in shown
