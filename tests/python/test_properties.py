"""What holds for all inputs: Python and the library agree."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kaisched as ks

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

# The same examples in every run: what is found is found by everybody.
settings.register_profile("kaisched", deadline=None, derandomize=True, database=None)
settings.load_profile("kaisched")

times = st.one_of(st.integers(0, 10**6), st.floats(0, 1e6, width=32), st.decimals(0, 10**6, places=3).map(float))
words = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=8).map(str.strip)


@st.composite
def workloads(draw, largest=12):
    """Columns of a workload, of all types."""
    n = draw(st.integers(0, largest))

    def column(of):
        return draw(st.lists(of, min_size=n, max_size=n))

    columns = {"submit": column(times), "run_time": column(times)}
    optional = {
        "queue": st.sampled_from(["", "a", "b"]),
        "user": words,
        "gpus_total": st.sampled_from([0.25, 1, 2, 8, 20]),
        "cpu": st.sampled_from([0, 0.5, 3]),
        "estimate": st.one_of(st.none(), times),
        "priority": st.integers(-(2**31), 2**31 - 1),
        "preemptible": st.booleans(),
    }
    for name, of in optional.items():
        if draw(st.booleans()):
            columns[name] = column(of)
    return columns


@given(workloads())
@settings(max_examples=150)
def test_columns_and_csv_come_back(columns):
    made = ks.Workload(columns)
    assert ks.Workload(made.jobs) == made
    assert ks.Workload._of(ks._core.Workload.parse(made.to_csv(), 0)) == made
    order = np.argsort(np.floor(np.asarray(columns["submit"], float) * 1e9), kind="stable")
    for name, given_values in (("submit", columns["submit"]), ("run_time", columns["run_time"])):
        nanoseconds = np.asarray(given_values, float)[order]
        assert np.abs(getattr(made, name) - nanoseconds).max(initial=0) <= 1e-9 + 1e-15 * nanoseconds.max(initial=0)
    if "gpus_total" in columns:
        assert made.gpus.tolist() == np.asarray(columns["gpus_total"], float)[order].tolist()


@given(workloads(), st.sampled_from(["fifo", "fifo-skip", "sjf", "srtf", "las", "drf", "kai", "best-fit"]))
@settings(max_examples=60)
def test_runs_add_up(columns, policy):
    """What is in one table follows from the others, whatever is played."""
    columns["gpus_total"] = columns.get("gpus_total", [1] * len(columns["submit"]))
    w = ks.Workload(columns)
    run = ks.simulate(w, nodes="2x8", policy=policy, estimates="exact", until=2e6)
    jobs, stays = run.jobs, run.intervals
    held = np.bincount(stays["job"], stays["gpus"] * (stays["end"] - stays["start"]), len(w))
    assert np.allclose(held, jobs["gpu_seconds"], atol=1e-2, rtol=1e-9)
    ended = ~np.isnan(jobs["end"])
    assert (jobs["running"][ended] + 1e-6 >= jobs["run_time"][ended]).all()
    assert run.metrics["ended"] == ended.sum() and run.metrics["jobs"] == len(w)
    if ended.any():
        assert run.metrics["completion_mean"] == pytest.approx(jobs["jct"][ended].mean())
    for node in range(2):  # no node holds more than it has
        on = stays.select(stays["node"] == node)
        changes = sorted(
            [(t, -g) for t, g in zip(on["end"], on["gpus"], strict=True)]
            + [(t, g) for t, g in zip(on["start"], on["gpus"], strict=True)]
        )
        assert np.cumsum([g for _, g in changes]).max(initial=0) <= 8 + 1e-9


class Oldest(ks.Policy):
    def order_groups(self, view, groups):
        return view.group_created(groups)


class Shortest(ks.Policy):
    def order_groups(self, view, groups):
        estimate = view.group_estimate(groups)
        return np.stack([estimate < 0, estimate], axis=1).astype(np.int64)


@given(workloads(), st.sampled_from([(Oldest, "fifo-skip"), (Shortest, "sjf")]))
@settings(max_examples=40)
def test_a_rule_in_python_is_the_rule_of_the_library(columns, pair):
    w = ks.Workload(columns)
    mine, theirs = (ks.simulate(w, nodes="1x8", policy=p) for p in (pair[0](), pair[1]))
    assert mine.digest == theirs.digest


@given(st.lists(st.tuples(times, st.integers(1, 1000)), max_size=20))
@settings(max_examples=60)
def test_one_gpu_is_a_queue(pairs):
    """First come, first served on one GPU, computed by hand."""
    pairs = [(float(int(submit)), float(length)) for submit, length in pairs]
    columns = {"submit": [s for s, _ in pairs], "run_time": [r for _, r in pairs], "gpus": [1] * len(pairs)}
    columns["job"] = [f"{i:02}" for i in range(len(pairs))]  # of one time the name that sorts first goes first
    run = ks.simulate(columns, nodes="1x1", policy="fifo")
    free = 0.0
    for submit, length, start, end in zip(*(run.jobs[c] for c in ("submit", "run_time", "start", "end")), strict=True):
        assert start == max(free, submit)
        assert end == start + length
        free = end


@given(
    st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")), max_size=6),
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3), max_size=6),
)
@settings(max_examples=100)
def test_arrow_comes_back(texts, lists):
    for name, form, values in (("t", "string", texts), ("l", "i64_list", lists)):
        back = ks._core.arrow_columns(ks._core.arrow_stream([(name, form, values)], len(values)))[name]
        assert [v if form == "string" else v.tolist() for v in back] == values


PROGRAM = os.environ.get("KAISCHED_CLI") or next(
    (str(p) for p in [Path(__file__).resolve().parents[2] / "build/release/bin/kaisched"] if p.exists()), None
)


@pytest.mark.skipif(PROGRAM is None, reason="no program: build/release/bin/kaisched, or KAISCHED_CLI")
@pytest.mark.parametrize("policy", ["fifo", "easy", "las", "kai", "time-fair"])
def test_the_program_says_the_same(tmp_path, policy):
    w = ks.Workload.generate(150, seed=9, queues=2)
    w.to_csv(tmp_path / "jobs.csv")
    told = [PROGRAM, "compare", "jobs.csv", "--nodes", "3x8", "--policies", policy, "--estimates", "exact", "--json"]
    said = json.loads(subprocess.run(told, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)
    run = ks.simulate(w, nodes="3x8", policy=policy, estimates="exact")
    theirs = said["policies"][0]
    assert theirs["digest"] == run.digest
    assert theirs["completion"]["mean"] == run.metrics["completion_mean"]
    assert theirs["jain"] == run.metrics["jain"]
