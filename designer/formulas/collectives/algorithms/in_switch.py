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
    ):
        return ()
    m = situation.servers
    inside = exactly(situation.intra_bandwidth, Bound.INSIDE).times(by_generation(c.IN_SWITCH, situation.architecture))
    if local > c.BASEBOARD_RANKS.value:
        inside = inside.times(c.IN_SWITCH_RACK)
    loads = ((situation.message * (1 + 1 / local), inside.within(situation.intra_edge)),)
    latency = c.IN_SWITCH_STEP.value
    if m == 1:
        unfilled = _unfilled(situation, inside.value)
        depth = latency / (latency + unfilled)
        return (assemble("nvls", Protocol.SIMPLE, latency + unfilled, loads, c.IN_SWITCH_PIPELINE, depth),)
    step = c.IN_SWITCH_NETWORK_STEP.value + network_extra(situation, Protocol.SIMPLE)
    outer = (tree_network_bytes(m) * situation.message, network_rate(situation).times(c.TREE_SHARE))
    latency += 2 * log2(m) * step
    return (assemble("nvls-tree", Protocol.SIMPLE, latency, (*loads, outer), c.TREE_PIPELINE),)


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
