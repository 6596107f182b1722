"""What a rank of a convolutional network does in a training step."""

from __future__ import annotations

from typing import Final

from designer.families.training.formulas.convolutional_memory import convolutional_memory, require_batch
from designer.families.training.formulas.overlap import exposed_time
from designer.families.training.formulas.step_composition import DataParallelWork
from designer.formulas.accelerator import Accelerator
from designer.formulas.communication import CommunicationCosts, Kind, RankGroup
from designer.formulas.compute.convolutional_step import convolutional_spread, convolutional_time
from designer.formulas.formula import Formula
from designer.formulas.precision import Precision
from designer.formulas.shapes import ConvolutionalNumbers
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Bytes, Ratio, Seconds

BACKWARD_SHARE: Final = Constant(
    0.6, 0.5, 0.667, "counted-training", Status.DERIVED, "1", "of a step, less the first layers"
)
#: of what is fetched from other servers, the share that the batch before hides; chosen with four open rates in view
FETCHED_AHEAD: Final = Constant(
    0.5, 0.0, 1.0, "assumed-training", Status.ASSUMED, "1", "R-GAT on two servers: H200 0.2 and 0.5, B200 0.6 and 0.7"
)


def convolutional_work(
    shape: ConvolutionalNumbers,
    samples: float,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    communication: CommunicationCosts,
    *,
    must_fit: bool = True,
    measured: Seconds | None = None,
) -> DataParallelWork:
    """What a rank of a convolutional network does with so many samples.

    Parameters
    ----------
    measured
        Computing time of the step in place of the estimate, optimizer included; gradients hide behind it [s].

    Raises
    ------
    AnalysisError
        If the local batch does not fit.
    """
    if must_fit:
        require_batch(shape, samples, accelerator, precision)
    compute = convolutional_time(shape, samples, accelerator, precision, software) if measured is None else measured
    fetch = Seconds(0.0)
    if shape.fetched and communication.servers(RankGroup.DATA) > 1:
        # what the other ranks of a server hold is in the memory traffic of a sample
        fetch = communication.time(Kind.ALL_TO_ALL, RankGroup.DATA, Bytes(samples * shape.fetched))
    return DataParallelWork(
        compute,
        Seconds(compute * BACKWARD_SHARE.value),
        exposed_time(fetch, compute, Ratio(FETCHED_AHEAD.value)),
        convolutional_memory(shape, samples, accelerator, precision),
        convolutional_spread(shape, accelerator, precision, software),
    )


FORMULA: Final = Formula(
    "convolutional-training",
    "Convolutional training step",
    convolutional_work,
    ("fit-training", "roofline-2009"),
    "data parallel; image networks of 10 layers and more",
)
