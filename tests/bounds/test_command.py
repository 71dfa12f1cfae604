import json
import sys

import pytest

from benchmarks.bounds import gap
from benchmarks.bounds.__main__ import main

NODES = "name,gpu_model,gpu_count,cpu_milli,memory_mib\nn1,A,2,8000,9999\nn2,B,1,8000,9999\n"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np1,0,0,1,600\np2,0,0,1,600\np3,0,0,1,600\np4,0,0,1,600\np5,0,0,0,0\n"


@pytest.fixture
def bounds(tmp_path, capsys):
    """Runs a command whose arguments NAME=TEXT become files, and returns status, JSON if there is any, and errors."""

    def run(verb, *arguments, **files):
        called = [verb, "--json", str(tmp_path / "out.json"), *arguments]
        for name, text in files.items():
            path = tmp_path / f"{name}.csv"
            path.write_text(text)
            called += [f"--{name}", str(path)]
        status = main(called)
        out = tmp_path / "out.json"
        printed = capsys.readouterr()
        return status, json.loads(out.read_text()) if out.exists() else None, printed.err, printed.out

    return run


def test_packing(bounds):
    pytest.importorskip("highspy", reason="highspy is not installed (./dev test installs it)")
    status, report, _, out = bounds("packing", "--achieved", "mine=1200", nodes=NODES, pods=PODS)
    assert status == 0
    assert (report["schema"], report["verb"]) == ("kaisched-bounds/1", "packing")
    assert report["most_allocated_gpu_milli"] == 1800 and report["most_allocated_pct"] == 60
    assert (report["prefix_pods"], report["prefix_gpu_milli"], report["prefix_pct"]) == (3, 1800, 60)
    assert (report["arrived_pods"], report["offered_gpu_milli"], report["capacity_gpu_milli"]) == (5, 2400, 3000)
    assert report["below_most_allocated_pct"] == {"mine": pytest.approx(100 / 3)}
    assert "below_most_allocated_pct mine: 33.333" in out


def test_arrivals(bounds):
    pytest.importorskip("highspy", reason="highspy is not installed (./dev test installs it)")
    status, report, _, _ = bounds("packing", "--line", "7", nodes=NODES, pods=PODS, arrivals="6 0\n7 4 0 0\n")
    assert (status, report["arrived_pods"], report["offered_gpu_milli"]) == (0, 3, 1200)


def test_exact(bounds):
    pytest.importorskip("highspy", reason="highspy is not installed (./dev test installs it)")
    status, report, _, _ = bounds("exact", "--achieved", "mine=1200", nodes=NODES, pods=PODS)
    assert (status, report["status"]) == (0, "optimal")
    assert report["found_gpu_milli"] == report["bound_gpu_milli"] == 1800 and report["gap_pct"] == 0
    assert report["below_bound_pct"] == {"mine": pytest.approx(100 / 3)}


def test_exact_of_drawn_ones(bounds):
    pytest.importorskip("highspy", reason="highspy is not installed (./dev test installs it)")
    status, report, _, _ = bounds("exact", "--draw", "1", "--load", "3.5", "--seed", "4", nodes=NODES, pods=PODS)
    assert (status, report["nodes"]) == (0, 1)
    assert report["offered_gpu_milli"] - 600 < 3.5 * report["capacity_gpu_milli"] <= report["offered_gpu_milli"]
    assert bounds("exact", "--draw", "3", nodes=NODES, pods=PODS)[0] == 2


def test_fragmentation(bounds):
    status, report, _, _ = bounds("frag", nodes=NODES, pods=PODS, placements="pod,node,gpu_ids\np1,n1,0\np2,n2,0\np5,n2,\n")
    # Free: 400 and 1,000 on n1, 400 on n2. Four in five pods can use the 1,000, none anything else.
    assert status == 0 and report["idle_gpu_milli"] == 1800
    assert report["fragmented_gpu_milli"] == pytest.approx(1800 - 800)
    assert report["unavoidable_gpu_milli"] == report["unavoidable_on_best_nodes_gpu_milli"] == pytest.approx(1800 / 5)
    assert report["avoidable_gpu_milli"] == pytest.approx(1000 - 360)


def test_time(bounds):
    jobs = "job,submit,run_time,gpus_total\na,0,6,1\nb,0,2,3\n"
    status, report, _, _ = bounds("time", "--gpus", "3", "--achieved", "mine=5", jobs=jobs)
    assert status == 0
    assert (report["mean_isolated_s"], report["mean_srpt_s"], report["mean_jct_s"], report["last_end_s"]) == (4, 3, 4, 6)
    assert report["gpu_seconds"] == 12 and report["above_mean_jct_pct"] == {"mine": 25}


def test_shares(bounds):
    status, report, _, _ = bounds("shares", "--capacity", "12", claims="name,demand,weight,share\na,2,1,2\nb,9,1,6\nc,9,1,4\n")
    assert status == 0 and report["fair"] == {"a": 2, "b": 5, "c": 5}
    assert report["largest_lack_pct"] == 20 and report["misplaced_pct"] == pytest.approx(100 / 12)
    assert report["jain_per_weight"] == pytest.approx(144 / (3 * 56))
    status, report, _, _ = bounds("shares", "--capacity", "12", claims="name,demand\na,2\n")
    assert status == 0 and "misplaced_pct" not in report


JOBS = "job,submit,run_time,gpus_total\na,0,6,1\n"


@pytest.mark.parametrize(
    ("verb", "arguments", "files", "error"),
    [
        ("time", ["--gpus", "0"], {"jobs": JOBS}, "bounds: --gpus: gpus: 0 is less than 1"),
        ("time", ["--gpus", "x"], {"jobs": JOBS}, "bounds: --gpus: gpus: 'x' is not a number"),
        ("time", ["--gpus", "1", "--achieved", "mine"], {"jobs": JOBS}, "--achieved mine: NAME=NUMBER is wanted"),
        ("time", ["--gpus", "1", "--achieved", "mine=nan"], {"jobs": JOBS}, "--achieved mine=nan: NAME=NUMBER is wanted"),
        ("time", ["--gpus", "1", "--achieved", "mine=5"], {"jobs": JOBS}, "5 is below the bound 6"),
        ("time", ["--gpus", "1", "--achieved", "m=5"], {"jobs": JOBS.replace("6", "0")}, "--achieved: the bound is 0"),
        ("time", ["--gpus", "1"], {"jobs": "job\na\n"}, "jobs.csv:2: run_time: '' is not a number"),
        ("time", ["--gpus", "1"], {"jobs": "job\n"}, "there are no jobs"),
        ("shares", ["--capacity", "-1"], {"claims": "name,demand\na,1\n"}, "--capacity: -1 is less than 0"),
        ("shares", ["--capacity", "1"], {"claims": "name,demand,share\na,1,1\nb,1,\n"}, "share: some have one and some"),
    ],
)
def test_errors(bounds, verb, arguments, files, error):
    status, report, printed, _ = bounds(verb, *arguments, **files)
    assert status == 2 and report is None
    assert printed.startswith("bounds: ") and error in printed and printed.count("\n") == 1


def test_a_policy_above_the_bound_is_no_policy(bounds):
    pytest.importorskip("highspy", reason="highspy is not installed (./dev test installs it)")
    status, report, error, _ = bounds("packing", "--achieved", "mine=1801", nodes=NODES, pods=PODS)
    assert status == 2 and report is None and "mine: 1801 is above the bound 1800" in error


def test_without_the_solver(bounds, monkeypatch):
    monkeypatch.delitem(sys.modules, "benchmarks.bounds.packing", raising=False)
    monkeypatch.delitem(sys.modules, "benchmarks.bounds.exact", raising=False)
    monkeypatch.setitem(sys.modules, "highspy", None)
    for verb in ("packing", "exact"):
        status, report, error, _ = bounds(verb, nodes=NODES, pods=PODS)
        assert status == 2 and report is None and error.startswith("bounds: highspy is needed")
    assert bounds("time", "--gpus", "1", jobs=JOBS)[0] == 0


def test_how_far_from_a_bound():
    assert gap.below(45, 60) == 25 and gap.below(0, 60) == 100 and gap.below(0, 0) == 0
    assert gap.above(75, 60) == 25 and gap.above(60, 60) == 0
