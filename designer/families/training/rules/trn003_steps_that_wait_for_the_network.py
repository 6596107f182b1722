"""TRN003: training whose steps wait for the network for much of their time.

What it checks
    Training workloads over several machines: the communication of a step that computing does not hide, as the analysis
    estimates it for the drawn network, against 30 % of the step. Where the whole band lies above it, it is certain.
Why it matters
    Accelerators that wait are paid for all the same, and more of them make it worse.
How to fix
    A faster fabric, a larger batch for each accelerator, fewer exchanges (gradients summed over several steps), or a
    layout that keeps tensor parallelism inside the machine.
Sources
    F. Denneman, 2023-05-12; the share is a proposal.
Example
    A transformer over two servers joined by 25 Gb/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.engine.routes.selection import resolve
from designer.families.training.formulas.step_composition import COMMUNICATION_BAND
from designer.families.training.rules._context import TrainingContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status
from designer.units import format_quantity

#: share of a step that communication may take
BORNE = Constant(0.30, 0.20, 0.50, "rule-thresholds", Status.ASSUMED)


def check(context: TrainingContext) -> Iterator[Offence]:
    for name, training in context.jobs.items():
        if len(context.islands_of(resolve(context.network, training.job.group, name))) < 2:
            continue
        step = context.busy_step(name)
        share = step.communication / step.step_time
        if share > BORNE.value:
            sure = "" if share * (1 - COMMUNICATION_BAND.value) > BORNE.value else ", give or take what is not known"
            text = f"{name}: {share:.0%} of a step of {format_quantity(step.step_time, 'duration', 2)} waits for the "
            yield Offence(f"{text}network{sure}", (name,), "a faster fabric, a larger batch, or another layout")


RULE = Rule("TRN003", "steps-that-wait-for-the-network", Severity.WARNING, check, context=TrainingContext)
