"""A data-parallel training step of a convolutional network."""

from __future__ import annotations

from typing import Final

from designer.errors import AnalysisError
from designer.families.training.formulas.convolutional_memory import convolutional_memory, require_batch
from designer.families.training.formulas.overlap import exposed_time
from designer.families.training.formulas.step_composition import (
    NO_INPUT,
    InputStage,
    StepEstimate,
    StepFrame,
    compose_step,
    require_data_parallel,
    seen,
    spread_of,
)
from designer.families.training.formulas.transformer_step import TRAINING_PASSES
from designer.formulas.accelerator import Accelerator
from designer.formulas.communication import CommunicationCosts, Kind, RankGroup
from designer.formulas.compute.convolutional_step import convolutional_spread, convolutional_time
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.formulas.formula import Formula
from designer.formulas.layout import Layout
from designer.formulas.precision import Precision
from designer.formulas.shapes import ConvolutionalNumbers
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Bytes, Flop, FlopPerSecond, Ratio, Seconds

BACKWARD_SHARE: Final = Constant(
    0.6, 0.5, 0.667, "counted-training", Status.DERIVED, "1", "of a step, less the first layers"
)
TENSORS: Final = Constant(3.0, 2.0, 3.0, "counted-training", Status.DERIVED, "1", "weights of a layer, norm in two")
#: of what is fetched from other servers, the share that the batch before hides; chosen with four open rates in view
FETCHED_AHEAD: Final = Constant(
    0.5, 0.0, 1.0, "assumed-training", Status.ASSUMED, "1", "R-GAT on two servers: H200 0.2 and 0.5, B200 0.6 and 0.7"
)


def convolutional_estimate(
    shape: ConvolutionalNumbers,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    layout: Layout,
    global_batch: int,
    communication: CommunicationCosts,
    input_stage: InputStage = NO_INPUT,
    *,
    must_fit: bool = True,
    measured: Seconds | None = None,
) -> StepEstimate:
    """The step of a data-parallel convolutional network.

    Parameters
    ----------
    measured
        Computing time of the step in place of the estimate, optimizer included; gradients hide behind it [s].

    Raises
    ------
    AnalysisError
        If the layout splits anything but the batch, or the local batch does not fit.
    """
    require_data_parallel(shape.name, layout)
    if global_batch < layout.data:
        raise AnalysisError(
            f"a global batch of {global_batch} leaves some of {layout.data} accelerators without a sample",
            place="global_batch",
            remedy=f"give {layout.data} samples or more",
        )
    local = global_batch / layout.data
    if must_fit:
        require_batch(shape, local, accelerator, precision)
    known = measured is not None
    compute = measured if known else convolutional_time(shape, local, accelerator, precision, software)
    size = Bytes(shape.parameters * software.reduce_bytes.value)
    traffic = communication.time(Kind.ALL_REDUCE, RankGroup.DATA, size) if layout.data > 1 else Seconds(0.0)
    window = Seconds(compute * BACKWARD_SHARE.value)
    fetch = Seconds(0.0)
    if shape.fetched and communication.servers(RankGroup.DATA) > 1:
        # what the other ranks of a server hold is in the memory traffic of a sample
        fetch = communication.time(Kind.ALL_TO_ALL, RankGroup.DATA, Bytes(local * shape.fetched))
    fetch = exposed_time(fetch, compute, Ratio(FETCHED_AHEAD.value))
    rate = accelerator.memory_bandwidth * MEMORY_SHARE.value
    kernels = shape.layers * TENSORS.value * software.optimizer_kernels.value * software.launch.value
    parts = {
        "compute": compute,
        "data_communication": exposed_time(traffic, window, Ratio(software.data_overlap.value)) + fetch,
        "optimizer": 0.0 if known else shape.parameters * software.optimizer.value / rate + kernels,
    }
    frame = StepFrame(
        layout,
        global_batch,
        global_batch,
        Flop(TRAINING_PASSES.value * shape.flop_forward * global_batch),
        FlopPerSecond(layout.ranks * accelerator.peak(precision.name)),
        Ratio(software.straggler.value),
        convolutional_memory(shape, local, accelerator, precision),
        known or seen(software, accelerator, precision),
    )
    spread = spread_of(() if known else convolutional_spread(shape, accelerator, precision, software))
    return compose_step(parts, frame, spread, input_stage)


FORMULA: Final = Formula(
    "convolutional-training",
    "Convolutional training step",
    convolutional_estimate,
    ("fit-training", "roofline-2009"),
    "data parallel; image networks of 10 layers and more",
)
