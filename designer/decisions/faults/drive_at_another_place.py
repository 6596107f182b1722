"""A drive in a slot of the other socket."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.decisions.faults._places import far


def _find(machine: Machine) -> Iterator[Fault]:
    yield from far(machine, "a drive at another place", "drive")


FAULT = FaultKind("a drive at another place", _find)
