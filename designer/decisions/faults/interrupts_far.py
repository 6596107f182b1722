"""Interrupts and huge pages that are not set up."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import KERNEL

FAULT = slower(
    "interrupts far from their device",
    "interrupts are far from their device, or huge pages are missing",
    "see /proc/interrupts and set_irq_affinity, HugePages_Total in /proc/meminfo",
    Effect(("fio", "store"), KERNEL),
)
