"""When groups start, with what is not known of run times."""

import doctest
import math
import pickle

import numpy as np
import pytest

import kaisched as ks
from benchmarks import start_times
from kaisched import forecast

HOUR = 3600 * 10**9
AT = (np.arange(1000) + 0.5) / 1000


def cluster_of(*groups, gpus=8000):
    """One node. Groups have a name, GPUs, when they started (None: they wait), an estimate in hours (None: without)."""
    names = [g[0] for g in groups]
    made = ks.Cluster()
    made.apply(
        nodes={"name": ["n1"], "capacity": np.array([[64000, 2**40, gpus, 110]])},
        queues={"name": ["team"]},
        pod_groups={
            "name": names,
            "queue": ["team"] * len(groups),
            "created": list(range(len(groups))),
            "last_start": [ks.UNSET if g[2] is None else g[2] * HOUR for g in groups],
            "runtime_estimate": [ks.UNSET if g[3] is None else g[3] * HOUR for g in groups],
        },
        pods={
            "name": [f"{n}-0" for n in names],
            "group": names,
            "request": {"gpu": [1000 * g[1] for g in groups]},
            "status": [ks.PodStatus.PENDING if g[2] is None else ks.PodStatus.RUNNING for g in groups],
            "node": ["" if g[2] is None else "n1" for g in groups],
        },
    )
    return made


@pytest.fixture
def line():
    """Two that run on four GPUs each, and three that want all eight or a part."""
    return cluster_of(("a", 4, 0, 4), ("b", 4, 1, 6), ("c", 8, None, 2), ("d", 8, None, 2), ("e", 2, None, 1))


@pytest.fixture
def seen():
    return forecast.RunTimes({"run_time": [900.0, 1800, 2700, 3600, 5400, 7200], "estimate": [3600.0] * 6})


def test_the_example():
    assert doctest.testmod(forecast).failed == 0
    assert doctest.testmod(forecast).attempted > 4
    assert ks.forecast is forecast


def test_the_same_seed_gives_the_same_bytes(line, seen):
    first = forecast.starts(line, None, seen, now=2 * HOUR, scenarios=40, seed=3)
    again = forecast.starts(line.snapshot(), None, seen, now=2 * HOUR, scenarios=40, seed=3)
    other = forecast.starts(line, None, seen, now=2 * HOUR, scenarios=40, seed=4)
    assert first.groups == ["c", "d", "e"]
    assert first.starts.tobytes() == again.starts.tobytes() != other.starts.tobytes()
    assert line.snapshot().table("pod_group")["runtime_estimate"].tolist()[:2] == [4 * HOUR, 6 * HOUR]
    copy = pickle.loads(pickle.dumps(first))
    assert copy.at.tobytes() == first.at.tobytes()
    # Numbers of one seed, for ever: a generator that other versions of numpy draw otherwise would change them.
    assert forecast._uniform("c", 2, 3).tolist() == [0.04663636181976527, 0.9140775347946507]


def test_draws_of_a_group_do_not_depend_on_others(seen):
    few = cluster_of(("a", 8, 0, 4), ("c", 8, None, 2))
    more = cluster_of(("a", 8, 0, 4), ("b", 8, None, 6), ("c", 8, None, 2))
    alone = forecast.starts(few, ["c"], seen, now=HOUR, scenarios=30)
    behind = forecast.starts(more, ["b"], seen, now=HOUR, scenarios=30)
    assert alone.starts.tolist() == behind.starts.tolist()


def test_quantiles_are_those_of_the_scenarios_and_rise(line, seen):
    told = forecast.starts(line, ["d", "c"], seen, now=2 * HOUR, scenarios=60, quantiles=(0, 0.05, 0.5, 0.95, 1))
    assert told.groups == ["d", "c"] and told.at.shape == (2, 5) and told.scenarios == 60
    assert (np.diff(told.at, axis=1) >= 0).all() and (told.starts > 2 * HOUR).all()
    for row, quantiles in zip(told.starts, told.at, strict=True):
        ordered = sorted(row.tolist())
        assert quantiles.tolist() == [ordered[i] for i in (0, 2, 29, 56, 59)]
    assert (told.starts[0] > told.starts[1]).all()  # in the order of the queue, in every scenario
    assert told.waits.tolist() == ((told.at - 2 * HOUR) / 1e9).tolist()
    assert list(told.table) == ["group", "point", "q0", "q5", "q50", "q95", "q100", "without"]
    assert "d" in told._repr_html_()


def test_without_uncertainty_it_is_what_if(line):
    """Whoever ran exactly as long as was said: every scenario is the what-if of the session."""
    exact = forecast.RunTimes({"run_time": [60.0, 600.0], "estimate": [60.0, 600.0]})
    told = forecast.starts(line, None, exact, now=2 * HOUR, scenarios=5)
    said = ks.Engine().run(line.snapshot(), 2 * HOUR).what_if(["c", "d", "e"], displace=False)
    assert (told.earliest == said["earliest"][:, None]).all() and told.earliest[1, 0] == 7 * HOUR  # d before c
    assert told.bounds.tolist() == [[5 * 3600, 5 * 3600], [5 * 3600, 7 * 3600], [2 * 3600, 2 * 3600]]
    assert told.point.tolist() == said["expected"].tolist() == [6 * HOUR + HOUR, 9 * HOUR, 4 * HOUR]
    assert (told.starts == told.point[:, None]).all() and (told.at == told.point[:, None]).all()
    assert told.knowledge == [["known"] * 5] * 3


def test_run_times_follow_the_jobs_seen(seen):
    drawn = seen.draw(AT, 4 * HOUR) / HOUR
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 6, 8]
    assert all(abs(n - 1000 / 6) <= 1 for n in counts)
    assert seen.ratios.tolist() == [0.25, 0.5, 0.75, 1, 1.5, 2] and seen.jobs == 6


def test_who_has_run_already_is_compared_with_those_that_ran_longer(seen):
    assert np.unique(seen.draw(AT, 4 * HOUR, 3 * HOUR)).tolist() == [4 * HOUR, 6 * HOUR, 8 * HOUR]
    overrun = seen.draw(AT, 4 * HOUR, 5 * HOUR)  # longer than was said
    assert np.unique(overrun, return_counts=True)[1].tolist() == [500, 500]
    assert np.unique(overrun).tolist() == [6 * HOUR, 8 * HOUR]
    beyond = seen.draw(AT, 4 * HOUR, 9 * HOUR) / HOUR  # longer than anybody ran
    assert beyond.min() > 9 and abs((beyond <= 18).mean() - 0.5) < 0.01 and abs((beyond <= 90).mean() - 0.9) < 0.01
    assert seen.draw(np.array([1 - 2.0**-53]), 4 * HOUR, 10**18)[0] < 2**62


def test_a_group_that_overran_its_estimate_does_not_end_at_once(seen):
    late = cluster_of(("a", 8, 0, 2), ("c", 8, None, 2))
    told = forecast.starts(late, ["c"], seen, now=3 * HOUR, scenarios=50)
    assert told.point.tolist() == [3 * HOUR]  # what-if: it should have ended, so it ends now
    assert np.unique(told.starts).tolist() == [4 * HOUR]  # of those seen, only one ran for more than 1.5 of its estimate


def test_jobs_that_still_run_count_as_longer_than_they_have_run():
    columns = {"run_time": [60.0, 120.0, 180.0, 240.0], "ended": [True, False, True, False]}
    drawn = forecast.RunTimes(columns).draw(AT, ks.UNSET) / 1e9
    # Kaplan and Meier: 1/4 ends at 60, of the other 3/4 half at 180; what is left goes on for 240 at least.
    assert (drawn == 60).sum() == 250 and (drawn == 180).sum() == 375 and (drawn >= 240).sum() == 375
    assert abs((drawn > 480).sum() - 375 / 2) <= 1
    only_ended = forecast.RunTimes({"run_time": [60.0, 180.0]}).draw(AT, ks.UNSET) / 1e9
    assert drawn.mean() > only_ended.mean()
    nobody = forecast.RunTimes({"run_time": [60.0], "ended": [False]})
    assert nobody.draw(AT[:2], ks.UNSET).tolist() == [-1, -1]


def test_near_estimates_and_queues():
    columns = {
        "run_time": [30.0] * 30 + [3600.0] * 30,
        "estimate": [60.0] * 30 + [36000.0] * 30,
        "queue": ["quick", "slow"] * 30,
    }
    near = forecast.RunTimes(columns, near=10)
    assert np.unique(near.draw(AT, 2 * HOUR // 60)).tolist() == [HOUR // 60]
    assert np.unique(near.draw(AT, 9 * HOUR)).tolist() == [9 * HOUR // 10]
    assert len(np.unique(forecast.RunTimes(columns, near=0).draw(AT, 9 * HOUR))) == 2
    assert len(np.unique(near.draw(AT, 9 * HOUR, elapsed=HOUR))) == 1  # none of the near ones ran so long: all others
    columns["run_time"] = [60.0, 600.0] * 30
    del columns["estimate"]
    by_queue = forecast.RunTimes(columns, by="queue")
    assert np.unique(by_queue.draw(AT, ks.UNSET, key="slow")).tolist() == [600 * 10**9]
    assert len(np.unique(by_queue.draw(AT, ks.UNSET, key="another"))) == 2
    assert len(np.unique(forecast.RunTimes(columns, by="queue", least=31).draw(AT, ks.UNSET, key="slow"))) == 2


def test_a_group_that_does_not_start(seen):
    too_large = cluster_of(("a", 8, 0, 4), ("giant", 16, None, 1), ("c", 8, None, 1))
    told = forecast.starts(too_large, ["giant", "c"], seen, now=HOUR, scenarios=20)
    assert told.without.tolist() == [1, 0] and told.point[0] == -1
    assert told.at[0].tolist() == [-1, -1, -1] and np.isinf(told.waits[0]).all()
    assert set(told.knowledge[0]) == {"never"} and set(told.knowledge[1]) == {"known"}
    assert math.isinf(told.table["q50"][0])
    # Half of the scenarios without a start: the median has one, the 95 % quantile has none.
    half = forecast.Starts(["x"], 0, (0.5, 0.95), np.array([[5, -1, 7, -1]]), [["known"] * 4], np.array([5]), np.array([[3] * 4]))
    assert half.bounds.tolist() == [[3e-9, math.inf]]
    assert half.at.tolist() == [[7, -1]] and half.without.tolist() == [0.5]


def test_groups_without_estimate(seen):
    unknown = cluster_of(("a", 8, 0, None), ("c", 8, None, 1))
    told = forecast.starts(unknown, ["c"], seen, now=HOUR, scenarios=20)
    assert told.point.tolist() == [-1] and told.without.tolist() == [0]  # by the run times of others
    nothing = forecast.RunTimes({"run_time": []})
    told = forecast.starts(unknown, ["c"], nothing, now=HOUR, scenarios=3)
    assert told.knowledge == [["no_estimate"] * 3] and told.without.tolist() == [1]


def test_who_starts_now_starts_now(seen):
    told = forecast.starts(cluster_of(("a", 4, 0, 4), ("c", 4, None, 2), ("d", 4, None, 2)), None, seen, now=HOUR)
    assert told.point.tolist()[0] == HOUR and set(told.starts[0].tolist()) == {HOUR}
    assert (told.starts[1] > HOUR).all() and told.scenarios == 200


@pytest.mark.parametrize(
    ("told", "error", "words"),
    [
        ({"groups": ["nobody"]}, ks.NotFoundError, "groups, entry 0: there is no pod group 'nobody'"),
        ({"groups": ["c", "a"]}, ks.ArgumentError, "groups, entry 1: pod group 'a' does not wait"),
        ({"groups": ["c", "c"]}, ks.ArgumentError, "groups, entry 1: pod group 'c' is named twice"),
        ({"groups": "c"}, ks.ArgumentError, "groups: expected names of groups"),
        ({"scenarios": 0}, ks.ArgumentError, "scenarios: expected an integer from 1 on, got 0"),
        ({"scenarios": 2.5}, ks.ArgumentError, "scenarios: .* got 2.5"),
        ({"seed": -1}, ks.ArgumentError, "seed: .* got -1"),
        ({"now": True}, ks.ArgumentError, "now: .* got True"),
        ({"ends": 0}, ks.ArgumentError, "ends: .* got 0"),
        ({"quantiles": (0.5, 0.05)}, ks.ArgumentError, "quantiles: .* ascending"),
        ({"quantiles": (0.5, 1.5)}, ks.ArgumentError, "quantiles: .* from 0 to 1"),
        ({"quantiles": (math.nan,)}, ks.ArgumentError, "quantiles"),
        ({"quantiles": 0.5}, ks.ArgumentError, "quantiles"),
        ({"run_times": {"run_time": [1]}}, ks.ArgumentError, "run_times: expected RunTimes"),
        ({"engine": 5}, ks.ArgumentError, "policy"),
    ],
)
def test_what_is_refused(line, seen, told, error, words):
    given = {"groups": ["c"], "run_times": seen, "now": HOUR, "scenarios": 2} | told
    with pytest.raises(error, match=words):
        forecast.starts(line, given.pop("groups"), given.pop("run_times"), **given)


@pytest.mark.parametrize(
    ("columns", "told", "words"),
    [
        ({"estimate": [1]}, {}, "jobs seen: there is no column run_time"),
        ({"run_time": [1]}, {"by": "queue"}, "there is no column queue"),
        ({"run_time": [1]}, {"by": "colour"}, "by: expected 'queue', 'user' or ''"),
        ({"run_time": [1]}, {"least": 0}, "least: expected an integer from 1 on"),
        ({"run_time": [1]}, {"near": -1}, "near: expected an integer from 0 on"),
        ({"run_time": [1, -1]}, {}, "jobs seen, column run_time: row 1 is -1.0, expected seconds from 0 on"),
        ({"run_time": [1, math.nan]}, {}, "column run_time: row 1 is nan"),
        ({"run_time": [1, 1], "estimate": [math.nan, 0]}, {}, "column estimate: row 1 is 0.0, expected seconds above 0"),
        ({"run_time": [1, 1], "estimate": [1]}, {}, "column estimate: 1 rows, the column run_time has 2"),
        ({"run_time": [1, 1], "queue": ["a"]}, {"by": "queue"}, "column queue: 1 rows"),
        ({"run_time": [1], "ended": [1]}, {}, "column ended: expected True or False"),
        ({"run_time": ["1h"]}, {}, "column run_time: expected seconds as numbers"),
        ({"run_time": [[1.0]]}, {}, "column run_time: .* shape"),
        (5, {}, "jobs seen: expected a dict"),
    ],
)
def test_what_is_refused_of_jobs(columns, told, words):
    with pytest.raises(ks.ArgumentError, match=words):
        forecast.RunTimes(columns, **told)


def test_a_margin_makes_up_for_what_was_wrong():
    draws = np.random.default_rng(5)
    true = np.exp(draws.normal(7, 1.5, 2000))
    low, high = true * np.exp(draws.normal(-0.2, 0.5, 2000)), true * np.exp(draws.normal(0.2, 0.5, 2000))
    low, high = np.minimum(low, high), np.maximum(low, high)
    before = ((low <= true) & (true <= high))[1000:].mean()
    by = forecast.margin(low[:1000], high[:1000], true[:1000])
    least, most = forecast.widen(low, high, by)
    assert before < 0.6 and by > 0
    assert abs(((least <= true) & (true <= most))[1000:].mean() - 0.9) < 0.03
    wide = forecast.margin(true / 100, true * 100, true)
    assert wide < 0  # too wide, so they are made narrower
    least, most = forecast.widen(true / 100, true * 100, wide)
    assert (least > true / 100).all() and (most < true * 100).all() and (least <= most).all()


def test_margins_at_their_ends():
    assert forecast.margin([1.0] * 8, [2.0] * 8, [1.5] * 8) == math.inf  # 90 % need nine at least
    assert forecast.margin([1.0] * 9, [2.0] * 9, [1.5] * 9) < 0
    assert [v.tolist() for v in forecast.widen([5.0], [9.0], math.inf)] == [[0.0], [math.inf]]
    assert [v.tolist() for v in forecast.widen([0.0], [math.inf], 1.0)] == [[0.0], [math.inf]]
    least, most = forecast.widen([5.0, math.inf], [6.0, math.inf], -3.0)
    assert least[0] == most[0] and 5 < least[0] < 6 and math.isinf(least[1]) and math.isinf(most[1])
    for told, words in [
        (lambda: forecast.margin([1.0], [2.0, 3.0], [1.0]), "1, 2, 1 entries"),
        (lambda: forecast.margin([1.0], [2.0], [math.inf]), "actual: what has not started yet"),
        (lambda: forecast.margin([1.0], [2.0], [-1.0]), "actual: expected one wait per entry"),
        (lambda: forecast.margin([1.0], [2.0], [1.0], coverage=1), "coverage: expected a number between 0 and 1"),
        (lambda: forecast.widen([1.0], [2.0, 3.0], 0.1), "low has 1 entries, high has 2"),
        (lambda: forecast.widen([2.0], [1.0], 0.1), "entry 0: low is above high"),
        (lambda: forecast.widen(["x"], [1.0], 0.1), "low: expected seconds"),
        (lambda: forecast.widen([1.0], [1.0], math.nan), "by: expected a margin"),
    ]:
        with pytest.raises(ks.ArgumentError, match=words):
            told()


# ---- against plays ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def play():
    jobs = ks.Workload.generate(60, seed=3, jobs_per_hour=60, sizes="1:50,4:30,16:20", run_times="log-normal:30m:1")
    exact = ks.Workload(dict(jobs.jobs) | {"estimate": jobs.run_time})
    return ks.simulate(exact, nodes="3x8", policy="fifo-skip")


def test_run_times_of_a_play(play):
    until = float(np.median(play.jobs["end"]))
    known = forecast.RunTimes.of_run(play, until)
    ended = play.jobs["end"] <= until
    assert (known.ratios == 1).all() and len(known.ratios) == ended.sum()
    assert known.jobs == (play.jobs["start"] <= until).sum() > ended.sum()
    assert forecast.RunTimes.of_run(play, by="queue").jobs == 60


def test_who_knows_run_times_knows_starts(play):
    """With true run times, and nobody who comes later, every scenario is what then happens in the play."""
    last = float(play.workload.submit[-1])
    cluster, waiting = start_times.cluster_at(play, last)
    exact = forecast.RunTimes({"run_time": [60.0], "estimate": [60.0]})
    told = forecast.starts(cluster, waiting, exact, now=round(last * 1e9), engine="fifo-skip", scenarios=2)
    began = dict(zip(play.jobs["job"], play.jobs["start"], strict=True))
    assert len(waiting) > 10
    assert np.abs(told.starts / 1e9 - np.array([[began[name]] for name in waiting])).max() < 1e-3


def test_coverage_is_counted(play):
    asked, run = start_times.questions(start_times.with_estimates(play.workload, 1), "3x8", "fifo-skip", 4, 5, first=10)
    said = start_times.summary(asked)
    assert asked.shape == (4, 9) and said["questions"] == 4 and run.metrics["ended"] == 60
    assert math.isclose(said["covered"] + said["earlier"] + said["later"], 1)
    rows = np.array([[0, 1, 2, 3, 2, 1, 4, 2, 9], [1, 1, 2, 3, 5, 1, 4, 4, 2], [2, 1, 2, 3, 5, 1, 4, 0, 2]], float) * [1, *[3600] * 8]
    said = start_times.summary(rows)
    assert [said[k] for k in ("covered", "earlier", "later")] == [1 / 3] * 3 and said["width_h"] == 2
    assert said["bounds_covered"] == 2 / 3 and said["bounds_width_h"] == 3
    assert said["covered_if_nobody_came"] == 2 / 3 and said["point_error_h"] == 2 and said["median_error_h"] == 4 / 3
