"""In-switch reduction (NVLS): the NVSwitch adds and multicasts, every rank owns one slice."""

from __future__ import annotations

import math
from math import log2

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import (
    AlgorithmTime,
    Bound,
    CollectiveKind,
    CollectiveSituation,
    NetworkKind,
    PathClass,
    Protocol,
)
from designer.formulas.collectives._terms import (
    assemble,
    by_generation,
    exactly,
    generation,
    network_extra,
    network_rate,
    tree_network_bytes,
)
from designer.formulas.formula import Formula
from designer.sources import Constant, Status

#: plug-ins of clouds that switch it off between servers; that of TCPXO has it on since 2025-08
_WITHOUT = (NetworkKind.TCPX,)


def in_switch(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    """Time of an all-reduce reduced in the NVSwitch, with trees between several servers [s].

    Notes
    -----
    Each of g ranks reads its slice reduced by the switch (all send S, the owner receives S/g) and stores the result
    as a multicast (the owner sends S/g, all receive S): T = S·(1 + 1/g)/B. Bus bandwidth can pass the link rate.
    In a rack the first slices of all ranks are read before any is stored.
    """
    local = situation.ranks_per_server
    if (
        situation.kind is not CollectiveKind.ALL_REDUCE
        or not situation.in_switch_reduction
        or situation.intra_path is not PathClass.NVLINK_SWITCH
        or generation(situation.architecture) < min(c.IN_SWITCH)
        or local <= 2
        or (situation.servers == 1 and local < c.IN_SWITCH_RANKS.value)
        or (situation.servers > 1 and situation.network in _WITHOUT)
    ):
        return ()
    m = situation.servers
    inside = exactly(situation.intra_bandwidth, Bound.INSIDE).times(by_generation(c.IN_SWITCH, situation.architecture))
    if local > c.BASEBOARD_RANKS.value:
        inside = inside.times(c.IN_SWITCH_RACK)
    usual = by_generation(c.IN_SWITCH_CHANNELS, situation.architecture)
    if 0 < situation.channels < usual.value:
        share = situation.channels / usual.value
        inside = inside.times(Constant(share, share, share, usual.source, usual.status))
    latency = c.IN_SWITCH_STEP.value
    inside = inside.times(_chunk_share(situation) if m == 1 else c.IN_SWITCH_TREE)
    loads = ((situation.message * (1 + 1 / local), inside.within(situation.intra_edge)),)
    unfilled = _unfilled(situation, inside.value)
    if m == 1:
        depth = latency / (latency + unfilled)
        return (assemble("nvls", Protocol.SIMPLE, latency + unfilled, loads, c.IN_SWITCH_PIPELINE, depth),)
    step = c.IN_SWITCH_NETWORK_STEP.value + network_extra(situation, Protocol.SIMPLE)
    # 2 x 8 B200 move 365 of 400 GB/s at 16 GiB, which is what the line leaves: trees of whole servers lose nothing more
    outer = (tree_network_bytes(m) * situation.message, network_rate(situation))
    stages = 2 * log2(m)
    latency += stages * step
    return (
        assemble(
            "nvls-tree",
            Protocol.SIMPLE,
            latency + unfilled,
            (*loads, outer),
            None,
            more_chunks=(1 + stages) * _round(situation) / situation.message if situation.message else 0.0,
        ),
    )


def _channels(situation: CollectiveSituation) -> float:
    """Channels of a reduction in the switch."""
    usual = by_generation(c.IN_SWITCH_CHANNELS, situation.architecture).value
    return min(usual, situation.channels) if situation.channels else usual


def _round(situation: CollectiveSituation) -> float:
    """Bytes of the message that one chunk of every channel and head holds where trees join servers [B].

    Notes
    -----
    Chunks of 128 KiB, of 64 KiB from four servers and in domains larger than a baseboard, halved below 4 of them and
    again below one for every channel and head. A domain has at most 32 heads. A message of a single round is cut in
    two. A chunk is reduced, passes every step of the tree and is stored.
    """
    local = situation.ranks_per_server
    heads = min(local, c.IN_SWITCH_HEADS.value) * _channels(situation)
    many = situation.servers >= c.IN_SWITCH_TREE_SERVERS.value or local > c.BASEBOARD_RANKS.value
    chunk = (c.IN_SWITCH_CHUNK if many else c.IN_SWITCH_TREE_CHUNK).value
    smallest = c.IN_SWITCH_CHUNK.value / 2
    for chunks in c.IN_SWITCH_TREE_CHUNKS:
        if situation.message < chunks.value * heads * chunk and chunk > smallest:
            chunk /= 2
    return min(heads * chunk, situation.message / 2)


def _chunk_share(situation: CollectiveSituation) -> Constant:
    """What the size of chunks leaves of the rate of an in-switch reduction [1].

    Notes
    -----
    Chunks of 128 KiB become 64 KiB where a message has fewer than 64 of them for every channel and head, and 32 KiB
    below 8 of those. Below half of such a size all of the loss is there, from there on it falls in proportion, so that
    more bytes never take less time. In a rack the slices that are not filled hold the loss already.
    """
    if situation.ranks_per_server > c.BASEBOARD_RANKS.value:
        return _WHOLE
    heads = _channels(situation) * situation.ranks_per_server
    small = by_generation(c.IN_SWITCH_SMALL_CHUNKS, situation.architecture)
    usual = by_generation(c.IN_SWITCH_USUAL_CHUNKS, situation.architecture)
    below_usual = _lost(small, situation.message, heads * c.IN_SWITCH_CHUNKS.value * c.IN_SWITCH_CHUNK.value)
    below_large = _lost(usual, situation.message, heads * c.IN_SWITCH_LARGE_CHUNKS.value * c.IN_SWITCH_TREE_CHUNK.value)
    value, low, high = (one * other for one, other in zip(below_usual, below_large, strict=True))
    return Constant(value, low, high, small.source, small.status)


def _lost(share: Constant, message: float, enough: float) -> tuple[float, float, float]:
    """Share that smaller chunks leave of the rate, with its band; all of it from `enough` bytes on [1]."""
    kept = min(1.0, max(0.0, 2 * message / enough - 1))
    value, low, high = (one + (1 - one) * kept for one in (share.value, share.low, share.high))
    return value, low, high


#: chunks of the usual size
_WHOLE = Constant(1.0, 1.0, 1.0, "collectives-fit", Status.DERIVED)


def _unfilled(situation: CollectiveSituation, rate: float) -> float:
    """What reading and storing one after the other takes until every rank has a slice in flight [s].

    Reading a reduced slice and storing it overlap once all ranks have one under way, which is as many chunks as there
    are ranks: on a baseboard the fitted pipeline holds them, in a rack they are a quarter of a gigabyte.
    """
    local = situation.ranks_per_server
    if local <= c.BASEBOARD_RANKS.value:
        return 0.0
    slices = c.IN_SWITCH_SLICE.value * local
    return -slices * math.expm1(-situation.message / slices) / rate


FORMULA = Formula(
    name="in-switch",
    title="All-reduce with reduction in the NVSwitch",
    function=in_switch,
    sources=("nccl-tuning", "collectives-fit"),
    valid_when="third-generation NVSwitch or later, every GPU of the server on it",
)
