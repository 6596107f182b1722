"""The last step of reading a dump: what only the whole machine shows, its workloads, and the design."""

from __future__ import annotations

from collections.abc import Iterable

from designer.catalog.parttype import part_kinds
from designer.design.document import Design, WorkloadSpec
from designer.design.peers import degraded_links
from designer.findings import Severity
from designer.interchange.foreign.devices import nvswitch_type
from designer.interchange.foreign.importer import Imported
from designer.interchange.foreign.machine import MachineDrawing, short_line, type_for
from designer.sources import Status


def finish(machine: MachineDrawing, title: str = "", description: str = "") -> Imported:
    """The design of a machine whose parts and links are all there, with every finding, the most severe first."""
    _type_switches(machine)
    _fit_fabrics(machine)
    gpus, memory = machine.of_kind("gpu"), machine.of_kind("memory")
    workloads: list[WorkloadSpec] = []
    if gpus and memory:
        heading = "Host to GPUs" if len(gpus) >= 2 else "Host to the GPU"
        workloads.append(
            WorkloadSpec(id="h2d", kind="transfer", title=heading, settings={"from": "memory", "to": "gpus"})
        )
    if len(gpus) >= 2:
        workloads.append(
            WorkloadSpec(
                id="all-reduce",
                kind="collective",
                title="All-reduce over all GPUs",
                settings={"collective": "all-reduce", "group": "gpus", "size": "1 GiB"},
            )
        )
    linked = any(link.kind in ("nvlink", "xgmi") for link in machine.links.values())
    default = ""
    if workloads:
        default = "all-reduce" if linked or not memory else "h2d"
    _name_parts(machine)
    design = Design(
        name=_design_name(machine.file),
        title=short_line(title) or _summary(machine),
        description=description or f"Imported from {machine.format}.",
        parts=machine.parts,
        links=machine.links,
        part_types=machine.types,
        workloads={w.id: w for w in workloads},
        default_workload=default,
        policy=machine.policy,
    )
    _note_unknown_gpus(machine, gpus)
    findings = [*machine.findings(), *degraded_links(design)]
    order = list(Severity)
    return Imported(design, tuple(sorted(findings, key=lambda f: order.index(f.severity))))


def _name_parts(machine: MachineDrawing) -> None:
    """Name parts that the file does not name: ``gpu0`` is ``GPU 0``."""
    for part in list(machine.parts.values()):
        kind, number = part_kinds()[part.kind], part.id.removeprefix(part.kind)
        if not part.name and number.isdecimal():
            alone = part.kind == "server" and len(machine.of_kind(part.kind)) == 1
            name = kind.title if alone else f"{kind.title} {number}"
            machine.parts[part.id] = part.model_copy(update={"name": name})


def _note_unknown_gpus(machine: MachineDrawing, gpus: Iterable[str]) -> None:
    unknown = [g for g in gpus if not machine.parts[g].type]
    if unknown:
        machine.note(
            "IMP-TYPE",
            "these GPUs have no part type: their memory and compute rates are unknown",
            *unknown,
            remedy="choose a part type for them",
        )


def _summary(machine: MachineDrawing) -> str:
    names = (("server", "server"), ("gpu", "GPU"), ("nic", "NIC"), ("cpu", "socket"))
    counts = [(len(machine.of_kind(kind)), name) for kind, name in names]
    return ", ".join(f"{n:,} {name}{'s' if n != 1 else ''}" for n, name in counts if n)


def _type_switches(machine: MachineDrawing) -> None:
    """Give NVSwitches the part type that boards with such GPUs carry."""
    for link in machine.links.values():
        for gpu, switch in ((link.a, link.b), (link.b, link.a)):
            if (
                machine.parts[switch].kind != "nvswitch"
                or machine.parts[switch].type
                or machine.parts[gpu].kind != "gpu"
            ):
                continue
            part = machine.parts[gpu]
            known = part.overrides.get("compute_capability")
            if known is None and part.type:
                known = machine.types[part.type].values.get("compute_capability")
            found = type_for("nvswitch", nvswitch_type(str(known.value))) if known is not None else None
            if found is not None:
                machine.types[found.id] = found
                machine.parts[switch] = machine.parts[switch].model_copy(update={"type": found.id})
                machine.note("IMP-DERIVED-NVSWITCH", "the generation of the NVSwitches follows from the GPUs", switch)


def _fit_fabrics(machine: MachineDrawing) -> None:
    """Switches drawn as one have the ports of all of them together."""
    used: dict[str, int] = {}
    for link in machine.links.values():
        for end in (link.a, link.b):
            used[end] = used.get(end, 0) + link.count
    for part in machine.parts.values():
        if part.kind != "nvswitch" or part.attributes.get("derived") != "yes":
            continue
        ports = machine.fact(used.get(part.id, 0), "several switches drawn as one", Status.DERIVED)
        machine.parts[part.id] = part.model_copy(update={"overrides": {**part.overrides, "ports": ports}})


def _design_name(file: str) -> str:
    stem = file.replace("\\", "/").rsplit("/", 1)[-1]
    stem = stem.rsplit(".", 1)[0] if "." in stem[1:] else stem
    return short_line(stem.encode("utf-8", "replace").decode()) or "imported"
