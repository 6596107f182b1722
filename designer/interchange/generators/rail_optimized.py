"""Rail-optimised fat tree: leaf r of a unit joins NIC r of its servers; spines above, and cores above those.

With two tiers every leaf reaches every spine. With three, leaves and spines form pods, and spine i of every pod reaches
the cores of plane i. Planes are whole fabrics next to each other: a NIC in each for every rail. The counts of published
reference architectures follow from their parameters, see the tests.
Sources: NVIDIA DGX SuperPOD reference architectures (H100 RA-11333-001, B200, B300).
"""

from __future__ import annotations

from math import ceil

from designer.design.document import Block, Design, Group
from designer.interchange.generators._generator import SERVER, Asked, Drawing, Generator, Parameter, even, refuse

PARAMETERS = (
    Parameter("nodes", 64, "servers"),
    *SERVER,
    Parameter("rails", 8, "NICs of a server in one plane, each to a leaf of its own"),
    Parameter("planes", 1, "parallel fabrics"),
    Parameter("ports", 64, "ports of a switch"),
    Parameter("unit", 0, "servers of a scalable unit; 0 for as many as a leaf has ports down", least=0),
    Parameter("oversubscription", 1, "links down for one up at a leaf"),
    Parameter("tiers", 0, "2 or 3; 0 for as few as reach all", least=0),
)


def make(asked: Asked) -> Design:
    """The design.

    Raises
    ------
    FormatError
        If the numbers make no such network.
    """
    nodes, rails, planes, ports = (asked.number(n) for n in ("nodes", "rails", "planes", "ports"))
    over, tiers = asked.number("oversubscription"), asked.number("tiers")
    down = ports * over // (over + 1)
    up = down // over
    if not up:
        raise refuse(f"{ports} ports are too few for {over} links down for one up", "use larger switches")
    unit = asked.number("unit") or min(down, nodes)
    if unit > down:
        raise refuse(f"a unit of {unit} servers needs more than the {down} ports down of a leaf", "use smaller units")
    units = ceil(nodes / unit)
    # published architectures leave a few places free in the last unit: 127 servers in four units of 32
    if nodes % units and ceil(nodes / units) != unit:
        raise refuse(
            f"{nodes} servers do not make {units} equal units",
            f"use {units * unit} servers, or at most {units - 1} fewer",
        )
    leaves = units * rails
    if tiers not in (0, 2, 3):
        raise refuse(f"{tiers} tiers", "use 2 or 3")
    if tiers == 0:
        tiers = 2 if ceil(leaves * up / ports) <= up and leaves <= ports else 3
    drawing = Drawing(asked, "rail-optimized", f"Rail-optimised fabric, {nodes} servers, {rails} rails")
    drawing.servers(nodes, rails * planes)
    counts = [_plane(drawing, p, planes, leaves, rails, ports, up, tiers) for p in range(planes)]
    total = " + ".join(str(sum(column)) for column in zip(*counts, strict=True))
    return drawing.design(f"{nodes} servers in {units} units, {total} switches from leaf up.")


def _plane(
    drawing: Drawing, plane: int, planes: int, leaves: int, rails: int, ports: int, up: int, tiers: int
) -> list[int]:
    """One fabric; its switches of each tier."""
    mark = f"_plane{plane}" if planes > 1 else ""
    nics = drawing.nics(plane * rails, plane * rails + rails - 1)
    if tiers == 2:
        spines = even(ceil(leaves * up / ports), up)
        drawing.switches(f"leaves{mark}", "Leaf switches", leaves, ports, "leaf")
        drawing.switches(f"spines{mark}", "Spine switches", spines, ports, "spine")
        drawing.connect(f"rails{mark}", "rails", nics, f"leaves{mark}[*]/switch")
        drawing.connect(f"spine{mark}", "mesh", f"leaves{mark}[*]/switch", f"spines{mark}[*]/switch", up // spines)
        return [leaves, spines]
    half = ports // 2
    pods = ceil(leaves / half)
    if leaves % pods:
        raise refuse(f"{leaves} leaves do not make {pods} equal pods", "use another number of units")
    spines = even(ceil(leaves // pods * up / half), up)
    climb = leaves // pods * up // spines
    planes_of_cores = even(ceil(pods * climb / ports), climb)
    cores = spines * planes_of_cores
    inside = Block(
        groups={
            "leaves": _group("leaves", "Leaf switches", leaves // pods, drawing, ports, "leaf"),
            "spines": _group("spines", "Spine switches", spines, drawing, ports, "spine"),
        },
        wirings={"spine": drawing.wiring("spine", "mesh", "leaves[*]/switch", "spines[*]/switch", up // spines)},
    )
    drawing.groups[f"pods{mark}"] = Group(id=f"pods{mark}", name="Pods", replicas=pods, content=inside)
    drawing.switches(f"cores{mark}", "Core switches", cores, ports, "core")
    drawing.connect(f"rails{mark}", "rails", nics, f"pods{mark}[*]/leaves[*]/switch")
    drawing.connect(
        f"core{mark}", "stripes", f"pods{mark}[*]/spines[*]/switch", f"cores{mark}[*]/switch", climb // planes_of_cores
    )
    return [leaves, spines * pods, cores]


def _group(group: str, title: str, count: int, drawing: Drawing, ports: int, role: str) -> Group:
    return Group(
        id=group, name=title, replicas=count, content=Block(parts={"switch": drawing.switch(title, ports, role)})
    )


GENERATOR = Generator("rail-optimized", "Rail-optimised fat tree of two or three tiers", PARAMETERS, make)
