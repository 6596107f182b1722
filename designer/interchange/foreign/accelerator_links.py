"""NVLinks and xGMI links of a machine that is read from a dump: listed, assumed or missing.

Both ends name a link between GPUs; switches name none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from designer.catalog.architectures import Architecture, architecture, link_counts
from designer.catalog.parttype import link_kinds
from designer.design.document import LinkValues
from designer.design.gaps import LINKS, OTHER_COUNT, OTHER_RATE, SPEED, UNKNOWN
from designer.findings import Severity
from designer.interchange.foreign.machine import MachineDrawing
from designer.sources import Status

#: accelerators on boards with NVLink, by the generation of their PCIe link
_BY_PCIE: Final = {3: "volta", 4: "ampere-ga100", 5: "hopper"}


@dataclass(slots=True)
class Listed:
    """Links as listed: by the GPU that lists them and the part they lead to."""

    kind: str
    #: (lister, target) to number of links
    to_gpu: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    to_other: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def add(self, lister: str, target: str, count: int, target_is_gpu: bool) -> None:
        """Take down one entry; entries for the same pair add up."""
        table = self.to_gpu if target_is_gpu else self.to_other
        table[lister, target] = table.get((lister, target), 0) + count


def draw_links(machine: MachineDrawing, listed: Listed, architectures: Mapping[str, Architecture | None]) -> None:
    """Draw the listed links: GPU pairs once, and as a switched fabric where they are more than the GPUs have."""
    pairs = _pairs(machine, listed)
    if listed.kind == "nvlink" and _too_many(pairs, architectures):
        _draw_fabric(machine, pairs, architectures)
    else:
        for (a, b), count in pairs.items():
            join_accelerators(machine, a, b, count, architectures.get(a) or architectures.get(b), listed.kind)
    for (gpu, target), count in listed.to_other.items():
        join_accelerators(machine, gpu, target, count, architectures.get(gpu), listed.kind)


def _pairs(machine: MachineDrawing, listed: Listed) -> dict[tuple[str, str], int]:
    pairs: dict[tuple[str, str], int] = {}
    for (a, b), count in listed.to_gpu.items():
        back = listed.to_gpu.get((b, a))
        key = (b, a) if (b, a) in pairs else (a, b)
        if back is not None and back != count:
            machine.note(
                "IMP-UNEQUAL-ENDS",
                "the two ends list different numbers of links between them: the larger is taken",
                a,
                b,
            )
        pairs[key] = max(pairs.get(key, 0), count, back or 0)
    return pairs


def _limit(architecture: Architecture | None) -> int:
    return architecture.links if architecture is not None and architecture.links else max(link_counts("nvlink"))


def _too_many(pairs: Mapping[tuple[str, str], int], architectures: Mapping[str, Architecture | None]) -> bool:
    total: dict[str, int] = defaultdict(int)
    for pair, count in pairs.items():
        for gpu in pair:
            total[gpu] += count
    return any(count > _limit(architectures.get(gpu)) for gpu, count in total.items())


def _draw_fabric(
    machine: MachineDrawing, pairs: Mapping[tuple[str, str], int], architectures: Mapping[str, Architecture | None]
) -> None:
    """One switch for GPUs that list more links than they have: each peer was listed with all links."""
    most: dict[str, int] = {}
    for pair, count in pairs.items():
        for gpu in pair:
            most[gpu] = max(most.get(gpu, 0), count)
    first = next(iter(most))
    switch = machine.add(
        "nvswitch", parent=machine.parts[first].parent, name="NVSwitch fabric", attributes={"derived": "yes"}
    )
    for gpu, count in most.items():
        join_accelerators(
            machine, gpu, switch, min(count, _limit(architectures.get(gpu))), architectures.get(gpu), "nvlink"
        )
    machine.note(
        "IMP-DERIVED-FABRIC",
        "these GPUs list every peer with more NVLinks in all than a GPU has: taken as one NVSwitch fabric",
        switch,
        *most,
        remedy="split the fabric into its switches if you know them",
        severity=Severity.WARNING,
    )


def mark_missing_links(machine: MachineDrawing, gpus: Iterable[str]) -> None:
    """State the GPUs whose accelerator links the file does not list: as many as their type has, or as GPUs of the
    generation of their PCIe link have where the file does not say what they are."""
    generations = {link.b: link.generation for link in machine.links.values() if link.kind == "pcie"}
    for gpu in gpus:
        part = machine.parts[gpu]
        known = machine.types.get(part.type)
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
        machine.parts[gpu] = part.model_copy(update={"attributes": {**part.attributes, **more}})


def join_accelerators(
    machine: MachineDrawing,
    a: str,
    b: str,
    count: int,
    architecture: Architecture | None,
    kind: str,
    status: Status = Status.DERIVED,
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
    link_id = machine.link(a, b, values, unknown)
    if values.status is Status.ASSUMED:
        rate = values.bandwidth_per_direction or link_kinds()[kind].default_rate
        machine.note(
            "IMP-ASSUMED-LINK",
            f"the speed of these {'NVLinks' if kind == 'nvlink' else 'xGMI links'} is not in the file: "
            f"{rate} per link and direction is assumed",
            link_id,
            remedy="set the bandwidth per direction of one link",
        )
    return link_id


def draw_switch_trunk(
    machine: MachineDrawing, islands: list[list[str]], count: int, architecture: Architecture | None
) -> None:
    """Join the NVSwitches of two boards pairwise; dumps leave these links out."""
    where = [
        join_accelerators(machine, a, b, count, architecture, "nvlink", Status.ASSUMED)
        for a, b in zip(*islands, strict=True)
    ]
    machine.note(
        "IMP-ASSUMED-TRUNK",
        f"the links between the NVSwitches of the two boards are not in the file: {count} per pair are assumed",
        *where,
        remedy="correct the number of links between the switches",
    )
