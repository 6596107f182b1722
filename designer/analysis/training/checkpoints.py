"""Checkpoints over the drawn paths: the burst of all ranks, and reading the state back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from designer.analysis.network import Network
from designer.analysis.selection import resolve
from designer.analysis.training.preparation import TrainingPlan
from designer.analysis.transfers import TransferAnswer, evaluate_transfer
from designer.catalog.parttype import Capability
from designer.errors import AnalysisError
from designer.formulas.storage.checkpoint import CheckpointEstimate, checkpoint, checkpoint_size, copies_read
from designer.units import BytesPerSecond
from designer.workload.program.tasks import Move


@dataclass(frozen=True, slots=True, eq=False)
class RoutedCheckpoint:
    """A checkpoint and the transfers it is made of."""

    estimate: CheckpointEstimate
    write: TransferAnswer
    read: TransferAnswer


def route_checkpoint(
    network: Network, plan: TrainingPlan, target: str, *, snapshot: bool, from_one: bool, place: str
) -> RoutedCheckpoint:
    """One checkpoint of a plan.

    Notes
    -----
    Every rank writes an equal part, so the slowest rank decides. Reading back, every rank fetches what it holds: its
    shard of what the replicas split, and all it has of the rest; unless one replica reads and passes the state on.

    Raises
    ------
    AnalysisError
        If the target keeps nothing or cannot be reached.
    """
    parts = plan.ranks.parts
    kept = resolve(network, target, f"{place}.checkpoint_to")
    keeps = (network.has(Capability.STORE) | network.has(Capability.MEMORY))[kept]
    if not keeps.all():
        raise AnalysisError(
            f"{network.net.path(int(kept[~keeps][0]))} keeps no checkpoint",
            place=f"{place}.checkpoint_to",
            remedy="choose storage, drives or memory",
        )
    group = plan.job.group if not plan.job.data else ",".join(network.net.path(int(p)) for p in parts.tolist())
    write = evaluate_transfer(network, Move(group, target), place)
    read = evaluate_transfer(network, Move(target, group), place)
    memory = None
    if snapshot:
        copy = evaluate_transfer(network, Move(group, "memory"), place)
        memory = BytesPerSecond(_all(copy))
    copies = 1.0 if from_one else copies_read(plan.layout.replicas, plan.layout.sharding)
    size = checkpoint_size(plan.shape.parameters)
    found = checkpoint(
        size, BytesPerSecond(_all(write)), BytesPerSecond(_all(read)), copies=copies, snapshot_rate=memory
    )
    return RoutedCheckpoint(found, write, read)


def _all(answer: TransferAnswer) -> float:
    """Rate of all ranks when each has an equal part: that of the slowest times their number [B/s]."""
    return float(np.min(answer.rate)) * len(answer.rate)
