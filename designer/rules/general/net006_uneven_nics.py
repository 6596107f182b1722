"""NET006: a number of compute NICs that GPUs cannot share evenly.

What it checks
    GPUs and compute NICs of a machine: one NIC for one, two or four GPUs.
Why it matters
    With uneven rails some GPUs share a NIC and others have one alone; collectives run at the pace of the shared
    ones.
How to fix
    As many NICs as GPUs, or a half or a quarter of them.
Sources
    NVIDIA enterprise reference architectures; Juniper AI data-centre design guide.
Example
    Eight GPUs and three NICs.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import COMPUTE_ROLES, Context
from designer.rules.rule import Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        gpus = context.gpus(machine)
        nics = [nic for nic in machine.of("nic", "dpu") if nic.role in COMPUTE_ROLES and context.uplinks(nic)]
        if len(gpus) > 1 and len(nics) > 1 and len(gpus) % len(nics) and len(nics) % len(gpus):
            text = f"{len(gpus)} GPUs share {len(nics)} compute NICs unevenly"
            where = tuple(nic.path for nic in nics)
            yield Offence(text, where, "a NIC for each GPU, for two or for four", equal=machine.times)


RULE = Rule("NET006", "uneven-nics", Severity.INFO, check)
