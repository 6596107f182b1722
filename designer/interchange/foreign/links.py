"""Links between accelerators as dumps list them: both ends name a GPU-GPU link, switches stay silent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from designer.catalog.architectures import Architecture, link_counts
from designer.findings import Severity
from designer.interchange.foreign.machine import Machine
from designer.sources import Status


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


def draw_links(machine: Machine, listed: Listed, architectures: Mapping[str, Architecture | None]) -> None:
    """Draw the listed links: GPU pairs once, and as a switched fabric where they are more than the GPUs have."""
    pairs = _pairs(machine, listed)
    if listed.kind == "nvlink" and _too_many(pairs, architectures):
        _draw_fabric(machine, pairs, architectures)
    else:
        for (a, b), count in pairs.items():
            machine.accelerator_link(a, b, count, architectures.get(a) or architectures.get(b), listed.kind)
    for (gpu, target), count in listed.to_other.items():
        machine.accelerator_link(gpu, target, count, architectures.get(gpu), listed.kind)


def _pairs(machine: Machine, listed: Listed) -> dict[tuple[str, str], int]:
    pairs: dict[tuple[str, str], int] = {}
    for (a, b), count in listed.to_gpu.items():
        back = listed.to_gpu.get((b, a))
        key = (b, a) if (b, a) in pairs else (a, b)
        if back is not None and back != count:
            machine.note(
                "IMP-UNEQUAL-ENDS",
                Severity.WARNING,
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
    machine: Machine, pairs: Mapping[tuple[str, str], int], architectures: Mapping[str, Architecture | None]
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
        machine.accelerator_link(
            gpu, switch, min(count, _limit(architectures.get(gpu))), architectures.get(gpu), "nvlink"
        )
    machine.note(
        "IMP-DERIVED-FABRIC",
        Severity.WARNING,
        "these GPUs list every peer with more NVLinks in all than a GPU has: taken as one NVSwitch fabric",
        switch,
        *most,
        remedy="split the fabric into its switches if you know them",
    )


def draw_switch_trunk(
    machine: Machine, islands: list[list[str]], count: int, architecture: Architecture | None
) -> None:
    """Join the NVSwitches of two boards pairwise; dumps leave these links out."""
    where = [
        machine.accelerator_link(a, b, count, architecture, "nvlink", Status.ASSUMED)
        for a, b in zip(*islands, strict=True)
    ]
    machine.note(
        "IMP-ASSUMED-TRUNK",
        Severity.WARNING,
        f"the links between the NVSwitches of the two boards are not in the file: {count} per pair are assumed",
        *where,
        remedy="correct the number of links between the switches",
    )
