"""VM013: a device given by its slot where any of its kind would do.

What it checks
    Machines with static passthrough devices on releases that know Dynamic DirectPath.
Why it matters
    The machine is bound to one slot of one host: it cannot restart elsewhere, and DRS cannot place it.
How to fix
    Dynamic DirectPath with a label.
Sources
    F. Denneman, 2023-06-06.
Example
    A GPU passed through on 8.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        if any(d.kind == "passthrough" for d in vm.devices):
            yield Offence(
                f"{vm.label}: a passthrough device binds it to one slot of one host",
                (vm.id,),
                "use Dynamic DirectPath with a label",
            )


RULE = Rule("VM013", "static-passthrough", Severity.INFO, check, context=MachineContext)
