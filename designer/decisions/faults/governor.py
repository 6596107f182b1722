"""Processor cores held at low clocks by their governor."""

from designer.decisions.fault import BETWEEN, INSIDE, Effect, slower
from designer.decisions.faults._shares import KERNEL, SMALL

FAULT = slower(
    "CPU governor",
    "the CPU governor saves power",
    "cpupower frequency-set -g performance",
    Effect(("fio", "store"), KERNEL),
    Effect((*INSIDE, *BETWEEN), SMALL, largest=1 << 20),
)
