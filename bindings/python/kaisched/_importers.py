"""Configurations of other schedulers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kaisched import _core

SchedulerName = Literal["kai", "kube-scheduler", "kueue", "slurm", "volcano", "yunikorn"]


@dataclass(frozen=True)
class ImportedConfig:
    """What ``import_config`` makes of a configuration. ``ks.Engine(**imported.options)`` decides with it."""

    scheduler: str
    """Whose configuration it is, such as ``Volcano``."""
    options: dict[str, str]
    """Options of an engine and their values as text, ``preset`` first, in the units of ``kaisched.options()``."""
    scenario: str
    """What it says of nodes, queues and topologies, as the text of a ``Scenario``; empty if it says nothing."""
    queue_rules: str
    """Rules that say which queue a job belongs to, as a file in JSON; empty without rules."""
    left_out: list[str]
    """What has no counterpart here, each with its line: ``12: weight.x: binpack does not read it``."""


def import_config(text: str, scheduler: SchedulerName | None = None, *, name: str = "text") -> ImportedConfig:
    """Turns the configuration of another scheduler into options, as ``kaisched import`` does.

    ``text`` is a SchedulingShard of KAI, a configuration of Volcano or YuniKorn (also in its ConfigMap), a
    KubeSchedulerConfiguration or objects of Kueue, each in YAML or JSON, or a slurm.conf with gres.conf and
    topology.conf behind it. Without ``scheduler`` it is the one that the text looks like. Errors name ``name`` and the
    line. Raises ArgumentError for a text that is none of these, and for values that no option takes.
    """
    return ImportedConfig(*_core.import_configuration(text, scheduler or "", name))
