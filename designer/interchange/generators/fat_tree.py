"""The k-ary fat tree of switches with k ports: k pods of k/2 edge and k/2 upper switches, (k/2)² cores, k³/4 NICs.

Sources: Al-Fares, Loukissas & Vahdat 2008, "A scalable, commodity data center network architecture".
"""

from __future__ import annotations

from designer.design.document import Block, Design, Group
from designer.interchange.generators._generator import SERVER, Asked, Drawing, Generator, Parameter, refuse

PARAMETERS = (Parameter("ports", 8, "ports k of a switch, even", least=2), *SERVER)


def make(asked: Asked) -> Design:
    """The design: one NIC a server.

    Raises
    ------
    FormatError
        If the numbers make no such network.
    """
    k = asked.number("ports")
    if k % 2 or k > 128:
        raise refuse(
            f"{k} ports", "give --set ports=N, even and at most 128; the other ports of the switches stay free"
        )
    half = k // 2
    drawing = Drawing(asked, "fat-tree", f"Fat tree of {k}-port switches")
    drawing.servers(k * half * half, 1)
    switch = {role: Block(parts={"switch": drawing.switch(role.title(), k, role)}) for role in ("edge", "aggregation")}
    inside = Block(
        groups={
            "edges": Group(id="edges", name="Edge switches", replicas=half, content=switch["edge"]),
            "uppers": Group(id="uppers", name="Aggregation switches", replicas=half, content=switch["aggregation"]),
        },
        wirings={"inside": drawing.wiring("inside", "mesh", "edges[*]/switch", "uppers[*]/switch")},
    )
    drawing.groups["pods"] = Group(id="pods", name="Pods", replicas=k, content=inside)
    drawing.switches("cores", "Core switches", half * half, k, "core")
    drawing.connect("hosts", "spread", drawing.nics(0, 0), "pods[*]/edges[*]/switch")
    drawing.connect("core", "stripes", "pods[*]/uppers[*]/switch", "cores[*]/switch")
    return drawing.design(f"{k} pods, {k * half} edge, {k * half} aggregation and {half * half} core switches.")


GENERATOR = Generator("fat-tree", "k-ary fat tree", PARAMETERS, make)
