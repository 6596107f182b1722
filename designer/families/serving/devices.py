"""What serves in a drawn group: the values of its parts as the data sheet that step times need."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.accelerators import data_sheet, number, text_of
from designer.engine.machines.guest import Guest
from designer.engine.network import Network
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._kernels import in_memory, kernels_of, processor_kernels
from designer.families.serving.kernel_tables import is_measured, kernel_table
from designer.findings import Finding, Severity
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Watts

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
