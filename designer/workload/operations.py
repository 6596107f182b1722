"""The vocabulary workloads lower themselves to; analysis evaluates these and nothing else.

Each operation is answered by the file of its name in ``designer.analysis.evaluators``.

Parts are named by *selectors*: a path, a path with wild cards, or one of the words ``gpus``, ``memory``, ``storage``,
``drives``, ``nics``, ``cpus``, ``servers``, which mean all parts with that capability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from designer.workload.jobs import (
    Checkpointing,
    DataLoading,
    HyperparameterSweep,
    LayoutSearch,
    StorageSizing,
    Training,
)

Pairing = Literal["auto", "nearest", "striped", "pairs", "shift", "permutation", "all"]


@dataclass(frozen=True, slots=True)
class Transfer:
    """Bytes from a set of parts to a set of parts.

    Parameters
    ----------
    pairing
        Who sends to whom. ``nearest``: every target from the source nearest to it; ``striped``: every target from all
        sources in equal shares; ``pairs``: first to first; ``shift``: i to i + n/2 of one set; ``permutation``: a
        random one; ``all``: every pair is a flow. ``auto`` takes what fits the kinds of parts.
    size
        Bytes each flow moves [B]; 0 means a steady stream of which only the rate matters.
    demand
        Most a flow asks for [B/s]; 0 means all it can get.
    both_ways
        Every flow has a twin in the other direction.
    """

    name: str
    source: str
    target: str
    pairing: Pairing = "auto"
    size: float = 0.0
    demand: float = 0.0
    both_ways: bool = False
    seed: int = 0
    through_memory: bool | None = None


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective over a group of accelerators; ``size`` is the message of nccl-tests [B]."""

    name: str
    collective: str
    group: str
    size: float
    algorithm: str = "auto"


TrainingOperation = Training | Checkpointing | DataLoading | StorageSizing | LayoutSearch | HyperparameterSweep
Operation = Transfer | Collective | TrainingOperation
