"""VM009: a virtual machine with a GPU that starts by BIOS.

What it checks
    Machines with passthrough devices or virtual GPUs whose setting `firmware` is stated as bios.
Why it matters
    GPUs with large memory windows (BAR1 above 256 MB) need EFI firmware; it cannot be changed after the guest
    is installed.
How to fix
    Install the guest from an EFI template.
Sources
    F. Denneman, 2023-05-30.
Example
    A machine with an A100 and the setting firmware = "bios".
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        if context.setting(vm, "firmware") == "bios" and vm.devices:
            yield Offence(
                f"{vm.label}: it starts by BIOS, its devices need EFI", (vm.id,), "install it from an EFI template"
            )


RULE = Rule("VM009", "firmware-without-efi", Severity.ERROR, check, context=MachineContext)
