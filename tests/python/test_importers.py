"""Configurations of other schedulers become options."""

import json

import pytest

import kaisched as ks

VOLCANO = """actions: "allocate, backfill, shuffle"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: tdm}]
"""
SLURM = """ClusterName=lab
NodeName=n[1-2] CPUs=8 RealMemory=1000 Gres=gpu:4
PartitionName=main Nodes=ALL
"""
YUNIKORN = """partitions:
- name: default
  placementrules: [{name: user, create: true}]
  queues:
  - name: root
    queues: [{name: team, resources: {guaranteed: {nvidia.com/gpu: 4}}}]
"""


def test_options_and_what_is_left_out():
    made = ks.import_config(VOLCANO)
    assert made.scheduler == "Volcano"
    assert next(iter(made.options)) == "preset" and made.options["preset"] == "volcano-default"
    assert made.scenario == made.queue_rules == ""
    assert [note.split(":")[0] for note in made.left_out] == ["1", "3"]
    assert made == ks.import_config(VOLCANO, "volcano")


def test_an_engine_takes_the_options():
    made = ks.import_config(VOLCANO)
    engine = ks.Engine(**made.options)
    assert {name: engine.get_text(name) for name in made.options if name != "preset"} == {
        name: value for name, value in made.options.items() if name != "preset"
    }


def test_nodes_become_a_scenario():
    made = ks.import_config(SLURM)
    assert made.scheduler == "Slurm"
    snapshot, _ = ks.Scenario(made.scenario).cluster()
    assert snapshot.table("node")["name"] == ["n1", "n2"]
    assert snapshot.table("queue")["name"] == ["main"]


def test_placement_rules_become_queue_rules():
    made = ks.import_config(YUNIKORN)
    assert made.scheduler == "YuniKorn"
    assert "team" in made.scenario
    assert json.loads(made.queue_rules)


def test_yaml_in_a_config_map():
    text = json.dumps({"kind": "ConfigMap", "data": {"volcano-scheduler.conf": VOLCANO}})
    assert ks.import_config(text).options == ks.import_config(VOLCANO).options


@pytest.mark.parametrize(
    ("text", "scheduler", "message"),
    [
        ("a: 1", None, "mine: neither a SchedulingShard"),
        ("a: [", None, "mine:1:"),
        (VOLCANO, "borg", "scheduler borg: expected kai"),
        ("kind: SchedulingShard\nspec: {kValue: much}", None, "mine: "),
    ],
)
def test_errors_name_the_text(text, scheduler, message):
    with pytest.raises(ks.ArgumentError) as caught:
        ks.import_config(text, scheduler, name="mine")
    assert str(caught.value).startswith(message)
