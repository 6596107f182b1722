"""A GPU whose memory is slow: a lower clock, or rows remapped after errors."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import MEMORY

FAULT = slower(
    "slow GPU memory",
    "the memory of {} is slow",
    "see nvidia-smi -q -d ECC,ROW_REMAPPER,CLOCK; reset or replace it",
    Effect(("hbm",), MEMORY),
    at=lambda machine: machine.gpus,
)
