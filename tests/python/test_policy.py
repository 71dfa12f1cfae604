"""Policies that are written in Python."""

import gc
import weakref

import numpy as np
import pytest

import kaisched as ks


@pytest.fixture(scope="module")
def workload():
    return ks.Workload.generate(80, seed=11, queues=2)


class Oldest(ks.Policy):
    """What the part `fifo` does."""

    def order_groups(self, view, groups):
        return view.group_created(groups)


class Shortest(ks.Policy):
    """What the part `sjf` does."""

    def order_groups(self, view, groups):
        estimate = view.group_estimate(groups)
        return np.stack([estimate < 0, estimate], axis=1).astype(np.int64)


class LeastLeft(ks.Policy):
    """The node on which the fewest GPUs are left."""

    base = "best-fit"
    scores_by_class = True

    def score_nodes(self, view, pod, nodes):
        return -1e6 * (view.node_idle[nodes, 2] - view.pod_request(pod)[2])


def test_the_same_rule_in_python_and_in_the_library(workload):
    for policy, name in ((Oldest(), "fifo-skip"), (Shortest(), "sjf")):
        mine = ks.simulate(workload, nodes="3x8", policy=policy, estimates="exact")
        assert mine.digest == ks.simulate(workload, nodes="3x8", policy=name, estimates="exact").digest, name
        assert mine.label == type(policy).__name__


def test_scores_by_class_are_those_for_each_pod(workload):
    asked = {True: 0, False: 0}

    class Counted(LeastLeft):
        def __init__(self, by_class):
            self.scores_by_class = by_class

        def score_nodes(self, view, pod, nodes):
            asked[self.scores_by_class] += len(nodes)
            return super().score_nodes(view, pod, nodes)

    by_class, for_each = (ks.simulate(workload, nodes="3x8", policy=Counted(kind)) for kind in (True, False))
    assert by_class.digest == for_each.digest and 0 < asked[True] <= asked[False]
    assert by_class.digest != ks.simulate(workload, nodes="3x8", policy="spread").digest


def test_each_method_is_asked(snapshot, tables):
    asked = {}

    class All(ks.Policy):
        name = "all"

        def session_open(self, view):
            asked["open"] = (view.now, view.node_names, view.dimension_names)
            self.view = view

        def order_groups(self, view, groups):
            asked["order"] = view.group_names(groups)
            return view.group_created(groups)

        def filter_nodes(self, view, pod, nodes):
            asked["filter"] = view.pod_names([pod])
            return np.array([name == "n2" for name in view.node_names])[nodes]

        def score_nodes(self, view, pod, nodes):
            asked["score"] = len(nodes)
            return np.zeros(len(nodes))

        def divide_shares(self, view, queues, shares):
            asked["divide"] = (view.queue_names(queues), shares.shape)
            return shares // 2

        def permit(self, view, group, pods):
            asked["permit"] = (view.group_names([group]), view.pod_nodes(pods).tolist())
            return False

        def session_close(self):
            asked["close"] = True

    policy = All()
    session = ks.Engine(policies=[policy], actions=["allocate"]).run(snapshot, now=7)
    del session
    assert asked["open"] == (7, ["n1", "n2"], ["cpu", "memory", "gpu", "pods"])
    assert sorted(asked["order"]) == ["gang", "giant"] and asked["score"] > 0
    assert asked["divide"] == (["team"], (1, 3)) and asked["close"]
    assert "permit" not in asked  # the gang needs both nodes, of which one is refused
    with pytest.raises(ks.StateError, match="until the policy has answered"):
        policy.view.node_idle  # noqa: B018

    class Shut(ks.Policy):
        def permit(self, view, group, pods):
            asked["permit"] = (view.group_names([group]), sorted(view.pod_nodes(pods).tolist()))
            return False

    session = ks.Engine(policies=[Shut()], actions=["allocate"]).run(snapshot)
    assert asked["permit"] == (["gang"], [0, 1])
    assert "gang" in session.reasons["group_name"]


def test_victims_are_spared(cluster):
    cluster.apply(
        op="change",
        pods={"name": ["gang-0", "gang-1"], "status": [6, 6], "node": ["n1", "n2"]},
        pod_groups={"name": ["giant"], "priority": [100]},
    )
    small = {"cpu": [1], "memory": [0], "gpu": [8000], "pods": [1]}
    cluster.apply(op="change", pods={"name": ["giant-0"], "request": small})
    asked = []

    class Merciful(ks.Policy):
        def judge_victims(self, view, action, waiting, groups):
            asked.append((action, view.group_names([waiting]), view.group_names(groups)))
            return np.ones(len(groups), bool)

    kinds = ks.Engine(actions=["preempt"]).run(cluster.snapshot()).decisions["kind"].tolist()
    assert ks.DecisionKind.EVICT in kinds
    kinds = ks.Engine(actions=["preempt"], policies=[Merciful()]).run(cluster.snapshot()).decisions["kind"].tolist()
    assert ks.DecisionKind.EVICT not in kinds and asked[0] == ("preempt", ["giant"], ["gang"])


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("score_nodes", lambda *a: [1.0], r"score_nodes gave float64 of shape \(1\), expected numbers"),
        ("score_nodes", lambda v, p, n: np.full(len(n), np.nan), "node 'n1' a score that is not finite"),
        ("score_nodes", lambda *a: "high", "score_nodes gave"),
        ("filter_nodes", lambda v, p, n: np.ones(len(n)), "filter_nodes gave float64"),
        ("order_groups", lambda v, g: np.zeros((len(g), 3), int), r"order_groups gave int64 of shape \(2, 3\)"),
        ("order_groups", lambda v, g: np.zeros(len(g)), "order_groups gave float64"),
        ("divide_shares", lambda v, q, s: s - 10**15, "queue 'team' the negative share"),
        ("permit", lambda *a: 1, "permit gave 1, expected True or False"),
        ("filter_nodes", lambda v, p, n: v.pod_request(99), "there is no row 99 of a pod"),
        ("session_open", lambda *a: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_wrong_answers_are_named(snapshot, method, answer, message):
    policy = type("Wrong", (ks.Policy,), {method: lambda self, *a: answer(*a)})()
    with pytest.raises(ks.PluginError, match=message) as caught:
        ks.Engine(policies=[policy]).run(snapshot)
    assert "policy 'Wrong'" in str(caught.value)


def test_what_a_policy_raises_is_the_cause(workload, snapshot):
    class Broken(ks.Policy):
        def order_groups(self, view, groups):
            raise KeyError("gpu")

    class Unmade(ks.Policy):
        def create(self):
            raise RuntimeError("no room")

    for call in (
        lambda p: ks.Engine(policies=[p]).run(snapshot),
        lambda p: ks.simulate(workload, nodes="1x8", policy=p),
    ):
        with pytest.raises(ks.PluginError, match="KeyError") as caught:
            call(Broken())
        assert isinstance(caught.value.__cause__, KeyError)
        with pytest.raises(ks.Error) as caught:
            call(Unmade())
        assert isinstance(caught.value.__cause__, RuntimeError)


def test_names(snapshot):
    engine = ks.Engine(policies=[Oldest(), LeastLeft()])
    assert engine.get("parts")[:2] == ["Oldest", "LeastLeft"] and "Oldest" in engine.part_names
    with pytest.raises(ks.DuplicateError, match="Oldest"):
        engine.add(Oldest())


def test_state_of_a_session(snapshot):
    made = []

    class Counting(ks.Policy):
        def create(self):
            made.append(Counting())
            return made[-1]

        def order_groups(self, view, groups):
            self.calls = getattr(self, "calls", 0) + 1
            return np.zeros(len(groups), int)

    engine = ks.Engine(policies=[Counting()])
    engine.run(snapshot)
    engine.run(snapshot)
    assert len(made) == 2 and made[0].calls == made[1].calls


def test_engines_let_go_of_policies(snapshot):
    policy = Oldest()
    gone = weakref.ref(policy)
    engine = ks.Engine(policies=[policy])
    session = engine.run(snapshot)
    del policy, engine
    gc.collect()
    session.run("allocate")
    del session
    gc.collect()
    assert gone() is None


def test_pods_that_are_alike_are_asked_about_once(cluster):
    n = 50
    cluster.apply(
        pod_groups={"name": [f"g{i}" for i in range(n)], "queue": ["team"] * n},
        pods={"name": [f"g{i}-0" for i in range(n)], "group": [f"g{i}" for i in range(n)], "request": {"cpu": [1] * n}},
    )
    asked = {True: 0, False: 0}

    class Even(ks.Policy):
        def __init__(self, by_class):
            self.scores_by_class = by_class

        def score_nodes(self, view, pod, nodes):
            asked[self.scores_by_class] += len(nodes)
            return np.zeros(len(nodes))

    told = {"actions": ["allocate"], "parts": ["predicates"]}
    digests = {ks.Engine(policies=[Even(kind)], **told).run(cluster.snapshot()).digest for kind in asked}
    assert len(digests) == 1 and asked[True] < asked[False]
