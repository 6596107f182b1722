"""A drive that is worn, hot or failing."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import DRIVE


def _find(machine: Machine) -> Iterator[Fault]:
    for drive in machine.drives:
        effects = (Effect(("fio",), DRIVE, drive),)
        yield Fault(
            "a worn drive", f"{drive} is worn or hot", drive, "see its SMART log; trim or replace it", effects=effects
        )


FAULT = FaultKind("a worn drive", _find)
