"""VM017: remote media attached to a machine before 7.0.

What it checks
    The setting `remote_media` of machines on releases before 7.0 or with no release stated.
Why it matters
    It blocks maintenance mode: the host is never empty.
How to fix
    Detach the media from the machine.
Sources
    F. Denneman, 2020-05-12.
Example
    An ISO image mounted from a workstation.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule, with_settings


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        if context.setting(vm, "remote_media") == "true":
            text = f"{vm.label}: remote media keeps its host from going into maintenance"
            yield Offence(text, (vm.id,), "detach it")


RULE = Rule(
    "VM017",
    "remote-media",
    Severity.WARNING,
    check,
    fix=with_settings("Detach it", {"remote_media": False}),
    context=MachineContext,
)
