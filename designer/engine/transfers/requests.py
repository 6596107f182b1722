"""Requests to storage: how many are in flight, how large each is, and how many operations a system does in a second."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.account.bottlenecks import Limit
from designer.engine.network import Network
from designer.engine.network.capacities import band_of
from designer.engine.routes.legs import Legs
from designer.engine.transfers.limits import NO_LIMITS, FlowLimits
from designer.formulas.storage.read_rate import FILE_SHARE
from designer.formulas.storage.requests import operations_rate, request_rate
from designer.formulas.transfer import LATENCY, TransferProtocol
from designer.units import Bytes, BytesPerSecond, PerSecond, Seconds, format_quantity
from designer.workload.program.tasks import Move

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
_OPERATIONS: Final = ("random_read_rate", "random_write_rate")


def request_limits(network: Network, legs: Legs, operation: Move) -> FlowLimits:
    """What requests of a given size let through: those in flight of every flow, and operations of every system."""
    if operation.request <= 0:
        return NO_LIMITS
    stores = network.has(Capability.STORE)
    found: list[FlowLimits] = []
    for way, (systems, _) in enumerate(((legs.source, legs.target), (legs.target, legs.source))):
        rows = np.flatnonzero(stores[systems])
        if len(rows):
            mine = Legs(legs.flow[rows], legs.source[rows], legs.target[rows], legs.share[rows])
            found.append(_in_flight(network, mine, systems[rows], operation, way))
            found.append(_operations(network, mine, systems[rows], operation, way))
    return FlowLimits.joined(found) if found else NO_LIMITS


def _in_flight(network: Network, legs: Legs, systems: Int, operation: Move, way: int) -> FlowLimits:
    """Requests of every flow from storage, or to it: a flow that meets several systems takes its share at each."""
    definitions, which = np.unique(network.net.part_def[systems], return_inverse=True)
    limits = [_limit_in_flight(network, d, operation, way) for d in definitions.tolist()]
    capacity = np.array([limit.capacity for limit in limits])
    _, first, node = np.unique(legs.flow, return_index=True, return_inverse=True)
    of = which[first]
    usage = legs.share * capacity[of[node]] / capacity[which]
    return FlowLimits(tuple(limits), of, legs.flow, node, usage)


def _limit_in_flight(network: Network, definition: int, operation: Move, way: int) -> Limit:
    part = network.net.part_defs[definition]
    start = LATENCY[TransferProtocol.STORAGE]
    usual = (start.value, start.low, start.high)
    facts = network.part_resources[definition]
    medium = BytesPerSecond(facts.capacity / (facts.write if way else facts.read) if facts is not None else 0.0)
    size, in_flight = Bytes(operation.request), operation.depth * operation.threads
    value, high, low = (
        request_rate(size, in_flight, Seconds(latency), medium)
        for latency in band_of(network.design, part, "access_latency") or usual
    )
    label = f"{in_flight:,} requests of {format_quantity(size, 'size')} in flight"
    return Limit("requests", label, value, band=(min(1.0, low / value), max(1.0, high / value)))


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
