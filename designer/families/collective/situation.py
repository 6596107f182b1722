"""What the formulas of collectives need to know of a group on the drawing: bandwidths, paths, switches on the way."""

from __future__ import annotations

from typing import Final

import numpy as np

from designer.catalog.parttype import Capability
from designer.engine.network import Network
from designer.engine.routes.hop_loads import Common, Hops, through
from designer.families.collective.activities import Activity, host_rate
from designer.families.collective.routed_groups import Int, RoutedGroups, host_maker
from designer.formulas.collectives import (
    SWITCH_HOP,
    CollectiveKind,
    CollectiveSituation,
    NetworkKind,
    PathClass,
)
from designer.sources import Constant, Status

#: NVSwitches reduce in the switch from this generation of NVLink on
FIRST_REDUCING: Final = Constant(4, 4, 4, "nccl-tuning", Status.PRIMARY)
#: latencies of one way added up in another order are the same
PICOSECOND_DIGITS: Final = 12
#: transports of clouds by what links may call them
_NAMED: Final = {
    NetworkKind.EFA: {NetworkKind.EFA.value},
    NetworkKind.TCPXO: {NetworkKind.TCPXO.value, "tcpxo"},
    NetworkKind.TCPX: {NetworkKind.TCPX.value, "tcpx"},
    NetworkKind.TCP: {NetworkKind.TCP.value},
}
#: kinds of part that are switches of a network
NETWORK_SWITCHES: Final = frozenset({"switch"})


def situation_of(
    network: Network,
    parts: Int,
    routed: RoutedGroups,
    inside: Activity | None,
    between: Activity | None,
    exchange: Activity | None,
) -> CollectiveSituation:
    """What the formulas need to know of a group.

    Parameters
    ----------
    parts : (n_ranks,) the accelerators
    inside, between, exchange
        What its hops get inside servers, between them, and of every rank to each other one of its server.
    """
    ranks, servers, path = len(parts), routed.n_servers, routed.path
    intra = inside.rate if inside else 0.0
    inter = between.rate if between else 0.0
    if inside and between:
        # Where both use the same PCIe links, the ring that runs through both is slower than either alone.
        intra, inter = rates_together(network, routed.common, inside, between)
    if inside is not None and path is None:
        path = placed_path(inside.hops)
    nic_path, host, nics = PathClass.PCIE_SWITCH, 0.0, 1
    kind = NetworkKind.INFINIBAND
    if between is not None:
        nic_path = placed_path(between.hops)
        host = host_rate(network, between.hops)
        kind = _network_kind(network, between.hops.links)
        nics = max(1, round(len(between.hops.nics) / servers))
    first = network.net.part(int(parts[0]))
    direct = pair = 0.0
    if exchange is not None:
        direct = min(exchange.rate, intra)
    if inside is not None and path in (PathClass.XGMI, PathClass.NVLINK_MESH, PathClass.GAUDI) and ranks > 2:
        # on a mesh of unequal links the narrowest pair is what all pairs can have at once
        pair = (direct or inside.rate) / max(1, ranks // servers - 1)
        direct = direct or inside.rate
    return CollectiveSituation(
        kind=CollectiveKind.ALL_REDUCE,
        ranks=ranks,
        message=0.0,
        intra_bandwidth=intra,
        servers=servers,
        intra_path=path or PathClass.PCIE_CPU,
        bridged_pairs=routed.mixed,
        architecture=_architecture(network, first.kind, int(parts[0])),
        in_switch_reduction=path is PathClass.NVLINK_SWITCH and switches_reduce(network, inside),
        direct_bandwidth=direct,
        pair_bandwidth=pair,
        inter_bandwidth=inter,
        nics_per_server=nics,
        host_bandwidth=host,
        nic_path=nic_path,
        network=kind,
        switch_hops=switch_hops(between),
        switch_latency=switch_latency(network, between, kind),
        intra_edge=inside.edge if inside else None,
        direct_edge=exchange.edge if exchange else None,
        inter_edge=between.edge if between else None,
        host=host_maker(network, parts) if servers > 1 else "",
    )


def _network_kind(network: Network, links: tuple[int, ...]) -> NetworkKind:
    """What the servers talk over; what the attribute ``technology`` of links says comes before their kind."""
    definitions = [network.net.link_defs[d] for d in links]
    named = {d.attributes.get("technology", "").lower() for d in definitions}
    for kind, names in _NAMED.items():
        if named & names:
            return kind
    return NetworkKind.INFINIBAND if all(d.kind == "infiniband" for d in definitions) else NetworkKind.ROCE


def rates_together(network: Network, common: Common | None, inside: Activity, between: Activity) -> tuple[float, float]:
    """Rates inside servers and between them when both are at work at once [B/s]."""
    if common is None or not len(common.resource):
        return inside.rate, between.rate
    joint = float((network.capacity_of(common.resource) / common.usage).min())
    return (joint, joint) if joint < min(inside.rate, between.rate) else (inside.rate, between.rate)


def placed_path(hops: Hops) -> PathClass:
    """The slowest kind of way over PCIe that the hops take; a stop in host memory is slower than any."""
    if hops.staged:
        return PathClass.HOST_MEMORY
    return (PathClass.PCIE_SWITCH, PathClass.PCIE_CPU, PathClass.CROSS_SOCKET)[hops.placement]


def switch_hops(between: Activity | None) -> int:
    """Switches on the farthest path to the next server: one less than its network links."""
    return max(1, round(between.hops.network_links) - 1) if between is not None else 1


def switch_latency(network: Network, between: Activity | None, kind: NetworkKind) -> float:
    """Time through all switches on the farthest path to the next server [s]; 0 where none of them states its own."""
    if between is None:
        return 0.0
    own = network.hop_bands_of_definitions[0]
    passed = sorted({d for definitions, _ in between.hops.passed for d in definitions})
    if not np.isfinite(own[passed]).any():
        return 0.0
    return round(through(between.hops, np.where(np.isfinite(own), own, SWITCH_HOP[kind].value)), PICOSECOND_DIGITS)


def _architecture(network: Network, kind: str, part: int) -> str:
    definition = network.net.part(part)
    quantity = network.design.quantity(definition, "compute_capability")
    text = str(quantity.value) if quantity else ""
    if text.startswith("gfx"):
        return text
    digits = text.replace(".", "")
    return f"sm_{digits}" if digits.isdigit() else "sm_80"


def switches_reduce(network: Network, activity: Activity | None, kinds: frozenset[str] | None = None) -> bool:
    """True if every switch on the way says that it reduces; of some kinds only, where given."""
    if activity is None:
        return False
    net, passed = network.net, activity.hops.parts
    definitions = [
        d
        for d in passed
        if Capability.SWITCH in network.kinds[d].capabilities and (kinds is None or network.kinds[d].name in kinds)
    ]
    answers: list[bool] = []
    for d in definitions:
        part = net.part_defs[d]
        says = network.design.quantity(part, "in_switch_reduction")
        generation = network.design.quantity(part, "nvlink_generation")
        if says is not None:
            answers.append(bool(says.value))
        else:
            answers.append(
                generation is not None
                and isinstance(generation.value, int)
                and generation.value >= FIRST_REDUCING.value
            )
    return bool(answers) and all(answers)
