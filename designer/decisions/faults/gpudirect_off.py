"""GPUDirect RDMA switched off: data of GPUs stops in host memory on its way to NICs."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.design.edits.properties import SetPolicy


def _find(machine: Machine) -> Iterator[Fault]:
    if machine.design.policy.gpudirect:
        remedy = "load nvidia-peermem, and see whether NCCL says GDRDMA"
        edit = SetPolicy({"gpudirect": False})
        yield Fault("GPUDirect off", "GPUDirect RDMA is off", "", remedy, edit, marks=())


FAULT = FaultKind("GPUDirect off", _find)
