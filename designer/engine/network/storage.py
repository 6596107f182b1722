"""What storage systems deliver and take: what they are provisioned for, what their servers do, or their ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from designer.catalog.parttype import Capability, PartKind, value_of
from designer.design.document import Design, Part
from designer.design.elaborate import Netlist
from designer.engine.network.capacities import NETWORK, LinkFacts, PartResource, rated_band
from designer.errors import AnalysisError
from designer.fields import Quantity
from designer.formulas.storage.storage_servers import (
    PORTS_READ,
    ServerRate,
    StorageServers,
    redundancy_of,
    server_rates,
    spread_of,
)
from designer.sources import Constant, Status
from designer.units import BINARY, BytesPerSecond

#: figures that say what a system delivers, so that nothing is derived from its servers or ports
_RATES: Final = ("read_bandwidth", "write_bandwidth")
#: what servers nobody has drawn deliver of the files of ranks, over what the ports let through
UNDRAWN: Final = Constant(
    1.0, 0.45, 1.0, "flash-writes", Status.DERIVED, "1", "seven systems read 0.41 to 0.82 of their ports (tenths)"
)
#: what they take of the ports: 0.53, which half of those systems read, x the share that is written
UNDRAWN_WRITES: Final = Constant(
    0.28, 0.18, 0.52, "flash-writes", Status.DERIVED, "1", "median of seven systems x WRITE_SHARE, spreads in squares"
)
#: figures of what one client gets, which rule where nothing is known of the servers
_CLIENT_RATES: Final = ("client_read_bandwidth", "client_write_bandwidth")


def ports_of(net: Netlist, facts: Sequence[LinkFacts]) -> Callable[[Part], float]:
    """Raw rate of all network links of the first part of a definition, looked up when it is asked for [B/s]."""
    known: dict[int, float] = {}

    def rate(part: Part) -> float:
        definition = next((d for d, one in enumerate(net.part_defs) if one is part), -1)
        if definition not in known:
            found = np.flatnonzero(net.part_def == definition)
            at = net.link_def[(net.link_a == found[0]) | (net.link_b == found[0])] if len(found) else found
            known[definition] = sum(
                facts[d].rate * net.link_defs[d].count for d in at.tolist() if facts[d].domain == NETWORK
            )
        return known[definition]

    return rate


def storage_inside(design: Design, part: Part, kind: PartKind, ports: Callable[[Part], float]) -> PartResource | None:
    """The capacity of a storage system whose own rates are not given; None for other parts and where nothing is known.

    Raises
    ------
    AnalysisError
        If its redundancy cannot be read.
    """
    if Capability.STORE not in kind.capabilities or kind.field("servers") is None:
        return None
    given = {field.name: design.quantity(part, field.name) for field in kind.fields}
    provisioned = given["provisioned_bandwidth"] or given["provisioned_per_tib"]
    if provisioned is not None:
        # one allowance for reads and writes together, unless writes have their own
        written = given["provisioned_write_per_tib"] or provisioned
        rate, cost = provisioned.si("rate") * _provisioned_share(part, given), 1.0
        if written is not provisioned:
            cost = rate / (written.si("rate") * _tebibytes(part, given))
        bands = [rated_band(one, "rate") for one in (provisioned, written)]
        return PartResource(rate, 1.0, cost, "provisioned bandwidth", bands[0], bands[1])
    if any(given[name] is not None for name in _RATES):
        return None
    rates = rates_of_servers(part, given, ports)
    if rates is None:
        return None
    read, write = rates
    assumed = "" if described(given) else _ASSUMED
    if assumed:
        # the links say what reads get at best
        read = replace(read, value=read.high)
        if given["redundancy"] is None:
            ports_rate = read.high / PORTS_READ.high
            low, high = ports_rate * UNDRAWN_WRITES.low, ports_rate * UNDRAWN_WRITES.high
            write = ServerRate(ports_rate * UNDRAWN_WRITES.value, low, high, write.stage)
    bands = [(one.low / one.value, one.high / one.value) for one in (read, write)]
    held = read.stage if read.stage == write.stage else f"{read.stage}; writes: {write.stage}"
    return PartResource(read.value, 1.0, read.value / write.value, held, bands[0], bands[1], assumed)


def _provisioned_share(part: Part, given: Mapping[str, Quantity | None]) -> float:
    """What the provisioned rate is multiplied with: the capacity in TiB where it is given for each."""
    return 1.0 if given["provisioned_bandwidth"] is not None else _tebibytes(part, given)


def _tebibytes(part: Part, given: Mapping[str, Quantity | None]) -> float:
    capacity = given["capacity"]
    if capacity is None:
        raise AnalysisError("a rate for each TiB of no capacity", place=part.id, remedy="give its capacity")
    return capacity.si("size") / BINARY["Ti"]


_ASSUMED: Final = (
    "neither its rates nor its servers are given, so they are assumed from its ports; files of ranks may take "
    f"{1 / UNDRAWN.low:.3g} times as long, as systems with the same ports have fewer or slower servers"
)
#: figures of its servers
_SERVERS: Final = ("servers", "server_bandwidth", "server_cores", "drives")


def described(given: Mapping[str, Quantity | None]) -> bool:
    """True if a figure of the servers of a system is given."""
    return any(given[name] is not None for name in _SERVERS)


def rates_of_servers(
    part: Part, given: Mapping[str, Quantity | None], ports: Callable[[Part], float]
) -> tuple[ServerRate, ServerRate] | None:
    """What the servers of a system deliver and take; without any figure of them what its ports let through.

    Raises
    ------
    AnalysisError
        If its redundancy cannot be read.
    """

    def value(name: str) -> float:
        quantity = given[name]
        return (value_of(part.kind, name, quantity) if quantity is not None else None) or 0.0

    protocol, redundancy = given["protocol"], given["redundancy"]
    count, drives = int(value("servers")), value("drives")
    if not described(given) and any(given[name] is not None for name in _CLIENT_RATES):
        return None
    try:
        servers = StorageServers(
            count,
            BytesPerSecond(value("server_bandwidth") or ports(part) / max(1, count)),
            value("server_cores"),
            BytesPerSecond(drives * value("drive_read_bandwidth")),
            BytesPerSecond(drives * value("drive_write_bandwidth")),
            redundancy_of(str(redundancy.value)) if redundancy is not None else None,
            spread_of(str(protocol.value)) if protocol is not None else None,
        )
        return server_rates(servers)
    except AnalysisError as error:
        raise AnalysisError(error.text, place=part.id, remedy=error.remedy) from None
