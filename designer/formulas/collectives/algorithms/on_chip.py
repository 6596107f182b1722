"""Engines on the chip exchange with all neighbours at once: Gaudi over its ports, TPU and Trainium in a torus."""

from __future__ import annotations

import math

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import (
    AlgorithmTime,
    CollectiveKind,
    CollectiveSituation,
    PathClass,
    Protocol,
)
from designer.formulas.collectives._terms import assemble, intra_rate
from designer.formulas.formula import Formula

_PASSES = {
    CollectiveKind.ALL_REDUCE: 2,
    CollectiveKind.REDUCE_SCATTER: 1,
    CollectiveKind.ALL_GATHER: 1,
    CollectiveKind.BROADCAST: 1,
}


def on_chip(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    """Time of a collective that the chips of one domain make without a kernel [s].

    Notes
    -----
    T = passes·(α·steps + (n − 1)/n·S/B). On a mesh of all pairs a pass is one step; in a torus data go along one
    dimension after the other, which are taken for two of equal length: 2 (√n − 1) steps.
    """
    n, kind, path = situation.ranks, situation.kind, situation.intra_path
    if path not in c.ON_CHIP_LINKS or situation.servers > 1 or n < 2 or kind not in _PASSES:
        return ()
    passes = _PASSES[kind]
    steps = 1.0 if path is PathClass.GAUDI else 2 * (math.sqrt(n) - 1)
    moved = situation.message if kind is CollectiveKind.BROADCAST else passes * (n - 1) / n * situation.message
    latency = passes * steps * c.ON_CHIP_STEP.value
    return (assemble("on-chip", Protocol.SIMPLE, latency, ((moved, intra_rate(situation)),), None),)


FORMULA = Formula(
    name="on-chip",
    title="Collective by engines on the chip",
    function=on_chip,
    sources=("thakur-2005", "gaudi-collectives", "assumed-collectives"),
    valid_when="one domain of Gaudi, TPU or Trainium",
)
