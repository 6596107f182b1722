"""All machines of a design put on their hosts, by hand or automatically, and the rules that are broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.design.document import VirtualMachine
from designer.engine.machines.demands import (
    CPUS,
    CPUS_NEW,
    CPUS_OLD,
    HARDWARE,
    HARDWARE_OF_9,
    HARDWARE_OF_DEVICE,
    HARDWARE_OF_MANY,
    KVM,
    MEMORY,
    MEMORY_OLD,
    PASSTHROUGH_DEVICES,
    VIRTUAL_GPUS,
    gpu_devices,
    memory_of,
    most,
    release_of,
    release_of_hardware,
    vsphere,
)
from designer.engine.machines.device_placement import CannotPlace, DevicePlacement
from designer.engine.machines.free_capacity import HostFreeCapacity, Placed, PlacedDevice, Refusal, empty_capacity
from designer.engine.machines.hosts import Host, Hosts, find_hosts
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import ACCELERATOR
from designer.errors import DesignerError
from designer.fields import amount
from designer.findings import Finding, Severity
from designer.formulas.placement import Release
from designer.formulas.placement.hosts import VirtualNuma, virtual_numa
from designer.formulas.placement.nvlink_groups import cut_pairs
from designer.memo import memo
from designer.sources import Constant, Status
from designer.units import Bytes, format_quantity

#: memory of a machine against that of its GPUs
RAM_PER_FRAMEBUFFER: Final = Constant(
    1.5, 1.0, 2.0, "vm-field-rules", Status.UNVERIFIED, "1", "staging buffers, pinned pages, page cache"
)
WHERE_LIMIT: Final = 20
#: hosts named in a remedy
NAMED_LIMIT: Final = 5


@dataclass(frozen=True, slots=True)
class CutLinks:
    """NVLink paths a device group, or a virtual GPU without one, switches off.

    Parameters
    ----------
    pairs
        GPUs that cannot reach each other any more, by path.
    links
        Drawn NVLinks that fall silent: those of GPUs that keep none, and cables to GPUs outside the group.
    """

    pairs: tuple[tuple[str, str], ...]
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """What a device has of its GPU: compute while all are busy, memory and memory bandwidth [1]."""

    compute: float
    memory: float
    bandwidth: float


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Where every machine is placed.

    Parameters
    ----------
    placed
        Machines with a place, by id.
    refused
        Why the others have none.
    free_capacities
        What is left on every host, by path.
    shares
        Of every device of a GPU, by machine and place in its list.
    cut
        NVLinks each machine switches off.
    """

    hosts: Hosts
    placed: Mapping[str, Placed]
    refused: Mapping[str, Refusal]
    free_capacities: Mapping[str, HostFreeCapacity]
    shares: Mapping[str, tuple[Share, ...]]
    cut: Mapping[str, CutLinks]
    findings: tuple[Finding, ...]

    def on(self, host: str) -> list[Placed]:
        """The machines on a host."""
        return [placed for placed in self.placed.values() if placed.host.path == host]


@memo(most=NETWORKS_LIMIT)
def place_vms(network: Network) -> Placement:
    """The placement of all machines of the design a network was made from; kept."""
    return _place_all(network)


def release_on(host: Host | None, vm: VirtualMachine, wanted: str = "") -> Release:
    """The rules of which vSphere release hold for a machine on a host."""
    return vsphere(release_of(vm, host, wanted))


def _place_all(network: Network) -> Placement:
    hosts = find_hosts(network)
    free_capacities = {host.path: empty_capacity(host) for host in hosts.hosts}
    placed: dict[str, Placed] = {}
    refused: dict[str, Refusal] = {}
    findings: list[Finding] = []
    # Machines whose devices are all stated come first, then those with a host, then those without, GPUs before others.
    for vm in sorted(network.design.vms.values(), key=_placement_order):
        found = _place_one(vm, hosts, free_capacities)
        if isinstance(found, Refusal):
            refused[vm.id] = found
            findings.append(Finding(found.code, Severity.ERROR, f"{vm.label}: {found.text}", (vm.id,), found.remedy))
            continue
        free_capacity, done = found
        free_capacities[free_capacity.host.path] = free_capacity
        placed[vm.id] = done
    for vm in network.design.vms.values():
        findings += _limits(vm, _host_meant(vm, placed, free_capacities))
    shares = {vm_id: tuple(_share(device, placed) for device in done.devices) for vm_id, done in placed.items()}
    cut = {vm_id: links for vm_id, done in placed.items() if (links := _cut(network, done)) is not None}
    for done in placed.values():
        findings += _advice(done, cut)
    return Placement(hosts, placed, refused, free_capacities, shares, cut, tuple(findings))


def _placement_order(vm: VirtualMachine) -> tuple[bool, bool, bool, float, str]:
    by_hand = all(device.part is not None or device.placement is not None for device in vm.devices)
    return (vm.host is None, not gpu_devices(vm), not by_hand, -memory_of(vm), vm.id)


def _place_one(
    vm: VirtualMachine, hosts: Hosts, free_capacities: Mapping[str, HostFreeCapacity]
) -> tuple[HostFreeCapacity, Placed] | Refusal:
    if vm.host is not None:
        free_capacity = free_capacities.get(vm.host)
        if free_capacity is None:
            known = ", ".join(list(free_capacities)[:NAMED_LIMIT]) or "none"
            return Refusal("VM-HOST", f"{vm.host} is no host of this design", f"hosts: {known}")
        return place_on(free_capacity, vm, release_on(free_capacity.host, vm), by_hand=True)
    named = _host_of_devices(vm, free_capacities)
    if isinstance(named, Refusal):
        return named
    if named is not None:
        return place_on(named, vm, release_on(named.host, vm), by_hand=True)
    last: Refusal | None = None
    for free_capacity in sorted(free_capacities.values(), key=lambda each: (-each.memory, -each.cpus)):
        tried = place_on(free_capacity, vm, release_on(free_capacity.host, vm), by_hand=False)
        if not isinstance(tried, Refusal):
            return tried
        last = last or tried
    if last is None:
        return Refusal("VM-HOST", "the design has no host", "add a server with CPUs")
    return Refusal(last.code, f"no host takes it: {last.text}", last.remedy)


def _host_of_devices(
    vm: VirtualMachine, free_capacities: Mapping[str, HostFreeCapacity]
) -> HostFreeCapacity | Refusal | None:
    """The host whose GPUs the devices of a machine name; None where they name none."""
    wanted = [d.part for d in vm.devices if d.part is not None and d.kind in ("vgpu", "mig_vgpu", "device_group")]
    found: dict[str, HostFreeCapacity] = {}
    for part in wanted:
        holders = [each for each in free_capacities.values() if any(g.gpu.path == part for g in each.gpus)]
        if not holders:
            return Refusal("VM-DEVICE", f"{part} is no GPU of any host", "choose a GPU of the design, or none")
        found[holders[0].host.path] = holders[0]
    if len(found) > 1:
        return Refusal("VM-DEVICE", f"its devices are on {' and '.join(found)}", "choose GPUs of one host")
    return next(iter(found.values()), None)


def _host_meant(
    vm: VirtualMachine, placed: Mapping[str, Placed], free_capacities: Mapping[str, HostFreeCapacity]
) -> Host | None:
    """Where a machine is placed; of one without a place the host it names, else the first there is; None without
    any."""
    if vm.id in placed:
        return placed[vm.id].host
    named = free_capacities.get(vm.host or "") or next(iter(free_capacities.values()), None)
    return named.host if named is not None else None


def _limits(vm: VirtualMachine, host: Host | None) -> Iterator[Finding]:  # noqa: C901, PLR0912
    """Maximums of the release and the hardware version, and the reservation devices need."""

    def broken(code: str, text: str, remedy: str, severity: Severity = Severity.ERROR) -> Finding:
        return Finding(code, severity, f"{vm.label}: {text}", (vm.id,), remedy)

    written = release_of(vm, host)
    if written == KVM:
        return
    release = vsphere(written)
    newest = most(HARDWARE, release)
    hardware = vm.hardware_version if vm.hardware_version is not None else newest
    if hardware > newest:
        yield broken("VM-HARDWARE", f"hardware version {hardware} needs more than {written}", f"use {newest} or less")
    for kind in dict.fromkeys(d.kind for d in vm.devices if d.kind in HARDWARE_OF_DEVICE):
        oldest = int(HARDWARE_OF_DEVICE[kind].value)
        if hardware < oldest:
            text = f"hardware version {hardware} is too old for a {kind.replace('_', ' ')}, which needs {oldest}"
            yield broken("VM-HARDWARE", text, f"upgrade it to {oldest} to {newest} while it is off")
    offered = release_of_hardware(hardware, release)
    cpus = CPUS if hardware >= HARDWARE_OF_MANY.value else CPUS_OLD
    cpus = CPUS_NEW if hardware >= HARDWARE_OF_9.value else cpus
    if vm.vcpus > cpus.value:
        yield broken("VM-LIMIT", f"{vm.vcpus} virtual CPUs, at most {cpus.value:.0f}", "give it fewer")
    memory = MEMORY if hardware >= HARDWARE_OF_MANY.value else MEMORY_OLD
    if memory_of(vm) > memory.value:
        yield broken("VM-LIMIT", f"more memory than {format_quantity(memory.value, 'size')}", "give it less")
    passed = sum(d.count for d in vm.devices if d.kind in ("passthrough", "dynamic_directpath"))
    virtual = sum(d.count for d in vm.devices if d.kind in ("vgpu", "mig_vgpu", "device_group"))
    for count, table, what in (
        (passed, PASSTHROUGH_DEVICES, "passthrough devices"),
        (virtual, VIRTUAL_GPUS, "virtual GPUs"),
    ):
        if count > most(table, release):
            text = f"{count} {what}, at most {most(table, release)} with {written}"
            yield broken("VM-LIMIT", text, "give it fewer, or a newer release")
        elif count > most(table, offered):
            text = f"{count} {what}, at most {most(table, offered)} with hardware version {hardware}"
            yield broken("VM-LIMIT", text, f"give it fewer, or hardware version {newest}")
    if not vm.devices or all(d.kind == "dpu" for d in vm.devices):
        return
    if vm.memory_reservation is not None:
        short = amount(vm.memory_reservation, "size") < memory_of(vm)
    else:
        short = not release.since(Release.V8_0)
    if short:
        yield broken("VM-RESERVE", "a machine with devices needs all its memory reserved", "reserve all of it")


def _share(device: PlacedDevice, placed: Mapping[str, Placed]) -> Share:
    """Compute of a time slice: an equal part of those on the GPU, weighted by how busy they keep it."""
    if device.gpu is None:
        return Share(0.0, 0.0, 0.0)
    if device.kind != "vgpu":
        return Share(device.compute_most, device.memory_share, device.bandwidth_share)
    duties = [
        amount(other.vm.gpu_duty, "ratio") if other.vm.gpu_duty is not None else 1.0
        for other in placed.values()
        for each in other.devices
        if each.gpu is not None and each.gpu.path == device.gpu.path
    ]
    share = 1 / max(1.0, sum(duties))
    return Share(share, device.memory_share, share)


def _cut(network: Network, done: Placed) -> CutLinks | None:
    """NVLinks the virtual GPUs of one machine switch off."""
    pairs: dict[tuple[str, str], None] = {}
    silent: dict[str, None] = {}
    net = network.net
    gpus = [d for d in done.devices if d.gpu is not None and d.gpu.board is not None and d.kind != "passthrough"]
    for device in gpus:
        gpu = device.gpu
        assert gpu is not None
        assert gpu.board is not None
        board = done.host.boards[gpu.board]
        if board is None or gpu.module is None:
            continue
        modules = device.group.modules if device.group is not None else (gpu.module,)
        path = {each.module: each for each in done.host.gpus if each.board == gpu.board}
        outside = {path[b].part for a, b in cut_pairs(board, modules) if a == gpu.module}
        for a, b in cut_pairs(board, modules):
            if a == gpu.module:
                pairs[(path[a].path, path[b].path)] = None
        kept = device.group.links_per_gpu if device.group is not None else 0
        mine = np.flatnonzero((network.domain == ACCELERATOR) & ((net.link_a == gpu.part) | (net.link_b == gpu.part)))
        for link in mine.tolist():
            other = int(net.link_b[link]) if int(net.link_a[link]) == gpu.part else int(net.link_a[link])
            if not kept or other in outside:
                silent[net.link_path(link)] = None
    return CutLinks(tuple(pairs), tuple(silent)) if pairs else None


def _advice(done: Placed, cut: Mapping[str, CutLinks]) -> Iterator[Finding]:
    vm = done.vm
    virtual = [d for d in done.devices if d.kind in ("vgpu", "mig_vgpu", "device_group")]
    framebuffer = sum(d.framebuffer for d in virtual)
    if framebuffer and memory_of(vm) < RAM_PER_FRAMEBUFFER.value * framebuffer:
        text = f"{vm.label}: its memory is less than {RAM_PER_FRAMEBUFFER.value:g} × that of its virtual GPUs"
        yield Finding("VM-RAM", Severity.WARNING, text, (vm.id,), "give it more memory")
    on_board = [d for d in virtual if d.gpu is not None and d.gpu.board is not None]
    if len(on_board) > 1 and all(d.group is None for d in on_board):
        text = f"{vm.label}: NVLink is off between its GPUs, they talk over PCIe"
        yield Finding("VM-NVLINK-OFF", Severity.WARNING, text, (vm.id,), "give it a device group")
    if any(d.group is not None and d.gpu is not None and not d.gpu.module_given for d in on_board):
        text = f"{vm.label}: module IDs are taken from the order of the GPUs, which real boards do not follow"
        yield Finding("VM-MODULES", Severity.INFO, text, (vm.id,), "give each GPU its attribute 'module'")
    if not (release := release_on(done.host, vm)).since(Release.V8_0) and len(virtual) > 1:
        parts = [d for d in virtual if d.gpu is not None and d.memory_share < 1]
        if parts and release_of(vm, done.host) != KVM:
            text = f"{vm.label}: before 8.0 only virtual GPUs of a whole frame buffer may be combined"
            yield Finding("VM-FRACTIONS", Severity.ERROR, text, (vm.id,), "use whole GPUs, or 8.0")
        del release
    yield from _numa_advice(done)
    far = [d for d in virtual if d.gpu is not None and d.gpu.socket not in done.sockets]
    if far:
        where = (vm.id, *(d.part for d in far))[:WHERE_LIMIT]
        text = f"{vm.label}: a GPU sits on another socket than its CPUs"
        yield Finding("VM-NUMA", Severity.INFO, text, where, "put its GPUs on one socket")


def numa_of(done: Placed) -> VirtualNuma | None:
    """The virtual NUMA nodes of a machine on its host; None where cores or memory of the sockets are not known."""
    host, vm = done.host, done.vm
    cores = [socket.cores for socket in host.sockets]
    if len(cores) < 2 or not min(cores) or not host.memory:
        return None
    return virtual_numa(vm.vcpus, memory_of(vm), min(cores), Bytes(host.memory / len(cores)))


def _numa_advice(done: Placed) -> Iterator[Finding]:
    vm, nodes = done.vm, numa_of(done)
    if nodes is None:
        return
    if nodes.nodes == 1 and nodes.remote_memory > 0:
        text = (
            f"{vm.label}: it sees one NUMA node, but about {format_quantity(nodes.remote_memory, 'size')} "
            "of its memory lies on another socket"
        )
        yield Finding("VM-NUMA-MEMORY", Severity.WARNING, text, (vm.id,), "give it two virtual NUMA nodes")
    if not nodes.even:
        text = f"{vm.label}: {vm.vcpus} virtual CPUs make uneven NUMA nodes of {' and '.join(map(str, nodes.cpus))}"
        yield Finding("VM-NUMA-UNEVEN", Severity.WARNING, text, (vm.id,), "give it a number the nodes divide")


# Putting one machine on a host: its memory, CPUs, sockets and devices, or why that cannot be.


def place_on(
    free_capacity: HostFreeCapacity, vm: VirtualMachine, release: Release, *, by_hand: bool
) -> tuple[HostFreeCapacity, Placed] | Refusal:
    """The host with the machine on it, or why that cannot be.

    Parameters
    ----------
    by_hand
        True if devices stay on the parts the drawing names, as they do where the machine is placed; a machine that
        moves
        finds its own.
    """
    try:
        return _place(free_capacity, vm, release, by_hand)
    except CannotPlace as refused:
        return refused.refusal
    except DesignerError as error:
        return Refusal("VM-PROFILE", error.text, error.remedy or "choose another profile")


def _place(
    free_capacity: HostFreeCapacity, vm: VirtualMachine, release: Release, by_hand: bool
) -> tuple[HostFreeCapacity, Placed]:
    memory, host = memory_of(vm), free_capacity.host
    if host.memory and memory > host.memory:
        raise CannotPlace(
            "VM-TOO-BIG",
            f"{format_quantity(memory, 'size')} of memory is more than {host.path} has, "
            f"{format_quantity(host.memory, 'size')}",
            "give it less memory, or the host more",
        )
    if host.cores and vm.vcpus > host.cores * 2:
        raise CannotPlace(
            "VM-TOO-BIG",
            f"{vm.vcpus} virtual CPUs are more than {host.path} has threads, {host.cores * 2}",
            "give it fewer CPUs, or a larger host",
        )
    if memory > free_capacity.memory:
        free = format_quantity(max(0.0, free_capacity.memory), "size")
        raise CannotPlace(
            "VM-MEMORY", f"{host.path} has {free} of memory left", "free memory on the host, or choose another"
        )
    if vm.vcpus > free_capacity.cpus:
        raise CannotPlace(
            "VM-CPUS", f"{host.path} has {free_capacity.cpus:.0f} virtual CPUs left", "choose another host"
        )
    work = DevicePlacement(free_capacity, vm, release, by_hand)
    devices = work.devices()
    sockets = _sockets(free_capacity, vm, devices)
    used = tuple(
        free - (vm.vcpus / len(sockets) if at in sockets else 0.0) for at, free in enumerate(free_capacity.sockets)
    )
    after = HostFreeCapacity(
        host,
        free_capacity.memory - memory,
        free_capacity.cpus - vm.vcpus,
        used,
        tuple(work.gpus),
        (*free_capacity.taken, vm.id),
    )
    return after, Placed(vm, host, sockets, tuple(devices))


def _sockets(free_capacity: HostFreeCapacity, vm: VirtualMachine, devices: Sequence[PlacedDevice]) -> tuple[int, ...]:
    """Sockets of a machine: that of its GPU, else the freest; as many as its CPUs need."""
    sockets = free_capacity.host.sockets
    if not sockets:
        return ()
    near = [device.gpu.socket for device in devices if device.gpu is not None]
    order = sorted(range(len(sockets)), key=lambda at: (-near.count(at), -free_capacity.sockets[at], at))
    chosen: list[int] = []
    cores = 0
    for at in order:
        chosen.append(at)
        cores += sockets[at].cores
        if cores >= vm.vcpus or not sockets[at].cores:
            break
    return tuple(sorted(chosen))
