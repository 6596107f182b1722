"""VM044: a GPU in MIG slices that leaves some nobody can use.

What it checks
    GPUs with MIG instances of placed machines: what stays unused however they are filled further, compute and memory.
Why it matters
    A GPU has seven compute slices and eight of memory: 3g + 3g leaves a compute slice, seven of 1g an eighth of the
    memory. It is paid for and serves nobody.
How to fix
    Accept it, or mix sizes: 4g + 3g use all seven, 3g + 2g + 2g as well.
Sources
    F. Denneman, 2026-03-06; NVIDIA MIG user guide.
Example
    Two machines with 3g.20gb each on an A100 40 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.formulas.placement.mig_slices import mig_stranded
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for room in context.placement.free_capacities.values() if context.placement is not None else ():
        for at in room.gpus:
            if not at.residents or not at.sliced or at.gpu.type is None:
                continue
            lost = mig_stranded(at.gpu.type, at.residents)
            if lost.compute or lost.memory:
                words = [f"{n} of {what}" for n, what in ((lost.compute, "compute"), (lost.memory, "memory")) if n]
                text = f"{at.gpu.path}: slices that no further instance can use: {' and '.join(words)}"
                yield Offence(text, (at.gpu.path,), "accept it, or mix sizes, such as 4g + 3g")


RULE = Rule("VM044", "slices-that-nothing-uses", Severity.INFO, check, context=MachineContext)
