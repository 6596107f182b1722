"""Shares of a GPU: of its MIG slices, and of its time next to other machines that take turns on it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from designer.engine.machines.free_capacity import Placed, PlacedDevice
from designer.engine.machines.guest import exactly
from designer.fields import amount
from designer.sources import Constant, Status

#: time slices of the best-effort scheduler: where a GPU takes up to eight virtual GPUs, and where more
_SLICE: Final = Constant(2e-3, 2e-3, 2e-3, "vsphere-time-slices", Status.SECONDARY, "s")
_SHORT_SLICE: Final = Constant(1e-3, 1e-3, 1e-3, "vsphere-time-slices", Status.SECONDARY, "s")
_IN_SLICES: Final = Constant(
    1.0, 98 / 108, 1.0, "nvidia-mig-guide", Status.SECONDARY, "1", "multiprocessors that seven slices have: A100 least"
)
_SWITCH: Final = Constant(
    50e-6, 20e-6, 200e-6, "assumed-guests", Status.ASSUMED, "s", "saving and loading what one virtual GPU has running"
)
#: a profile of which more fit on a GPU has the shorter slice
_FEW_LIMIT: Final = 8


def share_of_slices(share: float) -> Constant:
    """Slices of seven; where a board keeps some multiprocessors out of all of them it is less."""
    return Constant(share, share * _IN_SLICES.low, share, _IN_SLICES.source, _IN_SLICES.status)


def share_of_turns(device: PlacedDevice, others: list[Placed], running: Collection[str]) -> Constant:
    """Share of a GPU's time that work which is always ready gets next to others that are busy for part of it.

    Notes
    -----
    Everyone slows down equally: one over the sum of all duties. Where the others keep up their pace it is what they
    leave, at least an equal part. Of a machine that does not say how busy it is, all of its turns may be used or none.
    """
    others = [other for other in others if other.vm.id not in running]
    duties = [amount(o.vm.gpu_duty, "ratio") if o.vm.gpu_duty is not None else 1.0 for o in others]
    busy = sum(duties)
    if not busy:
        return exactly(1.0)
    unknown = any(o.vm.gpu_duty is None for o in others)
    many = device.memory_share > 0 and 1 / device.memory_share > _FEW_LIMIT
    slice_time = (_SHORT_SLICE if many else _SLICE).value
    kept = [1 - switch / (slice_time + switch) for switch in (_SWITCH.value, _SWITCH.high, _SWITCH.low)]
    value, low = 1 / (1 + busy), max(1 / (1 + len(duties)), 1 - busy)
    high = 1.0 if unknown else value
    return Constant(value * kept[0], low * kept[1], max(value, high) * kept[2], "vsphere-time-slices", Status.DERIVED)
