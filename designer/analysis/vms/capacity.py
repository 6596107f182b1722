"""How many more machines of a shape fit beside those there are, and where each would go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from designer.analysis.vms.demands import release_of, vsphere
from designer.analysis.vms.placement import Placement
from designer.analysis.vms.rooms import Placed, Refusal, place_on
from designer.design.document import VirtualMachine, with_changes

#: machines of one shape on one host are counted up to this
PER_HOST_LIMIT: Final = 4096


@dataclass(frozen=True, slots=True)
class Room:
    """Machines that fit, in the order they would be powered on, and why each host takes no more."""

    places: tuple[Placed, ...]
    reasons: Mapping[str, str]


def how_many_more(placement: Placement, vm: VirtualMachine, release: str = "") -> Room:
    """How many more machines like `vm` fit beside all that are placed, GPUs, memory and CPUs counted."""
    places: list[Placed] = []
    reasons: dict[str, str] = {}
    devices = tuple(with_changes(device, part=None, placement=None) for device in vm.devices)
    for path, first in placement.rooms.items():
        room, count = first, 0
        rules = vsphere(release_of(vm, room.host, release))
        while True:
            count += 1
            more = with_changes(vm, id=f"{vm.id}-more{count}", host=None, devices=devices)
            found = place_on(room, more, rules, by_hand=False)
            if isinstance(found, Refusal):
                reasons[path] = found.text
                break
            room = found[0]
            places.append(found[1])
            if count >= PER_HOST_LIMIT:
                reasons[path] = f"more than {PER_HOST_LIMIT}"
                break
    return Room(tuple(places), reasons)
