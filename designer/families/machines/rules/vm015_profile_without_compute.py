"""VM015: a graphics profile on a GPU for computing.

What it checks
    Series Q, A and B of virtual GPUs asked for on A100, A30, H100 and H200.
Why it matters
    These GPUs have no display engines or encoders, and vendors offer only compute profiles (C).
How to fix
    A C profile, or GPUs such as L4, L40S and A16.
Sources
    F. Denneman, 2023-05-10; NVIDIA virtual GPU documentation.
Example
    A 20Q profile for a host of A100.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        host = context.host(vm)
        titles = [gpu.title for gpu in host.gpus] if host is not None else []
        compute = any(name in title for title in titles for name in ("A100", "A30", "H100", "H200"))
        wrong = [d.profile for d in vm.devices if d.profile and d.profile[-1] in "QAB"]
        if wrong and compute:
            yield Offence(
                f"{vm.label}: {wrong[0]} is for graphics, its host has GPUs for computing",
                (vm.id,),
                "use a C profile, or GPUs with display engines",
            )


RULE = Rule("VM015", "profile-without-compute", Severity.WARNING, check, context=MachineContext)
