"""Tokens whose keys and values fit next to the weights."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, Ratio

#: taken by activations while a step runs, of all devices of a replica together
ACTIVATIONS: Final = Constant(5.5 * 2**30, 2.0 * 2**30, 7.0 * 2**30, "blis", Status.SECONDARY, "B", "dense models")
EXPERT_ACTIVATIONS: Final = Constant(8.0 * 2**30, 3.0 * 2**30, 1.2e10, "blis", Status.SECONDARY, "B", "with experts")
#: taken by the driver, libraries and buffers of collectives, of each device
OTHER_ALONE: Final = Constant(0.15 * 2**30, 0.1 * 2**30, 2.0 * 2**30, "blis", Status.SECONDARY, "B", "one device")
OTHER: Final = Constant(0.6 * 2**30, 0.5 * 2**30, 3.9 * 2**30, "blis", Status.SECONDARY, "B", "several")
#: a card as small as this has no room for buffers of large ones: activations are this share of it at most
SMALL_CARD: Final = Constant(0.1, 0.05, 0.15, "assumed-serving", Status.ASSUMED, "1")


def kv_room(memory: Bytes, share: Ratio, weights: Bytes, devices: int, experts: bool, end: str = "value") -> Bytes:
    """Bytes left for keys and values on each device [B]; negative where the weights alone do not fit.

    Parameters
    ----------
    share
        Of its memory that the engine takes [1].
    devices
        That share a replica.
    end
        ``value``, ``low`` or ``high``: which end of the band of what else is taken.
    """
    taken = getattr(EXPERT_ACTIVATIONS if experts else ACTIVATIONS, end) / devices
    taken = min(taken, SMALL_CARD.value * memory)
    return Bytes(memory * share - weights - taken - getattr(OTHER if devices > 1 else OTHER_ALONE, end))


def spare(devices: int, experts: bool) -> Bytes:
    """Bytes that each device may need beyond what `kv_room` takes for other things [B]."""
    acts, other = EXPERT_ACTIVATIONS if experts else ACTIVATIONS, OTHER if devices > 1 else OTHER_ALONE
    return Bytes((acts.high - acts.value) / devices + other.high - other.value)


def memory_capacity(room: Bytes, token: Bytes) -> int:
    """Tokens that fit [1]."""
    return max(0, int(room / token)) if token > 0 else 0


FORMULA: Final = Formula(
    "memory-capacity",
    "Tokens that fit",
    memory_capacity,
    ("blis", "aic-config"),
    "engines that claim a share of memory at start; two published accounts differ by 2 to 4 GiB a device",
)
