"""What a host has free: memory, CPUs, sockets, and GPUs with what is on them."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.document import VirtualMachine
from designer.engine.machines.demands import (
    CPUS_PER_CORE,
    gpu_devices,
)
from designer.engine.machines.hosts import Host, HostGpu
from designer.formulas.placement import Mode, Resident


@dataclass(frozen=True, slots=True)
class GpuFreeCapacity:
    """A GPU with what is on it; ``owner`` has the whole of it."""

    gpu: HostGpu
    mode: Mode | None
    residents: tuple[Resident, ...] = ()
    owner: str = ""

    @property
    def empty(self) -> bool:
        """True if no machine uses it."""
        return not self.residents and not self.owner

    @property
    def sliced(self) -> bool:
        """True if MIG cuts it into instances."""
        return self.mode is Mode.MIG


@dataclass(frozen=True, slots=True)
class DeviceGroup:
    """A device group on a board: its name in the client, the partition, its modules and NVLinks kept per GPU."""

    name: str
    partition: int
    modules: tuple[int, ...]
    links_per_gpu: int


@dataclass(frozen=True, slots=True)
class PlacedDevice:
    """One device of a machine where it sits.

    Parameters
    ----------
    device
        Index in the machine's list.
    profile, shown
        Short name of the profile, and the name vSphere shows.
    start
        Placement ID, slot or MIG slice.
    framebuffer
        Memory of it [B].
    compute_most, memory_share, bandwidth_share
        Shares of the GPU it may have at most; of a time slice the whole GPU while the others are idle.
    """

    device: int
    kind: str
    part: str
    profile: str
    shown: str
    start: int = 0
    framebuffer: float = 0.0
    compute_most: float = 1.0
    memory_share: float = 1.0
    bandwidth_share: float = 1.0
    gpu: HostGpu | None = None
    group: DeviceGroup | None = None


@dataclass(frozen=True, slots=True)
class HostFreeCapacity:
    """A host with what is free on it: memory [B], virtual CPUs, cores per socket, GPUs."""

    host: Host
    memory: float
    cpus: float
    sockets: tuple[float, ...]
    gpus: tuple[GpuFreeCapacity, ...]
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A machine on a host: its sockets by index, and its devices."""

    vm: VirtualMachine
    host: Host
    sockets: tuple[int, ...]
    devices: tuple[PlacedDevice, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a machine cannot be put on a host; `code` is that of the finding."""

    code: str
    text: str
    remedy: str


def empty_capacity(host: Host) -> HostFreeCapacity:
    """A host with nothing on it; what is not known of it does not limit."""
    return HostFreeCapacity(
        host,
        host.memory or float("inf"),
        host.cores * CPUS_PER_CORE.value or float("inf"),
        tuple(float(socket.cores) for socket in host.sockets),
        tuple(GpuFreeCapacity(gpu, gpu.mode) for gpu in host.gpus),
    )


def shape_of(vm: VirtualMachine) -> str:
    """What GPUs a machine needs, in one word; empty without."""
    names = [
        f"{device.count} × {device.profile or device.kind}" if device.count > 1 else device.profile or device.kind
        for device in vm.devices
        if gpu_devices(vm) or device.kind == "dynamic_directpath"
    ]
    return " + ".join(names)
