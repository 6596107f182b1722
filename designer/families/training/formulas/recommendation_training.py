"""A training step of a recommendation model: dense products by shape, tables over all ranks, two exchanges of rows."""

from __future__ import annotations

from typing import Final

from designer.errors import AnalysisError
from designer.families.training.formulas.convolutional_memory import MOMENTUM, WORKSPACE
from designer.families.training.formulas.step_composition import DataParallelWork
from designer.families.training.formulas.transformer_memory import GIGA, MemoryBreakdown
from designer.families.training.formulas.transformer_step import TRAINING_PASSES
from designer.formulas.accelerator import Accelerator
from designer.formulas.calibration import share
from designer.formulas.communication import CommunicationCosts, Kind, RankGroup
from designer.formulas.compute.gemm import gemm_time
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.formulas.formula import Formula
from designer.formulas.precision import SINGLE, Precision
from designer.formulas.shapes import RecommendationNumbers
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Bytes, Seconds

#: a row is read forward, its weights and squares are read and written by the optimizer; of 214 rows of DLRM-dcnv2, 162
#: are of tables that no cache holds
ROW_PASSES: Final = Constant(
    4.0,
    2.5,
    5.0,
    "counted-training",
    Status.DERIVED,
    "1",
    "five for rows beyond caches; some are met twice",
)
#: values that a dense layer puts out are written and read forward, and twice as much backward
ACTIVATION_PASSES: Final = Constant(6.0, 4.0, 8.0, "counted-training", Status.DERIVED, "1", "bias, activation, product")
#: of the tables' memory, their values and a sum of squares for each
TABLE_COPIES: Final = Constant(2.0, 1.0, 2.0, "mlperf-dlrm", Status.SECONDARY, "1", "Adagrad")
#: widens the band alone: how many rows occur twice, what the library keeps on every rank
ROWS_PACE: Final = Constant(1.0, 0.8, 1.2, "mlperf-dlrm", Status.DERIVED, "1", "H100 to B300, one to eight servers")


def recommendation_work(
    shape: RecommendationNumbers,
    samples: float,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    communication: CommunicationCosts,
    *,
    ranks: int,
    must_fit: bool = True,
    measured: Seconds | None = None,
) -> DataParallelWork:
    """What a rank does with so many samples of a model whose tables are spread over all ranks.

    Parameters
    ----------
    measured
        Computing time of the step in place of the estimate, optimizer included [s].

    Notes
    -----
    One graph holds the whole step, so that the host adds nothing to it.

    Raises
    ------
    AnalysisError
        If tables and batch do not fit.
    """
    memory = recommendation_memory(shape, samples, ranks, accelerator, precision)
    if must_fit and not memory.fits:
        raise AnalysisError(
            f"{shape.name} needs {memory.total / GIGA.value:.1f} GB on an accelerator of "
            f"{memory.capacity / GIGA.value:.1f} GB",
            place="batch",
            remedy="use more accelerators, over which its tables are spread, or fewer samples",
        )
    products = _products(shape, samples, accelerator, precision, software)
    rate = accelerator.memory_bandwidth * MEMORY_SHARE.value
    rows = samples * shape.lookups * shape.width * SINGLE.value * ROW_PASSES.value / rate
    values = samples * shape.activations * precision.activation_bytes.value
    pointwise = values * ACTIVATION_PASSES.value * software.pointwise.value / rate
    compute = products + rows + pointwise
    sent = Bytes(samples * shape.tables * shape.width * precision.activation_bytes.value)
    row = accelerator.calibration
    return DataParallelWork(
        Seconds(compute) if measured is None else measured,
        Seconds(products * (1 - 1 / TRAINING_PASSES.value)),
        # pooled rows go to the ranks of their samples, their gradients back
        Seconds(2 * communication.time(Kind.ALL_TO_ALL, RankGroup.DATA, sent)),
        memory,
        (
            (products / compute, row.sustained),
            (products / compute, share(row.best, accelerator.runs_as(precision.name))),
            (-rows / compute, ROW_PASSES),
            (-pointwise / compute, ACTIVATION_PASSES),
            (1, ROWS_PACE),
        ),
    )


def _products(
    shape: RecommendationNumbers, local: float, accelerator: Accelerator, precision: Precision, software: Software
) -> float:
    """Time of the dense products, forward and backward [s]."""
    name, launch = precision.name, Seconds(software.launch.value)
    operand, result = Bytes(precision.matrix_bytes.value), Bytes(precision.activation_bytes.value)
    gradient = Bytes(precision.gradient_bytes.value)
    total = 0.0
    for inner, columns in shape.products:
        total += gemm_time(local, inner, columns, accelerator, name, operand, result, launch)
        total += gemm_time(local, columns, inner, accelerator, name, operand, result, launch)
        total += gemm_time(inner, local, columns, accelerator, name, operand, gradient, launch)
    return total


def recommendation_memory(
    shape: RecommendationNumbers, batch: float, ranks: int, accelerator: Accelerator, precision: Precision
) -> MemoryBreakdown:
    """Memory of one accelerator, its share of the tables in weights and optimizer [B]."""
    table = shape.rows * shape.width * SINGLE.value / ranks
    dense = shape.parameters * precision.weight_bytes.value
    return MemoryBreakdown(
        Bytes(dense + table),
        Bytes(dense),
        Bytes(shape.parameters * MOMENTUM.value + (TABLE_COPIES.value - 1) * table),
        Bytes(batch * (shape.activations + shape.tables * shape.width) * precision.activation_bytes.value),
        Bytes(0.0),
        Bytes(WORKSPACE.value),
        accelerator.memory_capacity,
    )


FORMULA: Final = Formula(
    "recommendation-training",
    "Training step of a recommendation model",
    recommendation_work,
    ("counted-training", "roofline-2009", "mlperf-dlrm"),
    "tables spread evenly over all ranks, in their memory",
)
