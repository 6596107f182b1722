"""What serves in a drawn group: the values of its parts as the data sheet that step times need."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.accelerators import data_sheet, number, text_of
from designer.engine.machines.guest import Guest
from designer.engine.machines.hosts import gpu_type
from designer.engine.network import Network
from designer.errors import AnalysisError, CatalogError
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._kernels import in_memory, kernels_of, processor_kernels
from designer.families.serving.formulas.kernel_table import (
    AttentionCells,
    Experts,
    ExpertShape,
    KernelTable,
    Products,
    Sheet,
)
from designer.findings import Finding, Severity
from designer.resources import assets
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Watts, parse

Int = npt.NDArray[np.int64]

_FORMATS: Final = ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8")
#: multiprocessors of a part that does not say: large products then fill whole waves
USUAL_UNITS: Final = Constant(108, 40, 132, "assumed-serving", Status.ASSUMED, "1")


def device_of(network: Network, parts: Int, place: str) -> tuple[Device, tuple[Finding, ...]]:
    """The device all of a group are taken for: the slowest of them, reported where they differ.

    Raises
    ------
    AnalysisError
        If one can compute nothing.
    """
    definitions, first = np.unique(network.net.part_def[parts], return_index=True)
    found = {int(d): _device(network, int(parts[f]), place) for d, f in zip(definitions, first, strict=True)}
    slowest = min(found.values(), key=lambda one: (one.bandwidth, one.half))
    kinds = {(one.bandwidth, one.memory, tuple(sorted(one.flops.items()))) for one in found.values()}
    stated: list[Finding] = []
    if len(kinds) > 1:
        text = f"{len(kinds)} kinds of accelerators serve: all are taken for {slowest.name}"
        stated.append(Finding("SERVE-MIXED", Severity.WARNING, text, (), "serve on accelerators of one kind"))
    part = int(parts[0])
    accelerates = Capability.ACCELERATE in network.kind(part).capabilities
    if accelerates and not (kernels_of(text_of(network, part, "architecture"))[1] or is_measured(slowest.part)):
        text = (
            f"what kernels reach on {slowest.name} was not measured: taken as on the nearest that was, in a wider band"
        )
        stated.append(Finding("SERVE-DEVICE", Severity.INFO, text, (), "compare with a run of your own"))
    if not accelerates:
        text = "releases of engines were measured on GPUs: on processors the band is wide"
        stated.append(Finding("SERVE-PROCESSORS", Severity.INFO, text, (), "compare with a run of your own"))
    return slowest, tuple(stated)


def with_kernels(device: Device, engine: str) -> Device:
    """The device with the kernel times measured of it, or of the nearest GPU of its architecture, under an engine."""
    return replace(device, table=kernel_table(device.part, device.architecture, device.bandwidth, engine))


def in_machine(device: Device, guest: Guest) -> Device:
    """What a machine has of a device; its multiprocessors are those of its slice, in a turn all of them."""
    speed, traffic = guest.speed.value, guest.traffic.value
    units = device.units if guest.turns else max(1, round(device.units * guest.compute.value))
    return replace(
        device,
        name=device.name if guest.compute.value == guest.bandwidth.value == 1 else f"share of {device.name}",
        flops={name: rate * speed for name, rate in device.flops.items()},
        bandwidth=device.bandwidth * traffic,
        memory=min(device.memory, guest.memory or math.inf),
        units=units,
    )


def _device(network: Network, index: int, place: str) -> Device:
    remedy = "say which product it is, such as gpu*.type=gpu/nvidia/h100-sxm5, or give the part these values"
    sheet = data_sheet(network, index, _FORMATS, place, "serve", remedy)
    units = number(network, index, "cores" if sheet.processor else "streaming_multiprocessors") or USUAL_UNITS.value
    kernels = processor_kernels() if sheet.processor else kernels_of(text_of(network, index, "architecture"))[0]
    if not sheet.processor:
        kernels = in_memory(kernels, text_of(network, index, "memory_type"))
    power = number(network, index, "power_per_part") or 0.0
    return Device(
        sheet.name,
        {name: FlopPerSecond(rate) for name, rate in sheet.flops.items()},
        BytesPerSecond(sheet.bandwidth),
        Bytes(sheet.memory),
        max(1, round(units)),
        kernels,
        Watts(power),
        text_of(network, index, "architecture"),
        network.net.part(index).type or "",
    )


# The shipped tables of measured kernel times: one file for each GPU and engine in ``assets/kernels``.

#: tables that are kept in memory; each has some 2 MB once it is read
_KEPT_LIMIT: Final = 6
#: engines in the order in which one answers for another that was not measured on a GPU
_INSTEAD: Final = ("vllm", "sglang", "tensorrt-llm")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One file: the GPU it was measured on, with its architecture and memory bandwidth [B/s]."""

    path: Path
    part: str
    engine: str
    architecture: str
    bandwidth: float


@cache
def _entries() -> tuple[_Entry, ...]:
    with (assets() / "kernels" / "index.json").open(encoding="utf-8") as file:
        rows: list[dict[str, Any]] = json.load(file)
    return tuple(
        _Entry(assets() / "kernels" / row["file"], row["part"], row["engine"], row["architecture"], row["bandwidth"])
        for row in rows
    )


def is_measured(part: str) -> bool:
    """Whether a GPU type has a table of its own."""
    return any(entry.part == part for entry in _entries())


def kernel_table(part: str, architecture: str, bandwidth: float, engine: str) -> KernelTable | None:
    """The table of a GPU under an engine.

    Without one of that part, the table of the GPU of its architecture with the nearest memory bandwidth [B/s]; without
    one of that engine, that of another. None where nothing of the architecture was measured.
    """
    near = [e for e in _entries() if e.part == part] or [e for e in _entries() if architecture == e.architecture]
    if not near:
        return None
    order = (engine, *_INSTEAD)
    best = min(near, key=lambda e: (abs(math.log(e.bandwidth / bandwidth)), order.index(e.engine)))
    return load_kernel_table(best.path)


@lru_cache(maxsize=_KEPT_LIMIT)
def load_kernel_table(path: Path) -> KernelTable:
    """Read one file."""
    with np.load(path, allow_pickle=False) as packed:
        arrays = {name: packed[name] for name in packed.files}
    about: dict[str, Any] = json.loads(arrays.pop("about").tobytes())

    def seconds(coded: Any) -> Any:
        return about["unit"] * np.exp(coded.astype(np.float64) * about["step"])

    products = {
        name.removeprefix("products_"): Products(about["rows"], about["columns"], about["inner"], seconds(values))
        for name, values in arrays.items()
        if name.startswith("products_")
    }
    experts: dict[str, Experts] = {}
    if "experts_keys" in arrays:
        keys, times = arrays["experts_keys"], seconds(arrays["experts_times"])
        for number, name in enumerate(about["expert_formats"]):
            mine = keys[:, 0] == number
            shapes = [ExpertShape(*(int(x) for x in key[1:])) for key in keys[mine]]
            experts[name] = Experts(shapes, about["tokens"], times[mine])
    sheet = dict(about["sheet"])
    bandwidth, units = sheet.pop("bandwidth"), int(sheet.pop("units"))
    return KernelTable(
        about["part"],
        about["engine"],
        Sheet(sheet, bandwidth, units),
        products,
        experts,
        AttentionCells(arrays["decode_cells"].astype(float), arrays["decode_fits"].astype(float)),
        AttentionCells(arrays["prefill_cells"].astype(float), arrays["prefill_fits"].astype(float)),
        about["releases"],
        about["refused"],
    )


# Engines on parts of a GPU: MIG instances with compute and memory of their own, or turns of a virtual GPU.


@dataclass(frozen=True, slots=True)
class Slice:
    """What one replica has of a GPU.

    Parameters
    ----------
    device
        As the replica sees it while it runs.
    each
        Slices of a GPU.
    turns
        Replicas that take turns on it; 1 where each has compute units of its own.
    turn
        Length of one turn [s].
    """

    device: Device
    each: int = 1
    turns: int = 1
    turn: float = 1.0


def slice_of(network: Network, index: int, device: Device, name: str, place: str) -> Slice:
    """The part of a GPU called `name`, or all of it.

    Raises
    ------
    AnalysisError
        If that GPU has no such part.
    """
    if not name:
        return Slice(device)
    kind = gpu_type(network, index)
    if kind is None:
        raise AnalysisError(f"{device.name} is not divided", place=place, remedy="leave the part empty")
    instance = next((one for one in kind.mig if name in (one.name, one.instance)), None)
    if instance is not None:
        share = instance.compute / kind.compute_slices, instance.memory / kind.memory_slices
        # the name states a nominal size; what the device has is shared out in memory slices
        memory = min(instance.framebuffer, device.memory * share[1])
        return Slice(replace(device.share(*share, memory), name=f"{instance.instance} of {device.name}"), instance.most)
    try:
        profile = kind.profile(name)
    except CatalogError:
        known = ", ".join(dict.fromkeys([p.instance for p in kind.mig] + [p.name for p in kind.profiles]))
        raise AnalysisError(f"{device.name} has no part {name!r}", place=place, remedy=f"use one of {known}") from None
    whole = replace(device, name=f"{profile.name} of {device.name}", memory=min(profile.framebuffer, device.memory))
    return Slice(whole, profile.most, profile.most, parse(profile.time_slice, "duration"))
