"""Processor cores held at low clocks by their governor."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import BETWEEN, INSIDE, Effect, Fault, FaultKind
from designer.decisions.faults._shares import KERNEL, SMALL


def _find(machine: Machine) -> Iterator[Fault]:
    title, remedy = "the CPU governor saves power", "cpupower frequency-set -g performance"
    effects = (Effect(("fio", "store"), KERNEL), Effect((*INSIDE, *BETWEEN), SMALL, largest=1 << 20))
    yield Fault("CPU governor", title, "", remedy, effects=effects)


FAULT = FaultKind("CPU governor", _find)
