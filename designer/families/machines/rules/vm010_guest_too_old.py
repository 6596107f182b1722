"""VM010: a 32-bit guest, or another than Linux with a device group.

What it checks
    The setting `guest` of machines with devices: 32-bit guests, and guests other than Linux with device groups.
Why it matters
    There is no driver for 32-bit guests, and peer-to-peer in a device group works on 64-bit Linux alone.
How to fix
    A 64-bit Linux guest.
Sources
    F. Denneman, 2023-05-30; NVIDIA AI Enterprise user guide.
Example
    A device group of four GPUs in a Windows guest.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        guest = context.setting(vm, "guest")
        groups = any(d.kind == "device_group" for d in vm.devices)
        if not vm.devices:
            continue
        if guest and ("32-bit" in guest or (groups and "linux" not in guest)):
            yield Offence(
                f"{vm.label}: its guest {guest} has no driver for its devices", (vm.id,), "use a 64-bit Linux guest"
            )


RULE = Rule("VM010", "guest-too-old", Severity.ERROR, check, context=MachineContext)
