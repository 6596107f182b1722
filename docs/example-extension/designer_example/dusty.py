"""Filters full of dust: GPUs slow down."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.sources import Constant, Status

LEFT = Constant(0.8, 0.6, 0.95, "assumed", Status.ASSUMED, "1", "share of the clock that is left")


def find(machine: Machine) -> Iterator[Fault]:
    for gpu in machine.gpus:
        effects = (Effect(("gemm",), LEFT, gpu),)
        yield Fault("dusty", f"the filter before {gpu} is dusty", gpu, "clean the filters", effects=effects)


FAULT = FaultKind("dusty", find)
