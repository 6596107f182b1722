"""Ethernet that drops packets of RDMA under load: no flow control by priority."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import BETWEEN, Effect, Fault, FaultKind
from designer.decisions.faults._places import cable_kinds
from designer.decisions.faults._shares import LOSSES


def _find(machine: Machine) -> Iterator[Fault]:
    if len(machine.nics) > 1 and "ethernet" in cable_kinds(machine):
        remedy = "set PFC and ECN on every switch and NIC; see the pause counters of ethtool -S"
        title = "the network drops packets under load (no PFC)"
        yield Fault("RoCE with losses", title, "", remedy, effects=(Effect(BETWEEN, LOSSES),))


FAULT = FaultKind("RoCE with losses", _find)
