"""A GPU that slows down because it is hot."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import CLOCKS

FAULT = slower(
    "too hot",
    "{} is hot and slows down",
    "see nvidia-smi -q -d TEMPERATURE; look after fans, filters and the cold plate",
    Effect(("gemm",), CLOCKS),
    at=lambda machine: machine.gpus,
)
