"""Calls that take long: they end with Ctrl-C, let other threads run, and leave nothing behind."""

import _thread
import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import kaisched as ks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals and sizes of processes as on Linux")


@pytest.fixture(scope="module")
def long_workload():
    """Some minutes of deciding: everything waits behind everything."""
    n = 20000
    return ks.Workload({"submit": np.arange(n), "run_time": np.full(n, 10**5), "gpus": np.full(n, 1)})


@pytest.fixture
def interrupted():
    """Ctrl-C, as soon as `begun` is set."""
    begun, over = threading.Event(), threading.Event()

    def press():
        if begun.wait(20) and not over.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
    thread = threading.Thread(target=press)
    thread.start()
    yield begun
    over.set()
    begun.set()
    thread.join()
    signal.signal(signal.SIGINT, before)


class Tells(ks.Policy):
    """Sets an event when it is asked the tenth time: soon no group has a place, and then none is put in order."""

    def __init__(self, begun):
        self.begun, self.calls = begun, 0

    def order_groups(self, view, groups):
        self.calls += 1
        if self.calls == 10:
            self.begun.set()
        return view.group_created(groups)


def test_a_play_ends_with_ctrl_c(long_workload, interrupted):
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ks.simulate(long_workload, nodes="2x8", policy=Tells(interrupted))
    assert time.monotonic() - start < 20


def test_plays_side_by_side_end_with_ctrl_c(long_workload, interrupted):
    with pytest.raises(KeyboardInterrupt):
        ks.compare(long_workload, {"a": Tells(interrupted), "b": "kai"}, nodes="2x8", threads=2)
    assert threading.active_count() <= 2  # this one and the one that pressed


def test_a_session_ends_with_ctrl_c(cluster, interrupted):
    class Slow(ks.Policy):
        def score_nodes(self, view, pod, nodes):
            interrupted.set()
            time.sleep(0.02)
            return np.zeros(len(nodes))

    n = 3000
    cluster.apply(
        pod_groups={"name": [f"g{i}" for i in range(n)], "queue": ["team"] * n},
        pods={
            "name": [f"g{i}-0" for i in range(n)],
            "group": [f"g{i}" for i in range(n)],
            "request": {"cpu": [i + 1 for i in range(n)], "gpu": [0] * n},
        },
    )
    engine = ks.Engine(policies=[Slow()], actions=["allocate"])
    session = engine.open(cluster.snapshot())
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        session.run()
    assert time.monotonic() - start < 20
    assert session.decisions.rows > 0  # what was committed, and what waits


def test_a_policy_that_is_interrupted_is_not_at_fault(snapshot):
    class Interrupted(ks.Policy):
        def order_groups(self, view, groups):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ks.Engine(policies=[Interrupted()]).run(snapshot)


def test_other_threads_cannot_be_interrupted_but_play(long_workload):
    runs = []
    few = long_workload.head(50)
    thread = threading.Thread(target=lambda: runs.append(ks.simulate(few, nodes="2x8", policy="fifo")))
    thread.start()
    thread.join()
    assert runs[0].digest == ks.simulate(few, nodes="2x8", policy="fifo").digest


def test_other_threads_run_meanwhile(long_workload):
    counted = 0

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    done = threading.Event()
    thread = threading.Thread(target=count)
    thread.start()
    ks.simulate(long_workload.head(200), nodes="2x8", policy="kai")
    before = counted
    done.set()
    thread.join()
    assert before > 5
    assert _thread.get_ident() == threading.main_thread().ident


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Plain(ks.Policy):
    def order_groups(self, view, groups):
        return view.group_created(groups)


def everything(tables):
    """What allocates in the extension module, once."""
    cluster = ks.Cluster()
    cluster.apply(**tables)
    snapshot = cluster.snapshot()
    session = ks.Engine(policies=[Plain()]).run(snapshot)
    for table in (session.decisions, session.fork().placements, session.candidates("giant-0")):
        ks._core.arrow_columns(table.__arrow_c_stream__())
    session.explain("giant")
    w = ks.Workload.generate(60, seed=1)
    ks.simulate(ks.Workload(w.jobs), nodes="2x8", policy=Plain())
    for wrong in ({"run_time": ["x"]}, {"run_time": [1], "job": [""]}):
        with pytest.raises(ks.ArgumentError):
            ks.Workload(wrong)


def test_nothing_leaks(tables):
    """What one round leaves behind would be some kilobytes at least: a table, an array, an engine."""
    rounds = 150
    for _ in range(30):
        everything(tables)
    gc.collect()
    before = resident()
    for _ in range(rounds):
        everything(tables)
    gc.collect()
    assert (resident() - before) / rounds < 4096
