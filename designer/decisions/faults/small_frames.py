"""Frames of 1500 bytes on the network."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import BETWEEN, Effect, Fault, FaultKind
from designer.decisions.faults._places import cable_kinds
from designer.decisions.faults._shares import FRAMES


def _find(machine: Machine) -> Iterator[Fault]:
    if len(machine.nics) > 1 and "ethernet" in cable_kinds(machine):
        remedy = "set an MTU of 9000 or 9216 on NICs and switches; ping -M do -s 8972"
        effects = (Effect(("ib", "store", *BETWEEN), FRAMES),)
        yield Fault("small frames", "frames are small (MTU 1500)", "", remedy, effects=effects)


FAULT = FaultKind("small frames", _find)
