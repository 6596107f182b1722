"""A slot that runs an older PCIe generation than both ends can do."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.decisions.faults._places import devices, ends_of
from designer.design.edits.links import ChangeLinks


def _find(machine: Machine) -> Iterator[Fault]:
    for device, within, link, path in devices(machine):
        if (link.generation or 1) > 1:
            older = (link.generation or 1) - 1
            edit = ChangeLinks((link.id,), {"generation": older, "bandwidth_per_direction": None}, within=within)
            title = f"{device} runs at PCIe {older}.0 instead of {link.generation}.0"
            remedy = "set the speed of the slot to automatic in the firmware setup"
            yield Fault(
                "an older PCIe generation", title, path, remedy, edit, frozenset({path}), marks=ends_of(path, link)
            )


FAULT = FaultKind("an older PCIe generation", _find)
