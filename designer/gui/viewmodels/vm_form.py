"""The form of virtual machines: what they ask for, how they write, their devices, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, get_args

from designer.catalog.partkind import Field
from designer.catalog.vgpu import VgpuType, load_vgpu_types
from designer.catalog.vm_settings import VM_SETTINGS
from designer.design.document import Block, Design, VirtualMachine, VmDevice
from designer.design.edit import Edit
from designer.design.edits.together import Together
from designer.design.edits.vms import ChangeVms
from designer.engine.results import Analysis, WorkloadResult
from designer.errors import UnitError
from designer.gui.viewmodels.forms import SEVERAL, Entry, Form, Section
from designer.units import DIMENSIONS, parse
from designer.workload.kind import workload_kinds

_REMOVE: Final = "remove"
_KINDS: Final = {
    "vgpu": "virtual GPU",
    "mig_vgpu": "MIG slice",
    "device_group": "device group",
    "dynamic_directpath": "dynamic DirectPath",
    "passthrough": "passthrough",
    "sriov": "SR-IOV function",
    "dpu": "DPU",
}
#: field, title, dimension, whether it is needed, what is stated about it
_SIZE: Final = (
    ("vcpus", "Virtual CPUs", "count", True, ""),
    ("memory", "Memory", "size", True, ""),
    ("memory_reservation", "Memory reservation", "size", False, "with devices all of it, by itself since 8.0"),
    ("hardware_version", "Hardware version", "count", False, "the newest of its release where it is missing"),
)
_MOVING: Final = (
    ("dirty_rate", "Dirty rate", "rate", False, "memory it writes while it runs"),
    ("page_rate", "Pages written", "frequency", False, "pages of 4 KiB; the larger of both rates counts"),
    ("working_set", "Working set", "size", False, "what can be dirty at most; all its memory where it is missing"),
    ("filled_memory", "Filled memory", "size", False, "what is not zero and has to be sent; all its memory if missing"),
    ("stun_limit", "Longest stun", "duration", False, "100 s where it is missing; counts since 8.0 U2"),
    ("gpu_duty", "GPU duty", "ratio", False, "share of the time it keeps its GPUs busy"),
)
_Field = tuple[str, str, str, bool, str]


def vms_form(
    design: Design, vms: Sequence[VirtualMachine], analysis: Analysis | None, result: WorkloadResult | None
) -> Form:
    """The form of one virtual machine, or of what several have in common."""
    ids = tuple(vm.id for vm in vms)
    sections = [
        Section("Virtual machine", tuple(_identity(vms, ids))),
        Section("Size", tuple(_entry(vms, ids, field) for field in _SIZE)),
        Section("While it moves", tuple(_entry(vms, ids, field) for field in _MOVING)),
    ]
    sections.append(Section("Settings", tuple(_settings(vms)), "collapsed"))
    if len(vms) == 1:
        sections += list(_devices(design, vms[0]))
        wrong = tuple(_troubles(vms[0], analysis, result))
        if wrong:
            sections.insert(0, Section("To look at", wrong))
    title = vms[0].label if len(vms) == 1 else f"{len(vms)} virtual machines"
    where = {vm.host or "no host" for vm in vms}
    subtitle = f"virtual machine on {where.pop()}" if len(where) == 1 else "virtual machines"
    return Form(("vms", ids), title, subtitle, "server", tuple(sections))


def _identity(vms: Sequence[VirtualMachine], ids: tuple[str, ...]) -> Iterator[Entry]:
    if len(vms) == 1:
        yield Entry("name", "Name", vms[0].label, vms[0].name, "text", make=_change(ids, "name", str.strip))
    host = _common(vms, "host")
    yield Entry(
        "host",
        "Host",
        str(host or "found by itself"),
        str(host or ""),
        "text",
        make=_change(ids, "host", _or_none),
        note="path of a server, such as hosts[0]/server; empty to have a place found",
    )
    release = _common(vms, "release")
    yield Entry(
        "release",
        "Release",
        str(release or "that of its host"),
        str(release or ""),
        "choice",
        (("", "that of its host"), *((r, r) for r in releases())),
        make=_change(ids, "release", _or_none),
        note="what its host runs, where the host does not say",
    )
    note = str(_common(vms, "note"))
    yield Entry("note", "Note", note, note, "text", make=_change(ids, "note", str))


def releases() -> tuple[str, ...]:
    """Releases a machine can run on, as evacuations name them."""
    settings = workload_kinds()["evacuation"].settings
    return tuple(r for s in settings if s.name == "release" for r in s.choices if r)


def _entry(vms: Sequence[VirtualMachine], ids: tuple[str, ...], field: _Field) -> Entry:
    name, title, dimension, required, note = field
    value = _common(vms, name)
    spelled = "" if value is None else str(value)
    read: Callable[[str], object] = _count if dimension == "count" else _or_none
    return Entry(
        name,
        title,
        spelled or "–",
        spelled,
        dimension,
        note=note,
        required=required,
        make=_change(ids, name, read),
        value=_amount(spelled, dimension),
    )


def _common(vms: Sequence[VirtualMachine], name: str) -> Any:
    values = {getattr(vm, name) for vm in vms}
    return values.pop() if len(values) == 1 else SEVERAL


def _change(ids: tuple[str, ...], name: str, read: Callable[[str], object]) -> Callable[[str], Edit]:
    return lambda text: ChangeVms(ids, {name: read(text)})


def _or_none(text: str) -> str | None:
    return text.strip() or None


def _count(text: str) -> int | None:
    return int(text) if text.strip() else None


def _amount(spelled: str, dimension: str) -> float | None:
    """SI value of a spelled one; None where there is none, or several."""
    if dimension == "count":
        return float(spelled) if spelled.isdigit() else None
    try:
        return parse(spelled, dimension) if spelled and dimension in DIMENSIONS else None
    except UnitError:
        return None


# ---- settings that rules ask for


def _settings(vms: Sequence[VirtualMachine]) -> Iterator[Entry]:
    """Settings that are known, and those a machine carries in addition."""
    known = {field.name for field in VM_SETTINGS}
    others = dict.fromkeys(name for vm in vms for name in vm.settings if name not in known)
    for field in (*VM_SETTINGS, *(Field(name, name, "text") for name in others)):
        values = {_spelled(vm.settings.get(field.name)) for vm in vms}
        spelled = values.pop() if len(values) == 1 else SEVERAL
        flag = field.dimension == "flag"
        yield Entry(
            f"settings.{field.name}",
            field.title,
            spelled or "–",
            spelled,
            "choice" if flag else field.dimension,
            (("", "not stated"), ("yes", "yes"), ("no", "no")) if flag else (),
            note=field.help,
            make=_set(vms, field),
            value=_amount(spelled, field.dimension),
        )


def _spelled(value: object) -> str:
    return "" if value is None else ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _set(vms: Sequence[VirtualMachine], field: Field) -> Callable[[str], Edit]:
    def make(text: str) -> Edit:
        edits: list[Edit] = []
        for vm in vms:
            rest = {name: value for name, value in vm.settings.items() if name != field.name}
            if text.strip():
                rest[field.name] = _typed(field.dimension, text.strip())
            edits.append(ChangeVms((vm.id,), {"settings": rest}))
        return edits[0] if len(edits) == 1 else Together(tuple(edits))

    return make


def _typed(dimension: str, text: str) -> bool | int | str:
    if dimension == "flag":
        return text == "yes"
    return int(text) if dimension == "count" else text


# ---- devices


def _devices(design: Design, vm: VirtualMachine) -> Iterator[Section]:
    for index, device in enumerate(vm.devices):
        kind = _KINDS[device.kind]
        title = f"{kind[0].upper()}{kind[1:]} {device.profile}".strip()
        yield Section(title, tuple(_device(design, vm, index)))
    kinds = (("", "choose …"), *_KINDS.items())

    def add(kind: str) -> Edit:
        # a profile is needed from the start; the smallest of the first GPU there is
        profile = next(iter(profiles_of(design, kind)), "")
        new = VmDevice.model_validate({"kind": kind, "profile": profile, "count": 2 if kind == "device_group" else 1})
        return ChangeVms((vm.id,), {"devices": (*vm.devices, new) if kind else vm.devices})

    yield Section("Add", (Entry("add", "Device", "choose …", "", "choice", kinds, make=_unless_empty(vm, add)),))


def _unless_empty(vm: VirtualMachine, add: Callable[[str], Edit]) -> Callable[[str], Edit]:
    return lambda kind: add(kind) if kind else ChangeVms((vm.id,), {})


def _device(design: Design, vm: VirtualMachine, index: int) -> Iterator[Entry]:
    device = vm.devices[index]

    def make(name: str, read: Callable[[str], object]) -> Callable[[str], Edit]:
        return lambda text: _with_device(vm, index, {name: read(text)})

    def kind(text: str) -> Edit:
        if text != _REMOVE:
            return _with_device(vm, index, {"kind": text})
        return ChangeVms((vm.id,), {"devices": (*vm.devices[:index], *vm.devices[index + 1 :])})

    place = f"devices.{index}"
    choices = (*_KINDS.items(), (_REMOVE, "take it away"))
    yield Entry(f"{place}.kind", "Kind", _KINDS[device.kind], device.kind, "choice", choices, make=kind)
    if device.kind in ("vgpu", "mig_vgpu", "device_group"):
        offered = profiles_of(design, device.kind)
        if device.profile not in offered:
            offered = (device.profile, *offered)
        yield Entry(
            f"{place}.profile",
            "Profile",
            device.profile or "whole GPUs",
            device.profile,
            "choice",
            tuple((name, name or "whole GPUs") for name in offered),
            make=make("profile", str),
        )
    part = device.part or ""
    yield Entry(
        f"{place}.part",
        "On",
        part or "found by itself",
        part,
        "text",
        make=make("part", _or_none),
        note="path of a GPU or device; empty to have one found",
    )
    yield Entry(
        f"{place}.count",
        "How many",
        str(device.count),
        str(device.count),
        "count",
        required=True,
        make=make("count", _count),
        value=float(device.count),
    )
    used = device.memory_used or ""
    yield Entry(
        f"{place}.memory_used",
        "Memory in use",
        used or "all of it",
        used,
        "size",
        make=make("memory_used", _or_none),
        value=_amount(used, "size"),
        note="what a stun has to carry",
    )


def _with_device(vm: VirtualMachine, index: int, changes: dict[str, object]) -> Edit:
    fields = vm.devices[index].model_dump() | changes
    if changes.keys() & {"kind", "profile", "part", "count"}:
        fields["placement"] = None
    return ChangeVms((vm.id,), {"devices": (*vm.devices[:index], fields, *vm.devices[index + 1 :])})


def profiles_of(design: Design, kind: str) -> tuple[str, ...]:
    """Profiles the GPUs of a design offer for a kind of device, as vSphere names them; the short ones elsewhere."""
    found: dict[str, None] = {"": None} if kind == "device_group" else {}
    for gpu in _types(design):
        if kind == "device_group":
            names = [gpu.full_profile.name] if gpu.full_profile is not None else []
        elif kind == "vgpu":
            names = [profile.name for profile in gpu.profiles]
        elif kind == "mig_vgpu":
            names = [profile.name for profile in gpu.mig]
        else:
            names = []
        found |= dict.fromkeys(f"{gpu.vsphere_prefix}{name.lower()}" if gpu.vsphere_prefix else name for name in names)
    return tuple(found)


def _types(design: Design) -> list[VgpuType]:
    families: dict[str, None] = {}

    def look(block: Block) -> None:
        for part in block.parts.values():
            quantity = design.quantity(part, "vgpu_family")
            if quantity is not None:
                families[str(quantity.value).lower()] = None
        for group in block.groups.values():
            for inner in (group.content, *group.exceptions.values()):
                look(inner)

    look(design)
    return [gpu for gpu in load_vgpu_types().values() if gpu.prefix.lower() in families]


def _troubles(vm: VirtualMachine, analysis: Analysis | None, result: WorkloadResult | None) -> Iterable[Entry]:
    """What the analysis found about a machine."""
    if analysis is None:
        return
    stated = [*analysis.findings, *(result.findings if result is not None else ())]
    for number, finding in enumerate(f for f in dict.fromkeys(stated) if vm.id in f.where):
        text = f"{finding.text} — {finding.remedy}" if finding.remedy else finding.text
        yield Entry(f"finding.{number}", str(finding.severity).capitalize(), text)


assert set(_KINDS) == set(get_args(VmDevice.model_fields["kind"].annotation))
