"""All GPUs below their power limit."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import POWER

FAULT = slower(
    "power capped",
    "all GPUs run below their power",
    "see nvidia-smi -q -d POWER, the power profile of the server, and lost power supplies",
    Effect(("gemm",), POWER),
)
