"""Faults of GPUs, their memory and the links between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind, slower
from designer.decisions.faults._places import (
    CHECKED,
    CLOCKS,
    MEMORY,
    MEMORY_OF_ALL,
    MIG_COMPUTE,
    MIG_MEMORY,
    POWER,
    accelerator_links,
    ends_of,
    graphics_memory,
    peer_links,
)
from designer.design.edits.links import ChangeLinks, RemoveLinks


def _links_down(machine: Machine) -> Iterator[Fault]:
    for gpu in machine.gpus:
        for path, within, link in accelerator_links(machine, gpu):
            less: ChangeLinks | RemoveLinks = RemoveLinks((link.id,), within=within)
            if link.count > 1:
                less = ChangeLinks((link.id,), {"count": link.count - 1}, within=within)
            remedy = "nvidia-smi nvlink -s, then reset the GPU"
            yield Fault(
                "NVLink down",
                f"a link of {path} is down",
                path,
                remedy,
                less,
                frozenset({path}),
                marks=ends_of(path, link),
            )


def _switches_down(machine: Machine) -> Iterator[Fault]:
    net = machine.network.net
    for number in machine.network.parts_of_kind("nvswitch").tolist():
        path = net.path(int(number))
        gone = peer_links(machine, (path,)) if int(machine.network.island[number]) == machine.islands[0] else None
        links = frozenset(p for p, _, _ in accelerator_links(machine, path))
        if gone is not None:
            remedy = "see nvidia-smi -q for its fabric state, and the log of the fabric manager"
            yield Fault("NVSwitch down", f"{path} is down", path, remedy, gone, links, marks=(path,))


def _sliced(machine: Machine) -> Iterator[Fault]:
    for gpu in machine.gpus:
        links = frozenset(path for path, _, _ in accelerator_links(machine, gpu))
        effects = (Effect(("gemm",), MIG_COMPUTE, gpu), Effect(("hbm",), MIG_MEMORY, gpu))
        remedy = "nvidia-smi -i GPU -mig 0, then reset it"
        title, gone = f"MIG is on at {gpu}", peer_links(machine, (gpu,))
        yield Fault("MIG on", title, gpu, remedy, gone, links, effects, marks=(gpu,))


FAULTS: Final = (
    FaultKind("NVLink down", _links_down),
    FaultKind("NVSwitch down", _switches_down),
    FaultKind("MIG on", _sliced),
    slower(
        "clocks held",
        "{} holds its clocks down",
        "see nvidia-smi -q -d PERFORMANCE for what holds its clocks; nvidia-smi -rgc",
        Effect(("gemm",), CLOCKS),
        at=lambda machine: machine.gpus,
    ),
    slower(
        "too hot",
        "{} is hot and slows down",
        "see nvidia-smi -q -d TEMPERATURE; look after fans, filters and the cold plate",
        Effect(("gemm",), CLOCKS),
        at=lambda machine: machine.gpus,
    ),
    slower(
        "power capped",
        "all GPUs run below their power",
        "see nvidia-smi -q -d POWER, the power profile of the server, and lost power supplies",
        Effect(("gemm",), POWER),
    ),
    slower(
        "slow GPU memory",
        "the memory of {} is slow",
        "see nvidia-smi -q -d ECC,ROW_REMAPPER,CLOCK; reset or replace it",
        Effect(("hbm",), MEMORY),
        at=lambda machine: machine.gpus,
    ),
    slower(
        "memory clock of all GPUs",
        "the memory of all GPUs runs at a lower clock",
        "nvidia-smi -rmc; see nvidia-smi -q -d CLOCK",
        Effect(("hbm",), MEMORY_OF_ALL),
    ),
    slower(
        "ECC on",
        "error correction takes a share of the memory",
        "nvidia-smi -q -d ECC; decide whether you want it",
        Effect(("hbm",), CHECKED),
        at=graphics_memory,
    ),
)
