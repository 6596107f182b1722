"""A switch between accelerators that is down."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.decisions.faults._places import accelerator_links, peer_links


def _find(machine: Machine) -> Iterator[Fault]:
    net = machine.network.net
    for number in machine.network.parts_of_kind("nvswitch").tolist():
        path = net.path(int(number))
        gone = peer_links(machine, (path,)) if int(machine.network.island[number]) == machine.islands[0] else None
        links = frozenset(p for p, _, _ in accelerator_links(machine, path))
        if gone is not None:
            remedy = "see nvidia-smi -q for its fabric state, and the log of the fabric manager"
            yield Fault("NVSwitch down", f"{path} is down", path, remedy, gone, links, marks=(path,))


FAULT = FaultKind("NVSwitch down", _find)
