"""Rings in place of reduction in the switch."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind


def _find(machine: Machine) -> Iterator[Fault]:
    yield Fault("ring", "rings instead of reduction in the switch", "", "see NCCL_NVLS_ENABLE", algorithm="ring")


FAULT = FaultKind("ring", _find)
