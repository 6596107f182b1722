"""Networks of switches or devices joined directly: tori, Dragonfly+."""

from __future__ import annotations

from itertools import combinations, product
from math import prod
from typing import Final

from designer.design.document import Block, Design, Group, Link
from designer.interchange.generators._generator import ASKED, SERVER, Asked, Drawing, Generator, Parameter, refuse
from designer.sources import Status

TORUS = (Parameter("shape", "4x4x4", "servers along each dimension, such as 4x4x4"), *SERVER)


_MOST_ROUTERS = 20_000


def torus(asked: Asked) -> Design:
    """The design.

    Raises
    ------
    FormatError
        If the numbers torus no such network.
    """
    words = asked.text("shape").lower().split("x")
    if not 1 <= len(words) <= 4 or not all(w.isascii() and w.isdigit() and 0 < len(w) < 6 for w in words):
        raise refuse(f"{asked.text('shape')[:40]!r} is no shape", "write 4x4x4")
    shape = [int(w) for w in words]
    total = prod(shape)
    if min(shape) < 1 or total > _MOST_ROUTERS:
        raise refuse(f"{total} servers", f"use 1 to {_MOST_ROUTERS:,}")
    drawing = Drawing(asked, "torus", f"Torus {asked.text('shape')}, {total} servers")
    drawing.servers(total, 1)
    ports = 1 + sum(2 if n > 2 else n - 1 for n in shape)
    drawing.switches("routers", "Routers", total, ports, "router")
    drawing.connect("hosts", "pairs", drawing.nics(0, 0), "routers[*]/switch")
    links = {link.id: link for link in _links(drawing, shape)}
    made = drawing.design(f"{total} routers of {ports} ports, {len(links)} links between them.")
    return made.model_copy(update={"links": links})


def _links(drawing: Drawing, shape: list[int]) -> list[Link]:
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    found: list[Link] = []
    for place in product(*(range(n) for n in shape)):
        here = sum(p * s for p, s in zip(place, strides, strict=True))
        for axis, size in enumerate(shape):
            # of two members the way there is the way back: one link
            if size == 1 or (size == 2 and place[axis] == 1):
                continue
            there = here + ((place[axis] + 1) % size - place[axis]) * strides[axis]
            found.append(
                Link(
                    id=f"axis{axis}-{here}-{there}",
                    a=f"routers[{here}]/switch",
                    b=f"routers[{there}]/switch",
                    kind=drawing.kind,
                    bandwidth_per_direction=drawing.rate,
                    source=ASKED,
                    status=Status.SECONDARY,
                )
            )
    return found


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
