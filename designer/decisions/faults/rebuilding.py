"""Drives that work for the rebuild of an array."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import KERNEL


def _find(machine: Machine) -> Iterator[Fault]:
    if len(machine.drives) > 1:
        remedy = "cat /proc/mdstat, or the tool of the controller; wait until it is done"
        title = "the drives work for a rebuild of their array"
        yield Fault("drives rebuilding", title, "", remedy, effects=(Effect(("fio",), KERNEL),))


FAULT = FaultKind("drives rebuilding", _find)
