"""A storage system with a node down."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import STORE


def _find(machine: Machine) -> Iterator[Fault]:
    for store in machine.stores:
        effects = (Effect(("store",), STORE, store),)
        remedy = "see the health page of the storage system"
        yield Fault("a storage node down", f"a node of {store} is down", store, remedy, effects=effects)


FAULT = FaultKind("a storage node down", _find)
