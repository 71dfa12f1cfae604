"""Figures say what the run says."""

import math

import numpy as np
import pytest

import kaisched as ks

pytest.importorskip("plotly", reason="plotly absent")
plots = pytest.importorskip("kaisched.plots")


@pytest.fixture(scope="module")
def run():
    jobs = ks.Workload.generate(jobs=80, seed=2, queues=3, jobs_per_hour=60)
    return ks.simulate(jobs, nodes="3x8", nodes_per_rack=2, equal_quotas=True, policy="kai")


@pytest.fixture(scope="module")
def shared():
    """Two jobs on one GPU, then one on another node."""
    jobs = ks.Workload({"submit": [0, 0, 10], "run_time": [100, 100, 50], "gpus": [0.5, 0.25, 1.0]})
    return ks.simulate(jobs, nodes="2x2", policy="pack")


def bars_of(figure):
    return [(x, base, y, width) for t in figure.data for x, base, y, width in zip(t.x, t.base, t.y, t.width, strict=True)]


def test_a_bar_for_each_stay_on_its_devices(shared):
    figure = plots.gantt(shared)
    assert sorted((base, base + x, y) for x, base, y, _ in bars_of(figure)) == [(0, 100, 0.5), (0, 100, 0.5), (10, 60, 1.5)]
    assert list(figure.layout.yaxis.ticktext) == ["node-00000", "node-00001"]


def test_bars_add_up_to_gpu_time(run):
    unit = plots.unit_of(run.end).seconds
    spent = sum(x * unit * round(width / 0.92) for x, _, _, width in bars_of(plots.gantt(run)))
    assert spent == pytest.approx(run.metrics["gpu_hours"] * 3600, rel=1e-6)


def nameless(run):
    """The run of a cluster that does not tell its devices apart."""
    fields = {f: getattr(run, f) for f in ks.report.Record.__dataclass_fields__}
    return ks.report.Record(**{**fields, "intervals": {c: v for c, v in run.intervals.items() if c != "devices"}})


def placed_anew(run):
    """Under a policy that gives jobs that go on other devices of their nodes."""
    return ks.simulate(run.workload, nodes="3x8", policy="las")


@pytest.mark.parametrize("of", [lambda run: run, nameless, placed_anew], ids=["named", "nameless", "placed anew"])
def test_bars_of_one_device_do_not_meet(run, of):
    lanes = {}
    for x, base, y, width in bars_of(plots.gantt(of(run))):
        height = round(width / 0.92)
        for lane in range(round(y - height / 2), round(y + height / 2)):
            lanes.setdefault(lane, []).append((base, base + x))
    for stays in lanes.values():
        stays.sort()
        assert all(a[1] <= b[0] + 1e-9 for a, b in zip(stays, stays[1:], strict=False))


def test_devices_that_are_not_named_are_given_in_order(run):
    spent = sum(x * round(width / 0.92) for x, _, _, width in bars_of(plots.gantt(nameless(run))))
    assert spent == pytest.approx(sum(x * round(width / 0.92) for x, _, _, width in bars_of(plots.gantt(run))))


def test_many_bars_become_a_map_of_nodes(run, monkeypatch):
    monkeypatch.setattr(plots, "MOST_BARS", 10)
    figure = plots.gantt(run, whole=True)
    assert figure.data[0].type == "heatmap"
    assert figure.data[0].z.mean() == pytest.approx(run.metrics["gpu_hours"] * 3600 / (24 * run.end), abs=1e-3)
    contended = plots.gantt(run).data[0]
    assert contended.z.mean() == pytest.approx(run.metrics["utilisation"], abs=1e-3)


def test_utilisation_is_the_timeline(run, monkeypatch):
    for most in (plots.MOST_POINTS, 50):
        monkeypatch.setattr(plots, "MOST_POINTS", most)
        held = plots.utilisation(run).data[0]
        x = np.asarray(held.x) * plots.unit_of(run.end).seconds
        assert (np.diff(x) * np.asarray(held.y)[:-1]).sum() == pytest.approx(run.metrics["gpu_hours"] * 3600, rel=1e-6)
        assert len(x) <= max(most, 51) + 1


def test_queues_hold_all_that_is_held(run):
    traces = {t.name: t for t in plots.queue_shares(run).data}
    assert [n for n in traces if n.endswith("quota")] == [f"queue-{i} quota" for i in (1, 2, 3)]
    assert traces["queue-1 quota"].y[0] == 8
    spent = sum((np.diff(t.x) * np.asarray(t.y)[:-1]).sum() for n, t in traces.items() if n.endswith("holds"))
    unit = plots.unit_of(run.end).seconds
    assert spent * unit == pytest.approx(run.metrics["gpu_hours"] * 3600, rel=1e-6)


def test_the_map_at_a_moment(shared):
    assert plots.occupancy(shared, 50.0).tolist() == [[0.75, 1.0], [0.0, 0.0]]
    for t in (60.0, 80.0):  # from the end on it is free
        assert plots.occupancy(shared, t).tolist() == [[0.75, 0.0], [0.0, 0.0]]
    assert plots.occupancy(nameless(shared), 50.0).tolist() == [[1.0, 0.75], [0.0, 0.0]]
    assert len(plots.fragmentation(shared, at=50.0).data) == 1
    moved = plots.fragmentation(shared, moments=5)
    assert len(moved.data) == len(moved.layout.sliders[0].steps) == 5
    assert [sum(step.args[0]["visible"]) for step in moved.layout.sliders[0].steps] == [1] * 5


def test_nodes_of_the_map_are_in_the_order_of_the_topology(run):
    assert list(plots.fragmentation(run).data[0].y) == [
        "rack-00000 / node-00000", "rack-00000 / node-00001", "rack-00001 / node-00002"]


def test_waiting_is_a_distribution(run):
    line = plots.waiting({"a": run}).data[0]
    assert line.y[0] == 0 and line.y[-1] == pytest.approx(np.isfinite(run.jobs["start"]).mean())
    assert list(line.y) == sorted(line.y) and list(line.x) == sorted(line.x)


def test_comparison_marks_the_best(run):
    other = ks.simulate(run.workload, nodes="3x8", policy="fifo", label="fifo")
    figure = plots.comparison({"kai": run, "fifo": other})
    for (key, _, less), bars in zip(plots.COMPARED, figure.data, strict=True):
        values = [run.metrics[key], other.metrics[key]]
        best = min(values) if less else max(values)
        said = [plots.figure_text(key, v) for v in values]
        starred = [text == plots.figure_text(key, best) and said[0] != said[1] for text in said]
        assert [text.endswith("\u2605") for text in bars.text] == starred, key


def test_equal_figures_have_no_star(run):
    for bars in plots.comparison({"one": run, "other": run}).data:
        assert not any("\u2605" in text for text in bars.text)
    assert plots.best_ones("utilisation", [0.05401, 0.05402], False) == [False, False]  # both read 5.4 %
    assert plots.best_ones("evictions", [3, 2, 2], True) == [False, True, True]


def test_charts_show_the_contended_window():
    # Two GPUs: one job holds one of them until 1000; from 15 to 30 one job waits for the other one.
    jobs = ks.Workload({"submit": [0, 10, 15], "run_time": [1000, 20, 20], "gpus": [1, 1, 1]})
    run = ks.simulate(jobs, nodes="1x2", policy="pack")
    assert plots.window_of(run) == (15, 30) and plots.window_of(run, whole=True) == (0, 1000)
    assert (run.metrics["utilisation"], run.metrics["utilisation_of_span"]) == (1, pytest.approx(0.52))
    for draw in (plots.gantt, plots.utilisation):
        assert list(draw(run).layout.xaxis.range) == [15, 30]
        assert [edge * plots.unit_of(1000).seconds for edge in draw(run, whole=True).layout.xaxis.range] == pytest.approx([0, 1000])


def test_waits_are_on_a_logarithmic_axis(run):
    for figure in (plots.waiting([run]), plots.quota_waits([run])):
        assert figure.layout.xaxis.type == "log"
        assert min(figure.data[0].x) >= plots.SHORTEST_WAIT  # nothing has no logarithm


def test_what_kept_gpus_idle():
    # First come, first served: the second job wants both GPUs until 100, and the third one waits behind it from 2 on.
    jobs = ks.Workload({"submit": [0, 1, 2], "run_time": [100, 10, 10], "gpus": [1, 2, 1]})
    run = ks.simulate(jobs, nodes="1x2", policy="fifo")
    figure = plots.idle(run)
    assert list(figure.data[0].y) == ["not tried"]
    assert list(figure.data[0].x) == [pytest.approx(98 / 3600)]


def test_nothing_at_all():
    none = ks.simulate(ks.Workload({"run_time": [], "gpus": []}), nodes="1x2", policy="fifo")
    for draw in (plots.gantt, plots.utilisation, plots.queue_shares, plots.fragmentation, plots.waiting):
        draw(none).to_json()
    assert plots.waits(none).tolist() == []


def test_units():
    assert [plots.unit_of(s).name for s in (0, 100, 200, 20000, 400000)] == ["s", "s", "min", "h", "d"]
    assert plots.figure_text("utilisation", 0.5) == "50.0%"
    assert plots.figure_text("waiting_mean", 7200.0) == "120.0 min"
    assert not math.isnan(plots.unit_of(math.inf).seconds)
