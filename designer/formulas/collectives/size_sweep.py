"""A collective over a range of message sizes, as nccl-tests prints it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from designer.formulas.collectives._constants import SWEEP_LARGEST, SWEEP_SMALLEST
from designer.formulas.collectives._situation import CollectiveSituation, CollectiveTime
from designer.formulas.collectives.collective_time import collective_time
from designer.formulas.formula import Formula
from designer.units import Bytes

_SMALLEST = SWEEP_SMALLEST.value
_LARGEST = SWEEP_LARGEST.value


def sizes(
    smallest: Bytes = Bytes(_SMALLEST), largest: Bytes = Bytes(_LARGEST), per_octave: int = 1
) -> tuple[float, ...]:
    """Message sizes from smallest to largest, evenly spaced in the logarithm [B].

    Raises
    ------
    AssertionError
        If the range is empty or not positive.
    """
    if not 0 < smallest <= largest or per_octave < 1:
        raise AssertionError(f"no sizes between {smallest} and {largest}")
    steps = math.floor(per_octave * math.log2(largest / smallest) + 1 / _LARGEST)
    return tuple(smallest * 2 ** (step / per_octave) for step in range(steps + 1))


def size_sweep(
    situation: CollectiveSituation,
    messages: Sequence[float] | None = None,
    algorithms: frozenset[str] | None = None,
) -> tuple[CollectiveTime, ...]:
    """Results of one situation at each message size [s, B/s]; by default 1 KiB to 16 GiB in doublings."""
    chosen = sizes() if messages is None else messages
    return tuple(collective_time(replace(situation, message=size), algorithms) for size in chosen)


FORMULA = Formula(
    name="size-sweep",
    title="Collective over message sizes",
    function=size_sweep,
    sources=("nccl-tuning", "collectives-fit"),
    valid_when="as collective-time",
)
