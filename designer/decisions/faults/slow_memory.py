"""A GPU whose memory is slow: a lower clock, or rows remapped after errors."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import MEMORY


def _find(machine: Machine) -> Iterator[Fault]:
    for gpu in machine.gpus:
        remedy = "see nvidia-smi -q -d ECC,ROW_REMAPPER,CLOCK; reset or replace it"
        yield Fault(
            "slow GPU memory", f"the memory of {gpu} is slow", gpu, remedy, effects=(Effect(("hbm",), MEMORY, gpu),)
        )


FAULT = FaultKind("slow GPU memory", _find)
