"""Parallel aggregated trees (PAT): logarithmic all-gather and reduce-scatter with one rank per server."""

from __future__ import annotations

from math import log2

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import AlgorithmTime, CollectiveKind, CollectiveSituation, Protocol
from designer.formulas.collectives._terms import assemble, network_extra, network_rate
from designer.formulas.formula import Formula


def aggregated_tree(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    """Time of an all-gather or reduce-scatter over aggregated trees [s].

    Notes
    -----
    log₂ m network steps, partly hidden, and a linear part per rank; 75 % of the ring's bandwidth (planning table).
    """
    kinds = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER)
    m = situation.servers
    if situation.kind not in kinds or m < 2 or situation.ranks != m:
        return ()
    step = c.NETWORK_TREE_STEP[Protocol.SIMPLE].value + network_extra(situation, Protocol.SIMPLE)
    latency = c.AGGREGATED_BASE.value + log2(m) * step / c.AGGREGATED_OVERLAP.value + m * c.AGGREGATED_PER_RANK.value
    load = ((m - 1) / m * situation.message, network_rate(situation).times(c.AGGREGATED_SHARE))
    return (assemble("pat", Protocol.SIMPLE, latency, (load,), c.TREE_PIPELINE),)


FORMULA = Formula(
    name="aggregated-tree",
    title="All-gather and reduce-scatter over parallel aggregated trees",
    function=aggregated_tree,
    sources=("nccl-tuning",),
    valid_when="one rank per server",
)
