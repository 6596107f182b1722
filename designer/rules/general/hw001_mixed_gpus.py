"""HW001: unlike GPUs in one machine or one fabric.

What it checks
    The types of the GPUs that can train together.
Why it matters
    A synchronous step takes as long as its slowest GPU; batches and shards sized for one type do not fit the other, and
    virtual machines cannot move between hosts of unlike GPUs.
How to fix
    One type per pool, or pools apart.
Sources
    NVIDIA AI Enterprise user guide (vGPU migration needs the same GPU); F. Denneman, 2023-05-10.
Example
    Four A100 40 GB and four A100 80 GB in one server.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    types: dict[str, str] = {}
    for machine in context.machines:
        for gpu in context.gpus(machine):
            if gpu.part.type:
                types.setdefault(gpu.part.type, gpu.path)
    if len(types) > 1:
        titles = [context.design.part_types[t].title if t in context.design.part_types else t for t in types]
        yield Offence(f"GPUs of several types: {', '.join(sorted(titles))}", tuple(types.values()), "one type per pool")


RULE = Rule("HW001", "mixed-gpus", Severity.WARNING, check)
