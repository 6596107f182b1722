"""Which machines a workload runs in, and what it has there of accelerators and processors."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.machines.demands import memory_of
from designer.engine.machines.free_capacity import Placed, PlacedDevice
from designer.engine.machines.guest import BARE_METAL, FACTORS, Guest, Work, exactly
from designer.engine.machines.guest_network import cut_findings, nic_shares, nvlinks_of
from designer.engine.machines.hosts import find_hosts
from designer.engine.machines.placement import Placement, place_vms
from designer.engine.network import Network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError, CatalogError, raised_as
from designer.fields import amount
from designer.findings import Finding, Severity
from designer.sources import Constant, Status
from designer.workload.kind import listed
from designer.workload.program.tasks import Move

Int = npt.NDArray[np.int64]
#: a MIG instance, and which of its kind
_INSTANCE: Final = re.compile(r"\d+g\.\d+gb(\+me)?(#\d+)?\Z")


#: so many accelerators of a machine are named in a remedy
_NAMED_LIMIT: Final = 8


def guest_of(
    network: Network, parts: Int, machines: str, work: Work, place: str, running: Collection[str] = ()
) -> tuple[Guest | None, tuple[Finding, ...]]:
    """What a workload on some accelerators has of them; None where they are in no machine.

    Parameters
    ----------
    machines
        Ids of the machines it runs in, or a MIG instance of each accelerator with no machine around it, such as
        ``3g.40gb`` or ``3g.40gb#2`` for another one; empty for machines that the accelerators are given to, where that
        is clear.
    running
        Machines whose own work runs on the same clock, so that they are not taken to be busy in addition.

    Raises
    ------
    AnalysisError
        If there is no such machine, it has no place, or an accelerator is not given to it.
    """
    guest, stated = _guest_of(network, parts, machines, work, place, running)
    return guest, (*stated, *cut_findings(network, parts))


def _guest_of(
    network: Network, parts: Int, machines: str, work: Work, place: str, running: Collection[str]
) -> tuple[Guest | None, tuple[Finding, ...]]:
    named = listed(machines)
    if named and all(_INSTANCE.match(name) for name in named):
        return _instances(network, parts, named, place), ()
    if not network.design.vms:
        if named:
            raise AnalysisError(f"there is no machine {named[0]!r}", place=f"{place}.machines", remedy="draw it first")
        return None, ()
    placement = place_vms(network)
    _require_placed(placement, named, place)
    on = _devices(placement)
    mine: dict[int, tuple[Placed, PlacedDevice]] = {}
    shared: dict[int, list[str]] = {}
    for part in parts.tolist():
        found = [(vm, device) for vm, device in on.get(part, ()) if not named or vm.vm.id in named]
        ids = list(dict.fromkeys(vm.vm.id for vm, _ in found))
        if len(ids) == 1:
            mine[part] = found[0]
        elif named and not ids:
            return _processors(network, placement, parts, named, work, place), ()
        elif len(ids) > 1:
            shared[part] = ids
    net = network.net
    if shared:
        part, ids = next(iter(shared.items()))
        text = f"{net.path(part)} is shared by {', '.join(ids)}"
        if named:
            raise AnalysisError(text, place=f"{place}.machines", remedy="name one of them: each has work of its own")
        remedy = "name in 'machines' which of them it runs in"
        return None, (Finding("VM-WHICH", Severity.WARNING, f"{text}: taken as a whole", (net.path(part),), remedy),)
    if not mine:
        return None, ()
    return _guest(network, mine, on, work, running), ()


def _instances(network: Network, parts: Int, named: Sequence[str], place: str) -> Guest:
    """A MIG instance of every accelerator, on bare metal."""
    if len(named) > 1:
        raise AnalysisError(
            f"{len(named)} MIG instances at once",
            place=f"{place}.machines",
            remedy="name one: each has work of its own",
        )
    gpus = {gpu.part: gpu for host in find_hosts(network).hosts for gpu in host.gpus}
    instance = named[0].partition("#")[0]
    shares: list[tuple[float, float, float]] = []
    for part in parts.tolist():
        kind = gpus[part].type if part in gpus else None
        with raised_as(AnalysisError, f"{place}.machines", of=CatalogError):
            if kind is None:
                raise CatalogError(f"{network.net.path(part)} is not known to offer MIG", remedy="choose another GPU")
            profile = kind.mig_profile(instance)
        shares.append((profile.compute / kind.compute_slices, profile.memory / kind.memory_slices, profile.framebuffer))
    compute, bandwidth, memory = (min(column) for column in zip(*shares, strict=True))
    rates = {
        part: bandwidth * float(network.capacity[network.part_resource[part]])
        for part in parts.tolist()
        if network.part_resource[part] >= 0
    }
    slices = dict.fromkeys(parts.tolist(), named[0])
    whole = share_of_slices(compute) if compute < 1 else exactly(1.0)
    return Guest(
        (),
        whole,
        exactly(bandwidth),
        memory,
        bandwidth,
        BARE_METAL,
        slices,
        frozenset(),
        rates,
        (f"MIG {named[0]}",),
        nvlinks_of(network, list(slices)),
    )


def _require_placed(placement: Placement, named: Collection[str], place: str) -> None:
    for name in named:
        if name in placement.placed:
            continue
        refused = placement.refused.get(name)
        known = ", ".join(placement.placed) or "none"
        text = f"the machine {name!r} has no place: {refused.text}" if refused else f"there is no machine {name!r}"
        remedy = refused.remedy if refused else f"machines: {known}"
        raise AnalysisError(text, place=f"{place}.machines", remedy=remedy)


def _devices(placement: Placement) -> dict[int, list[tuple[Placed, PlacedDevice]]]:
    """Devices of machines that are, or are on, each GPU."""
    found: dict[int, list[tuple[Placed, PlacedDevice]]] = {}
    for placed in placement.placed.values():
        for device in placed.devices:
            if device.gpu is not None:
                found.setdefault(device.gpu.part, []).append((placed, device))
    return found


def _guest(
    network: Network,
    mine: Mapping[int, tuple[Placed, PlacedDevice]],
    on: Mapping[int, list[tuple[Placed, PlacedDevice]]],
    work: Work,
    running: Collection[str],
) -> Guest:
    compute: list[Constant] = []
    bandwidth: list[Constant] = []
    memory: list[tuple[float, float]] = []
    slices: dict[int, str] = {}
    turns: set[int] = set()
    rates: dict[int, float] = {}
    names: dict[str, None] = {}
    for part, (placed, device) in mine.items():
        gpu = device.gpu
        assert gpu is not None
        if device.kind == "vgpu":
            turns.add(part)
            share = share_of_turns(device, [p for p, _ in on[part] if p.vm.id != placed.vm.id], running)
            compute.append(share)
            bandwidth.append(share)
        else:
            if device.kind == "mig_vgpu":
                slices[part] = placed.vm.id
            most = device.compute_most
            compute.append(exactly(most) if most == 1 else share_of_slices(most))
            bandwidth.append(exactly(device.bandwidth_share))
        memory.append((device.framebuffer, device.memory_share))
        if bandwidth[-1].value < 1 and network.part_resource[part] >= 0:
            rates[part] = bandwidth[-1].value * float(network.capacity[network.part_resource[part]])
        if device.profile:
            names[device.shown] = None
    least = min(memory)
    machines = tuple(dict.fromkeys(placed.vm.id for placed, _ in mine.values()))
    return Guest(
        machines,
        min(compute, key=lambda c: c.value),
        min(bandwidth, key=lambda c: c.value),
        least[0],
        least[1],
        FACTORS[work, True],
        slices,
        frozenset(turns),
        rates,
        tuple(names),
        nvlinks_of(network, list(slices)),
        nic_shares(network, place_vms(network), machines, running),
    )


def _processors(
    network: Network, placement: Placement, parts: Int, named: Collection[str], work: Work, place: str
) -> Guest:
    """Work on the processors of machines: as many cores as they have virtual CPUs."""
    compute: list[float] = []
    memory: list[float] = []
    net = network.net
    given = [part for part, users in _devices(placement).items() if any(vm.vm.id in named for vm, _ in users)]
    for part in parts.tolist():
        if part in given:
            continue
        if Capability.ACCELERATE in network.kind(part).capabilities:
            theirs = ",".join(net.path(each) for each in given[:_NAMED_LIMIT])
            have = f"set group to {theirs}, which it has" if given else "choose accelerators of the machine"
            raise AnalysisError(
                f"{net.path(part)} is not given to {' or '.join(named)}",
                place=f"{place}.machines",
                remedy=f"{have}, or give it this one",
            )
        placed = next(
            (
                placement.placed[name]
                for name in named
                if any(placement.placed[name].host.sockets[s].part == part for s in placement.placed[name].sockets)
            ),
            None,
        )
        if placed is None:
            raise AnalysisError(
                f"{' and '.join(named)} run on no core of {net.path(part)}",
                place=f"{place}.machines",
                remedy="choose the processors of their host",
            )
        cores = sum(placed.host.sockets[s].cores for s in placed.sockets) or 1
        compute.append(min(1.0, placed.vm.vcpus / cores))
        memory.append(memory_of(placed.vm) / len(placed.sockets))
    share = exactly(min(compute))
    return Guest(tuple(named), share, exactly(1.0), min(memory), 1.0, FACTORS[work, False], {}, frozenset(), {}, ())


def machines_at(network: Network, parts: Sequence[int], guest: Guest | None) -> Mapping[int, str]:
    """By accelerator or processor, the machine that work on it runs in; none on bare metal."""
    if guest is None or not guest.machines:
        return {}
    on = _devices(place_vms(network))
    found: dict[int, str] = {}
    for part in parts:
        mine = [vm.vm.id for vm, _ in on.get(part, ()) if vm.vm.id in guest.machines]
        found[part] = mine[0] if mine else guest.machines[0]
    return found


def guest_at(
    network: Network, asked: Move, place: str, running: Collection[str] = ()
) -> tuple[Guest | None, tuple[Finding, ...]]:
    """What a transfer has of the accelerators at its ends."""
    if not network.design.vms and not asked.machines:
        return None, ()
    ends = np.concatenate(
        [resolve(network, asked.source, f"{place}.from"), resolve(network, asked.target, f"{place}.to")]
    )
    parts = np.unique(ends[network.has(Capability.ACCELERATE)[ends]])
    if not len(parts):
        return None, ()
    return guest_of(network, parts, asked.machines, Work.COPYING, place, running)


# Shares of a GPU: of its MIG slices, and of its time next to other machines that take turns on it.

#: time slices of the best-effort scheduler: where a GPU takes up to eight virtual GPUs, and where more
_SLICE: Final = Constant(2e-3, 2e-3, 2e-3, "vsphere-time-slices", Status.SECONDARY, "s")
_SHORT_SLICE: Final = Constant(1e-3, 1e-3, 1e-3, "vsphere-time-slices", Status.SECONDARY, "s")
_IN_SLICES: Final = Constant(
    1.0, 98 / 108, 1.0, "nvidia-mig-guide", Status.SECONDARY, "1", "multiprocessors that seven slices have: A100 least"
)
_SWITCH: Final = Constant(
    50e-6, 20e-6, 200e-6, "assumed-guests", Status.ASSUMED, "s", "saving and loading what one virtual GPU has running"
)
#: a profile of which more fit on a GPU has the shorter slice
_FEW_LIMIT: Final = 8


def share_of_slices(share: float) -> Constant:
    """Slices of seven; where a board keeps some multiprocessors out of all of them it is less."""
    return Constant(share, share * _IN_SLICES.low, share, _IN_SLICES.source, _IN_SLICES.status)


def share_of_turns(device: PlacedDevice, others: list[Placed], running: Collection[str]) -> Constant:
    """Share of a GPU's time that work which is always ready gets next to others that are busy for part of it.

    Notes
    -----
    Everyone slows down equally: one over the sum of all duties. Where the others keep up their pace it is what they
    leave, at least an equal part. Of a machine that does not say how busy it is, all of its turns may be used or none.
    """
    others = [other for other in others if other.vm.id not in running]
    duties = [amount(o.vm.gpu_duty, "ratio") if o.vm.gpu_duty is not None else 1.0 for o in others]
    busy = sum(duties)
    if not busy:
        return exactly(1.0)
    unknown = any(o.vm.gpu_duty is None for o in others)
    many = device.memory_share > 0 and 1 / device.memory_share > _FEW_LIMIT
    slice_time = (_SHORT_SLICE if many else _SLICE).value
    kept = [1 - switch / (slice_time + switch) for switch in (_SWITCH.value, _SWITCH.high, _SWITCH.low)]
    value, low = 1 / (1 + busy), max(1 / (1 + len(duties)), 1 - busy)
    high = 1.0 if unknown else value
    return Constant(value * kept[0], low * kept[1], max(value, high) * kept[2], "vsphere-time-slices", Status.DERIVED)
