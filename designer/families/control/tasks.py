"""Tasks of control loops and streams: frames of sensors, forward passes, commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from designer.families.serving.inference import Inference
from designer.workload.program.tasks import Task


@dataclass(frozen=True, slots=True)
class Access(Task):
    """The access latency that parts state: capture of a sensor, or the network to a client that is not drawn.

    Parameters
    ----------
    what
        What it is in words: ``capture``, ``way to the client``.
    """

    priced_by: ClassVar[str] = "designer.families.control.costs"
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Frames(Task):
    """One frame of each sensor, in equal shares to the targets.

    Parameters
    ----------
    size
        Size of a frame [B]; 0 for that of each sensor.
    """

    priced_by: ClassVar[str] = "designer.families.control.costs"
    sensors: str
    target: str
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Forward(Task):
    """One pass of a model over a batch, on whichever accelerator of a group is free.

    Parameters
    ----------
    asked
        Model, precision and group; `batch` is the number of samples.
    tokens
        Tokens generated one after the other once the batch has been read.
    """

    priced_by: ClassVar[str] = "designer.families.control.costs"
    asked: Inference
    tokens: int = 0
