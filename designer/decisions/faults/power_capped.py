"""All GPUs below their power limit."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import POWER


def _find(machine: Machine) -> Iterator[Fault]:
    remedy = "see nvidia-smi -q -d POWER, the power profile of the server, and lost power supplies"
    yield Fault("power capped", "all GPUs run below their power", "", remedy, effects=(Effect(("gemm",), POWER),))


FAULT = FaultKind("power capped", _find)
