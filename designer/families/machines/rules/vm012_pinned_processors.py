"""VM012: virtual CPUs pinned to cores.

What it checks
    The setting `cpu_affinity` of machines.
Why it matters
    The scheduler can no longer balance: pinned machines wait for a busy core next to idle ones, and they cannot
    be moved by DRS. NUMA affinity does what is wanted.
How to fix
    Remove the pinning, set the NUMA node affinity if need be.
Sources
    F. Denneman, 2020-01-30.
Example
    cpu_affinity = "0-15".
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule, with_settings


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        if context.setting(vm, "cpu_affinity"):
            yield Offence(
                f"{vm.label}: its virtual CPUs are pinned", (vm.id,), "remove the pinning; set the NUMA affinity"
            )


RULE = Rule(
    "VM012",
    "pinned-processors",
    Severity.WARNING,
    check,
    fix=with_settings("Remove it", {"cpu_affinity": None}),
    context=MachineContext,
)
