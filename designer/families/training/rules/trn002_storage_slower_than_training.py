"""TRN002: storage that reads the dataset slower than the accelerators work through it.

What it checks
    Training workloads with a dataset: the bytes of an epoch over what its storage reads at most, against the time the
    accelerators take to compute an epoch by the analysis' own estimate, nothing but computing counted. Where the whole
    band of the estimate is quicker than storage it is certain, else it is likely.
Why it matters
    Accelerators wait for samples whatever the network does. The analysis of the workload states how long.
How to fix
    A faster tier, more drives, a cache, or smaller samples.
Sources
    F. Denneman, 2023-05-12.
Example
    ResNet-50 on eight A100 from one hard drive.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from designer.design.document import Part
from designer.engine.routes.selection import resolve
from designer.families.training.preparation import samples_of
from designer.families.training.rules._context import TrainingContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.units import format_quantity


def check(context: TrainingContext) -> Iterator[Offence]:
    for name, (training, data) in context.trainings.items():
        if not training.input.source:
            continue
        parts = [context.part_at(n) for n in resolve(context.network, training.input.source, name).tolist()]
        kept = [part for part in parts if part.kind in ("storage", "drive")]
        readers = len(context.islands_of(resolve(context.network, training.job.group, name)))
        rates = [_rate(context, part, readers) for part in kept]
        if not kept:
            continue
        if None in rates:
            text = f"{name}: whether storage keeps up cannot be said, read_bandwidth of {kept[0].label} is missing"
            yield Offence(text, (name,), "state its read_bandwidth", severity=Severity.INFO)
            continue
        reading = data.size * (1 - training.input.cached) / math.fsum(r for r in rates if r)
        step = context.busy_step(name, alone=True)
        samples = samples_of(training.job.sequence, data.tokens > 0, training.input, f"workloads.{name}")[0].epoch
        steps = samples / step.global_batch
        if reading > steps * step.step_time:
            took, low, high = (format_quantity(steps * t, "duration", 2) for t in (step.step_time, step.low, step.high))
            sure = "certainly" if reading > steps * step.high else "probably"
            text = f"{name}: storage takes {format_quantity(reading, 'duration', 2)} for an epoch of {data.title}, the "
            text += f"accelerators about {took} ({low} to {high}): they {sure} wait"
            yield Offence(text, (name,), "a faster tier, more drives, or a cache")


def _rate(context: TrainingContext, part: Part, readers: int) -> float | None:
    """What storage or a drive reads for all machines together at most [B/s]; None where it is not given."""
    whole, one = context.number(part, "read_bandwidth"), context.number(part, "client_read_bandwidth")
    if one is None:
        return whole
    return one * readers if whole is None else min(whole, one * readers)


RULE = Rule("TRN002", "storage-slower-than-training", Severity.WARNING, check, context=TrainingContext)
