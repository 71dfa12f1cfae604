import re

import pytest

from benchmarks.bounds import inputs
from benchmarks.bounds.inputs import InputError, Job, Node, NodeType, Pod, PodClass


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "in.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


NODES = "name,gpu_model,gpu_count,cpu_milli,memory_mib\n"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
JOBS = "job,submit,run_time,gpus_total\n"
CLAIMS = "name,demand,weight,share\n"
PLACED = "pod,node,gpu_ids\n"


def test_nodes(written):
    found = inputs.read_nodes(written("memory_mib,zone,name,gpu_model,gpu_count,cpu_milli\n7,z,n1,T4,2,5\n8,z,n2,,0,6\n"))
    assert found == [Node("n1", NodeType("T4", 2, 5, 7)), Node("n2", NodeType("", 0, 6, 8))]


def test_pods(written):
    found = inputs.read_pods(written(PODS + "a,1,2,1,500,T4|A10\nb,3,4,0,1000,\nc,5,6,2,1000,\n"))
    assert [pod.wants for pod in found] == [
        PodClass(1, 2, 1, 500, ("T4", "A10")),
        PodClass(3, 4, 0, 0),
        PodClass(5, 6, 2, 1000),
    ]
    # Models may be left out of the file.
    assert inputs.read_pods(written("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,2,1,500\n"))[0].wants.gpu_models == ()


def test_arrivals(written, tmp_path):
    pods = [Pod(name, PodClass(0, 0, 0, 0)) for name in ("b", "a", "c")]
    lines = tmp_path / "lines.txt"
    lines.write_text("41 0\n42 2 0 0\n\n")
    assert [pod.name for pod in inputs.read_arrivals(lines, "42", pods)] == ["c", "a", "a"]
    with pytest.raises(InputError, match=r"lines\.txt: there is no line 4$"):
        inputs.read_arrivals(lines, "4", pods)
    for bad in ("3", "-1", "x"):
        lines.write_text(f"41\n42 0 {bad}\n")
        with pytest.raises(InputError, match=rf"lines\.txt:2: {bad} is no index of 3 pods"):
            inputs.read_arrivals(lines, "42", pods)


def test_jobs(written):
    found = inputs.read_jobs(written(JOBS + "a,0,1.5,2\nb,0.000000001,3,0.25\n"))
    assert found == [Job("a", 0, 1_500_000_000, 2000), Job("b", 1, 3_000_000_000, 250)]


SECOND = 10**9


def test_jobs_as_the_simulator_has_them(written):
    head = "run_time,submit,pods,gpus,gpu_memory,iterations,iteration_time,queue\n"
    found = inputs.read_jobs(
        written(head + "1h30m,,,,,,,q\n,1.5m,3,2,0,10,250ms,\n,,,,,,,\n1d2h3s,7,1|4,0|8,,,,\n0,0,2|3,0.5,,,,\n1,0,4,1|2,,,,\n")
    )
    assert found == [
        Job("job-1", 0, 5400 * SECOND, 0),
        Job("job-2", 90 * SECOND, 10 * SECOND // 4, 6000),
        Job("job-3", 7 * SECOND, (86400 + 7200 + 3) * SECOND, 32000),
        Job("job-4", 0, 0, 2500),
        Job("job-5", 0, SECOND, 12000),
    ]
    units = inputs.read_jobs(written("run_time\n1us\n2ns\n0.0000000019\n3ms4us5ns\n1e2\n"))
    assert [job.run_time for job in units] == [1000, 2, 1, 3_004_005, 100 * SECOND]


def test_claimants(written):
    found = inputs.read_claimants(written(CLAIMS + "a,5,2,3\nb,5,,\n"))
    assert [(one.demand, one.weight, one.share) for one in found] == [(5, 2, 3), (5, 1, None)]


def test_placements(written):
    found = inputs.read_placements(written(PLACED + "a,n,0-3\nb,,\nc,n,\n"))
    assert found == [inputs.Placement("a", "n", (0, 3)), inputs.Placement("c", "n", ())]


@pytest.mark.parametrize(
    ("read", "text", "why"),
    [
        ("nodes", "name,gpu_model,gpu_count,cpu_milli\n", "in.csv: there is no column memory_mib"),
        ("nodes", "", "in.csv: there is no column name"),
        ("nodes", NODES + "n,T4,2,5\n", "in.csv:2: has not as many fields"),
        ("nodes", NODES + "n,T4,2,5,6,7\n", "in.csv:2: has not as many fields"),
        ("nodes", NODES + ",T4,2,5,6\n", "in.csv:2: name: is empty"),
        ("nodes", NODES + "n,T4,2,5,6\nn,T4,2,5,6\n", "in.csv:3: name: n is there twice"),
        ("nodes", NODES + "n,T4,2,,6\n", "in.csv:2: cpu_milli: '' is not a number"),
        ("nodes", NODES + "n,T4,two,5,6\n", "in.csv:2: gpu_count: 'two' is not a number"),
        ("nodes", NODES + "n,T4,-2,5,6\n", "in.csv:2: gpu_count: -2 is less than 0"),
        ("nodes", NODES + "n,T4,2,5.5,6\n", "in.csv:2: cpu_milli: 5.5 has more digits"),
        ("nodes", NODES + "n,T4,2,5,NaN\n", "in.csv:2: memory_mib: NaN is out of range"),
        ("nodes", NODES + "n,T4,2,5,1e400\n", "in.csv:2: memory_mib: 1e400 is out of range"),
        ("nodes", NODES + "n,T4,2,5,9007199254740993\n", "in.csv:2: memory_mib: 9007199254740993 is out of range"),
        ("pods", PODS + "p,1,2,1,0,\n", "in.csv:2: gpu_milli: 0 is less than 1"),
        ("pods", PODS + "p,1,2,1,1001,\n", "in.csv:2: gpu_milli: 1001 is more than one device has"),
        ("pods", PODS + "p,1,2,1,9,\np,1,2,1,9,\n", "in.csv:3: name: p is there twice"),
        ("jobs", JOBS + "a,0,1,-1\n", "in.csv:2: gpus_total: -1 is less than 0"),
        ("jobs", JOBS + "a,-1,1,1\n", "in.csv:2: submit: -1 is out of range"),
        ("jobs", JOBS + "a,0,1x,1\n", "in.csv:2: run_time: '1x' is not a number"),
        ("jobs", JOBS + "a,0,1h-2m,1\n", "in.csv:2: run_time: '1h-2m' is not a number"),
        ("jobs", JOBS + "a,0,999999999d,1\n", "in.csv:2: run_time: 999999999d is out of range"),
        ("jobs", JOBS + "a,0,,1\n", "in.csv:2: run_time: '' is not a number"),
        ("jobs", "run_time,pods,gpus\n1,1|2|3,1|2\n", "in.csv:2: gpus: has 2 values, pods has 3"),
        ("jobs", "run_time,gpu_memory\n1,0|100\n", "in.csv:2: gpu_memory: how much"),
        ("jobs", "iterations,iteration_time\n5,\n", "in.csv:2: iteration_time: '' is not a number"),
        ("jobs", JOBS + "a,0,1,0.0001\n", "in.csv:2: gpus_total: 0.0001 has more digits"),
        ("jobs", JOBS + "a,0,1,1\na,0,1,1\n", "in.csv:3: job: a is there twice"),
        ("claimants", CLAIMS + "a,1,0,\n", "in.csv:2: weight: 0 is less than 1"),
        ("placements", PLACED + "a,n,0;1\n", "in.csv:2: gpu_ids: '0;1' is no list"),
        ("placements", PLACED + ",n,0\n", "in.csv:2: pod: is empty"),
    ],
)
def test_bad_files(written, read, text, why):
    with pytest.raises(InputError, match=re.escape(why)) as error:
        list(getattr(inputs, "read_" + read)(written(text)))
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: .*No such file"):
        inputs.read_nodes(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"bytes\.csv"):
        inputs.read_nodes(tmp_path / "bytes.csv")
    with pytest.raises(InputError, match=r"none\.txt"):
        inputs.read_arrivals(tmp_path / "none.txt", "", [])
