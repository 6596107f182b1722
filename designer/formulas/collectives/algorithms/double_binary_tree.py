"""Two complementary binary trees over the servers, a chain inside each: few steps, full bandwidth."""

from __future__ import annotations

from math import floor, log2

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._planning import ring_channels
from designer.formulas.collectives._situation import (
    AlgorithmTime,
    Bound,
    CollectiveKind,
    CollectiveSituation,
    NetworkKind,
    Protocol,
)
from designer.formulas.collectives._terms import (
    Rate,
    assemble,
    by_generation,
    intra_rate,
    intra_step,
    ll_ceiling,
    network_extra,
    network_rate,
    protocols,
    tree_network_bytes,
)
from designer.formulas.formula import Formula


def double_binary_tree(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    """Times of an all-reduce over a double binary tree with each protocol [s].

    Notes
    -----
    T ≈ 2·(chain in the server + log₂ servers)·α + 2S/B (Sanders, Speck & Träff 2009). Inside a server the tree is a
    chain that carries the message up and down; its two ends send one way only, and as channels start their chains at
    different ranks each rank sends 2(g − 1)/g·S. Two servers only exchange halves, so their NICs carry S, not 2S.
    Large chunks fill every step up and down once, and no more than 8 of a channel are on the way.
    """
    n, m = situation.ranks, situation.servers
    if n < 2 or situation.kind is not CollectiveKind.ALL_REDUCE:
        return ()
    if m > 1 and situation.network is NetworkKind.TCPX:
        return ()  # the plug-in is configured for rings
    local = situation.ranks_per_server
    # over PCIe the same links also carry what goes to the NICs, so the ends of the chain save nothing
    ends = 0.0 if situation.intra_path.is_pcie else 1 / local
    inner = 2 * (1 - ends) * situation.message
    outer = tree_network_bytes(m) * situation.message
    times: list[AlgorithmTime] = []
    round_ = _round(situation)
    for protocol in protocols(situation):
        inside, outside = _rates(situation, protocol)
        step = intra_step(situation, c.NVLINK_TREE_STEP, c.PCIE_TREE_STEP, protocol)
        network = c.NETWORK_TREE_STEP[protocol].value + network_extra(situation, protocol)
        latency = c.TREE_BASE[protocol].value + 2 * ((n / m - 1) * step + log2(m) * network)
        loads = ((inner, inside), (outer, outside))
        if protocol is not Protocol.SIMPLE:
            times.append(assemble("tree", protocol, latency, loads, c.RING_PIPELINE))
            continue
        filling = 2 * round_ * ((local - 1) / inside.value + log2(m) / outside.value)
        if m > 1 and situation.network in c.NETWORK_SLOT:
            loads = (*loads, (situation.message, _window(situation, round_)))
        slowest = max(load / rate.value for load, rate in loads)
        more = filling / slowest if slowest else 0.0
        times.append(assemble("tree", protocol, latency, loads, None, more_chunks=more))
    return tuple(times)


def _round(situation: CollectiveSituation) -> float:
    """Bytes of the message that one chunk of every channel holds [B].

    Notes
    -----
    The library halves chunks of 512 KiB (a slot of a buffer) down to 128 KiB below 8 of them in a channel for every
    level of the tree, to 64 KiB below 4 and to 32 KiB below one. Here they shrink in proportion, so that more bytes
    never take less time.
    """
    channels = ring_channels(situation.planned or situation)
    chunk = c.TREE_CHUNK.value
    depth = max(1.0, situation.ranks_per_server - 1 + floor(log2(situation.servers)))
    each = situation.message / channels / depth
    largest = c.TREE_CHUNK.value
    for chunks, smallest in c.TREE_CHUNKS:
        chunk = max(smallest.value, min(each / chunks.value, largest))
        if each >= chunks.value * smallest.value:
            break
        largest = smallest.value
    return min(chunk * channels, situation.message)


def _window(situation: CollectiveSituation, round_: float) -> Rate:
    """What as many chunks as a buffer has slots move in the time that one slot is taken [B/s]."""
    taken = c.NETWORK_SLOT[situation.network]
    window = c.PIPELINE_SLOTS.value * round_
    ends = window / taken.value, window / taken.high, window / taken.low
    return Rate(*ends, bounds=((Bound.PROTOCOL, ends[0]),))


def _rates(situation: CollectiveSituation, protocol: Protocol) -> tuple[Rate, Rate]:
    inside = intra_rate(situation).times(c.TREE_SHARE)
    outside = network_rate(situation).times(c.TREE_SHARE)
    if protocol is Protocol.LL:
        top = ll_ceiling(situation)
        return inside.times(c.LL_TREE_SHARE).at_most(top), outside.times(c.LL_SHARE).at_most(top)
    if protocol is Protocol.LL128:
        inside = inside.times(by_generation(c.LL128_SHARE, situation.architecture))
        return (inside.times(c.TREE_LL128_SHARE) if situation.servers == 1 else inside), outside.times(c.LL128_NETWORK)
    return inside, outside


FORMULA = Formula(
    name="double-binary-tree",
    title="Double binary tree all-reduce",
    function=double_binary_tree,
    sources=("sanders-2009", "nccl-tuning", "collectives-fit"),
    valid_when="all-reduce; equal servers",
)
