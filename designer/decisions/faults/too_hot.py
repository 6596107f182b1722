"""A GPU that slows down because it is hot."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import CLOCKS


def _find(machine: Machine) -> Iterator[Fault]:
    for gpu in machine.gpus:
        remedy = "see nvidia-smi -q -d TEMPERATURE; look after fans, filters and the cold plate"
        yield Fault("too hot", f"{gpu} is hot and slows down", gpu, remedy, effects=(Effect(("gemm",), CLOCKS, gpu),))


FAULT = FaultKind("too hot", _find)
