"""Leaf and spine: blocks of servers under each leaf, every leaf to every spine.

Sources: Al-Fares, Loukissas & Vahdat 2008, "A scalable, commodity data center network architecture".
"""

from __future__ import annotations

from math import ceil

from designer.design.document import Design
from designer.interchange.generators._generator import SERVER, Asked, Drawing, Generator, Parameter, even, refuse

PARAMETERS = (
    Parameter("nodes", 32, "servers"),
    *SERVER,
    Parameter("rails", 1, "NICs of a server, all to its leaf"),
    Parameter("ports", 64, "ports of a switch"),
    Parameter("oversubscription", 1, "links down for one up at a leaf"),
)


def make(asked: Asked) -> Design:
    """The design.

    Raises
    ------
    FormatError
        If the numbers make no such network.
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


GENERATOR = Generator("leaf-spine", "Leaf and spine", PARAMETERS, make)
