"""The input pipeline: read, send, decode, copy; one after the other, or each while the others work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.pipeline.step_composition import InputStage
from designer.units import Bytes, BytesPerSecond, PerSecond, Seconds


@dataclass(frozen=True, slots=True)
class InputRates:
    """What each stage of one rank's input pipeline can do.

    Parameters
    ----------
    read, network, copy
        Storage, network share and host-to-accelerator copy [B/s].
    decode_per_worker
        Samples one worker decodes and augments [1/s]; 0 when there is nothing to decode.
    workers
        Worker processes.
    prefetch
        Batches made ready ahead; 0 means the step waits for its own batch.
    """

    read: BytesPerSecond
    network: BytesPerSecond
    copy: BytesPerSecond
    decode_per_worker: PerSecond
    workers: int = 1
    prefetch: int = 2


@dataclass(frozen=True, slots=True)
class InputEstimate:
    """Time of the input of one step, by stage, and how it meets the computing."""

    stages: Mapping[str, Seconds]
    time: Seconds
    overlapped: bool

    @property
    def binding(self) -> str:
        """The slowest stage."""
        return max(self.stages, key=lambda name: self.stages[name])

    @property
    def stage(self) -> InputStage:
        """What the step estimate takes."""
        return InputStage(self.time, self.overlapped)


def input_time(rates: InputRates, batch: float, sample: Bytes, decoded: Bytes) -> InputEstimate:
    """Time one rank needs to have a batch ready [s].

    Parameters
    ----------
    batch
        Samples per rank and step.
    sample, decoded
        Bytes of a sample as stored and as copied to the accelerator [B].

    Notes
    -----
    With batches ahead the stages work on different batches: the slowest decides. Without, they add up.

    Raises
    ------
    AnalysisError
        If the batch or a sample is empty, or a rate is missing.
    """
    if batch <= 0 or sample <= 0:
        raise AnalysisError(
            f"a batch of {batch:g} samples of {sample:g} bytes", remedy="give a batch and a sample size"
        )
    if rates.workers < 1 or rates.prefetch < 0:
        raise AnalysisError(
            f"{rates.workers} workers with {rates.prefetch} batches ahead",
            remedy="use 1 worker or more, 0 ahead or more",
        )
    for name in ("read", "network", "copy"):
        if getattr(rates, name) <= 0:
            raise AnalysisError(f"the {name} stage has no rate", remedy="give it a rate above 0")
    stages = {
        "read": Seconds(batch * sample / rates.read),
        "network": Seconds(batch * sample / rates.network),
        "copy": Seconds(batch * decoded / rates.copy),
        "decode": Seconds(0.0),
    }
    if rates.decode_per_worker > 0:
        stages["decode"] = Seconds(batch / (rates.decode_per_worker * rates.workers))
    ahead = rates.prefetch > 0
    total = max(stages.values()) if ahead else sum(stages.values())
    return InputEstimate(MappingProxyType(stages), Seconds(total), ahead)


def barrier(inputs: Sequence[Seconds]) -> Seconds:
    """Time at which a synchronous step has the input of all its ranks: the slowest [s].

    Raises
    ------
    AnalysisError
        If there is no rank.
    """
    if not inputs:
        raise AnalysisError("a step without ranks", remedy="place the work on at least one accelerator")
    return max(inputs)


FORMULA: Final = Formula(
    "input-pipeline",
    "Input pipeline",
    input_time,
    ("fit-storage",),
    "steady state, after the first batches; equal samples",
)
