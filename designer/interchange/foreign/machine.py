"""Builds the design of a machine out of what a dump says: parts, links, findings, default workloads.

Ids are short, stable and counted naturally (gpu0, numa3, nic1); whatever else the dump knows goes to attributes.
Assumptions are never silent: each is marked on the link and told once, with the ids it holds for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from designer.catalog.architectures import Architecture, architecture
from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType, link_kinds
from designer.design.document import Design, Link, LinkValues, Part, Policy, WorkloadSpec
from designer.design.gaps import (
    IDLE,
    LINKS,
    OTHER_COUNT,
    OTHER_GENERATION,
    OTHER_LANES,
    OTHER_RATE,
    SPEED,
    UNKNOWN,
    VIRTUAL,
)
from designer.design.peers import degraded_links
from designer.errors import CatalogError, ExchangeError
from designer.fields import Quantity
from designer.findings import Finding, Severity
from designer.interchange.foreign.cpus import CpuModel, NumaHint, sockets_of
from designer.interchange.foreign.devices import Device, assumption, nvswitch_type, unknown_pcie
from designer.interchange.foreign.hwloc import spelled_size
from designer.interchange.foreign.importer import Imported
from designer.interchange.foreign.sockets import nearest_pairs
from designer.sources import Status
from designer.units import write

#: accelerators on boards with NVLink, by the generation of their PCIe link
_BY_PCIE: Final = {3: "volta", 4: "ampere-ga100", 5: "hopper"}
_MAX_PARTS: Final = 100_000
_MAX_LINKS: Final = 400_000
_NAME_LENGTH: Final = 200
_VALUE_LENGTH: Final = 10_000


def type_for(kind: str, name: str) -> PartType | None:
    """The catalog's part type of that kind called `name`, an id or PCI ids, or None where the catalog has none."""
    if not name:
        return None
    try:
        catalog = load_catalog()
        found = catalog.resolve(name, kind)
        part_type = catalog.get(found) if found else None
    except CatalogError:
        return None
    return part_type if part_type is not None and part_type.kind == kind else None


class Machine:
    """A design being put together.

    Parameters
    ----------
    file
        Name of the file, for the design's name.
    format
        What the file is, for people.
    key
        Key under which values quote the file as their source.
    """

    def __init__(self, file: str, format: str, key: str) -> None:
        self.file = file
        self.format = format
        self.key = key
        self.parts: dict[str, Part] = {}
        self.links: dict[str, Link] = {}
        self.types: dict[str, PartType] = {}
        self.policy = Policy()
        self._used: dict[str, int] = {}
        self._copies: dict[str, int] = {}
        self._notes: dict[tuple[str, Severity, str, str], list[str]] = {}

    def note(self, code: str, severity: Severity, text: str, *where: str, remedy: str = "") -> None:
        """Tell a finding; equal ones become one with all their places."""
        places = self._notes.setdefault((code, severity, text, remedy), [])
        places += [w for w in where if w not in places[-1:]]

    def note_around(self, before: int, after: int) -> None:
        """Tell of text around the document [characters], such as a shell prompt that was copied with it."""
        if before or after:
            text = f"{before} characters before and {after} after the document were ignored"
            self.note("IMP-JUNK", Severity.INFO, text)

    def add(
        self,
        kind: str,
        *,
        number: int | None = None,
        name: str = "",
        parent: str | None = None,
        device: Device | None = None,
        attributes: Mapping[str, str] | None = None,
        overrides: Mapping[str, Quantity] | None = None,
    ) -> str:
        """Add a part, numbered `number` or next in its kind; its id."""
        if len(self.parts) >= _MAX_PARTS:
            raise ExchangeError(
                f"it describes more than {_MAX_PARTS:,} parts", file=self.file, remedy="give the dump of one machine"
            )
        part_id = self._free(kind, number)
        known = attributes or {}
        ids = ":".join(known.get(name, "").lower().removeprefix("0x") for name in ("vendor", "device"))
        found = type_for(kind, device.type if device else "") or (type_for(kind, ids) if len(ids) == 9 else None)
        if found is not None:
            self.types[found.id] = found
        if device is not None:
            attributes = {"product": device.title, **(attributes or {})}
        self.parts[part_id] = Part(
            id=part_id,
            kind=kind,
            type=found.id if found else "",
            name=_one_line(name)[:_NAME_LENGTH],
            parent=parent,
            attributes={k[:_NAME_LENGTH]: v[:_VALUE_LENGTH] for k, v in (attributes or {}).items()},
            overrides=dict(overrides or {}),
        )
        return part_id

    def _free(self, kind: str, number: int | None) -> str:
        if number is not None and number >= 0:
            return self._unused(f"{kind}{number}", self.parts)
        at = self._used.get(kind, 0)
        while f"{kind}{at}" in self.parts:
            at += 1
        self._used[kind] = at + 1
        return f"{kind}{at}"

    def _unused(self, wanted: str, taken: Mapping[str, object]) -> str:
        """`wanted`, numbered where it is taken; the count goes on where it stopped, many equal names are no trouble."""
        name, copy = wanted, self._copies.get(wanted, 1)
        while name in taken:
            copy += 1
            name = f"{wanted}-{copy}"
        self._copies[wanted] = copy
        return name

    def link(
        self,
        a: str,
        b: str,
        values: LinkValues,
        attributes: Mapping[str, str] | None = None,
        *,
        ports: tuple[str, str] = ("", ""),
    ) -> str:
        """Join two parts, at the named ports where they are known; the id of the link."""
        if len(self.links) >= _MAX_LINKS:
            raise ExchangeError(
                f"it describes more than {_MAX_LINKS:,} links", file=self.file, remedy="give the dump of one machine"
            )
        link_id = base = f"{a}--{b}"
        if link_id in self.links:
            link_id = self._unused(f"{base}--{values.kind}", self.links)
        fields = {name: getattr(values, name) for name in type(values).model_fields}
        fields["attributes"] = {**values.attributes, **(attributes or {})}
        fields["source"] = values.source or (self.key if values.status is Status.PRIMARY else "")
        a_port, b_port = (_one_line(port)[:_NAME_LENGTH] for port in ports)
        self.links[link_id] = Link(id=link_id, a=a, b=b, a_port=a_port, b_port=b_port, **fields)
        return link_id

    def pcie(self, upper: str, lower: str, values: LinkValues, attributes: Mapping[str, str] | None = None) -> str:
        """Join two parts by PCIe and tell what of it was assumed."""
        assumed = values.status is Status.ASSUMED
        link_id = self.link(upper, lower, values, {**(attributes or {}), **({UNKNOWN: SPEED} if assumed else {})})
        if assumed:
            usual = (
                f"Gen{values.generation} x{values.lanes}" if values.generation else link_kinds()["pcie"].default_rate
            )
            self.note(
                "IMP-ASSUMED-PCIE",
                Severity.WARNING,
                f"the speed of these PCIe links is not in the file: {usual} is assumed",
                link_id,
                remedy="set generation and lanes of the links",
            )
        return link_id

    def idle(self, link_id: str, generation: int, lanes: int) -> None:
        """A PCIe link that was read while idle, and what it trains to; its bands must not be those of a sure speed."""
        self._doubt(link_id, IDLE, generation, lanes, Status.UNVERIFIED)

    def virtual_pcie(
        self, upper: str, lower: str, architecture: Architecture | None, stated: str, attributes: Mapping[str, str]
    ) -> str:
        """A PCIe link as a virtual machine states it: the usual one is assumed, half as wide and old the other way."""
        values = unknown_pcie(architecture)
        link_id = self.link(upper, lower, values, attributes)
        usual = f"Gen{values.generation} x{values.lanes}" if values.generation else link_kinds()["pcie"].default_rate
        self._doubt(link_id, VIRTUAL, max((values.generation or 4) - 1, 1), 8, Status.ASSUMED)
        self.note(
            "IMP-VIRTUAL-LINK",
            Severity.WARNING,
            f"these PCIe links are stated as {stated}, as virtual machines do: {usual} is assumed",
            link_id,
            remedy="set generation and lanes of the links",
        )
        return link_id

    def _doubt(self, link_id: str, kind: str, generation: int, lanes: int, status: Status) -> None:
        link = self.links[link_id]
        other = {UNKNOWN: kind, OTHER_GENERATION: str(generation), OTHER_LANES: str(lanes)}
        source = link.source or (self.key if status is not Status.ASSUMED else "")
        self.links[link_id] = link.model_copy(
            update={"status": status, "source": source, "attributes": {**link.attributes, **other}}
        )

    def missing_links(self, gpus: Iterable[str]) -> None:
        """Tell the GPUs whose accelerator links the file does not list: as many as their type has, or as GPUs of the
        generation of their PCIe link have where the file does not say what they are."""
        generations = {link.b: link.generation for link in self.links.values() if link.kind == "pcie"}
        for gpu in gpus:
            part = self.parts[gpu]
            known = self.types.get(part.type)
            if known is not None:
                kind = next((k for k, name in LINKS.items() if known.number(name)), None)
                more = {UNKNOWN: kind} if kind is not None else {}
            else:
                near = _BY_PCIE.get(generations.get(gpu) or 0)
                usual = architecture(near) if near is not None else None
                nvidia = part.attributes.get("vendor", "0x10de").lower().removeprefix("0x") == "10de"
                more = {}
                if usual is not None and nvidia and "architecture" not in part.overrides:
                    more = {UNKNOWN: "nvlink", OTHER_COUNT: str(usual.links), OTHER_RATE: usual.link_rate}
            self.parts[gpu] = part.model_copy(update={"attributes": {**part.attributes, **more}})

    def fact(self, value: str | int, note: str = "", status: Status = Status.PRIMARY) -> Quantity:
        """A value as the file gives it."""
        return Quantity(value=value, source=self.key, status=status, note=note)

    def memory(
        self,
        home: str,
        server: str,
        *,
        assumed: str,
        number: int | None = None,
        capacity: int = 0,
        bandwidth: float = 0,
        tier: str = "",
        attributes: Mapping[str, str] | None = None,
    ) -> str:
        """The memory of a NUMA domain or CPU; `assumed` is its spelled bandwidth where `bandwidth` [B/s] is 0."""
        overrides: dict[str, Quantity] = {}
        if capacity > 0:
            overrides["memory_capacity"] = self.fact(spelled_size(capacity))
        if tier:
            overrides["tier"] = self.fact(tier)
        part = self.add("memory", number=number, parent=server, name=tier, overrides=overrides, attributes=attributes)
        if bandwidth > 0:
            values = LinkValues(
                kind="memory_bus", bandwidth_per_direction=write(bandwidth, "rate"), status=Status.PRIMARY
            )
        else:
            values = LinkValues(kind="memory_bus", bandwidth_per_direction=assumed, status=Status.ASSUMED)
        link_id = self.link(home, part, values)
        if bandwidth <= 0:
            self.note(
                "IMP-ASSUMED-MEMORY",
                Severity.INFO,
                f"memory bandwidth is not in the file: {assumed} is assumed, all channels filled"
                if tier in ("", "DRAM")
                else f"the bandwidth of {tier} memory is not in the file: {assumed} is assumed",
                link_id,
                remedy="set the bandwidth of the memory links",
            )
        return part

    def sockets(
        self, server: str, domains: Mapping[str, NumaHint], attributes: Mapping[str, Mapping[str, str]] | None = None
    ) -> list[str]:
        """Put the NUMA domains (part id to hint) into sockets, which the file does not tell; ids of the new CPUs."""
        chosen = sockets_of(list(domains.values()))
        by_socket: dict[int, list[str]] = {}
        for numa, socket in zip(domains, chosen, strict=True):
            by_socket.setdefault(socket, []).append(numa)
        cpus: list[str] = []
        for _, numas in sorted(by_socket.items()):
            model = domains[numas[0]].model
            device = Device(model.title, model.type) if model.title else None
            extra = (attributes or {}).get(numas[0], {})
            cpus.append(self.add("cpu", parent=server, device=device, attributes={"derived": "yes", **extra}))
            self.note_cpu(model, model.title, cpus[-1])
            for numa in numas:
                self.on_die(cpus[-1], numa)
        if domains:
            self.note(
                "IMP-DERIVED-SOCKETS",
                Severity.INFO,
                f"sockets are not in the file: {len(domains)} NUMA domain(s) were put into {len(cpus)} socket(s)",
                *cpus,
                remedy="move NUMA domains to another CPU where the machine differs",
            )
            self.join_sockets(cpus, next(iter(domains.values())).model)
        return cpus

    def on_die(self, cpu: str, numa: str) -> None:
        """Join a NUMA domain to the socket it is part of."""
        self.link(
            cpu,
            numa,
            LinkValues(
                kind="infinity_fabric",
                bandwidth_per_direction=str(assumption("on_die").value),
                status=Status.ASSUMED,
                note="on the die",
            ),
        )

    def join_sockets(
        self, cpus: list[str], model: CpuModel, distances: Mapping[tuple[str, str], float] | None = None
    ) -> None:
        """Links between sockets: as a table of distances allows, else each with each, a ring where there are many.

        The links a CPU has are shared evenly among the sockets it is joined with.
        """
        pairs = nearest_pairs(cpus, distances or {})
        peers = Counter(cpu for pair in pairs for cpu in pair)
        rate = model.socket_rate or link_kinds()[model.socket_link].default_rate
        for a, b in pairs:
            count = max(model.socket_links // max(peers[a], peers[b]), 1)
            link_id = self.link(
                a,
                b,
                LinkValues(
                    kind=model.socket_link,
                    count=count,
                    bandwidth_per_direction=rate,
                    status=Status.ASSUMED,
                    note="links of the CPU" if model.socket_rate else "usual for such links",
                ),
            )
            spelled = f"{count} x {rate}" if count > 1 else rate
            self.note(
                "IMP-ASSUMED-SOCKET-LINK",
                Severity.WARNING,
                f"the links between sockets are not in the file: {spelled} per direction is assumed",
                link_id,
                remedy="set the bandwidth of the links between CPUs",
            )
        if distances and len(pairs) < len(cpus) * (len(cpus) - 1) // 2:
            self.note(
                "IMP-SOCKET-DISTANCES",
                Severity.INFO,
                "which sockets are joined follows from the latencies between their NUMA nodes: the nearest are",
                *cpus,
                remedy="draw the links between CPUs as the board has them",
            )

    def note_cpu(self, model: CpuModel, title: str, cpu: str) -> None:
        """Tell of a processor whose part type is a guess, or that has none."""
        if model.guess:
            text = f"these CPUs are of the {model.guess}"
        elif model.type or not (title or model.title):
            return
        else:
            text = f"these CPUs ({title or model.title}) have no part type: cores, lanes and socket links are unknown"
        self.note("IMP-CPU-TYPE", Severity.INFO, text, cpu, remedy="choose a part type for them")

    def accelerator_link(
        self, a: str, b: str, count: int, architecture: Architecture | None, kind: str, status: Status = Status.DERIVED
    ) -> str:
        """A bundle of NVLinks or xGMI links; their speed is that of the architecture."""
        if architecture is not None and architecture.link_rate and architecture.link_kind == kind:
            values = LinkValues(
                kind=kind,
                count=count,
                bandwidth_per_direction=architecture.link_rate,
                status=status,
                note=f"speed of {architecture.name} links",
            )
        else:
            values = LinkValues(kind=kind, count=count, status=Status.ASSUMED)
        unknown = {UNKNOWN: SPEED} if values.status is Status.ASSUMED else None
        link_id = self.link(a, b, values, unknown)
        if values.status is Status.ASSUMED:
            rate = values.bandwidth_per_direction or link_kinds()[kind].default_rate
            self.note(
                "IMP-ASSUMED-LINK",
                Severity.WARNING,
                f"the speed of these {'NVLinks' if kind == 'nvlink' else 'xGMI links'} is not in the file: "
                f"{rate} per link and direction is assumed",
                link_id,
                remedy="set the bandwidth per direction of one link",
            )
        return link_id

    def of_kind(self, *kinds: str) -> list[str]:
        """Ids of the parts of these kinds, in order."""
        return [p.id for p in self.parts.values() if p.kind in kinds]

    def _type_switches(self) -> None:
        """Give NVSwitches the part type that boards with such GPUs carry."""
        for link in self.links.values():
            for gpu, switch in ((link.a, link.b), (link.b, link.a)):
                if self.parts[switch].kind != "nvswitch" or self.parts[switch].type or self.parts[gpu].kind != "gpu":
                    continue
                part = self.parts[gpu]
                known = part.overrides.get("compute_capability")
                if known is None and part.type:
                    known = self.types[part.type].values.get("compute_capability")
                found = type_for("nvswitch", nvswitch_type(str(known.value))) if known is not None else None
                if found is not None:
                    self.types[found.id] = found
                    self.parts[switch] = self.parts[switch].model_copy(update={"type": found.id})
                    self.note(
                        "IMP-DERIVED-NVSWITCH",
                        Severity.INFO,
                        "the generation of the NVSwitches follows from the GPUs",
                        switch,
                    )

    def _fit_fabrics(self) -> None:
        """Switches drawn as one have the ports of all of them together."""
        used: dict[str, int] = {}
        for link in self.links.values():
            for end in (link.a, link.b):
                used[end] = used.get(end, 0) + link.count
        for part in self.parts.values():
            if part.kind != "nvswitch" or part.attributes.get("derived") != "yes":
                continue
            ports = self.fact(used.get(part.id, 0), "several switches drawn as one", Status.DERIVED)
            self.parts[part.id] = part.model_copy(update={"overrides": {**part.overrides, "ports": ports}})

    def finish(self, title: str = "", description: str = "") -> Imported:
        """The design and all findings."""
        self._type_switches()
        self._fit_fabrics()
        gpus, memory = self.of_kind("gpu"), self.of_kind("memory")
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
        linked = any(link.kind in ("nvlink", "xgmi") for link in self.links.values())
        default = ""
        if workloads:
            default = "all-reduce" if linked or not memory else "h2d"
        design = Design(
            name=_design_name(self.file),
            title=(_one_line(title) or self._summary())[:_NAME_LENGTH],
            description=description or f"Imported from {self.format}.",
            parts=self.parts,
            links=self.links,
            part_types=self.types,
            workloads={w.id: w for w in workloads},
            default_workload=default,
            policy=self.policy,
        )
        self._note_unknown_gpus(gpus)
        findings = [
            Finding(code, severity, text, tuple(dict.fromkeys(where)), remedy)
            for (code, severity, text, remedy), where in self._notes.items()
        ]
        findings += degraded_links(design)
        order = list(Severity)
        return Imported(design, tuple(sorted(findings, key=lambda f: order.index(f.severity))))

    def _note_unknown_gpus(self, gpus: Iterable[str]) -> None:
        unknown = [g for g in gpus if not self.parts[g].type]
        if unknown:
            self.note(
                "IMP-TYPE",
                Severity.INFO,
                "these GPUs have no part type: their memory and compute rates are unknown",
                *unknown,
                remedy="choose a part type for them",
            )

    def _summary(self) -> str:
        names = (("server", "server"), ("gpu", "GPU"), ("nic", "NIC"), ("cpu", "socket"))
        counts = [(len(self.of_kind(kind)), name) for kind, name in names]
        return ", ".join(f"{n} {name}{'s' if n != 1 else ''}" for n, name in counts if n)


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _design_name(file: str) -> str:
    stem = file.replace("\\", "/").rsplit("/", 1)[-1]
    stem = stem.rsplit(".", 1)[0] if "." in stem[1:] else stem
    return _one_line(stem.encode("utf-8", "replace").decode())[:_NAME_LENGTH] or "imported"
