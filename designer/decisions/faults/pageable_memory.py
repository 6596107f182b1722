"""Copies from memory that is not pinned."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import PAGEABLE


def _find(machine: Machine) -> Iterator[Fault]:
    title, remedy = "copies go through pageable memory", "raise the limit of locked memory (ulimit -l), pin buffers"
    effects = (Effect(("h2d", "d2h", "h2d_all"), PAGEABLE),)
    yield Fault("pageable memory", title, "", remedy, effects=effects)


FAULT = FaultKind("pageable memory", _find)
