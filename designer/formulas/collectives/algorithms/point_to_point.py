"""One rank sends and one receives, or every rank to the next."""

from __future__ import annotations

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import (
    AlgorithmTime,
    Bound,
    CollectiveKind,
    CollectiveSituation,
    Protocol,
)
from designer.formulas.collectives._terms import (
    assemble,
    exactly,
    intra_step,
    network_extra,
    network_rate,
    pair_rate,
)
from designer.formulas.formula import Formula


def point_to_point(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    """Time of a send matched by a receive, between servers when the group has two [s].

    Notes
    -----
    T = α + S/B (Hockney 1994). More than two ranks pass on to the next all at once, as nccl-tests does, so each sends
    and receives as in a ring. One pair keeps fewer messages in flight than a ring of channels does, so a NIC alone is
    filled less; NVLink without reduction is filled more.
    """
    if situation.kind is not CollectiveKind.SEND_RECV or situation.ranks < 2:
        return ()
    protocol = Protocol.SIMPLE
    latency = c.RING_BASE[protocol].value
    if situation.servers > 1:
        rate = network_rate(situation, channels=False).times(c.SEND_NETWORK)
        latency += c.NETWORK_TREE_STEP[protocol].value + network_extra(situation, protocol)
    else:
        if situation.ranks > 2:
            rate = pair_rate(situation).times(c.SEND_AND_RECEIVE)
        elif situation.intra_path.is_nvlink:
            rate = exactly(situation.pair_bandwidth or situation.intra_bandwidth, Bound.INSIDE).times(c.SEND_NVLINK)
            rate = rate.within(situation.intra_edge)
        else:
            rate = pair_rate(situation)
        latency += intra_step(situation, c.NVLINK_RING_STEP, c.PCIE_RING_STEP, protocol)
    return (assemble("point-to-point", protocol, latency, ((situation.message, rate),), c.RING_PIPELINE),)


FORMULA = Formula(
    name="point-to-point",
    title="Send and receive",
    function=point_to_point,
    sources=("hockney-1994", "nccl-tuning", "collectives-fit"),
    valid_when="one pair, or every rank to the next",
)
