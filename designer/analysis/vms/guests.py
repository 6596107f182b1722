"""Workloads inside virtual machines: what they have there of their accelerators, and what virtualisation takes.

A MIG slice has its slices of compute and memory whatever its neighbours do. A time-sliced virtual GPU has the whole
GPU while the others on it are idle, and its turn while they are not. What the hypervisor itself takes is told apart
from that, as a factor for each class of work.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.capacities import ACCELERATOR
from designer.analysis.network import NETWORKS_LIMIT, Network, network_without_links
from designer.analysis.selection import resolve
from designer.analysis.vms.demands import memory_of
from designer.analysis.vms.free_capacity import Placed, PlacedDevice
from designer.analysis.vms.hosts import find_hosts
from designer.analysis.vms.nic_functions import nic_shares, with_nic_shares
from designer.analysis.vms.placement import Placement, place_vms
from designer.catalog.parttype import Capability
from designer.errors import AnalysisError, CatalogError, raised_as
from designer.fields import amount
from designer.findings import Finding, Severity
from designer.memo import memo
from designer.sources import Constant, Estimate, Status
from designer.workload.kind import listed
from designer.workload.operations import Transfer

Int = npt.NDArray[np.int64]


class Work(StrEnum):
    """Classes of work that virtualisation takes unlike shares of."""

    TRAINING = "training"
    SERVING = "serving"
    COPYING = "copying"


_ON_GPUS: Final = Constant(
    0.97, 0.94, 1.0, "mlperf-vsphere-gpus", Status.SECONDARY, "1", "virtual against bare metal; above 1 is not credited"
)
_ON_CPUS: Final = Constant(
    0.97, 0.922, 0.99, "mlperf-esxi-cpus", Status.PRIMARY, "1", "median of offline pairs; least and most of all pairs"
)
_ANSWERS_ON_CPUS: Final = Constant(
    0.90, 0.90, 0.97, "mlperf-esxi-cpus", Status.PRIMARY, "1", "a language model, by its Server and Offline pairs"
)
_COPIES: Final = Constant(
    1.0, 0.97, 1.0, "assumed-guests", Status.ASSUMED, "1", "devices copy by themselves, no hypervisor on the way"
)
#: what virtualisation leaves of the speed of bare metal, by class of work and whether accelerators do it
FACTORS: Final[Mapping[tuple[Work, bool], Constant]] = {
    (Work.TRAINING, True): _ON_GPUS,
    (Work.SERVING, True): _ON_GPUS,
    (Work.TRAINING, False): _ON_CPUS,
    (Work.SERVING, False): _ANSWERS_ON_CPUS,
    (Work.COPYING, True): _COPIES,
    (Work.COPYING, False): _COPIES,
}
_BARE: Final = Constant(1.0, 1.0, 1.0, "nvidia-mig-guide", Status.PRIMARY, "1", "no hypervisor")
#: networks with NVLinks switched off that are kept of each
_QUIET_LIMIT: Final = 8
#: a MIG instance, and which of its kind
_INSTANCE: Final = re.compile(r"\d+g\.\d+gb(\+me)?(#\d+)?\Z")
#: time slices of the best-effort scheduler: where a GPU takes up to eight virtual GPUs, and where more
_SLICE: Final = Constant(2e-3, 2e-3, 2e-3, "vsphere-time-slices", Status.SECONDARY, "s")
_SHORT_SLICE: Final = Constant(1e-3, 1e-3, 1e-3, "vsphere-time-slices", Status.SECONDARY, "s")
_IN_SLICES: Final = Constant(
    1.0, 98 / 108, 1.0, "nvidia-mig-guide", Status.SECONDARY, "1", "multiprocessors that seven slices have: A100 least"
)
_SWITCH: Final = Constant(
    50e-6, 20e-6, 200e-6, "assumed-guests", Status.ASSUMED, "s", "saving and loading what one virtual GPU has running"
)


@dataclass(frozen=True, slots=True)
class Guest:
    """A workload inside machines, by the least of what it has on any of its accelerators.

    Parameters
    ----------
    machines
        Ids.
    compute, bandwidth
        Share of an accelerator's arithmetic and memory bandwidth, with its band [1].
    memory, memory_share
        Memory of one [B], and its share of that of the accelerator [1].
    factor
        What virtualisation leaves of bare metal [1].
    slices
        By part: machine whose MIG slice it is.
    turns
        Parts whose time is sliced.
    rates
        By part, bytes of its memory per second that are to be had, where that is not all [B/s].
    names
        Profiles, as the hypervisor shows them.
    silent
        NVLinks, by number, that carry nothing for it: those its device groups switch off, and all of MIG slices.
    nics
        By NIC, its share of the port, where other machines have functions of it [1].
    """

    machines: tuple[str, ...]
    compute: Constant
    bandwidth: Constant
    memory: float
    memory_share: float
    factor: Constant
    slices: Mapping[int, str]
    turns: frozenset[int]
    rates: Mapping[int, float]
    names: tuple[str, ...]
    silent: tuple[int, ...] = ()
    nics: Mapping[int, Constant] = field(default_factory=dict[int, Constant])

    @property
    def turn(self) -> Constant:
        """Share of the time that the slowest of its accelerators runs anything of it [1]."""
        return self.compute if self.turns else _exactly(1.0)

    @property
    def speed(self) -> Constant:
        """Compute share times factor [1]."""
        return _times(self.compute, self.factor)

    @property
    def traffic(self) -> Constant:
        """Bandwidth share times factor [1]."""
        return _times(self.bandwidth, self.factor)

    @property
    def longer(self) -> tuple[float, float]:
        """How much shorter and longer computing may be for want of knowing these shares, relative [1]."""
        low = min(self.speed.low / self.speed.value, self.traffic.low / self.traffic.value)
        high = max(self.speed.high / self.speed.value, self.traffic.high / self.traffic.value)
        return 1 / high, 1 / low

    def engine(self, part: int) -> str | None:
        """Who else is in the queue for an accelerator: nobody for a slice of its own, None where turns are shared."""
        return None if part in self.turns else self.slices.get(part, "")

    def metrics(self) -> dict[str, Estimate]:
        """Its lines of an answer."""

        def line(share: Constant, note: str) -> Estimate:
            return Estimate(share.value, share.low, share.high, "1", (share.source,), note)

        where = f"in {', '.join(self.machines)} as " if self.machines else ""
        as_what = f"{where}{', '.join(self.names)}" if self.names else where.removesuffix(" as ")
        source = self.bandwidth.source
        return {
            "compute_share": line(self.compute, as_what),
            "memory_share": Estimate.exact(self.memory_share, "1", (source,), as_what),
            "bandwidth_share": line(self.bandwidth, as_what),
            "virtualization_factor": line(self.factor, self.factor.note),
            **({"nic_share": line(nic, nic.note)} if (nic := self.narrowest) is not None else {}),
        }

    @property
    def narrowest(self) -> Constant | None:
        """The least share it has of any of its NICs; None where it shares none."""
        return min(self.nics.values(), key=lambda share: share.value, default=None)


def _times(share: Constant, factor: Constant) -> Constant:
    """Two shares at once; their deviations, independent, added in squares."""
    value = share.value * factor.value

    def end(one: float, other: float) -> float:
        return math.hypot(math.log(one / share.value), math.log(other / factor.value))

    low, high = value * math.exp(-end(share.low, factor.low)), value * math.exp(end(share.high, factor.high))
    return Constant(value, low, min(1.0, max(value, high)), factor.source, factor.status)


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
        Machines whose own work runs on the same clock, so that they are not taken to be busy besides.

    Raises
    ------
    AnalysisError
        If there is no such machine, it has no place, or an accelerator is not given to it.
    """
    named = listed(machines)
    if named and all(_INSTANCE.match(name) for name in named):
        return _instances(network, parts, named, place), ()
    if not network.design.vms:
        if named:
            raise AnalysisError(f"there is no machine {named[0]!r}", place=f"{place}.machines", remedy="draw it first")
        return None, ()
    placement = place_vms(network)
    _known(placement, named, place)
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
    whole = _of_slices(compute) if compute < 1 else _exactly(1.0)
    return Guest(
        (),
        whole,
        _exactly(bandwidth),
        memory,
        bandwidth,
        _BARE,
        slices,
        frozenset(),
        rates,
        (f"MIG {named[0]}",),
        _nvlinks_of(network, list(slices)),
    )


def _known(placement: Placement, named: Collection[str], place: str) -> None:
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
            share = _turn(device, [p for p, _ in on[part] if p.vm.id != placed.vm.id], running)
            compute.append(share)
            bandwidth.append(share)
        else:
            if device.kind == "mig_vgpu":
                slices[part] = placed.vm.id
            most = device.compute_most
            compute.append(_exactly(most) if most == 1 else _of_slices(most))
            bandwidth.append(_exactly(device.bandwidth_share))
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
        _silent(network, mine, slices),
        nic_shares(network, place_vms(network), machines, running),
    )


def _silent(
    network: Network, mine: Mapping[int, tuple[Placed, PlacedDevice]], slices: Mapping[int, str]
) -> tuple[int, ...]:
    """NVLinks that the machines of a workload cannot use."""
    cut = place_vms(network).cut
    names = {link for placed, _ in mine.values() if placed.vm.id in cut for link in cut[placed.vm.id].links}
    if not names:
        return _nvlinks_of(network, list(slices))
    net = network.net
    found = {k for k in _nvlinks_of(network, list(mine)) if net.link_path(k) in names}
    return tuple(sorted(found | set(_nvlinks_of(network, list(slices)))))


def _nvlinks_of(network: Network, parts: Sequence[int]) -> tuple[int, ...]:
    """Links of accelerators to each other and to their switches."""
    net = network.net
    ends = np.isin(net.link_a, parts) | np.isin(net.link_b, parts)
    return tuple(np.flatnonzero((network.domain == ACCELERATOR) & ends).tolist())


@memo(most=NETWORKS_LIMIT, each=_QUIET_LIMIT)
def quiet_network(network: Network, silent: tuple[int, ...]) -> Network:
    """The network as a workload sees it whose machines switch some NVLinks off."""
    return network_without_links(network, silent) if silent else network


def network_for(network: Network, guest: Guest | None, *, nics: bool = True) -> Network:
    """The network as a workload in machines sees it: NVLinks switched off, NICs as narrow as its share of them.

    Parameters
    ----------
    nics
        False for whole NICs, as while other machines that have functions of them are idle.
    """
    if guest is None:
        return network
    quiet = quiet_network(network, guest.silent)
    return with_nic_shares(quiet, guest.nics) if nics else quiet


def _of_slices(share: float) -> Constant:
    """Slices of seven; where a board keeps some multiprocessors out of all of them it is less."""
    return Constant(share, share * _IN_SLICES.low, share, _IN_SLICES.source, _IN_SLICES.status)


def _exactly(share: float) -> Constant:
    return Constant(share, share, share, "vsphere-time-slices", Status.SECONDARY)


def _turn(device: PlacedDevice, others: list[Placed], running: Collection[str]) -> Constant:
    """Share of a GPU's time that work which is always ready gets beside others that are busy for part of it.

    Notes
    -----
    Everyone slows down alike: one over the sum of all duties. Where the others keep up their pace it is what they
    leave, at least an equal part. Of a machine that does not say how busy it is, all of its turns may be used or none.
    """
    others = [other for other in others if other.vm.id not in running]
    duties = [amount(o.vm.gpu_duty, "ratio") if o.vm.gpu_duty is not None else 1.0 for o in others]
    busy = sum(duties)
    if not busy:
        return _exactly(1.0)
    unknown = any(o.vm.gpu_duty is None for o in others)
    many = device.memory_share > 0 and 1 / device.memory_share > _FEW_LIMIT
    slice_time = (_SHORT_SLICE if many else _SLICE).value
    kept = [1 - switch / (slice_time + switch) for switch in (_SWITCH.value, _SWITCH.high, _SWITCH.low)]
    value, low = 1 / (1 + busy), max(1 / (1 + len(duties)), 1 - busy)
    high = 1.0 if unknown else value
    return Constant(value * kept[0], low * kept[1], max(value, high) * kept[2], "vsphere-time-slices", Status.DERIVED)


#: a profile of which more fit on a GPU has the shorter slice
_FEW_LIMIT: Final = 8


def _processors(
    network: Network, placement: Placement, parts: Int, named: Collection[str], work: Work, place: str
) -> Guest:
    """Work on the processors of machines: as many cores as they have virtual CPUs."""
    compute: list[float] = []
    memory: list[float] = []
    net = network.net
    for part in parts.tolist():
        if Capability.ACCELERATE in network.kind(part).capabilities:
            raise AnalysisError(
                f"{net.path(part)} is not given to {' or '.join(named)}",
                place=f"{place}.machines",
                remedy="choose accelerators of the machine, or give it this one",
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
    share = _exactly(min(compute))
    return Guest(tuple(named), share, _exactly(1.0), min(memory), 1.0, FACTORS[work, False], {}, frozenset(), {}, ())


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
    network: Network, asked: Transfer, place: str, running: Collection[str] = ()
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
