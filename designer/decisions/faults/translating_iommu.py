"""An IOMMU that translates every block instead of passing it through."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import KERNEL


def _find(machine: Machine) -> Iterator[Fault]:
    title, remedy = "the IOMMU translates every block", "boot with iommu=pt"
    yield Fault("IOMMU translating", title, "", remedy, effects=(Effect(("fio", "store"), KERNEL),))


FAULT = FaultKind("IOMMU translating", _find)
