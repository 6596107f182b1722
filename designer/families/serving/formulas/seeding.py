"""Weights handed from server to server while many start, and what an update of one replica after the other costs."""

from __future__ import annotations

import math
from typing import Final

from designer.formulas.formula import Formula
from designer.units import BytesPerSecond, Ratio, Seconds


def seeded_rate(first: BytesPerSecond, peer: BytesPerSecond, servers: int) -> BytesPerSecond:
    """What every server sees of its weights in the mean [B/s], where one reads them and hands them on.

    Parameters
    ----------
    first, peer
        What the storage gives one server alone, and a server that has the weights one that has not [B/s].
    servers
        That start.

    Notes
    -----
    The servers that have the weights double with every round, so the last has them after 1/first + rounds/peer.
    """
    rounds = math.ceil(math.log2(servers)) if servers > 1 else 0
    return BytesPerSecond(1 / (1 / first + rounds / peer))


def rolling_update(replicas: int, at_once: int, start: Seconds) -> tuple[Seconds, Ratio]:
    """Time until all replicas are replaced [s], and the share of them that answers meanwhile [1]."""
    out = min(at_once, replicas)
    return Seconds(math.ceil(replicas / out) * start), Ratio(1 - out / replicas)


FORMULA: Final = Formula(
    "seeding", "Weights from server to server", seeded_rate, ("counted-serving",), "whole copies, one after the other"
)
