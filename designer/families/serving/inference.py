"""Inference without a dialogue: vision, speech, ranking and embedding models in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.workload.jobs import InputPath

#: scenarios whose next query is sent when the one before is answered
ONE_BY_ONE: Final = ("single-stream", "multi-stream")


@dataclass(frozen=True, slots=True)
class Inference:
    """A model that answers samples in batches.

    Parameters
    ----------
    model
        Id of a shipped model, path of a ``config.json``, or empty where its numbers are given.
    flop, weights, moved
        Of a sample [FLOP], of all weights, and of the values of a sample that pass through memory [B]; 0 for those
        of the model.
    sample
        What is sent to the device for a sample [B]; 0 for that of the model.
    sequence
        Tokens of a sample of a transformer.
    precision
        Number format it runs in.
    group, part
        Accelerators or processors, and the part of a GPU each instance has.
    scenario
        ``single-stream``, ``multi-stream``, ``server``, ``offline`` or ``video``.
    rate
        Samples a second of the server scenario, all devices together [1/s].
    streams, frames
        Of video: streams, and frames a second of each [1/s].
    query
        Samples of a query of the multi-stream scenario.
    batch, delay
        Most samples of a batch, and how long the first of them waits for others [s].
    limit, share
        Latency that must hold [s], 0 for none, at this share of samples [1].
    input
        Where samples are read; without a source they come out of host memory.
    origin, reply
        Selector of the clients samples come from, and the size of an answer [B]; empty: latencies at the server.
    """

    name: str
    model: str
    flop: float
    weights: float
    moved: float
    sample: float
    sequence: int
    precision: str
    group: str
    part: str
    scenario: str
    rate: float
    streams: int
    frames: float
    query: int
    batch: int
    delay: float
    limit: float
    share: float
    count: int
    seed: int
    input: InputPath
    origin: str = ""
    reply: float = 0.0
