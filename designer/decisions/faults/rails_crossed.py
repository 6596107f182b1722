"""Cables of two rails swapped at their leaves, so that rails meet at one port of the spine."""

from designer.decisions.fault import BETWEEN, WHOLE, Effect, slower
from designer.decisions.faults._shares import LOSSES

FAULT = slower(
    "rails crossed",
    "cables of two rails are swapped",
    "compare ibnetdiscover or LLDP with the plan of the cables",
    Effect(BETWEEN, LOSSES),
    at=lambda machine: WHOLE if len(machine.nics) > 1 and len(machine.nics[0]) > 1 else (),
)
