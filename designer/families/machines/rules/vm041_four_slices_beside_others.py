"""VM041: a MIG instance of four slices on a GPU that others share.

What it checks
    MIG profiles of four compute slices on a GPU on which another machine has an instance.
Why it matters
    Four slices start at slice 0 alone: after any instance in slices 0 to 3 the next such machine does not start,
    whatever is free.
How to fix
    A GPU of its own for such machines, or three slices.
Sources
    F. Denneman, 2026-03-06; NVIDIA MIG user guide.
Example
    4g.40gb next to 1g.10gb on one GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    users: dict[str, list[tuple[str, str]]] = {}
    for placed in context.placement.placed.values() if context.placement is not None else ():
        for device in placed.devices:
            if device.kind == "mig_vgpu" and device.gpu is not None:
                users.setdefault(device.gpu.path, []).append((placed.vm.id, device.profile))
    for path, found in users.items():
        large = [vm for vm, profile in found if profile.lower().startswith(("4g.", "4-"))]
        if large and len(found) > 1:
            text = f"{context.design.vms[large[0]].label}: its four slices share {path} with {len(found) - 1} more"
            yield Offence(text, (large[0],), "give it a GPU of its own, or three slices")


RULE = Rule("VM041", "four-slices-beside-others", Severity.WARNING, check, context=MachineContext)
