"""Putting the devices of one machine on a host: whole GPUs, virtual GPUs by profile and slice, device groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from designer.catalog.vgpu import NvlinkBoard, VgpuType, load_vgpu_types
from designer.design.document import VirtualMachine, VmDevice
from designer.engine.machines.demands import (
    short_name,
    shown_name,
)
from designer.engine.machines.free_capacity import DeviceGroup, GpuFreeCapacity, HostFreeCapacity, PlacedDevice, Refusal
from designer.engine.machines.hosts import HostGpu
from designer.errors import DesignerError
from designer.formulas.placement import AssignmentPolicy, Mode, Release, Resident, read_release
from designer.formulas.placement.mig_slices import mig_slices
from designer.formulas.placement.nvlink_groups import group_name, nvlink_groups
from designer.formulas.placement.virtual_gpus import mixed_size, same_size
from designer.units import parse_size

#: profiles suggested in place of one that does not exist
NEAR_LIMIT: Final = 2
#: sizes vSphere offers device groups in
GROUP_SIZES_LIMIT: Final = (2, 4, 8)


class CannotPlace(Exception):
    """A machine does not fit on a host; `refusal` says why and what to do."""

    def __init__(self, code: str, text: str, remedy: str) -> None:
        super().__init__(text)
        self.refusal = Refusal(code, text, remedy)


class DevicePlacement:
    """Devices of one machine being placed; ``gpus`` changes as they are."""

    def __init__(self, free_capacity: HostFreeCapacity, vm: VirtualMachine, release: Release, by_hand: bool) -> None:
        self.host, self.vm, self.release, self.by_hand = free_capacity.host, vm, release, by_hand
        self.gpus = list(free_capacity.gpus)

    def devices(self) -> list[PlacedDevice]:
        """Place all devices of the machine, in its order; raises `CannotPlace` where one fits nowhere."""
        placed: list[PlacedDevice] = []
        for index, device in enumerate(self.vm.devices):
            if device.kind == "device_group":
                placed += self._group(index, device)
            elif device.kind in ("vgpu", "mig_vgpu"):
                placed += [self._virtual(index, device) for _ in range(device.count)]
            else:
                placed += [self._passthrough(index, device) for _ in range(device.count)]
        return placed

    def _candidates(self, device: VmDevice) -> list[int]:
        if device.part is None or not self.by_hand:
            return list(range(len(self.gpus)))
        found = [at for at, free_capacity in enumerate(self.gpus) if free_capacity.gpu.path == device.part]
        if not found:
            raise CannotPlace(
                "VM-DEVICE", f"{device.part} is no GPU of {self.host.path}", "choose a GPU of the host it runs on"
            )
        return found

    def _passthrough(self, index: int, device: VmDevice) -> PlacedDevice:
        """Passthrough of a part; a GPU of the host is taken whole, what is no GPU is only named."""
        named = device.part if self.by_hand or device.kind == "passthrough" else None
        here = [at for at, free_capacity in enumerate(self.gpus) if free_capacity.gpu.path == named]
        if named is not None and not here:
            return PlacedDevice(index, device.kind, named, "", named)
        if device.kind in ("sriov", "dpu"):
            return PlacedDevice(index, device.kind, named or "", "", named or device.kind)
        free = [at for at in here or range(len(self.gpus)) if self.gpus[at].empty]
        if not free:
            raise CannotPlace("VM-DEVICE", f"{named or 'every GPU'} of {self.host.path} is in use", "choose a free GPU")
        free_capacity = self.gpus[free[0]]
        board = self.host.boards[free_capacity.gpu.board] if free_capacity.gpu.board is not None else None
        if board is not None and len(board.modules) > max(GROUP_SIZES_LIMIT[:2]) and device.kind == "passthrough":
            wanted = sum(d.count for d in self.vm.devices if d.kind == "passthrough")
            if wanted < len(board.modules):
                raise CannotPlace(
                    "VM-NVSWITCH",
                    "part of an NVSwitch board cannot be passed through",
                    "use a device group of virtual GPUs, or pass all its GPUs to one machine",
                )
        self.gpus[free[0]] = replace(free_capacity, owner=self.vm.id)
        gpu = free_capacity.gpu
        return PlacedDevice(index, device.kind, gpu.path, "", gpu.title, framebuffer=gpu.memory, gpu=gpu)

    def _virtual(self, index: int, device: VmDevice) -> PlacedDevice:
        wanted = Mode.MIG if device.kind == "mig_vgpu" else None
        candidates = self._candidates(device)
        if not candidates:
            raise CannotPlace("VM-DEVICE", f"{self.host.path} has no GPU", "choose a host with GPUs")
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
            raise CannotPlace("VM-PROFILE", missing.text, near_profiles(device, known) or missing.remedy or "")
        raise CannotPlace("VM-NO-ROOM", "; ".join(reasons), self._more_capacity(candidates))

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
            return self._check_start(device, Mode.MIG, name, *_mig(free_capacity, kind, name))
        name = kind.profile(short).name
        if free_capacity.mode is Mode.MIG:
            return "it is in MIG mode, and MIG and time slices never mix"
        if free_capacity.mode is Mode.MIXED_SIZE:
            mixed = mixed_size(kind, free_capacity.residents, name, release=self.release)
            return self._check_start(device, Mode.MIXED_SIZE, name, mixed.free, mixed.best, mixed.reason)
        same = same_size(kind, [r.profile for r in free_capacity.residents], name, release=self.release)
        used = {resident.start for resident in free_capacity.residents}
        slots = tuple(s for s in range(len(used) + same.more) if s not in used) if same.more else ()
        return self._check_start(device, Mode.SAME_SIZE, name, slots, min(slots, default=None), same.reason)

    def _check_start(
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
        gpu, shown = free_capacity.gpu, shown_name(name, kind)
        return PlacedDevice(index, device.kind, gpu.path, name, shown, start, framebuffer, *shares, gpu)

    def _group(self, index: int, device: VmDevice) -> list[PlacedDevice]:
        if device.count not in GROUP_SIZES_LIMIT:
            raise CannotPlace(
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
                gpu, size = free_capacity.gpu, kind.profile(name).framebuffer
                here = PlacedDevice(index, device.kind, gpu.path, name, group.name, framebuffer=size, gpu=gpu)
                placed.append(replace(here, group=group))
            return placed
        text = "; ".join(dict.fromkeys(reasons)) or f"{self.host.path} has no GPUs joined by NVLink"
        raise CannotPlace("VM-GROUP", text, "choose a smaller group, or another host")

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
        raise CannotPlace("VM-PROFILE", f"no virtual GPUs are known for {gpu.title}", "choose a GPU with virtual GPUs")
    return gpu.type
