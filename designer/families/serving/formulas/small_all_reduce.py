"""All-reduce of the small messages of a step, by the kernels engines bring for links between accelerators."""

from __future__ import annotations

import math
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Seconds


def _table(value: float, low: float, high: float, unit: str) -> Constant:
    return Constant(value, low, high, "aic-kernels", Status.DERIVED, unit, "H100 SXM, CUDA graph, 2 KB to 32 MB")


#: time of the smallest message, what is added until 256 KB, and the share of a link that large ones reach
FIRST: Final = MappingProxyType(
    {2: _table(4.2e-6, 4e-6, 5e-6, "s"), 4: _table(4.6e-6, 4.4e-6, 5.3e-6, "s"), 8: _table(4.6e-6, 4.4e-6, 5.7e-6, "s")}
)
MORE: Final = MappingProxyType(
    {2: _table(1.5e-6, 1e-6, 3e-6, "s"), 4: _table(4e-6, 3e-6, 6e-6, "s"), 8: _table(6e-6, 5e-6, 1.1e-5, "s")}
)
SHARE: Final = MappingProxyType(
    {2: _table(0.49, 0.45, 0.66, "1"), 4: _table(0.67, 0.6, 0.75, "1"), 8: _table(0.84, 0.76, 0.9, "1")}
)
KNEE: Final = Constant(262144.0, 131072.0, 524288.0, "aic-kernels", Status.DERIVED, "B")
#: what a launch outside a graph adds
EAGER: Final = Constant(
    1.8e-5, 1.6e-5, 4.0e-5, "aic-kernels", Status.DERIVED, "s", "H100 17-20, A100 40 us more than in a graph"
)


def _interpolate(table: MappingProxyType[int, Constant], ranks: int) -> float:
    """A value of the table, between its ranks by their logarithm."""
    known = sorted(table)
    if ranks <= known[0]:
        return table[known[0]].value
    for low, high in pairwise(known):
        if ranks <= high:
            part = math.log(ranks / low) / math.log(high / low)
            return table[low].value + part * (table[high].value - table[low].value)
    return table[known[-1]].value


def small_all_reduce(ranks: int, size: Bytes, link: BytesPerSecond) -> Seconds:
    """Time of one within a captured graph [s]; outside, `EAGER` is added.

    Parameters
    ----------
    size
        The message [B].
    link
        What every rank can send [B/s].
    """
    if ranks < 2:
        return Seconds(0.0)
    moved = size * 2 * (ranks - 1) / ranks
    begin = _interpolate(FIRST, ranks) + _interpolate(MORE, ranks) * -math.expm1(-size / KNEE.value)
    return Seconds(begin + moved / (_interpolate(SHARE, ranks) * link))


FORMULA: Final = Formula(
    "small-all-reduce",
    "All-reduce of a step",
    small_all_reduce,
    ("aic-kernels",),
    "2 to 8 ranks of one server joined by NVLink, 2 KB to 32 MB; 27, 17 and 12 % of the table at 2, 4 and 8",
)
