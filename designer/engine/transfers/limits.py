"""Limits of a transfer next to links and parts: shares of memory, processor cores, what one client can mount."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.design.document import Design, Part
from designer.engine.account.bottlenecks import Limit
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import CLIENT_WRITE_SHARE, band_of, bytes_written
from designer.engine.network.frame import STRUCTURES_LIMIT, Frame, frame_arrays
from designer.engine.network.partition import by_value
from designer.engine.routes.legs import Legs
from designer.engine.routes.protocols import KERNEL_BAND, KERNEL_COST, cores_of_islands, host_cost, in_kernel
from designer.errors import AnalysisError
from designer.formulas.storage.client_rate import (
    client_of,
    connection_rates,
    core_rates,
    request_size,
    socket_rates,
    stream_rate,
)
from designer.formulas.storage.read_rate import FILE_SHARE
from designer.formulas.storage.requests import cached_write_rate, operations_rate, request_rate
from designer.formulas.storage.storage_capacity import Client
from designer.formulas.transfer import LATENCY, TransferProtocol
from designer.memo import memo
from designer.sources import Constant
from designer.units import Bytes, BytesPerSecond, PerSecond, Seconds, format_quantity
from designer.workload.program.tasks import Move

# Requests to storage: how many are in flight, how large each is, and how many operations a system does in a second.

_OPERATIONS: Final = ("random_read_rate", "random_write_rate")
_WAYS: Final = ("read", "write")
#: latency of a request to storage that does not say it, with the ends of its band [s]
_LATENCY: Final = (
    LATENCY[TransferProtocol.STORAGE].value,
    LATENCY[TransferProtocol.STORAGE].low,
    LATENCY[TransferProtocol.STORAGE].high,
)


def request_limits(network: Network, legs: Legs, operation: Move) -> FlowLimits:
    """What streams and caches of drives let through, and requests of a given size: in flight, and as operations."""
    stores = network.has(Capability.STORE)
    found: list[FlowLimits] = []
    for way, (systems, _) in enumerate(((legs.source, legs.target), (legs.target, legs.source))):
        rows = np.flatnonzero(stores[systems])
        if len(rows):
            mine = Legs(legs.flow[rows], legs.source[rows], legs.target[rows], legs.share[rows])
            found.append(_of_flows(network, mine, systems[rows], lambda d: _limit_of_streams(network, d, operation)))
            if way:
                found.append(_past_caches(network, mine, systems[rows], operation.size))
            if operation.request > 0:
                each = partial(_limit_in_flight, network, operation=operation, way=way)
                found.append(_of_flows(network, mine, systems[rows], each))
                found.append(_operations(network, mine, systems[rows], operation, way))
    return FlowLimits.joined(found) if found else NO_LIMITS


def _of_flows(network: Network, legs: Legs, systems: Int, limit_of: Callable[[int], Limit | None]) -> FlowLimits:
    """A limit of every flow from storage, or to it: a flow that meets several systems takes its share at each."""
    definition = network.net.part_def[systems]
    known = {d: limit for d in np.unique(definition).tolist() if (limit := limit_of(d)) is not None}
    rows = np.flatnonzero(np.isin(definition, list(known)))
    if not len(rows):
        return NO_LIMITS
    legs = Legs(legs.flow[rows], legs.source[rows], legs.target[rows], legs.share[rows])
    definitions, which = np.unique(definition[rows], return_inverse=True)
    limits = [known[d] for d in definitions.tolist()]
    capacity = np.array([limit.capacity for limit in limits])
    _, first, node = np.unique(legs.flow, return_index=True, return_inverse=True)
    of = which[first]
    usage = legs.share * capacity[of[node]] / capacity[which]
    return FlowLimits(tuple(limits), of, legs.flow, node, usage)


def _limit_of_streams(network: Network, definition: int, operation: Move) -> Limit | None:
    """What the processes of a flow get from a file each; None where nothing holds a stream back."""
    quantity = network.design.quantity(network.net.part_defs[definition], "protocol")
    rate = stream_rate(str(quantity.value)) if quantity is not None else None
    if rate is None:
        return None
    many = max(1, operation.threads)
    label = f"{many:,} stream{'s' * (many != 1)} of its client"
    return Limit("streams", label, rate.value * many, band=(rate.low / rate.value, rate.high / rate.value))


def _limit_in_flight(network: Network, definition: int, operation: Move, way: int) -> Limit:
    part = network.net.part_defs[definition]
    facts = network.part_resources[definition]
    # bytes of a request follow its latency at the rate of the medium, or of the client if that is all there is
    client = band_of(network.design, part, f"client_{_WAYS[way]}_bandwidth")
    known = [facts.capacity / (facts.write if way else facts.read)] if facts is not None else []
    medium = BytesPerSecond(min([*known, *client[:1]] if client is not None else known, default=0.0))
    size, in_flight = Bytes(operation.request), operation.depth * operation.threads
    value, high, low = (
        request_rate(size, in_flight, Seconds(latency), medium)
        for latency in band_of(network.design, part, "access_latency") or _LATENCY
    )
    label = f"{in_flight:,} request{'s' * (in_flight != 1)} of {format_quantity(size, 'size')} in flight"
    return Limit("requests", label, value, band=(min(1.0, low / value), max(1.0, high / value)))


def _past_caches(network: Network, legs: Legs, drives: Int, size: float) -> FlowLimits:
    """What drives take that are slower when their cache is full, by the bytes each gets; streams are without end."""
    limits: list[Limit] = []
    flows: list[Int] = []
    usages: list[Float] = []
    defined = network.net.part_def[drives]
    for definition in np.unique(defined).tolist():
        facts, part = network.part_resources[definition], network.net.part_defs[definition]
        steady, cache = (band_of(network.design, part, name) for name in ("steady_write_bandwidth", "write_cache"))
        if cache is not None and steady is None:
            raise AnalysisError("a write cache alone", place=part.id, remedy="give steady_write_bandwidth")
        if facts is None or steady is None:
            continue
        # bytes and rates of the drive, parity and copies among them
        written = bytes_written(network.design, part, network.kinds[definition])
        burst = BytesPerSecond(facts.capacity / facts.write * written)
        for drive in np.unique(drives[defined == definition]).tolist():
            rows = np.flatnonzero(drives == drive)
            amount = Bytes(size * float(legs.share[rows].sum()) * written)
            ends = zip(cache or (0.0,) * len(steady), steady, strict=True)
            value, low, high = (cached_write_rate(amount, Bytes(c), burst, BytesPerSecond(s)) for c, s in ends)
            if value < burst:
                label = f"{network.net.part(drive).label} past its cache"
                band = (low / value, high / value)
                limits.append(Limit(f"cache:{network.net.path(drive)}", label, value / written, band=band))
                flows.append(legs.flow[rows])
                usages.append(legs.share[rows])
    return FlowLimits.each(limits, flows, usages)


def _operations(network: Network, legs: Legs, systems: Int, operation: Move, way: int) -> FlowLimits:
    """Operations of every system that says how many it does."""
    given = {
        d: band_of(network.design, network.net.part_defs[d], _OPERATIONS[way])
        for d in np.unique(network.net.part_def[systems]).tolist()
    }
    known = np.array([given[d] is not None for d in network.net.part_def[systems].tolist()], dtype=bool)
    parts, node = np.unique(systems[known], return_inverse=True)
    if not len(parts):
        return NO_LIMITS
    limits: list[Limit] = []
    for part in parts.tolist():
        band = given[int(network.net.part_def[part])]
        assert band is not None
        value = operations_rate(PerSecond(band[0]), Bytes(operation.request))
        # a raw device does what its data sheet says
        ends = (FILE_SHARE.low / FILE_SHARE.value * band[1] / band[0], band[2] / band[0] / FILE_SHARE.value)
        path = network.net.path(part)
        label = f"{network.net.part(part).label} (operations)"
        limits.append(Limit(f"operations:{path}", label, value, "operations", ends))
    return FlowLimits(tuple(limits), np.arange(len(parts)), legs.flow[known], node, legs.share[known])


Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class FlowLimits:
    """Limits of flows other than links and parts, and what flows take of them.

    Parameters
    ----------
    distinct
        The limits that differ: nodes that share one have each their own capacity of it.
    of : (n_nodes,) limit of each node, in `distinct`
    flow, node, usage : (n_entries,) the flow that meets a node, and how much of the node each unit of it takes [1]
    """

    distinct: tuple[Limit, ...]
    of: Int
    flow: Int
    node: Int
    usage: Float

    @staticmethod
    def each(limits: Sequence[Limit], flows: Sequence[Int], usages: Sequence[Float]) -> FlowLimits:
        """A node for each limit, with the flows that meet it and what each takes."""
        numbers, none = np.arange(len(limits)), np.empty(0, dtype=np.int64)
        node = np.repeat(numbers, [len(flow) for flow in flows]) if flows else none
        flow, usage = np.concatenate([none, *flows]), np.concatenate([np.empty(0), *usages])
        return FlowLimits(tuple(limits), numbers, flow, node, usage)

    @staticmethod
    def joined(parts: Sequence[FlowLimits]) -> FlowLimits:
        """All of them together, nodes in their order."""
        if len(parts) == 1:
            return parts[0]
        found = NO_LIMITS
        for part in parts:
            found = FlowLimits(
                found.distinct + part.distinct,
                np.concatenate([found.of, part.of + len(found.distinct)]),
                np.concatenate([found.flow, part.flow]),
                np.concatenate([found.node, part.node + len(found.of)]),
                np.concatenate([found.usage, part.usage]),
            )
        return found

    def limit(self, node: int) -> Limit:
        """The limit of a node."""
        return self.distinct[int(self.of[node])]


NO_LIMITS: Final = FlowLimits.each((), (), ())


def memory_shares(network: Network, legs: Legs, shares: Mapping[int, float]) -> FlowLimits:
    """What is to be had of the memory of parts of which a machine has a share."""
    limits: list[Limit] = []
    flows: list[Int] = []
    usages: list[Float] = []
    for part, rate in shares.items():
        facts = network.part_resources[int(network.net.part_def[part])]
        flow: list[Int] = []
        usage: list[Float] = []
        for ends, cost in ((legs.source, facts.read if facts else 1.0), (legs.target, facts.write if facts else 1.0)):
            rows = np.flatnonzero(ends == part)
            flow.append(legs.flow[rows])
            usage.append(legs.share[rows] * cost)
        path = network.net.path(part)
        limits.append(Limit(f"share:{path}", f"share of the memory of {path}", rate))
        flows.append(np.concatenate(flow))
        usages.append(np.concatenate(usage))
    return FlowLimits.each(limits, flows, usages)


def protocol_cores(network: Network, legs: Legs) -> FlowLimits:
    """What the cores of every host can move to and from storage, where the protocol needs them."""
    stores = in_kernel(network)
    rows = np.flatnonzero(stores[legs.source] | stores[legs.target])
    if not len(rows):
        return NO_LIMITS
    mine = Legs(legs.flow[rows], legs.source[rows], legs.target[rows], legs.share[rows])
    cost = host_cost(network, mine)
    host = network.island[np.where(stores[mine.source], mine.target, mine.source)]
    available = cores_of_islands(network)
    rows = np.flatnonzero((cost > 0) & (available[host] > 0))
    rows = rows[np.argsort(host[rows], kind="stable")]
    hosts, node = np.unique(host[rows], return_inverse=True)
    cores, of = np.unique(available[hosts], return_inverse=True)
    limits = tuple(
        Limit("cores", "processor cores moving data", each / KERNEL_COST.value, band=KERNEL_BAND)
        for each in cores.tolist()
    )
    return FlowLimits(limits, of, mine.flow[rows], node, mine.share[rows] * cost[rows] / KERNEL_COST.value)


@dataclass(frozen=True, slots=True, eq=False)
class Mounts:
    """Mounts of one direction: one for each storage system and server.

    Parameters
    ----------
    flow, client, usage : (n_entries,) what each flow takes of which mount
    system, part : (n_mounts,) the system, and a part of the server
    capacity, kind : (n_mounts,) [B/s]; systems of other definitions, and hosts of other sockets, have other kinds
    low, high : (n_mounts,) ends of the band of a capacity, relative to it [1]
    """

    flow: Int
    client: Int
    usage: Float
    system: Int
    part: Int
    capacity: Float
    kind: Int
    low: Float
    high: Float


def mounts_of(network: Network, legs: Legs) -> list[Mounts]:
    """What one client can get from a storage system through its mount: for reading, then for writing."""
    return _mount_limits(legs, network.frame, _client_rates(network))


#: what caps a client: figures of its own, and figures of each of its sockets; each a rate with the ends of its band
_CAPS: Final = ("client", "socket")
_ENDS: Final = ("rate", "low", "high")


@memo(most=NETWORKS_LIMIT)
def _client_rates(network: Network) -> bytes:
    """What one client reads, then writes, through its mount of each part definition. : (2, 2, 3, n_part_defs)"""
    net, design = network.net, network.design
    given = np.zeros((2, len(_CAPS), len(_ENDS), len(network.kinds)))
    for d, kind in enumerate(network.kinds):
        if Capability.STORE in kind.capabilities:
            given[..., d] = _mount(design, net.part_defs[d])
    return given.tobytes()


def _mount(design: Design, part: Part) -> Sequence[tuple[Band, Band]]:
    """Rate and band of a client, and of each of its sockets, for reading and for writing [B/s].

    Raises
    ------
    AnalysisError
        If a client has no connection.
    """
    read, write = (band_of(design, part, name) for name in _CLIENT_RATES)
    if (read is None and write is None) or counted_by_hand(part):
        return _mount_of_protocol(design, part)
    if write is None and read is not None:
        # both bands hold at once
        share = CLIENT_WRITE_SHARE
        write = read[0] * share.value, read[1] * share.low, read[2] * share.high
    given = [one if one is not None and one[0] > 0 else None for one in (read, write)]
    return [(one or _NO_CAP, _NO_CAP) for one in given]


_CLIENT_RATES: Final = tuple(f"client_{way}_bandwidth" for way in _WAYS)
#: what says what a client gets in place of its rates
_COUNTS: Final = ("nconnect", "connection_bandwidth", "client_cores", "client_requests", "client_release")


def counted_by_hand(part: Part) -> bool:
    """True if a drawing says how a client is mounted: then the rates of its type, of other clients, do not count."""
    given = part.overrides.keys()
    return not given.isdisjoint(_COUNTS) and given.isdisjoint(_CLIENT_RATES)


def _mount_of_protocol(design: Design, part: Part) -> Sequence[tuple[Band, Band]]:
    """The same by its protocol: sockets of clients in the kernel, and connections, cores or requests that are given."""

    def text(name: str) -> str:
        quantity = design.quantity(part, name)
        return str(quantity.value) if quantity is not None else ""

    protocol = text("protocol")
    client = client_of(protocol) if protocol else None
    try:
        release = text("client_release")
        sockets = socket_rates(client or Client.PARALLEL, release) if client is not None or release else None
        caps = [
            *_counted(design, part, "nconnect", _connections(design, part, client)),
            *_counted(design, part, "client_cores", lambda: _bands(core_rates(protocol))),
            *_window(design, part, client),
        ]
    except AnalysisError as error:
        raise AnalysisError(error.text, place=part.id, remedy=error.remedy) from None
    each = _bands(sockets) if sockets is not None else (_NO_CAP, _NO_CAP)
    least = [min((cap[way] for cap in caps), default=_NO_CAP) for way in range(2)]
    return list(zip(least, each, strict=True))


def _bands(rates: tuple[Constant, Constant]) -> tuple[Band, Band]:
    read, write = ((one.value, one.low, one.high) for one in rates)
    return read, write


def _connections(design: Design, part: Part, client: Client | None) -> Callable[[], tuple[Band, Band]]:
    """What one connection reads and writes: what is given, or what is usual of the client [B/s]."""
    given = band_of(design, part, "connection_bandwidth")
    if given is not None and design.quantity(part, "nconnect") is None:
        raise AnalysisError("a rate of a connection without their number", remedy="give nconnect")
    return lambda: (given, given) if given is not None else _bands(connection_rates(client))


def _counted(
    design: Design, part: Part, name: str, rates: Callable[[], tuple[Band, Band]]
) -> Sequence[tuple[Band, Band]]:
    """What so many connections or cores read and write together [B/s]; none where their number is not given.

    Raises
    ------
    AnalysisError
        If there is none.
    """
    count = band_of(design, part, name)
    if count is None:
        return ()
    if count[0] < 1:
        raise AnalysisError(f"a client without a {_COUNTED[name]}", remedy=f"give {name} of 1 or more")
    read, write = (tuple(count[0] * end for end in each) for each in rates())
    return (((read[0], read[1], read[2]), (write[0], write[1], write[2])),)


_COUNTED: Final = {"nconnect": "connection", "client_cores": "core"}


def _window(design: Design, part: Part, client: Client | None) -> Sequence[tuple[Band, Band]]:
    """What the requests in flight of a client let through, by Little's law [B/s]; none where they are not given."""
    requests, size = (band_of(design, part, name) for name in ("client_requests", "client_request_size"))
    if requests is None and size is not None:
        raise AnalysisError("a size of requests without their number", remedy="give client_requests")
    if requests is None:
        return ()
    each = Bytes(size[0]) if size is not None else request_size(client)
    value, high, low = (
        request_rate(each, int(requests[0]), Seconds(latency))
        for latency in band_of(design, part, "access_latency") or _LATENCY
    )
    return (((value, low, high), (value, low, high)),)


#: a rate and the ends of its band [B/s]
Band = tuple[float, float, float]
#: clients that nothing but links holds back
_NO_CAP: Final = (0.0, 0.0, 0.0)
#: traffic whose mounts are kept with it, and for how many settings of the mounts
MOUNTED_LIMIT: Final = 4


@memo(most=MOUNTED_LIMIT, each=2)
def _mount_limits(legs: Legs, frame: Frame, given: bytes) -> list[Mounts]:
    """The mounts of traffic. : given (2, 2, 3, n_part_defs) what one client, and one socket, reads and writes [B/s]"""
    net, at = frame.net, frame_arrays(frame)
    found: list[Mounts] = []
    ends = ((legs.source, legs.target), (legs.target, legs.source))
    for rates, (systems, clients) in zip(
        np.frombuffer(given).reshape(2, len(_CAPS), len(_ENDS), -1), ends, strict=True
    ):
        capped = np.any(rates[:, 0] > 0, axis=0)
        rows = np.flatnonzero(capped[net.part_def[systems]]) if capped.any() else systems[:0]
        system, island = systems[rows], at.island[clients[rows]]
        classes = by_value(system * at.n_islands + island)
        lead = classes.first
        definition = net.part_def[system[lead]]
        sockets = np.ones(len(lead), dtype=np.int64)
        own = np.flatnonzero(rates[1, 0, definition])
        if len(own):
            sockets[own] = _sockets(frame)[island[lead[own]]]
        caps = rates[..., definition]
        caps = np.where(caps > 0, caps * np.stack([np.ones_like(sockets), sockets])[:, None], np.inf)
        rate, low, high = np.take_along_axis(caps, caps[:, :1].argmin(axis=0)[None], axis=0)[0]
        columns = (rate, definition * (int(sockets.max(initial=0)) + 1) + sockets, low / rate, high / rate)
        found.append(Mounts(legs.flow[rows], classes.of, legs.share[rows], system[lead], clients[rows[lead]], *columns))
    return found


def _sockets(frame: Frame) -> Int:
    """Processors of every island, one at least. : (n_islands,)"""
    at, has = frame_arrays(frame), [kind.capabilities for kind in frame.kinds]
    counts = np.array([Capability.COMPUTE in one and Capability.ATTACH not in one for one in has], dtype=bool)
    found = np.bincount(at.island[counts[frame.net.part_def]], minlength=at.n_islands)
    return np.maximum(found, 1)


#: questions about clients whose paths are kept for each frame
_PATHS_LIMIT: Final = 4


@memo(most=STRUCTURES_LIMIT, each=_PATHS_LIMIT)
def client_paths(frame: Frame, systems: bytes, clients: bytes) -> list[tuple[str, str]]:
    """Paths of storage systems, and of the servers that some parts are in."""
    net = frame.net
    one = {s: net.path(s) for s in set(np.frombuffer(systems, dtype=np.int64).tolist())}
    pairs = zip(np.frombuffer(systems, np.int64).tolist(), np.frombuffer(clients, np.int64).tolist(), strict=True)
    return [(one[s], net.path(c).rpartition("/")[0] or "the server") for s, c in pairs]
