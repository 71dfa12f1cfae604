"""Scenarios and cluster files from Python."""

import kaisched as ks
import pytest

TEXT = """scenario 1 "two nodes"
rule G1
now 1h
node n[1-2] gpu=2 cpu=8 pods=10
queue team
pod_group train min_member=2
  pod train-[0-1] gpu=2
run
expect bind train-0 n1 devices=[0,1] action=allocate commit=1
expect bind train-1 n2 devices=[0,1] action=allocate commit=1
"""


def test_a_scenario_plays() -> None:
    scenario = ks.Scenario(TEXT, "two.ks")
    assert (scenario.title, scenario.rules, scenario.text) == ("two nodes", ["G1"], TEXT)
    outcome = scenario.play()
    assert outcome.passed and outcome.findings == [] and outcome.updated == TEXT
    assert (outcome.sessions, outcome.expectations) == (1, 2)


def test_differences_have_lines_and_are_mended() -> None:
    outcome = ks.Scenario(TEXT.replace("train-1 n2", "train-1 n1")).play()
    assert not outcome.passed
    assert [line for line, _ in outcome.findings] == [10, 10]
    assert outcome.unresolved == []
    assert outcome.updated == TEXT


def test_options_win_over_those_of_the_text() -> None:
    outcome = ks.Scenario(TEXT).play({"actions": "nothing"})
    assert not outcome.passed
    assert "there is no action 'nothing'" in outcome.findings[0][1]


def test_faults_name_the_place() -> None:
    with pytest.raises(ks.ArgumentError, match='bad.ks:2:8: node has no column "gpus"; did you mean "gpu"?'):
        ks.Scenario("scenario 1\nnode n gpus=1\n", "bad.ks")


def test_its_cluster_decides_like_any_other() -> None:
    snapshot, now = ks.Scenario(TEXT).cluster()
    assert now == 3_600_000_000_000
    assert list(ks.Engine().run(snapshot, now).decisions["pod_name"]) == ["train-0", "train-1"]


def test_minimising_asks_python() -> None:
    asked = []

    def interesting(one: ks.Scenario) -> bool:
        asked.append(one)
        return "train-1" in one.text

    small = ks.Scenario(TEXT).minimise(interesting)
    assert "train-1" in small and "train-0" not in small and "\nnode" not in small
    assert len(asked) > 1
    with pytest.raises(ks.ArgumentError, match="not true of the scenario itself"):
        ks.Scenario(TEXT).minimise(lambda _: False)
    with pytest.raises(ZeroDivisionError):
        ks.Scenario(TEXT).minimise(lambda _: bool(1 // 0))


@pytest.mark.parametrize("ending", ["json", "yaml", "ks"])
def test_files_keep_the_digest(tmp_path, ending: str) -> None:
    snapshot, now = ks.Scenario(TEXT).cluster()
    for path in [str(tmp_path / f"cluster.{ending}"), tmp_path / f"another.{ending}"]:
        ks.write_cluster(path, snapshot, now)
        again, then = ks.read_cluster(path)
        assert (again.digest, then) == (snapshot.digest, now)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ks.NotFoundError, match="nowhere.json"):
        ks.read_cluster("nowhere.json")


def test_old_names_are_played_with_warnings():
    text = "scenario 1\nnode n gpu=1\nrun preset=volcano-default actions=[tiers]\nexpect nothing\n"
    with pytest.warns(DeprecationWarning) as caught:
        assert ks.Scenario(text, "old.ks").play({"turns.settings": ""}).passed
    assert [str(one.message).partition(" since")[0] for one in caught] == [
        "option 'turns.settings' is called 'yunikorn.settings'",
        "old.ks:3: action 'tiers' is called 'volcano'",
    ]
