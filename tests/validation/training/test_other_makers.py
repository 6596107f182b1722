"""What Google, Intel and AWS publish of training on their own accelerators; the rows of these are fitted on it.

TPUs by MaxText on one slice, Gaudi 2 by Intel's table, Trainium by the benchmarks of the Neuron SDK.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

import pytest

from designer.catalog.loader import Catalog
from designer.families.training.formulas.step_composition import StepEstimate
from designer.families.training.formulas.training_step import estimate_step
from designer.formulas.accelerator import Accelerator
from designer.formulas.calibration import CHIPS, GENERATIONS, generation_key
from designer.formulas.layout import Layout, Recompute, Sharding
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.units import Bytes, BytesPerSecond, FlopPerSecond
from designer.workload.models import model
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


@dataclass(frozen=True)
class Published:
    """A published rate of a shipped model [tokens/s]."""

    model: str
    chips: int
    sequence: int
    batch: int
    tensor: int
    pipeline: int
    rate: float


#: Intel states neither layouts nor programs; those of its examples are assumed
GAUDI = (
    Published("llama-2-7b", 8, 4096, 1024, 1, 1, 70_523),
    Published("llama-2-13b", 16, 4096, 256, 2, 2, 59_397),
    Published("llama-2-70b", 64, 4096, 1024, 8, 8, 54_614),
    Published("llama-3-8b", 8, 8192, 128, 1, 1, 37_440),
    Published("llama-3-70b", 64, 8192, 128, 8, 8, 43_332),
)
#: TP of cores, two a chip; sequences a second
TRAINIUM = (
    Published("llama-2-7b", 256, 4096, 1024, 4, 1, 93.3 * 4096),
    Published("llama-2-13b", 512, 4096, 1024, 4, 4, 85.65 * 4096),
    Published("llama-2-70b", 512, 4096, 1024, 16, 4, 15.34 * 4096),
    Published("gpt-175b", 512, 2048, 1024, 16, 8, 13.3 * 2048),
    Published("llama-3-70b", 512, 8192, 1024, 16, 8, 7.94 * 8192),
    Published("llama-3-8b", 512, 8192, 1024, 16, 1, 47.95 * 8192),
)


def ratios(
    runs: tuple[Published, ...], part: Accelerator, form: str, program: str, links: tuple[int, float, float]
) -> tuple[list[float], int]:
    """Estimated over published rate of each run, and how many lie in their bands."""
    found, held = [], 0
    for run in runs:
        layout = Layout(
            tensor=run.tensor,
            pipeline=run.pipeline,
            data=run.chips // run.tensor // run.pipeline,
            sharding=Sharding.OPTIMIZER,
            recompute=Recompute.SELECTIVE if form == "bf16" else Recompute.NONE,
            micro_batch=1,
            sequence_parallel=run.tensor > 1,
        )
        network = NominalNetwork(links[0], BytesPerSecond(links[1]), BytesPerSecond(links[2]))
        step = estimate_step(
            model(run.model),
            precision(form),
            layout,
            run.batch,
            part,
            network.costs(layout),
            software(program, "", part.generation),
            sequence=run.sequence,
            must_fit=False,
        )
        found.append(step.tokens_per_second / run.rate)
        held += step.step_time / step.high <= 1 / found[-1] <= step.step_time / step.low
    return found, held


def test_gaudi_2_in_eight_bit() -> None:
    """Four of five within a quarter; the 8B at 8,192 tokens is 1.5 times too fast, its layout is not known."""
    flops = {"bf16": FlopPerSecond(432e12), "fp8": FlopPerSecond(865e12)}
    part = Accelerator("Gaudi 2", flops, BytesPerSecond(2.46e12), Bytes(96e9), "Gaudi 2", "module")
    found, held = ratios(GAUDI, part, "fp8", "transformer-engine", (8, 262.5e9, 37.5e9))
    off = sorted(abs(math.log(ratio)) for ratio in found)
    assert off[2] < 0.12
    assert off[3] < 0.22
    assert off[4] < 0.45
    assert held >= 3


def test_trainium() -> None:
    flops = {"bf16": FlopPerSecond(190e12)}
    part = Accelerator("Trainium", flops, BytesPerSecond(880e9), Bytes(34e9), "NeuronCore-v2", "module")
    found, held = ratios(TRAINIUM, part, "bf16", "fsdp-compiled", (16, 192e9, 12.5e9))
    assert median(abs(math.log(ratio)) for ratio in found) < 0.05
    assert max(abs(math.log(ratio)) for ratio in found) < 0.2
    assert held >= 5


def test_every_row_is_that_of_a_part_in_the_catalog() -> None:
    """The architecture that a part states begins with the name of its row: a row that no part names changes nothing."""
    values = [part.values.get("architecture") for part in Catalog().all("gpu")]
    architectures = {str(value.value).lower() for value in values if value is not None}
    assert set(GENERATIONS) - {generation_key(name) for name in architectures} == {"typical", "cpu"}
    assert set(CHIPS) <= architectures
