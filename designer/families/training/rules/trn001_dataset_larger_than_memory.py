"""TRN001: a dataset that does not stay in the memory of the machines that read it again and again.

What it checks
    Training workloads of more than one epoch that read from storage or drives: the dataset against the host memory of
    the smallest machine of the group, without what the operating system takes.
Why it matters
    What does not stay in the page cache is read from storage in every epoch, not in the first alone.
How to fix
    More memory, a cache on local drives, or storage that keeps up in every epoch.
Sources
    F. Denneman, 2020-01-30.
Example
    ImageNet, 150 GB, in machines of 128 GB, for 90 epochs.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.catalog.parttype import Capability
from designer.engine.network.islands import find_islands
from designer.engine.routes.selection import resolve
from designer.families.training.rules._context import TrainingContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status
from designer.units import format_quantity

#: kept for the operating system and the processes that train
SYSTEM = Constant(4 * 2.0**30, 2.0**30, 32 * 2.0**30, "rule-thresholds", Status.ASSUMED, "B")


def check(context: TrainingContext) -> Iterator[Offence]:
    for name, (training, data) in context.trainings.items():
        epochs = training.run.samples / data.samples if training.run.samples else training.run.epochs
        if epochs <= 1 or training.input.cached >= 1:
            continue
        free = _least_memory(context, training.job.group, name)
        if free is None:
            text = f"{name}: whether {data.title} stays in memory cannot be said, memory_capacity is missing"
            yield Offence(text, (name,), "state memory_capacity of the machines", severity=Severity.INFO)
        elif data.size > free:
            text = f"{name}: {data.title} has {format_quantity(data.size, 'size')}, a machine has "
            text += f"{format_quantity(free, 'size')} to keep it in; every epoch reads it again"
            yield Offence(text, (name,), "more memory, a cache on local drives, or storage that keeps up")


def _least_memory(context: TrainingContext, group: str, name: str) -> float | None:
    """Memory of the smallest machine that has accelerators of the group [B]; None where it is not given."""
    network = context.network
    classes = set(find_islands(network).class_of[context.islands_of(resolve(network, group, name))].tolist())
    islands = find_islands(network)
    found: list[float] = []
    for machine in context.machines:
        if int(islands.class_of[machine.island]) in classes:
            stated = [context.number(item.part, "memory_capacity") for item in machine.having(Capability.MEMORY)]
            if not stated or None in stated:
                return None
            found.append(sum(v for v in stated if v) - SYSTEM.value)
    return min(found, default=None)


RULE = Rule("TRN001", "dataset-larger-than-memory", Severity.WARNING, check, context=TrainingContext)
