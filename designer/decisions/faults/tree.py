"""Trees forced where rings are faster."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind


def _find(machine: Machine) -> Iterator[Fault]:
    yield Fault("tree", "trees where rings are faster", "", "see NCCL_ALGO", algorithm="tree")


FAULT = FaultKind("tree", _find)
