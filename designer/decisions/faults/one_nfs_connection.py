"""A share mounted with one connection."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import STORE


def _find(machine: Machine) -> Iterator[Fault]:
    for store in machine.stores:
        effects = (Effect(("store",), STORE, store),)
        title, remedy = f"{store} is mounted with one connection", "mount it with nconnect; see mountstats"
        yield Fault("one NFS connection", title, store, remedy, effects=effects)


FAULT = FaultKind("one NFS connection", _find)
