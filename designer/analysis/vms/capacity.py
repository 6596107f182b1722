"""How many more machines of a shape fit beside those there are, where each would go, and what a failed host leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from designer.analysis.vms.demands import memory_of, release_of, shown_name, vsphere
from designer.analysis.vms.free_capacity import HostFreeCapacity, Placed, Refusal, shape_of
from designer.analysis.vms.place_on_host import place_on
from designer.analysis.vms.placement import Placement
from designer.analysis.vms.targets import unbound
from designer.design.document import VirtualMachine, VmDevice, with_changes

#: machines of one shape on one host are counted up to this
PER_HOST_LIMIT: Final = 4096


@dataclass(frozen=True, slots=True)
class RemainingCapacity:
    """Machines that fit, in the order they would be powered on, and why each host takes no more."""

    places: tuple[Placed, ...]
    reasons: Mapping[str, str]


def how_many_more(placement: Placement, vm: VirtualMachine, release: str = "") -> RemainingCapacity:
    """How many more machines like `vm` fit beside all that are placed, GPUs, memory and CPUs counted."""
    places: list[Placed] = []
    reasons: dict[str, str] = {}
    devices = tuple(with_changes(device, part=None, placement=None) for device in vm.devices)
    for path, first in placement.free_capacities.items():
        free_capacity, count = first, 0
        rules = vsphere(release_of(vm, free_capacity.host, release))
        while True:
            count += 1
            more = with_changes(vm, id=f"{vm.id}-more{count}", host=None, devices=devices)
            found = place_on(free_capacity, more, rules, by_hand=False)
            if isinstance(found, Refusal):
                reasons[path] = found.text
                break
            free_capacity = found[0]
            places.append(found[1])
            if count >= PER_HOST_LIMIT:
                reasons[path] = f"more than {PER_HOST_LIMIT}"
                break
    return RemainingCapacity(tuple(places), reasons)


def by_profile(placement: Placement, release: str = "") -> list[tuple[str, int, tuple[str, ...]]]:
    """How many more machines with one virtual GPU fit for each profile there is, and on which hosts; memory aside."""
    gpus = {
        gpu.gpu.type
        for free_capacity in placement.free_capacities.values()
        for gpu in free_capacity.gpus
        if gpu.gpu.type is not None
    }
    names = {
        shown_name(profile.name, gpu): VmDevice(kind="vgpu", profile=shown_name(profile.name, gpu))
        for gpu in sorted(gpus, key=lambda each: each.id)
        for profile in gpu.profiles
        if profile.series == "C"
    }
    found: list[tuple[str, int, tuple[str, ...]]] = []
    for name, device in names.items():
        like = VirtualMachine(id="like", memory="1 GiB", devices=(device,))
        places = how_many_more(placement, like, release).places
        found.append((name, len(places), tuple(dict.fromkeys(place.host.path for place in places))))
    return found


@dataclass(frozen=True, slots=True)
class Failure:
    """One host down: machines that restart on others, and how many of each shape have no place there."""

    host: str
    restarted: int
    missing: Mapping[str, int]


def spare_for_failures(placement: Placement, release: str = "") -> list[Failure]:
    """For each host with machines, whether the others have room for them, shape by shape; largest GPU shares first."""
    found: list[Failure] = []
    for path in placement.free_capacities:
        down = sorted(placement.on(path), key=lambda p: (-_taken(p), -memory_of(p.vm), p.vm.id))
        if not down:
            continue
        free_capacities = {
            other: free_capacity for other, free_capacity in placement.free_capacities.items() if other != path
        }
        missing: Counter[str] = Counter()
        for placed in down:
            if not _restart(free_capacities, placed, release):
                missing[_shape(placed)] += 1
        found.append(Failure(path, len(down) - missing.total(), dict(missing)))
    return found


def _taken(placed: Placed) -> float:
    return sum(device.memory_share for device in placed.devices if device.gpu is not None)


def _shape(placed: Placed) -> str:
    if any(device.kind == "passthrough" for device in placed.devices):
        return "a device of its host"
    return shape_of(placed.vm) or "no GPU"


def _restart(free_capacities: dict[str, HostFreeCapacity], placed: Placed, release: str) -> bool:
    """Put a machine on the emptiest host that takes it; one tied to a device of its host stays down."""
    if any(device.kind == "passthrough" for device in placed.devices):
        return False
    vm = with_changes(unbound(placed), host=None)
    for path, free_capacity in sorted(free_capacities.items(), key=lambda each: -each[1].memory):
        tried = place_on(free_capacity, vm, vsphere(release_of(vm, free_capacity.host, release)), by_hand=False)
        if not isinstance(tried, Refusal):
            free_capacities[path] = tried[0]
            return True
    return False
