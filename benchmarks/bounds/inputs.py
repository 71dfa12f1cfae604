"""Nodes, pods, jobs and shares from CSV files. docs/bounds.md lists the columns; others are ignored."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

GPU = 1000  # milli-GPU of one device
SECOND = 10**9
LARGEST = 2**53  # beyond it a double, which solvers compute with, is no longer the number that was read
TIME_UNITS = {"d": 86400 * SECOND, "h": 3600 * SECOND, "m": 60 * SECOND, "s": SECOND, "ms": 10**6, "us": 1000, "ns": 1}
TIME_PART = re.compile(r"(\d+(?:\.\d+)?)(d|h|ms|m|s|us|ns)")
TIME = re.compile(f"(?:{TIME_PART.pattern})+")


class InputError(Exception):
    """Something in a file is wrong; the text names the file, the line and the field."""


@dataclass(frozen=True, order=True)
class NodeType:
    """What nodes that are alike have."""

    gpu_model: str
    gpu_count: int
    cpu_milli: int
    memory_mib: int

    @property
    def gpu_milli(self) -> int:
        return self.gpu_count * GPU


@dataclass(frozen=True)
class Node:
    name: str
    type: NodeType


@dataclass(frozen=True, order=True)
class PodClass:
    """What pods that are alike ask for: `num_gpu` different devices, `gpu_milli` of each."""

    cpu_milli: int
    memory_mib: int
    num_gpu: int
    gpu_milli: int
    gpu_models: tuple[str, ...] = ()  # that it may run on, as written; none: all. Without GPUs it runs everywhere.

    @property
    def gpu_total(self) -> int:
        return self.num_gpu * self.gpu_milli

    def can_ever_run_on(self, node: NodeType) -> bool:
        """On a node of that type with nothing else."""
        return (
            self.num_gpu <= node.gpu_count
            and self.cpu_milli <= node.cpu_milli
            and self.memory_mib <= node.memory_mib
            and (self.num_gpu == 0 or not self.gpu_models or node.gpu_model in self.gpu_models)
        )


@dataclass(frozen=True)
class Pod:
    name: str
    wants: PodClass


@dataclass(frozen=True)
class Placement:
    """A pod on a node; `gpus` are indices of devices there. Pods of one name can be placed many times."""

    pod: str
    node: str
    gpus: tuple[int, ...]


@dataclass(frozen=True)
class Job:
    """Times in nanoseconds; `run_time` is that of the job alone, with all its GPUs."""

    name: str
    submit: int
    run_time: int
    gpu_milli: int


@dataclass(frozen=True)
class Claimant:
    """Somebody who shares a capacity with others."""

    name: str
    demand: int
    weight: int = 1
    share: int | None = None  # what a policy gave


class Row:
    """One line of a file; every accessor complains with the place."""

    def __init__(self, where: str, fields: dict[str, str]) -> None:
        self.where = where
        self._fields = fields

    def fail(self, field: str, why: str) -> InputError:
        return InputError(f"{self.where}: {field}: {why}")

    def has(self, field: str) -> bool:
        return bool(self._fields.get(field))

    def text(self, field: str, default: str = "") -> str:
        return self._fields.get(field) or default

    def name(self, field: str) -> str:
        if not self.has(field):
            raise self.fail(field, "is empty")
        return self._fields[field]

    def number(self, field: str, least: int = 0) -> int:
        return self._bounded(field, self._decimal(field), least)

    def scaled(self, field: str, unit: int, least: int = 0) -> int:
        """A decimal number in a unit, as a whole number of its parts; more digits than that are an error."""
        return self._bounded(field, self._decimal(field) * unit, least)

    def real(self, field: str) -> Decimal:
        return self._decimal(field)

    def time(self, field: str) -> int:
        """Nanoseconds: seconds with decimals, or units such as 1h30m. What is finer is cut off."""
        text = self._fields.get(field) or ""
        parts = TIME_PART.findall(text) if TIME.fullmatch(text) else []
        total = sum((Decimal(number) * TIME_UNITS[unit] for number, unit in parts), Decimal(0))
        total = total if parts else self._decimal(field) * SECOND
        if not 0 <= total <= LARGEST * 1000:  # 285 years
            raise self.fail(field, f"{text} is out of range")
        return int(total)

    def parts(self, field: str, default: str) -> list[Row]:
        """Rows with one value each of a field that may have several, split by `|`."""
        return [Row(self.where, {field: one}) for one in self.text(field, default).split("|")]

    def columns(self) -> list[str]:
        return list(self._fields)

    def _decimal(self, field: str) -> Decimal:
        text = self._fields.get(field) or ""
        try:
            value = Decimal(text)
        except InvalidOperation:
            raise self.fail(field, f"'{text}' is not a number") from None
        if not value.is_finite() or abs(value) > LARGEST:
            raise self.fail(field, f"{text} is out of range")
        return value

    def _bounded(self, field: str, value: Decimal, least: int) -> int:
        if value != int(value):
            raise self.fail(field, f"{self._fields[field]} has more digits than are counted")
        if value < least:
            raise self.fail(field, f"{self._fields[field]} is less than {least}")
        return int(value)


def rows(path: Path, columns: list[str]) -> Iterator[Row]:
    """Lines of a file that must have these columns."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, restkey="")
            known = reader.fieldnames or []
            for column in columns:
                if column not in known:
                    raise InputError(f"{path}: there is no column {column}")
            for fields in reader:
                where = f"{path}:{reader.line_num}"
                if "" in fields or None in fields.values():
                    raise InputError(f"{where}: has not as many fields as the head of the file")
                yield Row(where, fields)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: {error}") from None


def _named_once(row: Row, field: str, seen: set[str]) -> str:
    name = row.name(field)
    if name in seen:
        raise row.fail(field, f"{name} is there twice")
    seen.add(name)
    return name


def read_nodes(path: Path) -> list[Node]:
    seen: set[str] = set()
    columns = ["name", "gpu_model", "gpu_count", "cpu_milli", "memory_mib"]
    return [
        Node(
            _named_once(row, "name", seen),
            NodeType(row.text("gpu_model"), row.number("gpu_count"), row.number("cpu_milli"), row.number("memory_mib")),
        )
        for row in rows(path, columns)
    ]


def read_pods(path: Path) -> list[Pod]:
    """In the order of the file, which is that of their arrival. `gpu_spec`, if it is there, has models split by `|`."""
    found = []
    seen: set[str] = set()
    for row in rows(path, ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"]):
        name = _named_once(row, "name", seen)
        count = row.number("num_gpu")
        of_each = row.number("gpu_milli", least=1 if count else 0)
        if of_each > GPU:
            raise row.fail("gpu_milli", f"{of_each} is more than one device has")
        models = tuple(model for model in row.text("gpu_spec").split("|") if model)
        cpu, memory = row.number("cpu_milli"), row.number("memory_mib")
        found.append(Pod(name, PodClass(cpu, memory, count, of_each if count else 0, models)))
    return found


def read_arrivals(path: Path, line: str, pods: list[Pod]) -> list[Pod]:
    """Pods as they arrive. Each line has a label and then indices into the pods as they are sorted by name; one pod
    may come many times."""
    ordered = sorted(pods, key=lambda pod: pod.name)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    for number, text in enumerate(lines, 1):
        label, *indices = text.split() or [""]
        if label != line:
            continue
        arrived = []
        for index in indices:
            if not index.isdecimal() or int(index) >= len(ordered):
                raise InputError(f"{path}:{number}: {index} is no index of {len(ordered)} pods")
            arrived.append(ordered[int(index)])
        return arrived
    raise InputError(f"{path}: there is no line {line}")


def read_placements(path: Path) -> list[Placement]:
    """`gpu_ids` has indices split by `-`. Without a node it is a pod that was rejected, and is left out."""
    found = []
    for row in rows(path, ["pod", "node", "gpu_ids"]):
        if not row.has("node"):
            continue
        ids = row.text("gpu_ids").split("-") if row.has("gpu_ids") else []
        if not all(one.isdecimal() for one in ids):
            raise row.fail("gpu_ids", f"'{row.text('gpu_ids')}' is no list of indices")
        found.append(Placement(row.name("pod"), row.name("node"), tuple(map(int, ids))))
    return found


def read_jobs(path: Path) -> list[Job]:
    """What the simulator plays, as far as bounds ask for it. GPUs are told by `gpus_total` or by `pods` times `gpus`,
    time by `run_time` or by `iterations` times `iteration_time`."""
    found: list[Job] = []
    seen: set[str] = set()
    for row in rows(path, []):
        if not any(row.has(column) for column in row.columns()):
            continue
        name = _named_once(row, "job", seen) if "job" in row.columns() else f"job-{len(found) + 1}"
        submit = row.time("submit") if row.has("submit") else 0
        if row.has("run_time") or not row.has("iterations"):
            run_time = row.time("run_time")
        else:
            run_time = row.number("iterations") * row.time("iteration_time")
        found.append(Job(name, submit, run_time, _gpus_of(row)))
    return found


def _gpus_of(row: Row) -> int:
    if row.text("gpu_memory", "0").strip("0|"):
        raise row.fail("gpu_memory", "how much of a GPU that is, is not known here")
    if row.has("gpus_total"):
        return row.scaled("gpus_total", GPU)
    pods = [one.number("pods") for one in row.parts("pods", "1")]
    gpus = [one.scaled("gpus", GPU) for one in row.parts("gpus", "0")]
    if len(gpus) == 1:
        gpus *= len(pods)
    if len(pods) == 1:
        pods *= len(gpus)
    if len(pods) != len(gpus):
        raise row.fail("gpus", f"has {len(gpus)} values, pods has {len(pods)}")
    return sum(count * of_each for count, of_each in zip(pods, gpus))


def read_claimants(path: Path) -> list[Claimant]:
    """`weight` and `share` may be absent; then weights are 1, and nothing is compared."""
    seen: set[str] = set()
    return [
        Claimant(
            _named_once(row, "name", seen),
            row.number("demand"),
            row.number("weight", least=1) if row.has("weight") else 1,
            row.number("share") if row.has("share") else None,
        )
        for row in rows(path, ["name", "demand"])
    ]
