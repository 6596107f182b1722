"""In-network reduction (SHARP): the switches of the fabric add, so each NIC sends the message once."""

from __future__ import annotations

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import AlgorithmTime, CollectiveKind, CollectiveSituation, Protocol
from designer.formulas.collectives._terms import assemble, intra_rate, network_extra, network_rate
from designer.formulas.formula import Formula


def in_network(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    """Time of an all-reduce reduced by the switches of the network [s].

    Notes
    -----
    Reduce-scatter inside, S/g per NIC up and down once, all-gather inside. Without the network's help a server sends
    2S·(m − 1)/m; with it S: the factor 2 goes.
    """
    m, local = situation.servers, situation.ranks_per_server
    if situation.kind is not CollectiveKind.ALL_REDUCE or not situation.in_network_reduction or m < 2:
        return ()
    inner = 2 * max(0.0, local - 1) / local * situation.message
    outer = situation.message
    latency = (
        c.IN_NETWORK_STEP.value
        + network_extra(situation, Protocol.SIMPLE)
        + 2 * (min(1.0, local - 1) * c.IN_NETWORK_INTRA_STEP.value + (local - 1) * c.IN_NETWORK_ARITY.value)
    )
    loads = ((inner, intra_rate(situation)), (outer, network_rate(situation).times(c.IN_NETWORK_SHARE)))
    return (assemble("sharp", Protocol.SIMPLE, latency, loads, c.TREE_PIPELINE),)


FORMULA = Formula(
    name="in-network",
    title="All-reduce with reduction in the network",
    function=in_network,
    sources=("nccl-tuning", "collectives-fit"),
    valid_when="every switch between the servers can reduce",
)
