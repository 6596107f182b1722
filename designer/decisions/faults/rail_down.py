"""A cable of a rail that is down."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import BETWEEN, Effect, Fault, FaultKind
from designer.decisions.faults._shares import GONE, RINGS_SHORT


def _find(machine: Machine) -> Iterator[Fault]:
    for nic in machine.nics[0] if len(machine.nics) > 1 else ():
        effects = (Effect(("ib",), GONE, nic), Effect(BETWEEN, RINGS_SHORT))
        title, remedy = f"the cable of {nic} is down", "see ibstat or ip link; look at both ends of the cable"
        yield Fault("a rail down", title, nic, remedy, effects=effects)


FAULT = FaultKind("a rail down", _find)
