"""What computes in a drawn group: the values of its parts as the rates a roofline needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, value_of
from designer.engine.network import Network
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.accelerator import Accelerator
from designer.formulas.power.step_load import capped_clock
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Watts

Int = npt.NDArray[np.int64]

_FORMATS: Final = ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")
#: host memory the operating system and the input pipeline keep to themselves when a CPU trains
HOST_SHARE: Final = Constant(0.8, 0.6, 0.9, "assumed-training", Status.ASSUMED, "1", "of host memory, for training")


def accelerator_of(
    network: Network, parts: Int, place: str, time_on: Callable[[Accelerator], float] | None = None
) -> tuple[Accelerator, tuple[Finding, ...]]:
    """The accelerator all ranks are taken for: the slowest of them, reported where they differ.

    Parameters
    ----------
    time_on
        Time of the work on one accelerator [s]; without it the slowest is the one with the least arithmetic rate.

    Raises
    ------
    AnalysisError
        If a part can compute nothing.
    """
    definitions, first = np.unique(network.net.part_def[parts], return_index=True)
    # members that differ have definitions of their own, most of which say the same
    drawn: dict[tuple[str, str], int] = {}
    for d, part in zip(definitions.tolist(), parts[first].tolist(), strict=True):
        one = network.net.part_defs[d]
        drawn.setdefault((one.type or str(d), repr(sorted(one.overrides.items())) if one.overrides else ""), part)
    found = [_accelerator(network, part, place) for part in drawn.values()]
    # parts drawn one by one have no type in common, yet may be equivalent in all that counts
    kinds = {repr(replace(one, name="")): one for one in found}
    if len(kinds) == 1:
        return found[0], ()
    slowest = max(kinds.values(), key=time_on or (lambda one: (1 / max(one.flops.values()), 1 / one.memory_bandwidth)))
    slowest = replace(slowest, memory_capacity=min(one.memory_capacity for one in found))
    text = f"{len(kinds)} kinds of accelerators work in step: all wait for {slowest.name}"
    return slowest, (Finding("TRAIN-MIXED", Severity.WARNING, text, (), "train on accelerators of one kind"),)


class DataSheet(NamedTuple):
    """What a part that computes says of itself, in SI units; ``processor`` is true for one that is no accelerator."""

    name: str
    flops: dict[str, float]
    bandwidth: float
    memory: float
    processor: bool


def data_sheet(network: Network, index: int, formats: Sequence[str], place: str, verb: str, remedy: str) -> DataSheet:
    """The values of a part that shall compute in some number formats.

    Parameters
    ----------
    verb, remedy
        What it is to do, and what to do where values are missing, for messages.

    Raises
    ------
    AnalysisError
        If it computes nothing, or values are missing.
    """
    part, kind = network.net.part(index), network.kind(index)
    if not kind.capabilities & {Capability.ACCELERATE, Capability.COMPUTE}:
        raise AnalysisError(
            f"{network.net.path(index)} is a {kind.title.lower()} and cannot {verb}",
            place=place,
            remedy="choose gpus or cpus",
        )
    clock = clock_under_cap(network, index)
    flops = {name: rate * clock for name in formats if (rate := number(network, index, f"flops_{name}"))}
    processor = Capability.ACCELERATE not in kind.capabilities
    memory = number(network, index, "memory_reported") or number(network, index, "memory_capacity")
    if processor:
        memory = _host_memory(network, index) or memory
    bandwidth = number(network, index, "memory_bandwidth")
    needed = (("compute rate", flops), ("memory bandwidth", bandwidth), ("memory capacity", memory))
    missing = [name for name, value in needed if not value]
    if missing:
        text = f"{part.label} has no {' and no '.join(missing)}"
        raise AnalysisError(text, place=network.net.path(index), remedy=remedy)
    part_type = network.design.type_of(part)
    return DataSheet(part_type.title if part_type else part.label, flops, bandwidth or 0.0, memory or 0.0, processor)


def _accelerator(network: Network, index: int, place: str) -> Accelerator:
    sheet = data_sheet(network, index, _FORMATS, place, "train", "give its type or the part these values")
    return Accelerator(
        sheet.name,
        {name: FlopPerSecond(rate) for name, rate in sheet.flops.items()},
        BytesPerSecond(sheet.bandwidth),
        Bytes(sheet.memory),
        "cpu" if sheet.processor else text_of(network, index, "architecture") or "unknown",
        text_of(network, index, "form") or "module",
        Watts(0.0 if sheet.processor else number(network, index, "power_per_part") or 0.0),
        0 if sheet.processor else round(number(network, index, "streaming_multiprocessors") or 0.0),
    )


def clock_under_cap(network: Network, index: int) -> float:
    """Clock of an accelerator under its power cap over that without one [1]; arithmetic is taken to draw its limit."""
    limit, cap = number(network, index, "power_per_part"), number(network, index, "power_cap")
    if not limit or cap is None:
        return 1.0
    return capped_clock(Watts(limit), Watts(cap), Watts(limit))


def _host_memory(network: Network, index: int) -> float:
    """Host memory of the island for each of its processors [B]."""
    here = network.island == network.island[index]
    memories = np.flatnonzero(here & network.has(Capability.MEMORY)).tolist()
    processors = int((here & network.has(Capability.COMPUTE)).sum())
    total = sum(number(network, m, "memory_capacity") or 0.0 for m in memories)
    return total * HOST_SHARE.value / max(1, processors)


def number(network: Network, index: int, name: str) -> float | None:
    """The value `name` of a part in SI units, None where it has none."""
    part = network.net.part(index)
    quantity = network.design.quantity(part, name)
    return value_of(part.kind, name, quantity) if quantity is not None else None


def memory_of(network: Network, index: int) -> float:
    """Memory of an accelerator, or that of its host a processor may use [B]; 0 where it is not known."""
    if Capability.ACCELERATE not in network.kind(index).capabilities:
        return _host_memory(network, index)
    return number(network, index, "memory_reported") or number(network, index, "memory_capacity") or 0.0


def text_of(network: Network, index: int, name: str) -> str:
    """The value `name` of a part as text, empty where it has none."""
    quantity = network.design.quantity(network.net.part(index), name)
    return str(quantity.value) if quantity is not None else ""
