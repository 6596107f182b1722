"""Processes that are not bound to the socket of their GPU."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.design.edits.properties import SetPolicy


def _find(machine: Machine) -> Iterator[Fault]:
    if machine.design.policy.numa_local:
        remedy = "bind processes to the socket of their GPU"
        title = "buffers lie in the memory of the other socket"
        yield Fault("no NUMA binding", title, "", remedy, SetPolicy({"numa_local": False}), marks=())


FAULT = FaultKind("no NUMA binding", _find)
