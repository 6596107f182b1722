"""Drives that work for the rebuild of an array."""

from designer.decisions.fault import WHOLE, Effect, slower
from designer.decisions.faults._shares import KERNEL

FAULT = slower(
    "drives rebuilding",
    "the drives work for a rebuild of their array",
    "cat /proc/mdstat, or the tool of the controller; wait until it is done",
    Effect(("fio",), KERNEL),
    at=lambda machine: WHOLE if len(machine.drives) > 1 else (),
)
