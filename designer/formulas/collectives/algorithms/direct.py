"""Direct exchange: every rank sends each peer its own part, at once."""

from __future__ import annotations

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import AlgorithmTime, CollectiveKind, CollectiveSituation, Protocol
from designer.formulas.collectives._terms import assemble, direct_rate, intra_step, network_extra, network_rate
from designer.formulas.formula import Formula


def direct(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    """Time of an all-to-all [s].

    Notes
    -----
    With g ranks per server each sends (g − 1)/n·S inside and (n − g)/n·S out, so a server sends g·(n − g)/n·S. Both
    overlap. Cost of posting grows with the peers.
    """
    n, m, local = situation.ranks, situation.servers, situation.ranks_per_server
    if situation.kind is not CollectiveKind.ALL_TO_ALL or n < 2:
        return ()
    protocol = Protocol.SIMPLE
    inside = direct_rate(situation).times(c.DIRECT_SHARE)
    outside = network_rate(situation, channels=False).times(c.DIRECT_SHARE)
    step = intra_step(situation, c.NVLINK_RING_STEP, c.PCIE_RING_STEP, protocol)
    latency = c.RING_BASE[protocol].value + step + (n - 1) * c.PEER_POST.value
    if m > 1:
        latency += c.NETWORK_TREE_STEP[protocol].value + network_extra(situation, protocol)
    loads = (
        ((local - 1) / n * situation.message, inside),
        (local * (n - local) / n * situation.message, outside),
    )
    return (assemble("direct", protocol, latency, loads, c.RING_PIPELINE),)


FORMULA = Formula(
    name="direct",
    title="Direct all-to-all",
    function=direct,
    sources=("thakur-2005", "nccl-tuning", "assumed-collectives"),
    valid_when="equal parts; an uneven split takes as long as its largest rank",
)
