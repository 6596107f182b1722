"""What a host has free, and putting one more machine on it: memory, CPUs, sockets, GPUs by profile, slice and group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from designer.analysis.vms.demands import (
    CPUS_PER_CORE,
    gpu_devices,
    memory_of,
    short_name,
    shown_name,
)
from designer.analysis.vms.hosts import Host, HostGpu
from designer.catalog.vgpu import load_vgpu_types
from designer.catalog.vgpu_types import NvlinkBoard, VgpuType
from designer.design.document import VirtualMachine, VmDevice
from designer.errors import DesignerError
from designer.formulas.placement import AssignmentPolicy, Mode, Release, Resident, read_release
from designer.formulas.placement.mig_slices import mig_slices
from designer.formulas.placement.mixed_size import mixed_size
from designer.formulas.placement.nvlink_groups import group_name, nvlink_groups
from designer.formulas.placement.same_size import same_size
from designer.units import format_quantity, parse_size

#: profiles suggested in place of one that does not exist
NEAR_LIMIT: Final = 2
#: sizes vSphere offers device groups in
GROUP_SIZES_LIMIT: Final = (2, 4, 8)


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
    start: int
    framebuffer: float
    compute_most: float
    memory_share: float
    bandwidth_share: float
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


class _Refused(Exception):
    def __init__(self, code: str, text: str, remedy: str) -> None:
        super().__init__(text)
        self.refusal = Refusal(code, text, remedy)


def empty_capacity(host: Host) -> HostFreeCapacity:
    """A host with nothing on it; what is not known of it does not limit."""
    return HostFreeCapacity(
        host,
        host.memory or float("inf"),
        host.cores * CPUS_PER_CORE.value or float("inf"),
        tuple(float(socket.cores) for socket in host.sockets),
        tuple(GpuFreeCapacity(gpu, gpu.mode) for gpu in host.gpus),
    )


def place_on(
    free_capacity: HostFreeCapacity, vm: VirtualMachine, release: Release, *, by_hand: bool
) -> tuple[HostFreeCapacity, Placed] | Refusal:
    """The host with the machine on it, or why that cannot be.

    Parameters
    ----------
    by_hand
        True if devices stay on the parts the drawing names, as they do where the machine stands; a machine that moves
        finds its own.
    """
    try:
        return _place(free_capacity, vm, release, by_hand)
    except _Refused as refused:
        return refused.refusal
    except DesignerError as error:
        return Refusal("VM-PROFILE", error.text, error.remedy or "choose another profile")


def _place(
    free_capacity: HostFreeCapacity, vm: VirtualMachine, release: Release, by_hand: bool
) -> tuple[HostFreeCapacity, Placed]:
    memory, host = memory_of(vm), free_capacity.host
    if host.memory and memory > host.memory:
        raise _Refused(
            "VM-TOO-BIG",
            f"{format_quantity(memory, 'size')} of memory is more than {host.path} has, "
            f"{format_quantity(host.memory, 'size')}",
            "give it less memory, or the host more",
        )
    if host.cores and vm.vcpus > host.cores * 2:
        raise _Refused(
            "VM-TOO-BIG",
            f"{vm.vcpus} virtual CPUs are more than {host.path} has threads, {host.cores * 2}",
            "give it fewer CPUs, or a larger host",
        )
    if memory > free_capacity.memory:
        free = format_quantity(max(0.0, free_capacity.memory), "size")
        raise _Refused(
            "VM-MEMORY", f"{host.path} has {free} of memory left", "free memory on the host, or choose another"
        )
    if vm.vcpus > free_capacity.cpus:
        raise _Refused("VM-CPUS", f"{host.path} has {free_capacity.cpus:.0f} virtual CPUs left", "choose another host")
    work = _Work(free_capacity, vm, release, by_hand)
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


class _Work:
    """Devices of one machine being placed; ``gpus`` changes as they are."""

    def __init__(self, free_capacity: HostFreeCapacity, vm: VirtualMachine, release: Release, by_hand: bool) -> None:
        self.host, self.vm, self.release, self.by_hand = free_capacity.host, vm, release, by_hand
        self.gpus = list(free_capacity.gpus)

    def devices(self) -> list[PlacedDevice]:
        placed: list[PlacedDevice] = []
        for index, device in enumerate(self.vm.devices):
            if device.kind == "device_group":
                placed += self._group(index, device)
            elif device.kind in ("vgpu", "mig_vgpu"):
                placed += [self._virtual(index, device) for _ in range(device.count)]
            else:
                placed += [self._whole(index, device) for _ in range(device.count)]
        return placed

    def _candidates(self, device: VmDevice) -> list[int]:
        if device.part is None or not self.by_hand:
            return list(range(len(self.gpus)))
        found = [at for at, free_capacity in enumerate(self.gpus) if free_capacity.gpu.path == device.part]
        if not found:
            raise _Refused(
                "VM-DEVICE", f"{device.part} is no GPU of {self.host.path}", "choose a GPU of the host it runs on"
            )
        return found

    def _whole(self, index: int, device: VmDevice) -> PlacedDevice:
        """Passthrough of a part; a GPU of the host is taken whole, what is no GPU is only named."""
        named = device.part if self.by_hand or device.kind == "passthrough" else None
        here = [at for at, free_capacity in enumerate(self.gpus) if free_capacity.gpu.path == named]
        if named is not None and not here:
            return PlacedDevice(index, device.kind, named, "", named, 0, 0.0, 1.0, 1.0, 1.0)
        if device.kind in ("sriov", "dpu"):
            return PlacedDevice(index, device.kind, named or "", "", named or device.kind, 0, 0.0, 1.0, 1.0, 1.0)
        free = [at for at in here or range(len(self.gpus)) if self.gpus[at].empty]
        if not free:
            raise _Refused("VM-DEVICE", f"{named or 'every GPU'} of {self.host.path} is in use", "choose a free GPU")
        free_capacity = self.gpus[free[0]]
        board = self.host.boards[free_capacity.gpu.board] if free_capacity.gpu.board is not None else None
        if board is not None and len(board.modules) > max(GROUP_SIZES_LIMIT[:2]) and device.kind == "passthrough":
            wanted = sum(d.count for d in self.vm.devices if d.kind == "passthrough")
            if wanted < len(board.modules):
                raise _Refused(
                    "VM-NVSWITCH",
                    "part of an NVSwitch board cannot be passed through",
                    "use a device group of virtual GPUs, or pass all its GPUs to one machine",
                )
        self.gpus[free[0]] = replace(free_capacity, owner=self.vm.id)
        return PlacedDevice(
            index,
            device.kind,
            free_capacity.gpu.path,
            "",
            free_capacity.gpu.title,
            0,
            free_capacity.gpu.memory,
            1.0,
            1.0,
            1.0,
            free_capacity.gpu,
        )

    def _virtual(self, index: int, device: VmDevice) -> PlacedDevice:
        wanted = Mode.MIG if device.kind == "mig_vgpu" else None
        candidates = self._candidates(device)
        if not candidates:
            raise _Refused("VM-DEVICE", f"{self.host.path} has no GPU", "choose a host with GPUs")
        spread = self.host.policy is AssignmentPolicy.SPREAD
        reasons: list[str] = []

        def order(at: int) -> tuple[int, int]:
            free_capacity = self.gpus[at]
            by_count = wanted is None and free_capacity.mode is not Mode.MIXED_SIZE and spread
            return (len(free_capacity.residents) if by_count else -len(free_capacity.residents), at)

        missing: DesignerError | None = None
        for at in sorted(candidates, key=order):
            free_capacity = self.gpus[at]
            try:
                found = self._start(free_capacity, device, wanted)
            except DesignerError as error:
                missing = missing or error
                continue
            if isinstance(found, str):
                reasons.append(f"{free_capacity.gpu.path}: {found}")
                continue
            return self._settle(index, at, device, *found)
        if missing is not None and not reasons:
            known = self.gpus[candidates[0]].gpu.type
            raise _Refused("VM-PROFILE", missing.text, near_profiles(device, known) or missing.remedy or "")
        raise _Refused("VM-NO-ROOM", "; ".join(reasons), self._more_capacity(candidates))

    def _more_capacity(self, candidates: Sequence[int]) -> str:
        """What would make room: sizes mixed on a GPU where boards and release know that."""
        able = [
            free_capacity.gpu
            for at in candidates
            if (free_capacity := self.gpus[at]).mode is Mode.SAME_SIZE
            and free_capacity.gpu.type is not None
            and free_capacity.gpu.type.mixed_size
        ]
        if not able:
            return "choose another profile, mode, release or host"
        newer = "" if self.release.since(Release.V8_0_U3) else "go to 8.0 U3 and "
        return f"{newer}give the host the attribute vgpu_mode = {Mode.MIXED_SIZE}, or choose another profile or host"

    def _start(
        self, free_capacity: GpuFreeCapacity, device: VmDevice, wanted: Mode | None
    ) -> tuple[Mode, str, int] | str:
        """Mode, profile and start on one GPU, or why there is none."""
        kind = _type_of(free_capacity.gpu)
        short = short_name(device.profile, kind)
        if free_capacity.owner:
            return f"{free_capacity.owner} has the whole of it"
        if wanted is Mode.MIG:
            name = kind.mig_profile(short if "." not in short else short.lower()).name
            if free_capacity.mode not in (None, Mode.MIG) or (free_capacity.mode is None and free_capacity.residents):
                return "it is not in MIG mode, and MIG and time slices never mix"
            return self._checked(device, Mode.MIG, name, *_mig(free_capacity, kind, name))
        name = kind.profile(short).name
        if free_capacity.mode is Mode.MIG:
            return "it is in MIG mode, and MIG and time slices never mix"
        if free_capacity.mode is Mode.MIXED_SIZE:
            mixed = mixed_size(kind, free_capacity.residents, name, release=self.release)
            return self._checked(device, Mode.MIXED_SIZE, name, mixed.free, mixed.best, mixed.reason)
        same = same_size(kind, [r.profile for r in free_capacity.residents], name, release=self.release)
        used = {resident.start for resident in free_capacity.residents}
        slots = tuple(s for s in range(len(used) + same.more) if s not in used) if same.more else ()
        return self._checked(device, Mode.SAME_SIZE, name, slots, min(slots, default=None), same.reason)

    def _checked(
        self, device: VmDevice, mode: Mode, name: str, free: Sequence[int], best: int | None, reason: str
    ) -> tuple[Mode, str, int] | str:
        if device.placement is not None and self.by_hand and device.count == 1:
            if device.placement in free:
                return mode, name, device.placement
            places = ", ".join(map(str, free)) or "none"
            return f"{name} cannot start at {device.placement}; free: {places}"
        return reason if best is None else (mode, name, best)

    def _settle(self, index: int, at: int, device: VmDevice, mode: Mode, name: str, start: int) -> PlacedDevice:
        free_capacity = self.gpus[at]
        kind = _type_of(free_capacity.gpu)
        self.gpus[at] = replace(free_capacity, mode=mode, residents=(*free_capacity.residents, Resident(name, start)))
        if mode is Mode.MIG:
            slices = kind.mig_profile(name)
            memory = slices.memory / kind.memory_slices
            framebuffer, shares = slices.framebuffer, (slices.compute / kind.compute_slices, memory, memory)
        else:
            profile = kind.profile(name)
            framebuffer, shares = profile.framebuffer, (1.0, profile.size / kind.regions, 1.0)
        return PlacedDevice(
            index,
            device.kind,
            free_capacity.gpu.path,
            name,
            shown_name(name, kind),
            start,
            framebuffer,
            *shares,
            free_capacity.gpu,
        )

    def _group(self, index: int, device: VmDevice) -> list[PlacedDevice]:
        if device.count not in GROUP_SIZES_LIMIT:
            raise _Refused(
                "VM-GROUP", f"there is no device group of {device.count} GPUs", "choose a group of 2, 4 or 8"
            )
        reasons: list[str] = []
        for number, board in enumerate(self.host.boards):
            if board is None:
                continue
            found = self._on_board(number, board, device)
            if isinstance(found, str):
                reasons.append(found)
                continue
            group, chosen, name = found
            placed: list[PlacedDevice] = []
            for at in chosen:
                free_capacity = self.gpus[at]
                kind = _type_of(free_capacity.gpu)
                self.gpus[at] = replace(free_capacity, mode=Mode.SAME_SIZE, residents=(Resident(name, 0),))
                size = kind.profile(name).framebuffer
                placed.append(
                    PlacedDevice(
                        index,
                        device.kind,
                        free_capacity.gpu.path,
                        name,
                        group.name,
                        0,
                        size,
                        1.0,
                        1.0,
                        1.0,
                        free_capacity.gpu,
                        group,
                    )
                )
            return placed
        text = "; ".join(dict.fromkeys(reasons)) or f"{self.host.path} has no GPUs joined by NVLink"
        raise _Refused("VM-GROUP", text, "choose a smaller group, or another host")

    def _on_board(self, number: int, board: NvlinkBoard, device: VmDevice) -> tuple[DeviceGroup, list[int], str] | str:
        if board.since and not self.release.since(read_release(board.since)):
            return f"device groups on this board come with {board.since}"
        by_module = {
            free_capacity.gpu.module: at
            for at, free_capacity in enumerate(self.gpus)
            if free_capacity.gpu.board == number
        }
        kind = _type_of(self.gpus[next(iter(by_module.values()))].gpu)
        full = kind.full_profile
        if full is None:
            return f"{kind.title} has no profile of its whole frame buffer"
        if device.profile and kind.profile(short_name(device.profile, kind)).name != full.name:
            return f"a device group is made of {full.name}, the whole frame buffer, not of {device.profile}"
        if device.count not in {len(each.modules) for each in board.partitions}:
            return f"there is no device group of {device.count} GPUs on {board.title}"
        taken = [module for module, at in by_module.items() if module is not None and not self.gpus[at].empty]
        if device.placement is not None and self.by_hand:
            chosen = next((p for p in board.partitions if p.id == device.placement), None)
            if chosen is None or len(chosen.modules) != device.count or set(chosen.modules) & set(taken):
                return f"partition {device.placement} is not free, or not one of {device.count} GPUs"
            partition, modules, links = chosen.id, chosen.modules, chosen.links_per_gpu
        else:
            plan = nvlink_groups(board, [device.count], taken=taken).groups[0]
            if plan is None:
                free = len(board.modules) - len(taken)
                return f"{free} GPUs are free, but no partition of {device.count} is"
            partition, modules, links = plan.partition, plan.modules, plan.links_per_gpu
        name = group_name(device.count, shown_name(full.name, kind))
        return DeviceGroup(name, partition, modules, links), [by_module[module] for module in modules], full.name


def near_profiles(device: VmDevice, kind: VgpuType | None) -> str:
    """What to choose in place of a profile a GPU does not offer: those nearest in size, and where the name belongs."""
    if kind is None:
        return ""
    slices = device.kind == "mig_vgpu"
    offered = {p.name: p.framebuffer for p in (kind.mig if slices else kind.profiles)}
    if not offered:
        return f"{kind.title} offers no {'MIG slices' if slices else 'virtual GPUs'}"
    asked = short_name(device.profile, kind).rsplit("-", 1)[-1]
    digits = "".join(c for c in asked if c.isdigit() or c == ".").strip(".")
    size = parse_size(f"{float(digits):g} GiB") if digits.count(".") < 2 and digits else 0.0
    series = asked[-1:] if asked[-1:].isalpha() else ""
    order = sorted(offered, key=lambda name: (not name.endswith(series), abs(offered[name] - size), name))
    owner = next(
        (
            t.title
            for t in load_vgpu_types().values()
            if t.vsphere_prefix and device.profile.startswith(t.vsphere_prefix)
        ),
        "",
    )
    belongs = f"; {device.profile} is one of {owner}" if owner and owner != kind.title else ""
    near = " or ".join(order[:NEAR_LIMIT]) if digits else ""
    return f"{f'choose {near}; ' if near else ''}it offers: {', '.join(offered)}{belongs}"


def _mig(free_capacity: GpuFreeCapacity, kind: VgpuType, name: str) -> tuple[tuple[int, ...], int | None, str]:
    found = mig_slices(kind, free_capacity.residents, name)
    return found.free, found.best, found.reason


def _type_of(gpu: HostGpu) -> VgpuType:
    if gpu.type is None:
        raise _Refused("VM-PROFILE", f"no virtual GPUs are known for {gpu.title}", "choose a GPU with virtual GPUs")
    return gpu.type


def shape_of(vm: VirtualMachine) -> str:
    """What GPUs a machine needs, in one word; empty without."""
    names = [
        f"{device.count} × {device.profile or device.kind}" if device.count > 1 else device.profile or device.kind
        for device in vm.devices
        if gpu_devices(vm) or device.kind == "dynamic_directpath"
    ]
    return " + ".join(names)
