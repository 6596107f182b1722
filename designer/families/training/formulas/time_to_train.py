"""Time to train: steps to converge, validation phases, checkpoints and start-up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Ratio, Seconds

#: a validation pass runs forward only: one of three passes of a training step
VALIDATION_SHARE: Final = Constant(1 / 3, 0.25, 0.5, "counted-training", Status.DERIVED, "1", "of a training step")
NO_TIME: Final = Seconds(0.0)
FORWARD_ONLY: Final = Ratio(VALIDATION_SHARE.value)


@dataclass(frozen=True, slots=True)
class Validation:
    """Validation phases inside a run.

    Parameters
    ----------
    samples
        Samples of one phase.
    every
        Samples trained between phases.
    share
        Time of a validated sample over that of a trained one [1].
    """

    samples: int
    every: int
    share: Ratio = FORWARD_ONLY


@dataclass(frozen=True, slots=True)
class TimeToTrain:
    """A whole run by what fills it [s]."""

    total: Seconds
    training: Seconds
    validation: Seconds
    checkpoints: Seconds
    startup: Seconds
    steps: int
    phases: int


def time_to_train(
    step: Seconds,
    global_batch: int,
    samples: float,
    *,
    validation: Validation | None = None,
    checkpoint_stall: Seconds = NO_TIME,
    checkpoint_every: int = 0,
    startup: Seconds = NO_TIME,
) -> TimeToTrain:
    """Time of a run that sees `samples` samples [s].

    Parameters
    ----------
    step
        Time of one step [s].
    global_batch
        Samples per step.
    samples
        Samples to converge; an input with a source, such as epochs times the dataset.
    checkpoint_stall, checkpoint_every
        Time a checkpoint stops training [s], and steps between them; 0 for none.
    startup
        Time before the first step [s].

    Raises
    ------
    AnalysisError
        If the step, batch or number of samples is not positive.
    """
    if step <= 0 or global_batch < 1 or samples <= 0:
        raise AnalysisError(
            f"{samples:g} samples in batches of {global_batch} at {step:g} s", remedy="all three are above 0"
        )
    if checkpoint_every < 0 or checkpoint_stall < 0 or startup < 0:
        raise AnalysisError("a negative checkpoint interval, stall or start-up", remedy="use 0 for none")
    steps = math.ceil(samples / global_batch)
    training = steps * step
    phases, validating = 0, 0.0
    if validation is not None:
        if validation.every <= 0 or validation.samples < 1:
            raise AnalysisError("a validation phase without samples or interval", remedy="give both, above 0")
        phases = math.floor(samples / validation.every)
        validating = phases * math.ceil(validation.samples / global_batch) * step * validation.share
    stalls = steps // checkpoint_every * checkpoint_stall if checkpoint_every else 0.0
    return TimeToTrain(
        Seconds(training + validating + stalls + startup),
        Seconds(training),
        Seconds(validating),
        Seconds(stalls),
        startup,
        steps,
        phases,
    )


FORMULA: Final = Formula(
    "time-to-train",
    "Time to train",
    time_to_train,
    ("counted-training",),
    "the number of samples to converge is given, not computed",
)
