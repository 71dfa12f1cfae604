"""Many clusters with one line."""

import json
import threading

import pytest

import kaisched as ks


def site(nodes):
    made = ks.Cluster()
    made.apply(
        queues={"name": ["q"]},
        nodes={
            "name": [f"n{n}" for n in range(nodes)],
            "capacity": {"cpu": [8000] * nodes, "gpu": [8000] * nodes, "pods": [10] * nodes},
        },
    )
    return made


def gang(name, pods, gpus, created=0):
    return {
        "pod_groups": {"name": [name], "queue": ["q"], "min_member": [pods], "created": [created]},
        "pods": {
            "name": [f"{name}-{i}" for i in range(pods)],
            "group": [name] * pods,
            "request": {"gpu": [gpus] * pods},
        },
    }


@pytest.fixture
def line():
    made = ks.Federation()
    made.add("east", site(1), price=9, labels={"region": "eu"})
    made.add("west", site(3), price=5, labels={"region": "us"}, data=["corpus"])
    made.submit(queues={"name": ["q"], "limit": {"gpu": [64000]}})
    return made


def test_groups_go_to_members(line):
    line.submit(**gang("large", 2, 8000))
    line.submit(**gang("small", 1, 8000, 1))
    line.submit(**gang("huge", 9, 8000, 2))
    assert line.members == ["east", "west"] and line.stage("large") == ("waits", "")
    report = line.decide(5)
    assert report.placed["group_name"] == ["large", "small"] and report.placed["member"] == ["west", "west"]
    assert report.placed["by"][1] == "price" and report.placed["runner_up"][1] == "east"
    assert report.waits["group_name"] == ["huge"] and report.waits["limit"] == ["q"]
    assert report.waits["members"] == [["east", "west"]]
    assert report.members["member"] == ["west"] and report.members["digest"] == [report.sessions[0].digest]
    assert sorted(name for name in report.sessions[0].decisions["pod_name"] if name) == [
        "large-0",
        "large-1",
        "small-0",
    ]
    assert line.stage("large") == ("starts", "west") and len(report.digest) == 64
    assert line.queues(5)["allocated"][0][2] == 24000 and line.queues()["limit"][0][2] == 64000
    assert "small: west; price and not east" in repr(report) and "1 wait" in repr(report)
    assert "huge" in report._repr_html_()


def test_decisions_are_in_the_clusters(line):
    east = site(2)
    line.add("far east", east, ks.Engine(actions=["allocate"]), price=1)
    line.submit(**gang("g", 1, 1000))
    assert line.decide().placed["member"] == ["far east"]
    pods = east.snapshot().table("pods")
    assert pods["name"] == ["g-0"] and pods["status"].tolist() == [ks.PodStatus.BINDING]
    line.withdraw(["g"])
    assert east.snapshot().table("pods").rows == 0
    with pytest.raises(ks.NotFoundError):
        line.stage("g")


def test_wishes(line):
    for i, name in enumerate(("a", "b", "c", "d")):
        line.submit(**gang(name, 1, 1000, i))
    line.wish("a", members=["east"])
    line.wish("b", required={"region": "eu"})
    line.wish("c", preferred=[("region", "eu", 5)], data={"corpus": 100})
    line.wish("d", most_price=4)
    report = line.decide()
    where = dict(zip(report.placed["group_name"], report.placed["member"], strict=True))
    assert where == {"a": "east", "b": "east", "c": "east"}
    assert report.waits["verdicts"] == [["price", "price"]]
    with pytest.raises(ks.ArgumentError, match="weight"):
        line.wish("d", preferred=[("region", "eu", 0)])
    with pytest.raises(ks.ArgumentError, match="most_price"):
        line.wish("d", most_price=-2)
    with pytest.raises(ks.NotFoundError):
        line.wish("nobody")


def test_members_come_and_go(line):
    line.submit(**gang("g", 1, 8000))
    line.decide()
    line.change("west", open=False, price=5)
    assert line.stage("g") == ("starts", "west")
    line.submit(**gang("h", 1, 8000))
    assert line.decide().placed["member"] == ["east"]
    assert line.lose("west") == ["g"] and line.members == ["east"]
    assert line.decide().waits["group_name"] == ["g"]
    with pytest.raises(ks.NotFoundError):
        line.change("west")
    with pytest.raises(ks.DuplicateError):
        line.add("east", site(1))
    with pytest.raises(ks.ArgumentError, match="expected a Cluster"):
        line.add("north", site(1).snapshot())


def test_a_member_that_is_elsewhere(line):
    summary = line.summary("west", 5)
    assert json.loads(summary)["schema"] == "kaisched-cluster-summary/1"
    here = ks.Federation(order=["price"], window=1)
    here.add_known("west", summary, price=5)
    here.submit(queues={"name": ["q"]})
    here.submit(**gang("g", 2, 8000))
    report = here.decide()
    assert report.placed["stage"] == ["offered"] and report.sessions == []
    here.answer("g", False)
    assert here.stage("g") == ("waits", "") and here.decide().placed.rows == 0
    here.update("west", summary)
    here.decide()
    here.answer("g", True)
    assert here.stage("g") == ("runs", "west")
    with pytest.raises(ks.StateError):
        here.answer("g", True)
    with pytest.raises(ks.ArgumentError):
        here.update("west", "{}")
    with pytest.raises(ks.StateError):
        line.update("west", summary)


def test_options_that_are_wrong():
    for wrong in ({"order": ["price", "price"]}, {"order": ["name"]}, {"fit": "loose"}):
        with pytest.raises(ks.ArgumentError):
            ks.Federation(**wrong)
    with pytest.raises(ks.UnsupportedError):
        ks.Federation().submit(nodes={"name": ["n"]})


def test_dimensions_by_name():
    line = ks.Federation()
    cluster = ks.Cluster()
    cluster.apply(
        resources={"name": ["licence"]},
        queues={"name": ["q"]},
        nodes={"name": ["n"], "capacity": {"cpu": [8000], "pods": [10], "licence": [1]}},
    )
    line.add("only", cluster)
    line.submit(resources={"name": ["licence"]}, queues={"name": ["q"]})
    line.submit(
        pod_groups={"name": ["a", "b"], "queue": ["q"] * 2},
        pods={"name": ["a-0", "b-0"], "group": ["a", "b"], "request": {"licence": [1, 1]}},
    )
    report = line.decide()
    assert report.placed.rows == 1 and report.waits.rows == 1


class Nobody(ks.Policy):
    """Fails."""

    def filter_nodes(self, view, pod, nodes):
        raise RuntimeError("never")


def test_a_policy_that_fails_holds_nobody(line):
    line.add("broken", site(8), Nobody(), price=1)
    line.submit(**gang("g", 1, 1000))
    report = line.decide()
    assert report.placed["member"] == ["west"]
    failed = report.members["member"].index("broken")
    assert report.members["digest"][failed] == "" and report.members["text"][failed]
    assert ks.Engine().run(site(1).snapshot()).decisions.rows == 0  # the exception has not stayed anywhere


def test_threads_may_use_clusters_meanwhile():
    cluster = site(4)
    line = ks.Federation()
    line.add("only", cluster)
    line.submit(queues={"name": ["q"]})
    stop = threading.Event()

    def look():
        while not stop.is_set():
            cluster.snapshot().table("pods")

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(20):
        line.submit(**gang(f"g{i}", 1, 1000, i))
        line.decide(i)
    stop.set()
    for thread in threads:
        thread.join()
    assert cluster.snapshot().table("pods").rows == 20
