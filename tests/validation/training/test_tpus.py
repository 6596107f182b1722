"""What MaxText publishes for TPUs, on one slice; the row of their generation is fitted on these runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

import pytest

from designer.families.training.formulas.step_composition import StepEstimate
from designer.families.training.formulas.training_step import estimate_step
from designer.formulas.accelerator import Accelerator
from designer.formulas.layout import Layout, Recompute, Sharding
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.units import Bytes, BytesPerSecond, FlopPerSecond
from designer.workload.shape import TransformerShape
from tests.nominal_network import INSIDE_SHARE, NominalNetwork

SEQUENCE, HEAD = 2048, 256


def chip(name: str, peak: float, memory: float, rate: float) -> Accelerator:
    """A TPU from the data sheet: bf16 [FLOP/s], memory [B] and its rate [B/s]."""
    flops = {"bf16": FlopPerSecond(peak)}
    return Accelerator(name, flops, BytesPerSecond(rate), Bytes(memory), name, "module")


V5E, V5P = chip("TPU v5e", 197e12, 16e9, 819e9), chip("TPU v5p", 459e12, 95e9, 2765e9)
#: all links of a chip in one direction at the share that rings reach [B/s]
LINKS = {"TPU v5e": 200e9, "TPU v5p": 600e9}


@dataclass(frozen=True)
class Run:
    """A row of the publication: TFLOP/s per chip as MaxText counts them."""

    part: Accelerator
    scale: int
    chips: int
    per_chip: int
    tensor: int
    recompute: Recompute
    published: float


RUNS = (
    Run(V5E, 16, 256, 6, 1, Recompute.FULL, 120),
    Run(V5E, 32, 256, 4, 1, Recompute.FULL, 132),
    Run(V5E, 64, 256, 2, 1, Recompute.FULL, 118),
    Run(V5E, 128, 256, 1, 4, Recompute.FULL, 110),
    Run(V5P, 32, 64, 7, 4, Recompute.POINTWISE, 328),
    Run(V5P, 64, 64, 3, 4, Recompute.POINTWISE, 323),
    Run(V5P, 128, 128, 1, 8, Recompute.POINTWISE, 315),
    Run(V5P, 128, 256, 1, 8, Recompute.POINTWISE, 316),
    Run(V5P, 256, 512, 1, 8, Recompute.POINTWISE, 308),
    Run(V5P, 512, 512, 1, 8, Recompute.POINTWISE, 294),
)


def shape_of(scale: int) -> TransformerShape:
    """The model of a scale, a power of two: dimensions double in turn, as ``global_parameter_scale`` makes them."""
    third, rest = divmod(int(math.log2(scale)), 3)
    wide = 2 ** (third + (rest > 0))
    return TransformerShape(
        name=f"MaxText {scale}B",
        layers=16 * 2**third,
        hidden=2048 * 2 ** (third + (rest > 1)),
        heads=16 * wide,
        kv_heads=16 * wide,
        ffn=7168 * wide,
        vocabulary=32000,
        head_dim=HEAD,
        value_head_dim=HEAD,
    )


def step_of(run: Run) -> StepEstimate:
    layout = Layout(
        tensor=run.tensor,
        data=run.chips // run.tensor,
        sharding=Sharding.PARAMETERS,
        recompute=run.recompute,
        micro_batch=run.per_chip * run.tensor,
    )
    inside = BytesPerSecond(LINKS[run.part.name] / INSIDE_SHARE.value * 0.78)
    return estimate_step(
        shape_of(run.scale),
        precision("bf16"),
        layout,
        run.per_chip * run.chips,
        run.part,
        NominalNetwork(run.chips, inside, BytesPerSecond(1e9)).costs(layout),
        software("fsdp-compiled", "", run.part.generation),
        sequence=SEQUENCE,
        must_fit=False,
    )


def published_rate(run: Run) -> float:
    """Tokens a second and chip: MaxText counts 6 FLOP a parameter and attention without its causal mask."""
    shape = shape_of(run.scale)
    attention = shape.heads * HEAD
    parameters = shape.layers * (4 * shape.hidden * attention + 3 * shape.hidden * shape.ffn)
    flop = 6 * (parameters + shape.vocabulary * shape.hidden) + 3 * 4 * SEQUENCE * attention * shape.layers
    return run.published * 1e12 / flop


def test_runs_are_within_a_sixth_and_most_inside_their_bands() -> None:
    errors, held = [], 0
    for run in RUNS:
        step, rate = step_of(run), published_rate(run)
        tokens = run.per_chip * SEQUENCE
        errors.append(abs(math.log(step.tokens_per_second / run.chips / rate)))
        held += tokens / step.high <= rate <= tokens / step.low
    assert max(errors) < 0.17
    assert median(errors) < 0.09
    assert held >= 8


def test_a_step_by_hand() -> None:
    """16B: 20.0 G parameters, 12,288 tokens a chip: 6 N and a third more for recomputing are 1.97 PFLOP, with half of
    attention 2.07; at 0.92 of 197 TFLOP/s 11.4 s, and pointwise kernels. Published: 132.8 GFLOP a token, 13.6 s."""
    run = RUNS[0]
    assert 11.4 < step_of(run).compute + step_of(run).recompute < 1.25 * 11.4
    assert run.per_chip * SEQUENCE / published_rate(run) == pytest.approx(13.6, rel=0.01)
