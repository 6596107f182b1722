"""Hosts of virtual machines: how many there are, and how quick their migration network is."""

from __future__ import annotations

from typing import Final

from designer.contrib.proposals.families._cluster import switch_for
from designer.contrib.proposals.family import Asked, Chosen, Family, name_of, whole_number
from designer.contrib.proposals.pareto import Choice
from designer.design.document import Block, Design, Wiring, with_changes
from designer.errors import FormatError, raised_as
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.units import parse

_BASE: Final = "vsphere-cluster-4"
_MORE: Final = (0, 1, 2, 4)
_CARDS: Final = {
    "25 Gb/s": "nic/generic/ethernet-25g",
    "100 Gb/s": "nic/generic/ethernet-100g",
    "200 Gb/s": "nic/generic/ethernet-200g",
    "400 Gb/s": "nic/generic/ethernet-400g",
}
_ROLE: Final = "vmotion"


def _base(asked: Asked) -> tuple[Design, str]:
    """The design with hosts, and the group they are."""
    design = asked.base or open_design(_BASE)
    for group in design.groups.values():
        if any(part.kind == "server" for part in group.content.parts.values()):
            return design, group.id
    raise FormatError(
        f"{design.name} has no group of hosts", place="base", remedy="start from a design whose hosts are a group"
    )


def _cards(block: Block) -> list[str]:
    return [p.id for p in block.parts.values() if p.kind == "nic" and p.attributes.get("role") == _ROLE]


def _cables(design: Design, group: str) -> list[Wiring]:
    cards = set(_cards(design.groups[group].content))
    return [w for w in design.wirings.values() if w.a.startswith(group) and w.a.rpartition("/")[2] in cards]


def following(asked: Asked, chosen: Chosen) -> Choice | None:
    """How many hosts, and the rate of their migration network."""
    design, group = _base(asked)
    if "server" not in chosen:
        return Choice("server", "Host", (design.name,))
    if "nodes" not in chosen:
        now = design.groups[group].replicas
        return asked.choice("nodes", "Hosts", tuple(str(now + k) for k in _MORE))
    if "migration" not in chosen:
        return asked.choice("migration", "Migration network", tuple(_CARDS))
    return None


def make(asked: Asked, chosen: Chosen) -> Design:
    """The design with more hosts, cards and a switch of that rate.

    Raises
    ------
    FormatError
        If it has no migration network, or its machines are on hosts that would go.
    """
    design, group = _base(asked)
    nodes, rate = whole_number(chosen, "nodes"), chosen["migration"]
    card = _CARDS.get(rate)
    if card is None:
        raise FormatError(f"{rate[:40]!r} is no rate", place="migration", remedy=f"use {', '.join(_CARDS)}")
    cables = _cables(design, group)
    if not cables:
        raise FormatError(
            f"{design.name} draws no NIC with the role {_ROLE!r}",
            place="migration",
            remedy=f"give the NICs that machines move over the attribute role = {_ROLE}",
        )
    cards = _cards(design.groups[group].content)
    switches = {w.b for w in cables if w.b in design.parts}
    changes: dict[str, object] = {
        "groups": {group: nodes},
        "parts": {
            **{f"{group}/{name}": {"type": card} for name in cards},
            **{name: {"type": switch_for("ethernet", float(parse(rate, "rate"))).id} for name in switches},
        },
        "wirings": {w.id: {"bandwidth_per_direction": rate} for w in cables},
    }
    with raised_as(FormatError, "nodes"):
        made = apply_changes(design, changes, "asked")
    title = f"{nodes} hosts, migration network of {rate}"
    return with_changes(
        made,
        name=name_of(f"{title} {design.name}"),
        title=title,
        workloads={asked.goal.id: asked.goal},
        default_workload=asked.goal.id,
        assertions={},
    )


def server(asked: Asked, name: str) -> Design:
    """One host."""
    del name
    design, group = _base(asked)
    block = design.groups[group].content
    return Design(name="host", parts=block.parts, links=block.links, part_types=design.part_types)


FAMILY = Family(
    "virtual-hosts",
    "Hosts of virtual machines with their migration network",
    ("evacuation",),
    following,
    make,
    server,
    ("nodes", "migration"),
)
