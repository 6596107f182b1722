"""What the servers of a storage system deliver and take: the least of their ports, drives and processors.

A server that takes data for clients passes its parts and their parity on to the others, over the same ports. Clients
that write all parts themselves, and servers that protect data inside one enclosure, save that way.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import BytesPerSecond, Ratio

Edge = Literal["value", "low", "high"]


class Spread(StrEnum):
    """Who distributes the parts of what is written."""

    SERVERS = "servers"  #: the server that takes the data, over the network of the servers
    CLIENT = "client"  #: the client writes data and parity itself
    INSIDE = "inside"  #: one server or enclosure protects its own drives


@dataclass(frozen=True, slots=True)
class Redundancy:
    """Parts of data, and the parts of parity (or further copies) written with them."""

    data: int
    parity: int

    @property
    def written(self) -> float:
        """Bytes written to drives for each byte of data [1]."""
        return (self.data + self.parity) / self.data


@dataclass(frozen=True, slots=True)
class StorageServers:
    """Equal servers of a storage system.

    Parameters
    ----------
    count
        How many; 0 where it is not known, and the other figures are those of all together.
    network
        Ports of one server to its clients; 0 where they are not known [B/s].
    cores
        Processor cores of one server; 0 where they are not known.
    drive_read, drive_write
        All drives of one server by their data sheets; 0 where they are not known [B/s].
    redundancy
        None where it is not known.
    spread
        None where it is not known.
    """

    count: int
    network: BytesPerSecond = BytesPerSecond(0.0)
    cores: float = 0.0
    drive_read: BytesPerSecond = BytesPerSecond(0.0)
    drive_write: BytesPerSecond = BytesPerSecond(0.0)
    redundancy: Redundancy | None = None
    spread: Spread | None = None


@dataclass(frozen=True, slots=True)
class ServerRate:
    """What all servers together deliver or take, its 80 % band [B/s], and the stage that holds it back."""

    value: float
    low: float
    high: float
    stage: str


def _fit(value: float, low: float, high: float, note: str, unit: str = "1") -> Constant:
    return Constant(value, low, high, "fit-storage-servers", Status.DERIVED, unit, note)


#: share of the ports of servers that reads fill
PORTS_READ: Final = _fit(
    0.70,
    0.55,
    0.90,
    "InDataOS 0.73 to 0.84, AS13000 0.63, WEKA 0.55 to 0.64: one accelerator more a host did not fit; no forwarding",
)
#: the same where clients place and fetch the parts themselves, over RDMA
PORTS_DIRECT: Final = _fit(0.93, 0.85, 0.97, "DAOS on 4 servers 0.93 at least")
#: share of the ports of servers that writes and the parts passed on fill together
PORTS_WRITE: Final = _fit(
    0.60, 0.42, 0.93, "WEKA 0.49 with 6+2 on 8 servers at least, as its hosts bind; reads 0.63 to 0.93"
)
#: share of the data sheets of drives that reads reach
DRIVES_READ: Final = _fit(0.90, 0.70, 1.0, "InDataOS 0.86 at least; drives in the host 0.88 to 1.15")
#: share of the data sheets of drives that large writes reach
DRIVES_WRITE: Final = Constant(
    0.80, 0.55, 1.0, "assumed-storage-servers", Status.ASSUMED, "1", "sequential writes of many files share drives"
)
#: bytes a core of a server delivers in a second
CORE_READ: Final = _fit(2.2e9, 1.5e9, 4.0e9, "AS13000 2.0 of Xeon 6430, InDataOS 2.3 to 2.6 of EPYC 9355", "B/s")
#: bytes a core of a server takes in a second
CORE_WRITE: Final = _fit(1.1e9, 0.5e9, 1.6e9, "FlashBlade//EXA: 35.2 GB/s on the 32 cores of a data node", "B/s")
#: bytes written for each byte of data where the redundancy is not known: 8+2; none to two copies
WRITTEN: Final = Constant(1.25, 1.0, 2.0, "assumed-storage-servers", Status.ASSUMED, "1", "8+2")

_PARTS: Final = re.compile(r"(\d+)\s*\+\s*(\d+)")
_COPIES: Final = re.compile(r"(\d+)\s*(?:x|copies|replicas|-way)", re.IGNORECASE)
#: words of protocols and products by who distributes what is written
_SPREADS: Final = (
    ("daos", Spread.CLIENT),
    ("weka", Spread.SERVERS),
    ("dpdk", Spread.SERVERS),
    ("scale", Spread.SERVERS),
    ("ceph", Spread.SERVERS),
    ("vsan", Spread.SERVERS),
    ("s3", Spread.SERVERS),
    ("object", Spread.SERVERS),
    ("lustre", Spread.INSIDE),
    ("nfs", Spread.INSIDE),
    ("nvme", Spread.INSIDE),
    ("iscsi", Spread.INSIDE),
)


def redundancy_of(text: str) -> Redundancy:
    """Redundancy as written: ``8+2``, ``3 copies``, ``none``.

    Raises
    ------
    AnalysisError
        If the text is none of these.
    """
    parts, copies = _PARTS.search(text), _COPIES.search(text)
    if parts and int(parts[1]) > 0:
        return Redundancy(int(parts[1]), int(parts[2]))
    if copies and int(copies[1]) > 0:
        return Redundancy(1, int(copies[1]) - 1)
    if text.strip().lower() in ("none", "raid 0"):
        return Redundancy(1, 0)
    raise AnalysisError(f"redundancy {text!r} is not known", remedy="use 8+2, 3 copies or none")


def spread_of(protocol: str) -> Spread | None:
    """Who distributes what is written, by the words of a protocol; None where they do not say."""
    text = protocol.lower()
    return next((spread for word, spread in _SPREADS if word in text), None)


def forwarded(servers: StorageServers) -> tuple[float, float, float]:
    """Bytes that reach ports of servers for each byte a client writes: value, least, most [1].

    Notes
    -----
    The server that takes the data receives it once, and the share (n − 1) ÷ n of data and parity goes on to others.
    With 8+3 on many servers this is 2.4, with 4+2 2.5, as IBM states for Storage Scale Erasure Code Edition.

    Sources
    -------
    IBM Storage Scale Erasure Code Edition, network requirements.
    """
    known = servers.redundancy
    ends = (WRITTEN.value, WRITTEN.low, WRITTEN.high)
    written = tuple(known.written for _ in ends) if known else ends
    # of servers whose number is not known there are many, or one
    away = (servers.count - 1) / servers.count if servers.count else 1.0
    least = away if servers.count else 0.0
    among = [1 + share * each for share, each in zip((away, least, away), written, strict=True)]
    if servers.spread is Spread.INSIDE:
        return 1.0, 1.0, 1.0
    if servers.spread is Spread.CLIENT:
        return written[0], written[1], written[2]
    return among[0], among[1] if servers.spread is Spread.SERVERS else 1.0, among[2]


def busiest_share(files: int, servers: int, of_file: int) -> tuple[Ratio, Ratio]:
    """Share of the rate of all servers that files of one size get, each on a few servers [1]: value, and low end.

    Parameters
    ----------
    files
        How many are moved at once.
    servers, of_file
        Servers of the system, and those that a file is spread over.

    Notes
    -----
    The busiest server ends last. Of m files on average it keeps ceil(m) if they are placed in turn, and about
    sqrt(2 m ln n) more if they are placed at random on n servers, which is the low end.

    Sources
    -------
    Raab and Steger 1998, balls into bins.

    Raises
    ------
    AnalysisError
        If a count is not positive.
    """
    if files <= 0 or servers < 1 or of_file < 1:
        raise AnalysisError(
            f"{files:,} files on {of_file} of {servers} servers", remedy="give one or more of each, above 0"
        )
    if of_file >= servers:
        return Ratio(1.0), Ratio(1.0)
    mean = files * of_file / servers
    more = math.sqrt(2 * mean * math.log(servers))
    return Ratio(mean / math.ceil(mean)), Ratio(mean / (math.ceil(mean) + more))


def server_rates(servers: StorageServers) -> tuple[ServerRate, ServerRate] | None:
    """What the servers deliver and what they take; None where nothing of them is known.

    Raises
    ------
    AnalysisError
        If there is no server, or a figure is negative.
    """
    given = (servers.network, servers.cores, servers.drive_read, servers.drive_write)
    if servers.count < 0 or min(given) < 0:
        raise AnalysisError(f"{servers.count} storage servers", remedy="give figures of 0 or more")
    if not any(given):
        return None
    written = servers.redundancy.written if servers.redundancy else WRITTEN.value
    direct = PORTS_DIRECT if servers.spread is Spread.CLIENT else None
    more = dict(zip(("value", "high", "low"), forwarded(servers), strict=True))

    def ends(read: bool) -> ServerRate:
        def at(edge: Edge) -> tuple[float, str]:
            def stage(amount: float, share: Constant, cost: float = 1.0) -> float:
                return max(1, servers.count) * amount * getattr(share, edge) / cost if amount > 0 else math.inf

            if read:
                stages = (
                    (stage(servers.network, direct or PORTS_READ), "ports of the servers"),
                    (stage(servers.drive_read, DRIVES_READ), "drives of the servers"),
                    (stage(servers.cores, CORE_READ), "processors of the servers"),
                )
            else:
                stages = (
                    (stage(servers.network, direct or PORTS_WRITE, more[edge]), "ports of the servers"),
                    (stage(servers.drive_write, DRIVES_WRITE, written), "drives of the servers"),
                    (stage(servers.cores, CORE_WRITE), "processors of the servers"),
                )
            return min(stages)

        value, held = at("value")
        return ServerRate(value, min(value, at("low")[0]), max(value, at("high")[0]), held)

    read, write = ends(True), ends(False)
    if math.isinf(read.value) or math.isinf(write.value):
        # drives whose writes (or reads) are not known: the other direction is all there is
        known = write if math.isinf(read.value) else read
        read, write = (known if math.isinf(one.value) else one for one in (read, write))
    return read, write


FORMULA: Final = Formula(
    "storage-servers",
    "What storage servers deliver and take",
    server_rates,
    ("fit-storage-servers", "scale-ece-network", "assumed-storage-servers", "raab-1998"),
    "large reads and writes spread evenly over equal servers; nothing comes from their caches",
)
