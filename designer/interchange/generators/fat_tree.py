"""The k-ary fat tree of switches with k ports: k pods of k/2 edge and k/2 upper switches, (k/2)² cores, k³/4 NICs.

A smaller tree has p pods of e edge and e upper switches; p divides k and e divides k/2. Two switches are joined by k/2e
links inside a pod and by k/p to a core, so it has p·e·k/2 NICs, p·e/2 cores and no oversubscribed link.

Sources: Al-Fares, Loukissas & Vahdat 2008, "A scalable, commodity data center network architecture".
"""

from __future__ import annotations

from typing import Final

from designer.design.document import Block, Design, Group
from designer.interchange.generators._generator import SERVER, Asked, Drawing, Generator, Parameter, refuse

#: servers where none are asked for and the whole tree has more
_USUAL: Final = 1024
PARAMETERS = (
    Parameter("nodes", 0, f"servers; 0 for those of the whole tree, at most {_USUAL:,}", least=0),
    Parameter("ports", 8, "ports k of a switch, even", least=2),
    *SERVER,
)


def make(asked: Asked) -> Design:
    """The design: one NIC a server.

    Raises
    ------
    FormatError
        If the numbers make no such network.
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


GENERATOR = Generator("fat-tree", "k-ary fat tree", PARAMETERS, make)
