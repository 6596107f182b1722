"""Cables of two rails swapped at their leaves, so that rails meet at one port of the spine."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import BETWEEN, Effect, Fault, FaultKind
from designer.decisions.faults._shares import LOSSES


def _find(machine: Machine) -> Iterator[Fault]:
    if len(machine.nics) > 1 and len(machine.nics[0]) > 1:
        remedy = "compare ibnetdiscover or LLDP with the plan of the cables"
        title = "cables of two rails are swapped"
        yield Fault("rails crossed", title, "", remedy, effects=(Effect(BETWEEN, LOSSES),))


FAULT = FaultKind("rails crossed", _find)
