"""A card that runs with half the lanes of its slot."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.decisions.faults._places import narrow


def _find(machine: Machine) -> Iterator[Fault]:
    yield from narrow(machine, "half the lanes", 2)


FAULT = FaultKind("half the lanes", _find)
