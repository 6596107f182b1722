"""GPUs that do not reach each other directly."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.decisions.faults._places import peer_links


def _find(machine: Machine) -> Iterator[Fault]:
    peers = peer_links(machine, machine.gpus)
    if peers is not None:
        remedy = "see NCCL_P2P_DISABLE, the IOMMU, and nvidia-smi topo -p2p"
        yield Fault("P2P off", "GPUs do not reach each other directly", "", remedy, peers, marks=())


FAULT = FaultKind("P2P off", _find)
