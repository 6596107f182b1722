"""A virtual machine that is to be made: hosts it may run on, profiles it may have, whether it finds a place. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.design.address import Address, Ref
from designer.design.document import Block, Design, Group, VirtualMachine, VmDevice
from designer.design.edits.groups import SetReplicas
from designer.design.edits.vms import AddVms
from designer.design.ids import next_id
from designer.drawing.machines import host_title, machines_of
from designer.engine.machines.free_capacity import HostFreeCapacity
from designer.errors import DesignerError
from designer.gui.viewmodels.virtual_machines import brief
from designer.gui.viewmodels.vm_form import profiles_of
from designer.units import format_quantity

#: what a machine may be given, kind of device and words; each kind but whole GPUs has profiles
_KINDS: Final = (("vgpu", "vGPU"), ("mig_vgpu", "MIG"), ("device_group", "NVLink group"))


@dataclass(frozen=True, slots=True)
class HostChoice:
    """A host: its path, and its name with what is free on it."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a new machine is to be.

    Parameters
    ----------
    host
        Path of the host; empty to have one found.
    profile
        A key of `profile_choices`; empty for no GPU.
    like
        Id of a machine all else is taken from; empty for none.
    """

    name: str
    host: str
    vcpus: int
    memory: str
    profile: str = ""
    count: int = 1
    like: str = ""


@dataclass(frozen=True, slots=True)
class MachineVerdict:
    """Host a machine would be placed on, or why there is none."""

    ok: bool
    text: str


def host_choices(design: Design) -> tuple[HostChoice, ...]:
    """Hosts of a design as the drawing names them, with what is free on each.

    Raises
    ------
    DesignerError
        If the design cannot be elaborated.
    """
    placement = machines_of(design).placement
    return tuple(
        HostChoice(host.path, f"{host_title(design, host)}  ·  {_free(placement.free_capacities[host.path])}")
        for host in placement.hosts.hosts
    )


def _free(left: HostFreeCapacity) -> str:
    said = [f"{left.cpus:.0f} CPUs"] if left.host.cores else []
    if left.host.memory:
        said.append(format_quantity(left.memory, "size"))
    free = sum(gpu.empty for gpu in left.gpus)
    if left.gpus:
        said.append(f"{free} of {len(left.gpus)} GPUs empty")
    return f"free: {', '.join(said)}" if said else "a host"


def profile_choices(design: Design) -> tuple[tuple[str, str], ...]:
    """What GPUs of the design offer a machine: keys and titles, none first."""
    found = [("", "no GPU"), ("passthrough:", "whole GPU, passed through")]
    for kind, words in _KINDS:
        found += [
            (f"{kind}:{name}", f"{words} {name}" if name else f"{words} of whole GPUs")
            for name in profiles_of(design, kind)
        ]
    return tuple(found) if has_gpus(design) else tuple(found[:1])


def has_gpus(block: Block) -> bool:
    """True if a GPU is drawn anywhere."""
    return any(p.kind == "gpu" for p in block.parts.values()) or any(has_gpus(g.content) for g in block.groups.values())


def new_machine(design: Design, wanted: Wanted) -> VirtualMachine:
    """The machine.

    Raises
    ------
    ValueError
        If a value cannot be; pydantic says which.
    """
    base = design.vms.get(wanted.like)
    changes: dict[str, object] = {
        "id": next_id(design.vms, "vm1"),
        "name": wanted.name.strip(),
        "host": wanted.host or None,
        "vcpus": wanted.vcpus,
        "memory": wanted.memory.strip(),
    }
    kind, _, profile = wanted.profile.partition(":")
    device = VmDevice.model_validate({"kind": kind, "profile": profile, "count": wanted.count}) if kind else None
    changes["devices"] = () if device is None else (device,)
    if base is None:
        return VirtualMachine.model_validate(changes)
    # a reservation of another size would be refused, and is made by itself where devices need it
    kept = base.model_dump(exclude={*changes, "memory_reservation"}, exclude_defaults=True)
    return VirtualMachine.model_validate({**kept, **changes})


def like(design: Design, vm_id: str) -> Wanted:
    """What another machine of the same make is."""
    vm = design.vms[vm_id]
    device = vm.devices[0] if vm.devices else None
    profile = f"{device.kind}:{device.profile}" if device is not None else ""
    return Wanted(f"{vm.label} (2)", "", vm.vcpus, vm.memory, profile, device.count if device is not None else 1, vm_id)


def verdict(design: Design, vm: VirtualMachine) -> MachineVerdict:
    """Host a machine would be placed on; no other may lose its place."""
    try:
        before = machines_of(design).placement
        after = machines_of(AddVms((vm,)).apply(design)).placement
    except DesignerError as error:
        return MachineVerdict(False, f"{error.text} — {error.remedy}" if error.remedy else error.text)
    if vm.id in after.refused:
        why = after.refused[vm.id]
        return MachineVerdict(False, f"{brief(why.text)} — {why.remedy}" if why.remedy else brief(why.text))
    lost = next((other for other in after.refused if other not in before.refused), None)
    if lost is not None:
        return MachineVerdict(
            False, f"{design.vms[lost].label} would lose its place: {brief(after.refused[lost].text)}"
        )
    placed = after.placed[vm.id]
    gpus = [d.part.rpartition("/")[2] for d in placed.devices if d.gpu is not None]
    on = f", {', '.join(gpus)}" if gpus else ""
    return MachineVerdict(True, f"It will run on {host_title(design, placed.host)}{on}.")


# ---- hosts


@dataclass(frozen=True, slots=True)
class NewHost:
    """A way to one more host: words, and the edit; `refs` where single parts are to be copied instead."""

    title: str
    edit: SetReplicas | None = None
    within: Address = ()
    refs: tuple[Ref, ...] = ()


def new_hosts(design: Design) -> tuple[NewHost, ...]:
    """Ways to one more host: another member of a group of hosts, or a copy of a server with what connects it."""
    found: list[NewHost] = []
    _look(design, (), found)
    return tuple(found)


def _look(block: Block, within: Address, found: list[NewHost]) -> None:
    for group in block.groups.values():
        if _is_host(group):
            more = group.replicas + 1
            edit = SetReplicas(group.id, more, within=within)
            found.append(NewHost(f"One more of {group.label}: {more} instead of {group.replicas}", edit))
        else:
            _look(group.content, (*within, (group.id, None)), found)
    servers = [p for p in block.parts.values() if p.kind == "server"]
    if any(p.kind == "cpu" for p in block.parts.values()):
        found += [NewHost(f"A copy of {p.label}", None, within, (Ref("parts", p.id),)) for p in servers]


def _is_host(group: Group) -> bool:
    kinds = [part.kind for part in group.content.parts.values()]
    return kinds.count("server") == 1 and "cpu" in kinds
