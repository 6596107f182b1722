"""Virtual GPUs that take turns: each has all of the device while it runs, and waits while others do."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Ratio, Seconds

#: saving and restoring contexts and cold caches at a change of turns
SWITCH: Final = Constant(1.0e-4, 3.0e-5, 3.0e-4, "assumed-serving", Status.ASSUMED, "s", "not published")


def time_slicing(sharers: int, busy: Ratio, turn: Seconds) -> Ratio:
    """Time of work over its time on a device of its own [1].

    Parameters
    ----------
    sharers
        Virtual GPUs on the device.
    busy
        Share of time in which each of the others has work [1].
    turn
        Length of one turn [s].

    Notes
    -----
    The best-effort scheduler passes over virtual GPUs without work, so those that have some share evenly.
    """
    waiting = (sharers - 1) * min(1.0, busy)
    return Ratio(1 + waiting + min(1.0, waiting) * SWITCH.value / turn)


FORMULA: Final = Formula(
    "time-slicing", "Virtual GPUs in turns", time_slicing, ("assumed-serving",), "best-effort scheduler, equal loads"
)
