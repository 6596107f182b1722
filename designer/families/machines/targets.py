"""Where machines can go: hosts with the memory, the CPUs and the GPU shape, and why the others stay."""

from __future__ import annotations

from collections.abc import Sequence

from designer.design.document import VirtualMachine, VmDevice, with_changes
from designer.engine.machines.demands import KVM, gpu_devices, memory_of, vsphere
from designer.engine.machines.free_capacity import HostFreeCapacity, Placed, Refusal, shape_of
from designer.engine.machines.hosts import Host
from designer.engine.machines.placement import Placement, place_on
from designer.families.machines.formulas.evacuation_targets import FreeCapacity, Guest, evacuation_targets
from designer.families.machines.migration_plan import Going, Staying, pick_release
from designer.families.machines.operations import Conditions

_VIRTUAL = ("vgpu", "mig_vgpu", "device_group")
_NO_ADAPTER = "has no cabled NIC for migrations, while other hosts have"
_GIVE_ROLE = "cable a NIC of it to the migration network, and give it the attribute role = vmotion"


def choose_targets(
    placement: Placement, leaving: Sequence[Placed], allowed: Sequence[Host], conditions: Conditions
) -> tuple[list[Going], list[Staying]]:
    """A host for every machine that can move, GPU shapes first, and the machines that stay.

    Parameters
    ----------
    leaving
        Machines that leave; none of their hosts is taken as a target.
    allowed
        Hosts they may go to.
    """
    staying: list[Staying] = []
    if conditions.kvm.sender.transport.same_host:
        # another process of the same host maps or copies the memory, and takes over its devices
        return [Going(placed, placed, pick_release(placed, conditions)) for placed in leaving], staying
    able: dict[str, tuple[Placed, bool]] = {}
    # Where some hosts say which NIC migrations use, the others have none for them.
    stated = any(host.has_migration_role for host in placement.hosts.hosts)
    for placed in leaving:
        cold, why = movable(placed, conditions)
        if why is not None:
            staying.append(Staying(placed, why, "shut it down, and give it a device of another host"))
        elif stated and not cold and not placed.host.has_migration_role:
            staying.append(Staying(placed, f"{placed.host.path} {_NO_ADAPTER}", _GIVE_ROLE, failed=True))
        else:
            able[placed.vm.id] = (placed, cold)
    sources = {placed.host.path for placed, _ in able.values()}
    others = [host for host in allowed if host.path not in sources]
    free_capacities = [placement.free_capacities[host.path] for host in others if host.has_migration_role or not stated]
    if not free_capacities:
        none, remedy = "there is no other host it may go to", "add a host"
        if others:
            none, remedy = f"{others[0].path} {_NO_ADAPTER}", _GIVE_ROLE
        staying += [Staying(placed, none, remedy) for placed, _ in able.values()]
        return [], staying
    search = _Search(free_capacities, {name: placed for name, (placed, _) in able.items()}, conditions)
    guests: list[Guest] = []
    for name, (placed, _) in able.items():
        memory = memory_of(placed.vm)
        if all(memory > free_capacity.memory for free_capacity in free_capacities):
            staying.append(Staying(placed, "no host has the memory left", "add memory or a host"))
            continue
        # The name of a shape decides the turn: those that take most of their GPUs first. Every machine asks, so that
        # CPUs and rules count too.
        taken = sum(device.memory_share for device in placed.devices if device.gpu is not None)
        shape = f"{1 / (1 + taken):.6f} {shape_of(placed.vm)}"
        guests.append(Guest(name, placed.host.path, memory, placed.vm.vcpus, shape))
    free = [
        FreeCapacity(free_capacity.host.path, free_capacity.memory, _whole_cpus(free_capacity.cpus))
        for free_capacity in free_capacities
    ]
    found = evacuation_targets(guests, free, search.fits)
    going: list[Going] = []
    for name, host in found.host_of.items():
        placed, cold = able[name]
        going.append(Going(placed, search.settle(host, name), pick_release(placed, conditions), cold))
    for name in found.homeless:
        placed, _ = able[name]
        staying.append(Staying(placed, search.reason(name), "free such a place first, or shut it down"))
    return going, staying


def _whole_cpus(cpus: float) -> int:
    return int(cpus) if cpus != float("inf") else 2**30


def movable(placed: Placed, conditions: Conditions) -> tuple[bool, str | None]:
    """Whether a machine must be shut down to move, and why it cannot move at all."""
    vm, kvm = placed.vm, pick_release(placed, conditions) == KVM
    for device in vm.devices:
        named = device.part or device.kind
        if device.kind == "passthrough":
            if kvm and (device.memory_used is not None or conditions.kvm.device_state > 0):
                continue
            how = "its driver has no device state to move" if kvm else "DirectPath I/O ties it to this device"
            return False, f"{named} is passed through: {how}"
        if device.kind == "sriov" or (device.kind == "dynamic_directpath" and not kvm):
            if conditions.cold:
                return True, None
            return False, f"{named} ({device.kind.replace('_', ' ')}) does not move with a running machine"
    return False, None


class _Search:
    """Hosts as they fill up while targets are chosen."""

    def __init__(
        self, free_capacities: Sequence[HostFreeCapacity], leaving: dict[str, Placed], conditions: Conditions
    ) -> None:
        self.free_capacities = {free_capacity.host.path: free_capacity for free_capacity in free_capacities}
        self.conditions = conditions
        self.leaving = leaving
        self.wanted = {name: unbound(placed) for name, placed in leaving.items()}
        self.known: dict[tuple[str, tuple[str, ...]], HostFreeCapacity] = {
            (path, ()): r for path, r in self.free_capacities.items()
        }
        self.there: dict[tuple[str, str], Placed] = {}
        self.refused: dict[str, dict[str, str]] = {}

    def fits(self, host: str, taken: Sequence[Guest], guest: Guest) -> bool:
        """True if a host with these machines on it takes one more."""
        names = tuple(each.name for each in taken)
        free_capacity = self.known[(host, names)]
        vm = self.wanted[guest.name]
        release = vsphere(pick_release(self.leaving[guest.name], self.conditions))
        found = place_on(free_capacity, vm, release, by_hand=False)
        if isinstance(found, Refusal):
            self.refused.setdefault(guest.name, {})[host] = found.text
            return False
        self.known[(host, (*names, guest.name))] = found[0]
        self.there[(host, guest.name)] = found[1]
        return True

    def settle(self, host: str, name: str) -> Placed:
        """The machine on the host it got."""
        return self.there[(host, name)]

    def reason(self, name: str) -> str:
        """Why no host takes a machine, from what each said."""
        stated = self.refused.get(name, {})
        shape = shape_of(self.leaving[name].vm)
        if not stated:
            return "no host has the memory or the CPUs left"
        first = next(iter(stated.values()))
        more = f" (and {len(stated) - 1} other hosts likewise)" if len(stated) > 1 else ""
        if shape:
            return f"no other host has a place for {shape}: {first}{more}"
        return f"no other host takes it: {first}{more}"


def unbound(placed: Placed) -> VirtualMachine:
    """The machine with its profiles named in full, so that it only goes to GPUs of the same model."""
    devices: list[VmDevice] = []
    for index, device in enumerate(placed.vm.devices):
        here = next((each for each in placed.devices if each.device == index), None)
        if device.kind not in _VIRTUAL or here is None or here.group is not None:
            devices.append(device)
            continue
        devices.append(with_changes(device, part=None, placement=None, profile=here.shown))
    return with_changes(placed.vm, host=None, devices=tuple(devices)) if gpu_devices(placed.vm) else placed.vm
