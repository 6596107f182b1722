"""NET011: fast NFS storage through a single connection.

What it checks
    Storage with the protocol NFS and one connection (`nconnect`) whose ports carry more than a client gets from it.
Why it matters
    One mount is one TCP connection, and one connection ends at one and a half to two GB/s whatever the port.
How to fix
    nconnect (8.0 U1 and later, Linux 5.3 and later), or several mounts.
Sources
    C. Hogan and D. Vidal on NFS multi-connections in vSphere; Linux nfs(5).
Example
    An NFS array with two ports of 100 Gb/s and nconnect = 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.engine.transfers.limits import counted_by_hand
from designer.findings import Severity
from designer.formulas.storage.client_rate import client_of, connection_rates
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status
from designer.units import format_quantity

#: share of the ports a client should get
SHARE = Constant(0.8, 0.5, 1.0, "rule-thresholds", Status.ASSUMED)


def check(context: Context) -> Iterator[Offence]:
    net, fabric = context.network.net, context.fabric
    for store in context.network.parts_of_kind("storage").tolist():
        part = net.part(store)
        protocol = context.text(part, "protocol")
        if "nfs" not in protocol or context.text(part, "nconnect") != "1":
            continue
        given = context.number(part, "connection_bandwidth" if counted_by_hand(part) else "client_read_bandwidth")
        one = given or connection_rates(client_of(protocol))[0].value
        span = range(int(fabric.uplink_start[store]), int(fabric.uplink_start[store + 1]))
        ports = sum(float(context.network.rate[int(fabric.out[u]) >> 1]) for u in span)
        if one < ports * SHARE.value:
            got, whole = format_quantity(one, "rate"), format_quantity(ports, "rate")
            text = f"{net.path(store)} gives a client {got} of its {whole}"
            yield Offence(text, (net.path(store),), "nconnect, or several mounts")


RULE = Rule("NET011", "one-nfs-connection", Severity.WARNING, check)
