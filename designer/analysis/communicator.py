"""Groups of ranks on the drawn design: rings routed over its links give the raw bandwidth, models the time.

A collective runs in lockstep, so it is one activity with the summed usage of its hops, never a bundle of
independent flows. What a library achieves of the raw bandwidth is put on once, by the formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.achieved import Achieved
from designer.analysis.hashing import mix
from designer.analysis.islands import find_islands
from designer.analysis.network import NETWORK, TIE_TOLERANCE, Network
from designer.analysis.rings import find_rings
from designer.analysis.routes import Legs, Routes, route
from designer.analysis.routing.host_paths import Rules
from designer.catalog.parttype import Capability
from designer.errors import AnalysisError
from designer.formulas.collectives import CollectiveKind, CollectiveSituation, CollectiveTime, NetworkKind, PathClass
from designer.formulas.collectives.collective_time import collective_time
from designer.sources import Constant, Status

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: NVSwitches reduce in the switch from this generation of NVLink on
FIRST_REDUCING: Final = Constant(4, 4, 4, "nccl-tuning", Status.PRIMARY)
#: names users know for the algorithms of the formulas
ALGORITHMS: Final = {
    "ring": frozenset({"ring"}),
    "tree": frozenset({"double-binary-tree"}),
    "in-switch": frozenset({"nvls", "nvls-tree"}),
    "hierarchical": frozenset({"hierarchical"}),
    "direct": frozenset({"direct"}),
}


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """A synchronous pattern of hops routed on the network: usage of resources per unit of rate.

    Parameters
    ----------
    rate
        What it gets alone [B/s], raw.
    binds, then
        Resources that bind it, and those that would next; ``rate_then`` is the rate when the first are gone.
    """

    legs: Legs
    routes: Routes
    resource: Int
    usage: Float
    rate: float
    binds: tuple[int, ...]
    then: tuple[int, ...]
    rate_then: float


@dataclass(frozen=True, slots=True, eq=False)
class Communicator:
    """A group of ranks on the drawn design, ready to be asked for any message size.

    Parameters
    ----------
    situation
        What the formulas need; ``message`` and ``kind`` are replaced for each question.
    inside, between
        The ring inside every server, and the exchange between servers; None where there is none.
    """

    network: Network
    situation: CollectiveSituation
    inside: Activity | None
    between: Activity | None
    parts: Int

    def time(self, kind: str, message: float, algorithm: str = "auto") -> CollectiveTime:
        """Time of a collective over this group."""
        asked = replace(self.situation, kind=CollectiveKind(kind), message=message)
        return collective_time(asked, ALGORITHMS.get(algorithm))


def make_communicator(network: Network, ranks: Int, place: str) -> Communicator:
    """The communicator of the given accelerators, in rank order.

    Raises
    ------
    AnalysisError
        If some ranks cannot reach the others.
    """
    islands = find_islands(network)
    policy = network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    island = network.island[ranks]
    order = list(dict.fromkeys(island.tolist()))
    by_island = ranks[np.argsort(island, kind="stable")]
    numbers, sizes = np.unique(island, return_counts=True)
    pieces = dict(zip(numbers.tolist(), np.split(by_island, np.cumsum(sizes)[:-1]), strict=True))
    members = {i: pieces[i] for i in order}
    inside_legs: list[tuple[int, int, float]] = []
    kinds: set[PathClass | None] = set()
    mixed = False
    for i in order:
        if len(members[i]) < 2:
            continue
        graph = islands.classes[int(islands.class_of[i])]
        rings = find_rings(graph, islands.local[members[i]].tolist(), rules)
        base = int(islands.part_start[i])
        inside_legs += [(int(islands.parts[base + a]), int(islands.parts[base + b]), s) for a, b, s in rings.hops]
        kinds.add(rings.path)
        mixed = mixed or rings.mixed
    inside = _activity(network, inside_legs, place) if inside_legs else None
    between = _activity(network, _exchange(members, order), place) if len(order) > 1 else None
    situation = _situation(network, members, inside, between, _slowest(kinds), mixed)
    return Communicator(network, situation, inside, between, ranks)


def _slowest(kinds: set[PathClass | None]) -> PathClass | None:
    """The kind of ring that holds up the others; None, where the routes decide, is PCIe."""
    if None in kinds:
        return None
    return max((k for k in kinds if k), key=list(PathClass).index, default=PathClass.NVLINK_SWITCH)


def _exchange(members: dict[int, Int], order: Sequence[int]) -> list[tuple[int, int, float]]:
    """Every server sends to the next: rank i to rank i, each an equal share of what a server sends."""
    width = min(len(m) for m in members.values())
    legs: list[tuple[int, int, float]] = []
    for here, there in zip(order, [*order[1:], order[0]], strict=True):
        legs += [(int(members[here][r]), int(members[there][r]), 1 / width) for r in range(width)]
    return legs


def _activity(network: Network, hops: Sequence[tuple[int, int, float]], place: str) -> Activity:
    source, target = np.array([h[0] for h in hops]), np.array([h[1] for h in hops])
    share = np.array([h[2] for h in hops])
    legs = Legs(np.arange(len(hops)), source, target, share)
    routes = route(network, legs)
    if len(routes.lost):
        f = int(routes.lost[0])
        raise AnalysisError(
            f"there is no way from {network.net.path(int(source[f]))} to {network.net.path(int(target[f]))}",
            place=place, remedy="join them by accelerator links or PCIe, or give both servers NICs on one network",
        )  # fmt: skip
    link = routes.channel >> 1
    direction = np.where(network.full[link], routes.channel & 1, 0)
    cable = (mix(routes.flow, link) % network.cables[link].astype(np.uint64)).astype(np.int64)
    entry = network.first_resource[link] + direction * network.cables[link] + cable
    resource, which = np.unique(entry, return_inverse=True)
    usage = np.bincount(which, routes.share).astype(np.float64)
    level = network.capacity[resource] / usage
    rate = float(level.min())
    binds = level <= rate * (1 + TIE_TOLERANCE)
    rest = level[~binds]
    rate_then = float(rest.min()) if len(rest) else np.inf
    then = resource[~binds][rest <= rate_then * (1 + TIE_TOLERANCE)] if len(rest) else resource[:0]
    return Activity(
        legs, routes, resource, usage, rate, tuple(resource[binds].tolist()), tuple(then.tolist()), rate_then
    )


def _situation(
    network: Network, members: dict[int, Int], inside: Activity | None, between: Activity | None,
    path: PathClass | None, mixed: bool,
) -> CollectiveSituation:  # fmt: skip
    ranks = sum(len(m) for m in members.values())
    achieved = Achieved(network)
    intra = inside.rate if inside else 0.0
    inter = between.rate if between else 0.0
    if inside and between:
        # Where both use the same PCIe links, the ring that runs through both is slower than either alone.
        intra, inter = _together(network, inside, between)
    if inside is not None and path is None:
        path = _placed(achieved.placement(inside.routes, len(inside.legs)).max())
    nic_path, host, nics = PathClass.PCIE_SWITCH, 0.0, 1
    kind = NetworkKind.INFINIBAND
    if between is not None:
        domain = network.domain[between.routes.channel >> 1]
        nic_path = _placed(achieved.placement(between.routes, len(between.legs)).max())
        host = _host_rate(network, between)
        kind = _network_kind(network, between.routes.channel[domain == NETWORK] >> 1)
        ends = network.net.link_a, network.net.link_b
        links = between.routes.channel[domain == NETWORK] >> 1
        attach = network.has(Capability.ATTACH)
        used = np.unique(np.concatenate([side[links] for side in ends]))
        nics = max(1, round(int(attach[used].sum()) / len(members)))
    first = network.net.part(int(next(iter(members.values()))[0]))
    direct = pair = 0.0
    if inside is not None and path in (PathClass.XGMI, PathClass.NVLINK_MESH) and ranks > 2:
        direct = inside.rate
        pair = inside.rate / max(1, ranks // len(members) - 1)
    return CollectiveSituation(
        kind=CollectiveKind.ALL_REDUCE,
        ranks=ranks,
        message=0.0,
        intra_bandwidth=intra,
        servers=len(members),
        intra_path=path or PathClass.PCIE_CPU,
        bridged_pairs=mixed,
        architecture=_architecture(network, first.kind, int(next(iter(members.values()))[0])),
        in_switch_reduction=path is PathClass.NVLINK_SWITCH and _reduces(network, inside),
        direct_bandwidth=direct,
        pair_bandwidth=pair,
        inter_bandwidth=inter,
        nics_per_server=nics,
        host_bandwidth=host,
        nic_path=nic_path,
        network=kind,
        switch_hops=_switch_hops(network, between),
    )


def _network_kind(network: Network, links: Int) -> NetworkKind:
    """What the servers talk over; links whose attribute ``technology`` says EFA are that, whatever their kind."""
    definitions = [network.net.link_defs[d] for d in np.unique(network.net.link_def[links]).tolist()]
    if any(d.attributes.get("technology", "").upper() == "EFA" for d in definitions):
        return NetworkKind.EFA
    return NetworkKind.INFINIBAND if all(d.kind == "infiniband" for d in definitions) else NetworkKind.ROCE


def _together(network: Network, inside: Activity, between: Activity) -> tuple[float, float]:
    resource = np.concatenate([inside.resource, between.resource])
    shared, count = np.unique(resource, return_counts=True)
    if not (count > 1).any():
        return inside.rate, between.rate
    both, which = np.unique(resource, return_inverse=True)
    usage = np.bincount(which, np.concatenate([inside.usage, between.usage])).astype(np.float64)
    joint = float((network.capacity[both] / usage).min())
    del shared
    return (joint, joint) if joint < min(inside.rate, between.rate) else (inside.rate, between.rate)


def _placed(code: int) -> PathClass:
    return (PathClass.PCIE_SWITCH, PathClass.PCIE_CPU, PathClass.CROSS_SOCKET)[int(code)]


def _host_rate(network: Network, between: Activity) -> float:
    """Rate the host links between ranks and NICs would give alone [B/s]."""
    link = np.searchsorted(network.first_resource, between.resource, side="right") - 1
    host = network.domain[link] != NETWORK
    return float((network.capacity[between.resource[host]] / between.usage[host]).min()) if host.any() else 0.0


def _switch_hops(network: Network, between: Activity | None) -> int:
    if between is None:
        return 1
    per_flow = np.bincount(
        between.routes.flow, (network.domain[between.routes.channel >> 1] == NETWORK) * between.routes.share
    )
    share = between.legs.share
    return max(1, round(float((per_flow / share).max())) - 1)


def _architecture(network: Network, kind: str, part: int) -> str:
    definition = network.net.part(part)
    quantity = network.design.quantity(definition, "compute_capability")
    text = str(quantity.value) if quantity else ""
    if text.startswith("gfx"):
        return text
    digits = text.replace(".", "")
    return f"sm_{digits}" if digits.isdigit() else "sm_80"


def _reduces(network: Network, inside: Activity | None) -> bool:
    """Whether every accelerator switch on the way says that it reduces."""
    if inside is None:
        return False
    net = network.net
    links = np.unique(inside.routes.channel >> 1)
    ends = np.unique(np.concatenate([net.link_a[links], net.link_b[links]]))
    passed = np.unique(net.part_def[ends]).tolist()
    definitions = [d for d in passed if Capability.SWITCH in network.kinds[d].capabilities]
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
