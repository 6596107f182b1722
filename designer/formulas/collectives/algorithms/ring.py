"""Rings: every rank sends to the next one, in as many steps as there are ranks (twice for all-reduce)."""

from __future__ import annotations

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._planning import ring_channels
from designer.formulas.collectives._situation import AlgorithmTime, CollectiveKind, CollectiveSituation, Protocol
from designer.formulas.collectives._terms import (
    Rate,
    assemble,
    by_generation,
    by_host,
    intra_rate,
    intra_step,
    ll_ceiling,
    network_extra,
    network_rate,
    protocols,
)
from designer.formulas.formula import Formula

_PASSES = {CollectiveKind.ALL_REDUCE: 2, CollectiveKind.REDUCE_SCATTER: 1, CollectiveKind.ALL_GATHER: 1}


def ring(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    """Times of a ring with each protocol [s].

    Notes
    -----
    T = steps·α + passes·(n − 1)/n·S/B (Thakur, Rabenseifner & Gropp 2005), a broadcast S/B. Of the steps, as many as
    there are servers cross the network. B is the slower of the ring inside the server and the NICs.
    """
    kind, n = situation.kind, situation.ranks
    if n < 2 or kind not in (*_PASSES, CollectiveKind.BROADCAST):
        return ()
    if kind is CollectiveKind.BROADCAST:
        moved = situation.message
    else:
        moved = _PASSES[kind] * (n - 1) / n * situation.message
    times: list[AlgorithmTime] = []
    for protocol in protocols(situation):
        inside, outside = _rates(situation, protocol)
        latency = _latency(situation, protocol)
        large = protocol is Protocol.SIMPLE
        # links slower than what the steps hide wait for slices alone
        over_pcie = situation.servers == 1 and situation.intra_path.is_pcie
        more = c.RING_SLICES.value * _slices(situation) / moved if large and over_pcie and moved else 0.0
        depth = min(1.0, 2 * c.PIPELINE_SLOTS.value / (_PASSES.get(kind, 1) * (n - 1)))
        pipeline = c.RING_PIPELINE if large and not over_pcie else None
        times.append(assemble("ring", protocol, latency, ((moved, inside), (moved, outside)), pipeline, depth, more))
    return tuple(times)


def _slices(situation: CollectiveSituation) -> float:
    """Bytes of one slice in every channel [B].

    A channel passes chunks of at most 2 MiB in two slices; where each rank has one chunk to start, they are smaller.
    """
    channels = ring_channels(situation.planned or situation)
    chunk = min(c.RING_CHUNK.value, situation.message / situation.ranks / channels)
    return chunk * channels / 2


def _rates(situation: CollectiveSituation, protocol: Protocol) -> tuple[Rate, Rate]:
    inside, outside = intra_rate(situation), network_rate(situation)
    if protocol is Protocol.LL:
        top = ll_ceiling(situation)
        return inside.times(c.LL_SHARE).at_most(top), outside.times(c.LL_SHARE).at_most(top)
    if protocol is Protocol.LL128:
        return inside.times(by_generation(c.LL128_SHARE, situation.architecture)), outside.times(c.LL128_NETWORK)
    return inside, outside


def _latency(situation: CollectiveSituation, protocol: Protocol) -> float:
    n, m = situation.ranks, situation.servers
    passes = _PASSES.get(situation.kind, 1)
    if situation.kind is CollectiveKind.BROADCAST:  # a pipeline through all ranks, chunk by chunk
        inside = intra_step(situation, c.NVLINK_TREE_STEP, c.PCIE_TREE_STEP, protocol)
    else:
        inside = intra_step(situation, c.NVLINK_RING_STEP, c.PCIE_RING_STEP, protocol)
    base = c.RING_BASE[protocol].value
    if m == 1:
        return base + passes * (n - 1) * inside
    post = by_host(c.NETWORK_POST, situation).value * (
        c.NETWORK_POSTS_SIMPLE.value if protocol is Protocol.SIMPLE else 1
    )
    # with one rank per server nothing hides the network
    table = c.NETWORK_TREE_STEP if n == m else c.NETWORK_RING_STEP
    outside = table[protocol].value + network_extra(situation, protocol)
    return base + passes * ((n - m) * max(inside, post) + (m - 1) * outside)


FORMULA = Formula(
    name="ring",
    title="Ring collective",
    function=ring,
    sources=("thakur-2005", "hockney-1994", "nccl-tuning", "collectives-fit"),
    valid_when="2 ranks or more; in-order rings over one class of link",
)
