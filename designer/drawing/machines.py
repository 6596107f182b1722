"""Where the virtual machines of a design stand, as pictures show them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from designer.design.document import Design, VirtualMachine
from designer.design.naming import part_title
from designer.engine.machines.free_capacity import Placed
from designer.engine.machines.hosts import Host
from designer.engine.machines.placement import Placement, place_vms
from designer.engine.network import Network, build_network
from designer.engine.network.capacities import ACCELERATOR
from designer.memo import memo


@dataclass(frozen=True, slots=True)
class Chip:
    """One machine as the window shows it.

    Parameters
    ----------
    detail
        Its GPUs, such as ``2 × 80C``; its CPUs where it has none.
    gpus
        Paths of the GPUs it uses.
    host
        Path of its host; empty if it is nowhere, for the reason in ``trouble``.
    cut
        How many GPUs of other machines its own reach by NVLink no more.
    """

    id: str
    title: str
    detail: str
    gpus: tuple[str, ...] = ()
    host: str = ""
    trouble: str = ""
    cut: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class HostRow:
    """A host and the machines on it."""

    path: str
    title: str
    chips: tuple[Chip, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Machines:
    """All machines of a design where they are placed.

    Parameters
    ----------
    nowhere
        Machines no host takes.
    cut
        Paths of the NVLinks that device groups and virtual GPUs switch off.
    fenced
        Paths of the NVLinks of a device group into NVSwitches that lead to GPUs of the group only.
    """

    design: Design
    network: Network
    placement: Placement
    hosts: tuple[HostRow, ...]
    nowhere: tuple[Chip, ...]
    cut: tuple[str, ...]
    fenced: tuple[str, ...]

    def title(self, vm_id: str) -> str:
        """Name of a machine."""
        return self.design.vms[vm_id].label


@memo(most=2)
def machines_of(design: Design) -> Machines:
    """All machines of a design where they are placed.

    Raises
    ------
    DesignerError
        If the design cannot be elaborated.
    """
    network = build_network(design)
    placement = place_vms(network)
    on: dict[str, list[Chip]] = {}
    nowhere: list[Chip] = []
    for vm in design.vms.values():
        placed = placement.placed.get(vm.id)
        if placed is None:
            trouble = placement.refused[vm.id].text
            nowhere.append(Chip(vm.id, vm.label, _device_text(vm), trouble=trouble))
            continue
        gpus = tuple(dict.fromkeys(d.part for d in placed.devices if d.gpu is not None))
        cut = placement.cut.get(vm.id)
        away = len({b for _, b in cut.pairs} - set(gpus)) if cut is not None else 0
        on.setdefault(placed.host.path, []).append(
            Chip(vm.id, vm.label, _gpu_text(placed), gpus, placed.host.path, cut=away)
        )
    rows = tuple(HostRow(h.path, host_title(design, h), tuple(on.get(h.path, ()))) for h in placement.hosts.hosts)
    silent = dict.fromkeys(link for cut in placement.cut.values() for link in cut.links)
    fenced = tuple(link for link in _fenced_gpus(network, placement) if link not in silent)
    return Machines(design, network, placement, rows, tuple(nowhere), tuple(silent), fenced)


def _fenced_gpus(network: Network, placement: Placement) -> list[str]:
    """NVLinks of GPUs that keep them, but reach fewer GPUs than are on their board."""
    net = network.net
    found: dict[str, None] = {}
    for vm_id, cut in placement.cut.items():
        apart = {a for a, _ in cut.pairs}
        for device in placement.placed[vm_id].devices:
            if device.gpu is None or device.group is None or device.part not in apart:
                continue
            mine = (net.link_a == device.gpu.part) | (net.link_b == device.gpu.part)
            for link in np.flatnonzero(mine & (network.domain == ACCELERATOR)).tolist():
                found[net.link_path(link)] = None
    return list(found)


def host_title(design: Design, host: Host) -> str:
    """A short name of a host: the member of the group it is in, else its own name."""
    return part_title(design, host.path.rpartition("/")[0] or host.path)


def _gpu_text(placed: Placed) -> str:
    """The GPUs of a machine in few letters."""
    names = [d.profile or d.shown for d in placed.devices if d.gpu is not None]
    if not names:
        return _cpus(placed.vm)
    group = ", NVLink group" if any(d.group is not None for d in placed.devices) else ""
    return " + ".join(_times(n, name) for name, n in Counter(names).items()) + group


def _device_text(vm: VirtualMachine) -> str:
    counts: Counter[str] = Counter()
    for device in vm.devices:
        counts[device.profile or device.kind.replace("_", " ")] += device.count
    return " + ".join(_times(n, name) for name, n in counts.items()) or _cpus(vm)


def _times(count: int, name: str) -> str:
    return f"{count} × {name}" if count > 1 else name


def _cpus(vm: VirtualMachine) -> str:
    return f"{vm.vcpus} vCPU" if vm.vcpus == 1 else f"{vm.vcpus} vCPUs"
