"""Clocks of a GPU held down by a setting."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import CLOCKS


def _find(machine: Machine) -> Iterator[Fault]:
    for gpu in machine.gpus:
        remedy = "see nvidia-smi -q -d PERFORMANCE for what holds its clocks; nvidia-smi -rgc"
        yield Fault(
            "clocks held", f"{gpu} holds its clocks down", gpu, remedy, effects=(Effect(("gemm",), CLOCKS, gpu),)
        )


FAULT = FaultKind("clocks held", _find)
