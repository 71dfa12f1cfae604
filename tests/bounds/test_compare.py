"""The comparison itself, with data that is small enough to be known by heart."""

import json

import pytest

from benchmarks.bounds.__main__ import main


@pytest.fixture
def data(tmp_path):
    muri, fgd = tmp_path / "muri", tmp_path / "fgd"
    muri.mkdir()
    fgd.mkdir()
    (muri / "tiny.csv").write_text(
        "job_id,num_gpu,submit_ms,iterations,model,iter_ms\n0,64,0,1000,x,1000\n1,64,0,1000,x,2000\n"
    )
    (muri / "lower_bounds.csv").write_text(
        "trace,total_gpu_seconds,lb_jct_mean_isolated_s,lb_jct_srpt_aggregate_s,lb_makespan_s,best_nonpacking_jct_s(SRSF)\n"
        "tiny,194880,1522.5,2030.0,3045.0,2436.0\n"
    )
    (fgd / "nodes.csv").write_text("name,gpu_model,gpu_count,cpu_milli,memory_mib\nn,A,2,9,9\n")
    pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\nb,0,0,1,600,\na,0,0,0,0,\n"
    for workload in ("default", "gpuspec10"):
        (fgd / f"pods_{workload}.csv").write_text(pods.replace("600,", "600,B") if "spec" in workload else pods)
    (fgd / "arrivals_default.txt").write_text("7 0 1 1 0 1\n")
    (fgd / "bounds.csv").write_text(
        "workload,seed,lp_dff_max_alloc_pct_at_130,lp_prefix_pods,lp_prefix_gpu_pct,first_fail_gpu_pct_Mine\n"
        "default,7,60.000,4,60.0,45.0\ngpuspec10,7,0.000,1,0.000,0.0\n"
    )
    placed = "pod,node,gpu_ids\nb,n,0\nb-tuned-3,n,1\nb,,\n"
    (fgd / "golden_placements_default_s7_Mine.csv").write_text(placed)
    # 800 are free. Pods without GPUs are half of the typical ones, the other half cannot use 400.
    (fgd / "golden_final_state.csv").write_text(
        "workload,policy,seed,frag_gpu_milli\ndefault,Mine,7,800\ndefault,Unknown,7,1\ncpu050,Mine,7,1\n"
    )
    return tmp_path


def change(path, was, becomes):
    text = path.read_text()
    assert text.count(was) == 1
    path.write_text(text.replace(was, becomes))


def test_times(data, capsys):
    report = data / "report.json"
    arguments = ["compare", "--only", "muri", "--data", str(data), "--json", str(report)]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "1 cases, 4 numbers, 0 differ" in out and "DIFFERS" not in out
    written = json.loads(report.read_text())
    assert written["differing"] == 0
    assert written["cases"][0]["from_bound_pct"] == {"SRSF": pytest.approx(20)}
    # Half of the last digit is allowed, no more.
    for becomes, status in (("2030.1", 1), ("2030.04", 1), ("2030", 0), ("2030.00", 0)):
        change(data / "muri/lower_bounds.csv", "2030.0,", becomes + ",")
        assert main(arguments) == status
        assert capsys.readouterr().out.count("DIFFERS") == status
        change(data / "muri/lower_bounds.csv", becomes + ",", "2030.0,")


def test_fragmentation(data, capsys):
    arguments = ["compare", "--only", "frag", "--data", str(data)]
    assert main(arguments) == 0
    assert "1 cases, 1 numbers, 0 differ" in capsys.readouterr().out
    change(data / "fgd/golden_final_state.csv", "800", "799")
    assert main(arguments) == 1


def test_packing(data, capsys):
    pytest.importorskip("highspy", reason="highspy is not installed (./dev test installs it)")
    arguments = ["compare", "--only", "fgd", "--data", str(data)]
    # Pods by name are a, b: the line says a b b a b, of which the third b is one too many.
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "2 cases, 6 numbers, 0 differ" in out and "Mine 25.0 %" in out
    assert main([*arguments, "--workload", "default", "--seed", "7"]) == 0
    assert "1 cases, 3 numbers, 0 differ" in capsys.readouterr().out
    assert main([*arguments, "--seed", "8"]) == 2
    capsys.readouterr()
    for was, becomes in (("60.000", "60.002"), (",4,", ",5,"), ("60.0,", "60.2,")):
        change(data / "fgd/bounds.csv", was, becomes)
        assert main(arguments) == 1
        assert capsys.readouterr().out.count("DIFFERS") == 1
        change(data / "fgd/bounds.csv", becomes, was)
