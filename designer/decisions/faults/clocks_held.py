"""Clocks of a GPU held down by a setting."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import CLOCKS

FAULT = slower(
    "clocks held",
    "{} holds its clocks down",
    "see nvidia-smi -q -d PERFORMANCE for what holds its clocks; nvidia-smi -rgc",
    Effect(("gemm",), CLOCKS),
    at=lambda machine: machine.gpus,
)
