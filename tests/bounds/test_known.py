"""The numbers that are known for public inputs, where they are at hand; ./dev bounds compare has all of them."""

import csv
import os
from pathlib import Path

import pytest

from benchmarks.bounds import fragmentation, inputs, reproduce
from benchmarks.bounds.__main__ import main

SHARED = os.environ.get("KAISCHED_SHARED")
DATA = Path(SHARED or "") / "data"
pytestmark = pytest.mark.skipif(
    not SHARED or not (DATA / "fgd/bounds.csv").exists(), reason="KAISCHED_SHARED has no data/fgd"
)


def differing(cases):
    return [number for case in cases for number in case.numbers if not number.equal]


def test_times():
    cases = list(reproduce.muri(DATA / "muri"))
    assert len(cases) == 8 and all(len(case.numbers) == 4 for case in cases)
    assert differing(cases) == []
    assert all(case.below_bound["SRSF"] > 0 for case in cases)


@pytest.mark.parametrize(
    ("workload", "seed"),
    [("default", "42"), ("gpushare100", "43"), ("multigpu40", "44"), ("gpuspec10", "44"), ("gpuspec33", "43")],
)
def test_packing(workload, seed):
    pytest.importorskip("highspy", reason="highspy is not installed (./dev test installs it)")
    cases = list(reproduce.fgd(DATA / "fgd", [workload], [seed]))
    assert [case.name for case in cases] == [f"{workload} {seed}"]
    assert len(cases[0].numbers) == 3 and differing(cases) == []
    # No policy is above the bound, but for the digits that its figure does not have.
    assert all(below > -0.02 for below in cases[0].below_bound.values())


def test_fragmentation():
    cases = list(reproduce.fgd_fragmentation(DATA / "fgd"))
    assert len(cases) == 5 and differing(cases) == []


def test_typical_pods():
    with (DATA / "fgd/typical_pods.csv").open(newline="") as file:
        known = [row for row in csv.DictReader(file) if row["workload"] == "gpuspec33"]
    found = fragmentation.typical(inputs.read_pods(DATA / "fgd/pods_gpuspec33.csv"))
    assert len(known) == 127
    for row, (wants, weight) in zip(known, found.items(), strict=True):
        assert (wants.cpu_milli, wants.num_gpu, wants.gpu_milli, "|".join(wants.gpu_models)) == (
            int(row["cpu_milli"]), int(row["num_gpu"]), int(row["gpu_milli"]), row["gpu_spec"],
        )  # fmt: skip
        assert float(weight) == pytest.approx(float(row["weight"]), rel=1e-14)


def test_what_is_missing_is_told(tmp_path, monkeypatch, capsys):
    assert main(["compare", "--data", str(tmp_path)]) == 2
    assert "lower_bounds.csv" in capsys.readouterr().err
    monkeypatch.delenv("KAISCHED_SHARED")
    assert main(["compare"]) == 2
    assert "KAISCHED_SHARED names none" in capsys.readouterr().err


def test_no_such_case(capsys):
    pytest.importorskip("highspy", reason="highspy is not installed (./dev test installs it)")
    assert main(["compare", "--only", "fgd", "--workload", "none", "--data", str(DATA)]) == 2
    assert "no such case" in capsys.readouterr().err
