"""Error correction switched on where its bits share graphics memory with the data."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._places import graphics_memory
from designer.decisions.faults._shares import CHECKED

FAULT = slower(
    "ECC on",
    "error correction takes a share of the memory",
    "nvidia-smi -q -d ECC; decide whether you want it",
    Effect(("hbm",), CHECKED),
    at=graphics_memory,
)
