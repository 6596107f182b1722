"""Putting one machine on a host: its memory, CPUs, sockets and devices, or why that cannot be."""

from __future__ import annotations

from collections.abc import Sequence

from designer.design.document import VirtualMachine
from designer.engine.machines.demands import (
    memory_of,
)
from designer.engine.machines.device_placement import CannotPlace, DevicePlacement
from designer.engine.machines.free_capacity import HostFreeCapacity, Placed, PlacedDevice, Refusal
from designer.errors import DesignerError
from designer.formulas.placement import Release
from designer.units import format_quantity


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
