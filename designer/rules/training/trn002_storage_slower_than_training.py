"""TRN002: storage that reads the dataset slower than the accelerators work through it.

What it checks
    Training workloads with a dataset: the bytes of an epoch over what its storage reads at most, against the time the
    accelerators take for the arithmetic of an epoch at a common share of their peak (35 %, 20 to 55 %).
Why it matters
    Accelerators wait for samples whatever the network does. The analysis of the workload tells how long.
How to fix
    A faster tier, more drives, a cache, or smaller samples.
Sources
    F. Denneman, 2023-05-12; the share of the peak is a proposal.
Example
    ResNet-50 on eight A100 from one hard drive.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from designer.analysis.selection import resolve
from designer.analysis.training.least_time import least_work, peak_rate
from designer.design.document import Part
from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status
from designer.units import format_quantity

#: share of their peak that accelerators commonly reach while they train
REACHED = Constant(0.35, 0.20, 0.55, "rule-thresholds", Status.ASSUMED)


def check(context: Context) -> Iterator[Offence]:
    """See the page above."""
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
            text = f"{name}: whether storage keeps up cannot be told, read_bandwidth of {kept[0].label} is missing"
            yield Offence(text, (name,), "tell its read_bandwidth", severity=Severity.INFO)
            continue
        reading = data.size * (1 - training.input.cached) / math.fsum(r for r in rates if r)
        epochs = training.run.samples / data.samples if training.run.samples else training.run.epochs
        work = least_work(training, f"workloads.{name}") / max(epochs, 1e-9)
        computing = work / (peak_rate(context.network, training, f"workloads.{name}") * REACHED.value)
        if reading > computing > 0:
            text = f"{name}: storage takes {format_quantity(reading, 'duration', 2)} for an epoch of {data.title}, the "
            text += f"accelerators about {format_quantity(computing, 'duration', 2)}"
            yield Offence(text, (name,), "a faster tier, more drives, or a cache")


def _rate(context: Context, part: Part, readers: int) -> float | None:
    """What storage or a drive reads for all machines together at most [B/s]; None where it does not tell."""
    whole, one = context.number(part, "read_bandwidth"), context.number(part, "client_read_bandwidth")
    if one is None:
        return whole
    return one * readers if whole is None else min(whole, one * readers)


RULE = Rule("TRN002", "storage-slower-than-training", Severity.WARNING, check)
