"""Chakra execution traces of a training step, one a GPU, in one ZIP archive: what ASTRA-sim takes as its workload.

The first workload that trains is written, the default one if it does. Each trace computes for as long as the analysis
says the step does, then runs the collectives of the step one kind and size after the other, as often as the step model
counts them. How much of them hides behind computing is the simulator's to say. Groups of ranks are attributes of
the collectives and in ``comm_groups.json``, which ASTRA-sim takes as its communicator groups.
Sources: mlcommons/chakra at 6dc63e14, schema/protobuf/et_def.proto (MIT): messages and field numbers; astra-sim,
tests/rt_template (attributes its reader asks for).
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from designer import atomic
from designer.design.document import Design
from designer.engine.network import build_network
from designer.errors import DesignerError, ExchangeError
from designer.families.training.preparation import TrainingPlan, prepare
from designer.families.training.routed_costs import RoutedCosts, arrangement_of
from designer.families.training.tasks import TrainStep
from designer.formulas.communication import Kind, RankGroup
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.sources import Constant, Status
from designer.units import Bytes, Seconds
from designer.workload.kind import task_of

_VERSION: Final = "0.0.4"
#: node types and collectives of the schema
_COMPUTE, _COLLECTIVE = 4, 7
_KINDS: Final = {Kind.ALL_REDUCE: 0, Kind.ALL_GATHER: 2, Kind.ALL_TO_ALL: 6, Kind.REDUCE_SCATTER: 7}
#: a trace of each GPU; more is no file to hand on
_MOST: Final = 16_384
#: collectives of a step stated one by one; more are reported as fewer, larger ones
_REPEATS: Final = 512
_NONE_HIDDEN: Final = Constant(0.0, 0.0, 0.0, "assumed-training", Status.ASSUMED, "1", "nothing hides")


@dataclass(frozen=True, slots=True)
class _Asked:
    """Collectives of one kind, group and size, and how often a step has them."""

    kind: Kind
    group: RankGroup
    size: float
    count: int


class _Probe:
    """Communication costs that take note of what is asked for, and of which one question alone takes time."""

    def __init__(self, routed: RoutedCosts, only: tuple[Kind, RankGroup, float] | None = None) -> None:
        self.routed, self.only = routed, only
        self.asked: dict[tuple[Kind, RankGroup, float], None] = {}

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        """One second for the question in mind, none for others [s]."""
        key = (kind, group, float(size))
        self.asked[key] = None
        return Seconds(1.0 if key == self.only else 0.0)

    def servers(self, group: RankGroup) -> int:
        """Servers that the ranks of one group are in, at most."""
        return self.routed.servers(group)


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the archive.

    Raises
    ------
    ExchangeError
        If no workload trains, or the job does not fit the design.
    """
    del options
    plan = _plan(design)
    if plan.layout.ranks > _MOST:
        raise ExchangeError(f"{plan.layout.ranks:,} ranks", remedy=f"traces are written for up to {_MOST:,}")
    seconds, asked = _step(plan)
    groups = _groups(plan, asked)
    out = io.BytesIO()
    notes: list[str] = []
    if any(one.kind is Kind.SEND for one in asked):
        notes.append("sends between pipeline stages are left out: their partners differ from rank to rank")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        traces: dict[tuple[int, ...], bytes] = {}
        for rank in range(plan.layout.ranks):
            member = tuple(groups[name][rank] for name in groups)
            if member not in traces:
                traces[member] = _trace(seconds, asked, dict(zip(groups, member, strict=True)))
            archive.writestr(_entry(f"trace.{rank}.et"), traces[member])
        archive.writestr(_entry("comm_groups.json"), _members(groups))
    return (*atomic.write(path, out.getvalue()), *notes)


def _plan(design: Design) -> TrainingPlan:
    specs = sorted(design.workloads.values(), key=lambda spec: spec.id != design.default_workload)
    network = build_network(design)
    for spec in specs:
        place = f"workloads.{spec.id}"
        try:
            step = task_of(spec.kind, spec.settings, place, TrainStep)
            if step is not None:
                return prepare(network, step.job, place)
        except DesignerError as error:
            raise ExchangeError(error.text, place=place, remedy=error.remedy or "") from None
    raise ExchangeError("no workload of the design trains a model", remedy="add a training workload")


def _step(plan: TrainingPlan) -> tuple[float, list[_Asked]]:
    """Computing of the step [s], and its collectives: how often each comes is found by letting it alone take time."""
    seen = replace(
        plan,
        software=replace(
            plan.software,
            tensor_overlap=_NONE_HIDDEN,
            data_overlap=_NONE_HIDDEN,
            pipeline_overlap=_NONE_HIDDEN,
        ),
    )
    routed = plan.ranks.costs(plan.layout)
    probe = _Probe(routed)
    bare = float(seen.estimate(probe).step_time)
    found: list[_Asked] = []
    for key in probe.asked:
        kind, group, size = key
        if arrangement_of(plan.layout, group)[1] <= 1 or size <= 0:
            continue
        # a second for each: their number is what the step takes longer
        count = round(float(seen.estimate(_Probe(routed, key)).communication))
        if count:
            found.append(_Asked(kind, group, size, count))
    return bare, found


def _groups(plan: TrainingPlan, asked: list[_Asked]) -> dict[RankGroup, list[int]]:
    """The group each rank is in, numbered over all kinds of groups from 1."""
    found: dict[RankGroup, list[int]] = {}
    ranks, serial = plan.layout.ranks, 0
    for group in dict.fromkeys(one.group for one in asked if one.kind in _KINDS):
        _, size, stride = arrangement_of(plan.layout, group)
        numbers: dict[tuple[int, int], int] = {}
        row: list[int] = []
        for rank in range(ranks):
            key = (rank // (size * stride), rank % stride)
            if key not in numbers:
                serial += 1
                numbers[key] = serial
            row.append(numbers[key])
        found[group] = row
    return found


def _members(groups: dict[RankGroup, list[int]]) -> str:
    members: dict[str, list[int]] = {}
    for row in groups.values():
        for rank, number in enumerate(row):
            members.setdefault(str(number), []).append(rank)
    return json.dumps(members, indent=1) + "\n"


def _trace(seconds: float, asked: list[_Asked], member: dict[RankGroup, int]) -> bytes:
    """Metadata, a computing node, then the collectives in a chain."""
    micros = round(seconds * 1e6)
    compute = [_number(1, 1), _text(2, "compute"), _number(3, _COMPUTE), _number(7, micros)]
    compute += [_attribute("is_cpu_op", 27, 0), _attribute("num_ops", 13, 1), _attribute("tensor_size", 13, 1)]
    messages = [_text(1, _VERSION), b"".join(compute)]
    last = 1
    for one in asked:
        if one.kind not in _KINDS:
            continue
        times = min(one.count, _REPEATS)
        size = round(one.size * one.count / times)
        for _ in range(times):
            node = [_number(1, last + 1), _text(2, f"{one.group} {one.kind}"), _number(3, _COLLECTIVE)]
            node += [_pack_number(5, last), _attribute("is_cpu_op", 27, 0)]
            node += [_attribute("comm_type", 9, _KINDS[one.kind]), _attribute("comm_size", 9, size)]
            node.append(_attribute("pg_name", 29, str(member[one.group])))
            messages.append(b"".join(node))
            last += 1
    return b"".join(_varint(len(message)) + message for message in messages)


def _varint(value: int) -> bytes:
    """A whole number, seven bits a byte, lowest first."""
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    data = value.encode("utf-8", "replace")
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _pack_number(field: int, value: int) -> bytes:
    """A list of one number."""
    data = _varint(value)
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _attribute(name: str, field: int, value: int | str) -> bytes:
    """An attribute of a node with its value in one of the fields of its type."""
    if isinstance(value, str):
        content = _text(field, value)
    else:
        content = _number(field, value)
    data = _text(1, name) + content
    return _varint(10 << 3 | 2) + _varint(len(data)) + data


def _entry(name: str) -> zipfile.ZipInfo:
    """The same bytes whenever it is written."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


EXPORTER = Exporter("chakra", ".chakra.zip", "Chakra execution traces", write)
