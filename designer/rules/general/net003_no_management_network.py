"""NET003: servers of a cluster without a network of their own for management.

What it checks
    Whether machines with GPUs that are cabled to a fabric have a NIC whose role is management, or one apart from the
    NICs that carry data.
Why it matters
    Management traffic on the network of the training job disturbs it, and a broken job network takes the console away
    just when it is needed.
How to fix
    A small NIC on a switch of its own, with the role management.
Sources
    Software Engineering Institute, a guide to training infrastructure, 2022-11-27; NVIDIA DGX SuperPOD reference
    architecture (out-of-band management network).
Example
    Eight servers whose only NICs are the eight compute NICs.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import IN_PRODUCTION, Offence, Rule

_ROLES = ("management", "out-of-band", "oob", "in-band")


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        nics = machine.of("nic", "dpu")
        cabled = [item for item in nics if context.uplinks(item)]
        if not cabled or not context.gpus(machine) or machine.times < 2:
            continue
        if not any(role in item.role for item in nics for role in _ROLES):
            text = f"the machine of {cabled[0].path} has no network for management"
            yield Offence(text, (cabled[0].path,), "give it a NIC with the role management", equal=machine.times)


RULE = Rule("NET003", "no-management-network", Severity.INFO, check, profiles=IN_PRODUCTION)
