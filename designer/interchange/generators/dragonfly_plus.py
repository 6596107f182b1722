"""Dragonfly+: groups of leaves and spines, every leaf to every spine of its group, every group to every other.

Cables between two groups leave the spines in turn, so that each spine carries an even share.
Sources: Shpiner et al. 2017, "Dragonfly+: Low cost topology for scaling datacenters".
"""

from __future__ import annotations

from itertools import combinations

from designer.design.document import Block, Design, Group, Link
from designer.interchange.generators._generator import ASKED, SERVER, Asked, Drawing, Generator, Parameter, refuse
from designer.sources import Status

PARAMETERS = (
    Parameter("groups", 5, "groups, all joined to each other", least=2),
    Parameter("leaves", 4, "leaves of a group"),
    Parameter("spines", 4, "spines of a group"),
    Parameter("hosts", 4, "servers under a leaf"),
    Parameter("global_links", 4, "cables between two groups"),
    *SERVER,
)
_MOST = 200_000


def make(asked: Asked) -> Design:
    """The design: one NIC a server.

    Raises
    ------
    FormatError
        If the numbers make no such network.
    """
    groups, leaves, spines = (asked.number(n) for n in ("groups", "leaves", "spines"))
    hosts, between = asked.number("hosts"), asked.number("global_links")
    if groups * groups * between // 2 > _MOST:
        raise refuse(
            f"{groups} groups with {between} cables each to each", f"use up to {_MOST:,} cables between groups"
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


GENERATOR = Generator("dragonfly-plus", "Dragonfly+", PARAMETERS, make)
