"""MEM001: less host memory than the GPUs of the machine hold, and the operating system.

What it checks
    Host memory of a machine against the memory of all its GPUs and what the operating system needs. Machines whose
    processors and GPUs share one memory are left out.
Why it matters
    Data is staged in host memory on its way to the GPU, checkpoints are gathered there, and what a GPU cannot hold is
    offloaded to it. With less, loading and checkpoints go through the disk.
How to fix
    More memory, or fewer GPUs per machine.
Sources
    Software Engineering Institute, a guide to training infrastructure, 2022-11-27.
Example
    Two 40 GB GPUs in a machine with 64 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.catalog.parttype import Capability
from designer.findings import Severity
from designer.rules.context import Context, MachineClass
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status
from designer.units import format_quantity

#: what processors state of memory that their GPUs use as well
_SHARED = "shared with the gpu"
#: kept for the operating system
SYSTEM = Constant(4 * 2.0**30, 2.0**30, 32 * 2.0**30, "rule-thresholds", Status.ASSUMED, "B")


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        memories = machine.having(Capability.MEMORY)
        stated = [context.number(item.part, "memory_capacity") for item in memories]
        gpus = [context.number(item.part, "memory_capacity") for item in context.gpus(machine)]
        if not stated or not gpus or None in stated or None in gpus or _has_unified_memory(context, machine):
            continue
        have, need = sum(v for v in stated if v), sum(v for v in gpus if v)
        if have < need + SYSTEM.value:
            text = (
                f"{format_quantity(have, 'size')} of host memory for GPUs with {format_quantity(need, 'size')} "
                "and an operating system"
            )
            where = tuple(item.path for item in memories)
            yield Offence(text, where, "give the machine more memory than its GPUs have", equal=machine.times)


def _has_unified_memory(context: Context, machine: MachineClass) -> bool:
    """True if processors and GPUs share one memory, as the processors state: nothing is staged anywhere else."""
    return any(_SHARED in context.text(item.part, "memory_type") for item in machine.having(Capability.COMPUTE))


RULE = Rule("MEM001", "less-memory-than-gpus", Severity.WARNING, check)
