"""All GPUs with their memory at a lower clock."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import MEMORY_OF_ALL


def _find(machine: Machine) -> Iterator[Fault]:
    title, remedy = "the memory of all GPUs runs at a lower clock", "nvidia-smi -rmc; see nvidia-smi -q -d CLOCK"
    yield Fault("memory clock of all GPUs", title, "", remedy, effects=(Effect(("hbm",), MEMORY_OF_ALL),))


FAULT = FaultKind("memory clock of all GPUs", _find)
