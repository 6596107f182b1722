"""A cable that runs at half its rate, such as 200 instead of 400 Gb/s."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import BETWEEN, Effect, Fault, FaultKind
from designer.decisions.faults._shares import HALF_RATE, RINGS_SHORT


def _find(machine: Machine) -> Iterator[Fault]:
    for nic in machine.nics[0] if len(machine.nics) > 1 else ():
        effects = (Effect(("ib",), HALF_RATE, nic), Effect(BETWEEN, RINGS_SHORT))
        title, remedy = f"the cable of {nic} runs at half its rate", "see ibstat or ethtool; clean or replace the cable"
        yield Fault("a cable at half rate", title, nic, remedy, effects=effects)


FAULT = FaultKind("a cable at half rate", _find)
