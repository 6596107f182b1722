"""Interrupts and huge pages that are not set up."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import KERNEL


def _find(machine: Machine) -> Iterator[Fault]:
    title = "interrupts are far from their device, or huge pages are missing"
    remedy = "see /proc/interrupts and set_irq_affinity, HugePages_Total in /proc/meminfo"
    effects = (Effect(("fio", "store"), KERNEL),)
    yield Fault("interrupts far from their device", title, "", remedy, effects=effects)


FAULT = FaultKind("interrupts far from their device", _find)
