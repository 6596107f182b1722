"""Groups of ranks on the drawn design: rings routed over its links give the raw bandwidth, models the time.

A collective runs in lockstep, so it is one activity with the summed usage of its hops, never a bundle of
independent flows. What a library achieves of the raw bandwidth is put on once, by the formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.network import Network
from designer.engine.routes.hop_loads import Hops
from designer.families.collective.activities import Activity, activity_of, host_rate
from designer.families.collective.routed_groups import (
    ALL,
    ALONE,
    TOGETHER,
    Int,
    RoutedGroups,
    routed_groups,
    shapes_of,
)
from designer.families.collective.situation import (
    NETWORK_SWITCHES,
    placed_path,
    rates_together,
    situation_of,
    switch_hops,
    switch_latency,
    switches_reduce,
)
from designer.formulas.collectives import (
    CollectiveKind,
    CollectiveSituation,
    CollectiveTime,
    Launch,
    NetworkKind,
    Protocol,
)
from designer.formulas.collectives.collective_time import collective_time

Float = npt.NDArray[np.float64]
#: the algorithm that switches of the network add for; libraries leave it off unless asked
IN_NETWORK: Final = "in-network"
#: names users know for the algorithms of the formulas
ALGORITHMS: Final = {
    "ring": frozenset({"ring", "on-chip"}),
    "tree": frozenset({"tree", "pat"}),
    "in-switch": frozenset({"nvls", "nvls-tree"}),
    IN_NETWORK: frozenset({"sharp"}),
    "hierarchical": frozenset({"hierarchical"}),
    "direct": frozenset({"direct"}),
}


@dataclass(frozen=True, slots=True, eq=False)
class Communicator:
    """A group of ranks on the drawn design, ready to be asked for any message size.

    Parameters
    ----------
    situation
        What the formulas need; ``message`` and ``kind`` are replaced for each question.
    inside, between
        The ring inside every server, and the exchange between servers; None where there is none.
    exchange
        Every rank to each other one of its server at once; None where that is as the ring.
    reduces
        True if every network switch between the servers says that it reduces.
    groups, place
        Ranks of all groups that work at once, this one among them, and where they are asked for.
    """

    network: Network
    situation: CollectiveSituation
    inside: Activity | None
    between: Activity | None
    parts: Int
    exchange: Activity | None = None
    reduces: bool = False
    groups: Int | None = None
    place: str = ""

    @property
    def n_legs(self) -> int:
        """How many hops it makes, inside servers and between them."""
        return sum(a.n_legs for a in (self.inside, self.between) if a is not None)

    def time(
        self,
        kind: str,
        message: float,
        algorithm: str = "auto",
        protocol: str = "auto",
        channels: int = 0,
        launch: str = Launch.EAGER,
    ) -> CollectiveTime:
        """Time of a collective over this group.

        Parameters
        ----------
        algorithm, protocol, channels
            What the library is set to: ``NCCL_ALGO``, ``NCCL_PROTO``, ``NCCL_MAX_CTAS``; ``auto`` and 0 leave it alone.
        launch
            Who starts the kernels: ``eager``, ``graph`` or ``one-process``.

        Raises
        ------
        AnalysisError
            If the algorithm cannot run it here.
        """
        # the library has it off by default: reduction in the network is used where it is asked for
        helped = self.reduces and algorithm == IN_NETWORK
        asked = replace(
            self.situation,
            kind=CollectiveKind(kind),
            message=message,
            in_network_reduction=helped,
            channels=channels,
            launch=Launch(launch),
        )
        forced = None if protocol == "auto" else frozenset({Protocol(protocol)})
        return collective_time(asked, ALGORITHMS.get(algorithm), forced)

    def exchanging(self) -> Communicator:
        """The same group with its links loaded as by all ranks sending to all, inside servers and between them."""
        one = self
        if self.exchange is not None:
            s = self.situation
            situation = replace(s, intra_bandwidth=s.direct_bandwidth, intra_edge=s.direct_edge)
            one = replace(one, inside=self.exchange, situation=situation)
        if self.between is None or self.situation.servers <= 2:
            return one  # of two servers each sends to the other already
        groups = np.asarray(self.parts[None] if self.groups is None else self.groups, dtype=np.int64)
        between = _activity(self.network, routed_groups(self.network, groups, self.place, ALL).between)
        assert between is not None
        situation = replace(
            one.situation,
            inter_edge=between.edge,
            inter_bandwidth=between.rate,
            host_bandwidth=host_rate(self.network, between.hops),
        )
        return replace(one, between=between, situation=situation)


def make_communicator(network: Network, ranks: Int, place: str) -> Communicator:
    """The communicator of the given accelerators, in rank order.

    Raises
    ------
    AnalysisError
        If some ranks cannot reach the others.
    """
    routed = routed_groups(network, ranks[None], place, ALONE)
    inside, between, exchange = (_activity(network, h) for h in (routed.inside, routed.between, routed.exchange))
    situation = situation_of(network, ranks, routed, inside, between, exchange)
    reduces = between is not None and situation.network is NetworkKind.INFINIBAND
    reduces = reduces and switches_reduce(network, between, NETWORK_SWITCHES)
    return Communicator(network, situation, inside, between, ranks, exchange, reduces, place=place)


def make_concurrent(network: Network, groups: Int, place: str) -> tuple[Communicator, ...]:
    """Equal groups that all work at once, in lockstep: one communicator for each shape of group there is.

    Parameters
    ----------
    groups : (n_groups, size) ranks of each group

    Notes
    -----
    All hops of all groups are one activity, so what each group gets is its share of links that groups have in common.

    Raises
    ------
    AnalysisError
        If some ranks cannot reach the others of their group.
    """
    shapes = [make_communicator(network, groups[row], place) for row in shapes_of(network, groups)]
    if len(groups) == 1:
        return tuple(shapes)
    routed = routed_groups(network, groups, place, TOGETHER)
    inside, between = _activity(network, routed.inside), _activity(network, routed.between)
    return tuple(replace(_share(one, routed, inside, between), groups=groups) for one in shapes)


def _activity(network: Network, hops: Hops | None) -> Activity | None:
    return activity_of(network, hops) if hops is not None else None


def _share(
    alone: Communicator, routed: RoutedGroups, inside: Activity | None, between: Activity | None
) -> Communicator:
    """A group with the bandwidth it keeps when its equals are at work too."""
    network, situation = alone.network, alone.situation
    if alone.inside is None or inside is None:
        inside = None
    if alone.between is None or between is None:
        between = None
    intra, inter = inside.rate if inside else 0.0, between.rate if between else 0.0
    if inside and between:
        intra, inter = rates_together(network, routed.common, inside, between)
    left = intra / situation.intra_bandwidth if situation.intra_bandwidth else 1.0
    shared = replace(
        situation,
        intra_bandwidth=intra,
        direct_bandwidth=situation.direct_bandwidth * left,
        pair_bandwidth=situation.pair_bandwidth * left,
        intra_edge=inside.edge if inside else None,
        direct_edge=situation.direct_edge.scaled(left) if situation.direct_edge else None,
        inter_edge=between.edge if between else None,
        inter_bandwidth=inter,
        host_bandwidth=host_rate(network, between.hops) if between else 0.0,
        nic_path=placed_path(between.hops) if between else situation.nic_path,
        switch_hops=max(situation.switch_hops, switch_hops(between)),
        switch_latency=max(situation.switch_latency, switch_latency(network, between, situation.network)),
    )
    return replace(alone, situation=shared, inside=inside, between=between)


def widened(one: Communicator, inside: float, between: float) -> Communicator:
    """The same group with its links inside and between servers that many times as wide."""
    s = one.situation
    wider = replace(
        s,
        intra_bandwidth=s.intra_bandwidth * inside,
        direct_bandwidth=s.direct_bandwidth * inside,
        pair_bandwidth=s.pair_bandwidth * inside,
        inter_bandwidth=s.inter_bandwidth * between,
        host_bandwidth=s.host_bandwidth * between,
        intra_edge=s.intra_edge.scaled(inside) if s.intra_edge else None,
        direct_edge=s.direct_edge.scaled(inside) if s.direct_edge else None,
        inter_edge=s.inter_edge.scaled(between) if s.inter_edge else None,
        planned=s.planned or s,
    )
    return replace(one, situation=wider)
