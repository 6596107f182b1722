"""Networks in tiers: leaf and spine, fat trees, rails."""

from __future__ import annotations

from math import ceil
from typing import Final

from designer.design.document import Block, Design, Group
from designer.interchange.generators._generator import SERVER, Asked, Drawing, Generator, Parameter, even, refuse

LEAF_SPINE = (
    Parameter("nodes", 32, "servers"),
    *SERVER,
    Parameter("rails", 1, "NICs of a server, all to its leaf"),
    Parameter("ports", 64, "ports of a switch"),
    Parameter("oversubscription", 1, "links down for one up at a leaf"),
)


def leaf_spine(asked: Asked) -> Design:
    """The design.

    Raises
    ------
    FormatError
        If the numbers leaf_spine no such network.
    """
    nodes, nics, ports = asked.number("nodes"), asked.number("rails"), asked.number("ports")
    over = asked.number("oversubscription")
    down = ports * over // (over + 1)
    up = down // over
    per_leaf = down // nics
    if not per_leaf or not up:
        raise refuse(f"a leaf of {ports} ports has no room for one server", "use larger switches or fewer NICs")
    leaves = ceil(nodes / per_leaf)
    if leaves > ports:
        raise refuse(f"{leaves} leaves are more than a spine has ports ({ports})", "use three tiers: rail-optimized")
    spines = even(ceil(leaves * up / ports), up)
    drawing = Drawing(asked, "leaf-spine", f"Leaf and spine, {nodes} servers")
    drawing.servers(nodes, nics)
    drawing.switches("leaves", "Leaf switches", leaves, ports, "leaf")
    drawing.switches("spines", "Spine switches", spines, ports, "spine")
    for nic in range(nics):
        drawing.connect(f"nic{nic}", "spread", drawing.nics(nic, nic), "leaves[*]/switch")
    drawing.connect("spine", "mesh", "leaves[*]/switch", "spines[*]/switch", up // spines)
    return drawing.design(f"{nodes} servers, {leaves} leaves and {spines} spines of {ports} ports.")


#: servers where none are asked for and the whole tree has more
_USUAL: Final = 1024


FAT_TREE = (
    Parameter("nodes", 0, f"servers; 0 for those of the whole tree, at most {_USUAL:,}", least=0),
    Parameter("ports", 8, "ports k of a switch, even", least=2),
    *SERVER,
)


def fat_tree(asked: Asked) -> Design:
    """The design: one NIC a server.

    Raises
    ------
    FormatError
        If the numbers leaf_spine no such network.
    """
    k = asked.number("ports")
    if k % 2:
        raise refuse(f"{k} ports", "give --set ports=N, even; the other ports of the switches stay free")
    half = k // 2
    whole = k * half * half
    nodes = asked.number("nodes") or min(whole, _USUAL)
    if nodes > whole:
        raise refuse(
            f"{nodes:,} servers, a fat tree of {k}-port switches has {whole:,}", "use switches with more ports"
        )
    pods, edges = _shape(k, nodes)
    drawing = Drawing(asked, "fat-tree", f"Fat tree of {k}-port switches")
    drawing.servers(nodes, 1)
    switch = {role: Block(parts={"switch": drawing.switch(role.title(), k, role)}) for role in ("edge", "aggregation")}
    inside = Block(
        groups={
            "edges": Group(id="edges", name="Edge switches", replicas=edges, content=switch["edge"]),
            "uppers": Group(id="uppers", name="Aggregation switches", replicas=edges, content=switch["aggregation"]),
        },
        wirings={"inside": drawing.wiring("inside", "mesh", "edges[*]/switch", "uppers[*]/switch", half // edges)},
    )
    drawing.groups["pods"] = Group(id="pods", name="Pods", replicas=pods, content=inside)
    cores = pods * edges // 2
    drawing.switches("cores", "Core switches", cores, k, "core")
    drawing.connect("hosts", "spread", drawing.nics(0, 0), "pods[*]/edges[*]/switch")
    drawing.connect("core", "stripes", "pods[*]/uppers[*]/switch", "cores[*]/switch", k // pods)
    return drawing.design(f"{pods} pods, {pods * edges} edge, {pods * edges} aggregation and {cores} core switches.")


def _shape(k: int, nodes: int) -> tuple[int, int]:
    """Pods, and edge switches of one: the fewest switches that join the servers, in the fewest pods."""
    half = k // 2
    shapes = [(p, e) for p in range(2, k + 1, 2) if k % p == 0 for e in range(1, half + 1) if half % e == 0]
    return min((s for s in shapes if s[0] * s[1] * half >= nodes), key=lambda s: (s[0] * s[1], s[0]))


RAIL_OPTIMIZED = (
    Parameter("nodes", 64, "servers"),
    *SERVER,
    Parameter("rails", 8, "NICs of a server in one plane, each to a leaf of its own"),
    Parameter("planes", 1, "parallel fabrics"),
    Parameter("ports", 64, "ports of a switch"),
    Parameter("unit", 0, "servers of a scalable unit; 0 for as many as a leaf has ports down", least=0),
    Parameter("oversubscription", 1, "links down for one up at a leaf"),
    Parameter("tiers", 0, "2 or 3; 0 for as few as reach all", least=0),
)


def rail_optimized(asked: Asked) -> Design:
    """The design.

    Raises
    ------
    FormatError
        If the numbers leaf_spine no such network.
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
            f"{nodes} servers do not leaf_spine {units} equal units",
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
        raise refuse(f"{leaves} leaves do not leaf_spine {pods} equal pods", "use another number of units")
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


GENERATORS: Final = (
    Generator("leaf-spine", "Leaf and spine", LEAF_SPINE, leaf_spine),
    Generator("fat-tree", "k-ary fat tree", FAT_TREE, fat_tree),
    Generator("rail-optimized", "Rail-optimised fat tree of two or three tiers", RAIL_OPTIMIZED, rail_optimized),
)
