"""A round machine for tests of training formulas: numbers that are easy to check by hand."""

from __future__ import annotations

from designer.families.training.formulas.transformer_step import TransformerStep
from designer.formulas.accelerator import Accelerator
from designer.formulas.layout import Layout
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.units import Bytes, BytesPerSecond, FlopPerSecond
from designer.workload.shape import TransformerShape
from tests.nominal_network import NominalNetwork

ROUND = Accelerator(
    "round",
    {"bf16": FlopPerSecond(100e12), "fp32": FlopPerSecond(10e12)},
    BytesPerSecond(1e12),
    Bytes(80e9),
    "ampere",
)
#: eight to a server, 100 GB/s inside, 10 GB/s each outside
NETWORK = NominalNetwork(8, BytesPerSecond(100e9), BytesPerSecond(10e9))
SMALL = TransformerShape("small", 8, 1024, 16, 16, 4096, 32000, gated=False)
EXPERTS = TransformerShape(
    "experts", 8, 1024, 16, 4, 0, 32000, experts=8, experts_per_token=2, expert_ffn=2048, moe_layers=8
)
BF16 = precision("bf16")


def step_model(
    shape: TransformerShape = SMALL, sequence: int = 1024, program: str = "transformer-engine"
) -> TransformerStep:
    return TransformerStep(shape, ROUND, BF16, software(program), sequence)


def costs(layout: Layout):
    return NETWORK.costs(layout)
