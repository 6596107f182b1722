"""Two levels: reduce-scatter inside the server, all-reduce of the slices over the NICs, all-gather inside."""

from __future__ import annotations

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import AlgorithmTime, CollectiveKind, CollectiveSituation, Protocol
from designer.formulas.collectives._terms import assemble, intra_rate, intra_step, network_extra, network_rate
from designer.formulas.formula import Formula


def hierarchical(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    """Time of a two-level all-reduce, all-gather or reduce-scatter [s].

    Notes
    -----
    With g ranks in each of m servers: 2(g − 1)/g·S/B inside, 2(m − 1)/m·S/B_network between, chunks overlapping, so
    the larger of both counts and the pipeline term represents what does not overlap. Half of it for all-gather and
    reduce-scatter. The library itself does not choose it; frameworks build it from sub-groups.
    """
    passes = {CollectiveKind.ALL_REDUCE: 2, CollectiveKind.REDUCE_SCATTER: 1, CollectiveKind.ALL_GATHER: 1}
    m, local = situation.servers, situation.ranks_per_server
    if situation.kind not in passes or m < 2 or local < 2:
        return ()
    rounds = passes[situation.kind]
    inner = rounds * (local - 1) / local * situation.message
    outer = rounds * (m - 1) / m * situation.message
    protocol = Protocol.SIMPLE
    step = intra_step(situation, c.NVLINK_RING_STEP, c.PCIE_RING_STEP, protocol)
    network = c.NETWORK_RING_STEP[protocol].value + network_extra(situation, protocol)
    latency = (1 + rounds) * c.RING_BASE[protocol].value + rounds * ((local - 1) * step + (m - 1) * network)
    loads = ((inner, intra_rate(situation)), (outer, network_rate(situation, channels=False)))
    return (assemble("hierarchical", protocol, latency, loads, c.TREE_PIPELINE),)


FORMULA = Formula(
    name="hierarchical",
    title="Two-level collective",
    function=hierarchical,
    sources=("thakur-2005", "nccl-tuning", "collectives-fit"),
    valid_when="equal servers with two ranks or more",
)
