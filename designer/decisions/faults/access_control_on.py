"""Access control of PCIe switches on: peer traffic goes up to the root."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.design.edits.properties import SetPolicy


def _find(machine: Machine) -> Iterator[Fault]:
    if not machine.design.policy.pcie_acs:
        remedy = "switch off access control (ACS) on the PCIe switches"
        title = "access control sends peer traffic to the root"
        yield Fault("ACS on", title, "", remedy, SetPolicy({"pcie_acs": True}), marks=())


FAULT = FaultKind("ACS on", _find)
