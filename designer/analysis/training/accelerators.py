"""What computes in a drawn group: the values of its parts as the rates a roofline needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.network import Network
from designer.catalog.parttype import Capability, value_of
from designer.design.document import Part
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.accelerator import Accelerator
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Watts

Int = npt.NDArray[np.int64]

_FORMATS: Final = ("fp32", "tf32", "fp16", "bf16", "fp8")
#: host memory the operating system and the input pipeline keep to themselves when a CPU trains
HOST_SHARE: Final = Constant(0.8, 0.6, 0.9, "assumed-training", Status.ASSUMED, "1", "of host memory, for training")


def accelerator_of(network: Network, parts: Int, place: str) -> tuple[Accelerator, tuple[Finding, ...]]:
    """The accelerator all ranks are taken for: the slowest of them, told where they differ.

    Raises
    ------
    AnalysisError
        If a part can compute nothing.
    """
    definitions, first = np.unique(network.net.part_def[parts], return_index=True)
    types = {
        network.net.part_defs[int(d)].type or str(d): int(parts[f]) for d, f in zip(definitions, first, strict=True)
    }
    found = {name: _accelerator(network, part, place) for name, part in types.items()}
    slowest = min(found.values(), key=lambda one: max(one.flops.values()))
    # parts drawn one by one have no type in common, yet may be alike in all that counts
    kinds = {repr(replace(one, name="")) for one in found.values()}
    if len(kinds) == 1:
        return slowest, ()
    text = f"{len(kinds)} kinds of accelerators work in step: all wait for {slowest.name}"
    return slowest, (Finding("TRAIN-MIXED", Severity.WARNING, text, (), "train on accelerators of one kind"),)


def _accelerator(network: Network, index: int, place: str) -> Accelerator:
    part = network.net.part(index)
    kind = network.kind(index)
    if not kind.capabilities & {Capability.ACCELERATE, Capability.COMPUTE}:
        raise AnalysisError(
            f"{network.net.path(index)} is a {kind.title.lower()} and cannot train",
            place=place,
            remedy="choose gpus or cpus",
        )
    rates = {name: rate for name in _FORMATS if (rate := _value(network, part, f"flops_{name}"))}
    processor = Capability.ACCELERATE not in kind.capabilities
    memory = _value(network, part, "memory_reported") or _value(network, part, "memory_capacity")
    if processor:
        memory = _host_memory(network, index) or memory
    bandwidth = _value(network, part, "memory_bandwidth")
    missing = [
        name
        for name, value in (("compute rate", rates), ("memory bandwidth", bandwidth), ("memory capacity", memory))
        if not value
    ]
    if missing:
        raise AnalysisError(
            f"{part.label} has no {' and no '.join(missing)}",
            place=network.net.path(index),
            remedy="give its type or the part these values",
        )
    part_type = network.design.type_of(part)
    return Accelerator(
        part_type.title if part_type else part.label,
        {name: FlopPerSecond(rate) for name, rate in rates.items()},
        BytesPerSecond(bandwidth or 0.0),
        Bytes(memory or 0.0),
        "cpu" if processor else _text(network, part, "architecture") or "unknown",
        _text(network, part, "form") or "module",
        Watts(0.0 if processor else _value(network, part, "power_per_part") or 0.0),
    )


def _host_memory(network: Network, index: int) -> float:
    """Host memory of the island for each of its processors [B]."""
    here = network.island == network.island[index]
    memories = np.flatnonzero(here & network.has(Capability.MEMORY)).tolist()
    processors = int((here & network.has(Capability.COMPUTE)).sum())
    total = sum(_value(network, network.net.part(m), "memory_capacity") or 0.0 for m in memories)
    return total * HOST_SHARE.value / max(1, processors)


def _value(network: Network, part: Part, name: str) -> float | None:
    quantity = network.design.quantity(part, name)
    return value_of(part.kind, name, quantity) if quantity is not None else None


def number(network: Network, index: int, name: str) -> float | None:
    """The value `name` of a part in SI units, None where it has none."""
    return _value(network, network.net.part(index), name)


def memory_of(network: Network, index: int) -> float:
    """Memory of an accelerator, or that of its host a processor may use [B]; 0 where it is not known."""
    if Capability.ACCELERATE not in network.kind(index).capabilities:
        return _host_memory(network, index)
    return number(network, index, "memory_reported") or number(network, index, "memory_capacity") or 0.0


def _text(network: Network, part: Part, name: str) -> str:
    quantity = network.design.quantity(part, name)
    return str(quantity.value) if quantity is not None else ""
