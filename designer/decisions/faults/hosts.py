"""Faults of hosts: settings of the kernel, of processes and of collectives."""

from __future__ import annotations

from typing import Final

from designer.decisions.fault import BETWEEN, INSIDE, Effect, forced, misset, slower
from designer.decisions.faults._places import KERNEL, PAGEABLE, SMALL

FAULTS: Final = (
    slower(
        "CPU governor",
        "the CPU governor saves power",
        "cpupower frequency-set -g performance",
        Effect(("fio", "store"), KERNEL),
        Effect((*INSIDE, *BETWEEN), SMALL, largest=1 << 20),
    ),
    slower(
        "interrupts far from their device",
        "interrupts are far from their device, or huge pages are missing",
        "see /proc/interrupts and set_irq_affinity, HugePages_Total in /proc/meminfo",
        Effect(("fio", "store"), KERNEL),
    ),
    slower(
        "IOMMU translating",
        "the IOMMU translates every block",
        "boot with iommu=pt",
        Effect(("fio", "store"), KERNEL),
    ),
    misset(
        "no NUMA binding",
        "buffers lie in the memory of the other socket",
        "bind processes to the socket of their GPU",
        "numa_local",
        True,
    ),
    slower(
        "pageable memory",
        "copies go through pageable memory",
        "raise the limit of locked memory (ulimit -l), pin buffers",
        Effect(("h2d", "d2h", "h2d_all"), PAGEABLE),
    ),
    forced("ring", "rings instead of reduction in the switch", "see NCCL_NVLS_ENABLE"),
    forced("tree", "trees where rings are faster", "see NCCL_ALGO"),
)
