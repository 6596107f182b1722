"""VM040: sizes of virtual GPUs of which an unlucky order strands much of a GPU.

What it checks
    The sizes in use on GPUs in mixed-size mode, by type of GPU: the most frame buffer that stays unused when
    machines of these sizes start in the worst order, above a tenth of the GPU.
Why it matters
    Free memory is not placeable memory: later machines do not start although enough is free.
How to fix
    Sizes that divide one another, such as 10, 20, 40 and 80 GB, or a GPU for each size.
Sources
    F. Denneman, 2026-02-24; starts from the NVIDIA user guide. The tenth is a proposal.
Example
    8, 10 and 20 GB on a GPU of 80 GB: 16 GB can be stranded.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.catalog.vgpu import VgpuType
from designer.engine.machines.free_capacity import HostFreeCapacity
from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.formulas.placement import Mode
from designer.formulas.placement.virtual_gpus import stranded_worst
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status

#: share of a GPU that may be stranded
SHARE = Constant(0.10, 0.05, 0.20, "rule-thresholds", Status.ASSUMED)


def check(context: MachineContext) -> Iterator[Offence]:
    shared = [
        gpu for free in _free_capacities(context) for gpu in free.gpus if gpu.mode is Mode.MIXED_SIZE and gpu.residents
    ]
    kinds: dict[str, tuple[VgpuType, set[str], str]] = {}
    for gpu in shared:
        kind = gpu.gpu.type
        if kind is not None:
            kinds.setdefault(kind.id, (kind, set(), gpu.gpu.path))[1].update(r.profile for r in gpu.residents)
    for kind, names, path in kinds.values():
        starts = {p.size: p.starts for p in map(kind.profile, names) if p.starts}
        worst = stranded_worst(kind.regions, starts) / kind.regions if starts else 0.0
        if len(starts) > 1 and worst > SHARE.value:
            text = f"{', '.join(sorted(names))} on one GPU can strand {worst:.0%} of it in the worst order of starts"
            yield Offence(text, (path,), "sizes that divide one another, or a GPU for each size")


def _free_capacities(context: MachineContext) -> Iterator[HostFreeCapacity]:
    yield from context.placement.free_capacities.values() if context.placement is not None else ()


RULE = Rule("VM040", "sizes-that-strand-memory", Severity.WARNING, check, context=MachineContext)
