"""Networks of switches or devices joined directly: tori, Dragonfly+."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import Final

from designer.design.document import Block, Design, Group, Link
from designer.interchange.generators._generator import (
    ASKED,
    SERVER,
    Asked,
    Drawing,
    Generator,
    Parameter,
    neighbours_in,
    refuse,
    shape_of,
)
from designer.sources import Status

TORUS = (Parameter("shape", "4x4x4", "servers along each dimension, such as 4x4x4"), *SERVER)


def torus(asked: Asked) -> Design:
    """The design.

    Raises
    ------
    FormatError
        If the numbers torus no such network.
    """
    shape = shape_of(asked.text("shape"), "servers")
    total = prod(shape)
    drawing = Drawing(asked, "torus", f"Torus {asked.text('shape')}, {total} servers")
    drawing.servers(total, 1)
    ports = 1 + sum(2 if n > 2 else n - 1 for n in shape)
    drawing.switches("routers", "Routers", total, ports, "router")
    drawing.connect("hosts", "pairs", drawing.nics(0, 0), "routers[*]/switch")
    links = {
        f"axis{axis}-{here}-{there}": Link(
            id=f"axis{axis}-{here}-{there}",
            a=f"routers[{here}]/switch",
            b=f"routers[{there}]/switch",
            kind=drawing.kind,
            bandwidth_per_direction=drawing.rate,
            source=ASKED,
            status=Status.SECONDARY,
        )
        for axis, here, there in neighbours_in(shape)
    }
    made = drawing.design(f"{total} routers of {ports} ports, {len(links)} links between them.")
    return made.model_copy(update={"links": links})


DRAGONFLY = (
    Parameter("groups", 5, "groups, all joined to each other", least=2),
    Parameter("leaves", 4, "leaves of a group"),
    Parameter("spines", 4, "spines of a group"),
    Parameter("hosts", 4, "servers under a leaf"),
    Parameter("global_links", 4, "cables between two groups"),
    *SERVER,
)


_MOST_CABLES = 200_000


def dragonfly(asked: Asked) -> Design:
    """The design: one NIC a server.

    Raises
    ------
    FormatError
        If the numbers torus no such network.
    """
    groups, leaves, spines = (asked.number(n) for n in ("groups", "leaves", "spines"))
    hosts, between = asked.number("hosts"), asked.number("global_links")
    if groups * groups * between // 2 > _MOST_CABLES:
        raise refuse(
            f"{groups} groups with {between} cables each to each", f"use up to {_MOST_CABLES:,} cables between groups"
        )
    drawing = Drawing(asked, "dragonfly-plus", f"Dragonfly+, {groups} groups, {groups * leaves * hosts} servers")
    drawing.servers(groups * leaves * hosts, 1)
    ends: dict[tuple[int, int], int] = {}
    turn = [0] * groups
    for a, b in combinations(range(groups), 2):
        for _ in range(between):
            for group in (a, b):
                ends[group, turn[group] % spines] = ends.get((group, turn[group] % spines), 0) + 1
                turn[group] += 1
    ports = leaves + max(ends.values())
    leaf, spine = drawing.switch("Leaf", hosts + spines, "leaf"), drawing.switch("Spine", ports, "spine")
    inside = Block(
        groups={
            "leaves": Group(id="leaves", name="Leaf switches", replicas=leaves, content=Block(parts={"switch": leaf})),
            "spines": Group(
                id="spines", name="Spine switches", replicas=spines, content=Block(parts={"switch": spine})
            ),
        },
        wirings={"inside": drawing.wiring("inside", "mesh", "leaves[*]/switch", "spines[*]/switch")},
    )
    drawing.groups["groups"] = Group(id="groups", name="Groups", replicas=groups, content=inside)
    drawing.connect("hosts", "spread", drawing.nics(0, 0), "groups[*]/leaves[*]/switch")
    made = drawing.design(
        f"{groups * leaves} leaves, {groups * spines} spines of {ports} ports, "
        f"{groups * (groups - 1) // 2 * between} cables between groups."
    )
    links = {link.id: link for link in _links_between(drawing, groups, spines, between)}
    return made.model_copy(update={"links": links})


def _links_between(drawing: Drawing, groups: int, spines: int, between: int) -> list[Link]:
    turn = [0] * groups
    found: dict[tuple[str, str], int] = {}
    for a, b in combinations(range(groups), 2):
        for _ in range(between):
            ends = [f"groups[{g}]/spines[{turn[g] % spines}]/switch" for g in (a, b)]
            found[ends[0], ends[1]] = found.get((ends[0], ends[1]), 0) + 1
            turn[a] += 1
            turn[b] += 1
    return [
        Link(
            id=f"global{n}",
            a=a,
            b=b,
            count=count,
            kind=drawing.kind,
            bandwidth_per_direction=drawing.rate,
            source=ASKED,
            status=Status.SECONDARY,
        )
        for n, ((a, b), count) in enumerate(found.items())
    ]


GENERATORS: Final = (
    Generator("torus", "Torus of routers", TORUS, torus),
    Generator("dragonfly-plus", "Dragonfly+", DRAGONFLY, dragonfly),
)
