"""All GPUs with their memory at a lower clock."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import MEMORY_OF_ALL

FAULT = slower(
    "memory clock of all GPUs",
    "the memory of all GPUs runs at a lower clock",
    "nvidia-smi -rmc; see nvidia-smi -q -d CLOCK",
    Effect(("hbm",), MEMORY_OF_ALL),
)
