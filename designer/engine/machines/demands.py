"""What a virtual machine asks for, in SI units, and the limits of its release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from designer.catalog.vgpu import VgpuType
from designer.design.document import VirtualMachine
from designer.engine.machines.hosts import Host
from designer.fields import amount
from designer.formulas.placement import Release, read_release
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond

#: the release of hosts that run KVM
KVM: Final = "kvm"
#: what a host runs where neither it nor its machines say
DEFAULT_RELEASE: Final = Release.V8_0_U3
_MAXIMUMS: Final = "vmware-config-maximums"


def _limit(value: float, status: Status = Status.PRIMARY, unit: str = "1", note: str = "") -> Constant:
    return Constant(value, value, value, _MAXIMUMS, status, unit, note)


PAGE: Final = Constant(4096, 4096, 4096, "x86-page", Status.PRIMARY, "B", "small page, the grain of dirty tracking")
#: most of something per machine, by the first release that allows it
PASSTHROUGH_DEVICES: Final = {
    Release.V7_0: _limit(16),
    Release.V8_0: _limit(32),
    Release.V8_0_U1: _limit(64),
    Release.V8_0_U2: _limit(128),
}
VIRTUAL_GPUS: Final = {
    Release.V7_0: _limit(4),
    Release.V8_0: _limit(8),
    Release.V8_0_U1: _limit(8),
    Release.V8_0_U2: _limit(16),
}
HARDWARE: Final = {
    Release.V7_0: _limit(17),
    Release.V7_0_U1: _limit(18),
    Release.V7_0_U2: _limit(19),
    Release.V7_0_U3: _limit(19),
    Release.V8_0: _limit(20),
    Release.V8_0_U2: _limit(21),
    Release.V9_0: _limit(22),
}
#: the oldest hardware version a device works with; groups came with 8.0, placement by label with 7.0, shared PCI
#: devices with compatibility ESXi 6.0
HARDWARE_OF_DEVICE: Final = {
    "vgpu": Constant(11, 11, 11, "vmware-resource-management-65", Status.SECONDARY, "1", "compatible with ESXi 6.0"),
    "mig_vgpu": _limit(17, Status.DERIVED, note="MIG boards came with 7.0"),
    "device_group": _limit(20, Status.DERIVED, note="device groups came with 8.0"),
    "dynamic_directpath": _limit(17, Status.DERIVED, note="labels came with 7.0"),
}
CPUS_OLD: Final = _limit(256, note="hardware version 15 to 17")
CPUS: Final = _limit(768, note="hardware version 18 and newer")
CPUS_NEW: Final = _limit(960, note="hardware version 22")
MEMORY_OLD: Final = _limit(6128 * 2.0**30, unit="B", note="hardware version 13 to 17")
MEMORY: Final = _limit(24560 * 2.0**30, unit="B", note="hardware version 18 and newer")
HARDWARE_OF_MANY: Final = _limit(18, note="first with 768 CPUs")
HARDWARE_OF_9: Final = _limit(22, note="first with 960 CPUs")
#: virtual CPUs planned per core of a host that must take machines of another
CPUS_PER_CORE: Final = Constant(4, 1, 32, "migration-assumed", Status.ASSUMED, "1", "vSphere itself allows 32")


def release_of(vm: VirtualMachine, host: Host | None, wanted: str = "") -> str:
    """The release a machine runs on: what a study wants, else its host's, else its own, else 8.0 U3."""
    return wanted or (host.release if host is not None else "") or vm.release or DEFAULT_RELEASE.value


@lru_cache(maxsize=1024)
def vsphere(release: str) -> Release:
    """The vSphere release; of KVM the newest, whose rules for sharing GPUs are those of the driver alone.

    Raises
    ------
    AnalysisError
        If there is no such release.
    """
    return Release.V9_0 if release == KVM else read_release(release)


def most(by_release: dict[Release, Constant], release: Release) -> int:
    """The limit that holds in a release."""
    found = [limit.value for first, limit in by_release.items() if release.since(first)]
    return int(found[-1]) if found else int(next(iter(by_release.values())).value)


def release_of_hardware(hardware: int, release: Release) -> Release:
    """The newest release, up to `release`, whose limits a machine of this hardware version has; 7.0 at least."""
    found = [first for first, newest in HARDWARE.items() if newest.value <= hardware and release.since(first)]
    if not found:
        return Release.V7_0
    return release if most(HARDWARE, release) <= hardware else found[-1]


@dataclass(frozen=True, slots=True)
class Dirtying:
    """Memory written per second [B/s], and what can be dirty at most [B] or None."""

    rate: BytesPerSecond
    working_set: Bytes | None


def memory_of(vm: VirtualMachine) -> Bytes:
    """Memory of a machine [B]."""
    return Bytes(amount(vm.memory, "size"))


def filled_of(vm: VirtualMachine) -> Bytes | None:
    """Memory of a machine that is not zero [B], at most all of it; None where the design does not say."""
    if vm.filled_memory is None:
        return None
    return Bytes(min(amount(vm.filled_memory, "size"), memory_of(vm)))


def dirtying_of(vm: VirtualMachine) -> Dirtying:
    """How fast a machine writes its memory; the larger of its two figures."""
    rate = amount(vm.dirty_rate, "rate") if vm.dirty_rate is not None else 0.0
    pages = amount(vm.page_rate, "frequency") * PAGE.value if vm.page_rate is not None else 0.0
    working_set = Bytes(amount(vm.working_set, "size")) if vm.working_set is not None else None
    return Dirtying(BytesPerSecond(max(rate, pages)), working_set)


def gpu_devices(vm: VirtualMachine) -> bool:
    """True if a machine has virtual GPUs of any kind."""
    return any(device.kind in ("vgpu", "mig_vgpu", "device_group") for device in vm.devices)


def short_name(profile: str, gpu: VgpuType) -> str:
    """A profile as the catalog names it: ``20C`` from ``grid_a100d-20c``, ``A100D-20C`` or ``20C``."""
    text = profile.lower()
    for prefix in (gpu.vsphere_prefix, f"{gpu.prefix}-", f"grid_{gpu.prefix}-", f"nvidia_{gpu.prefix}-"):
        if prefix and text.startswith(prefix.lower()):
            return text[len(prefix) :].upper()
    return profile if "-" in text and "_" in text else profile.upper()


def shown_name(profile: str, gpu: VgpuType) -> str:
    """A profile as vSphere shows it, or with the vendor's prefix where the vSphere one is not known."""
    return f"{gpu.vsphere_prefix}{profile.lower()}" if gpu.vsphere_prefix else f"{gpu.prefix}-{profile}"
