"""VM030: device groups on a release that does not know the board.

What it checks
    Device groups of NVSwitch boards against the release: A100 from 8.0 U1, H100 and later from 8.0 U2.
Why it matters
    Older releases have no groups for the board; the machine does not power on.
How to fix
    A newer release.
Sources
    NVIDIA AI Enterprise user guide.
Example
    A device group of H100 on 8.0 U1.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule

#: releases in order; newer ones know every board
_NAMES = ("8.0", "8.0 U1", "8.0 U2")
_RELEASES = {"7.0": -1, "7.0 U1": -1, "7.0 U2": -1, "7.0 U3": -1, **{name: k for k, name in enumerate(_NAMES)}}


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        host = context.host(vm)
        grouped = any(d.kind == "device_group" for d in vm.devices) and host is not None
        release = _RELEASES.get(host.release if host is not None else "", len(_NAMES))
        new = host is not None and any(name in gpu.title for gpu in host.gpus for name in ("H100", "H200", "B200"))
        least = 2 if new else 1
        if grouped and release < least:
            text = f"{vm.label}: device groups of this board need {_NAMES[least]} or later"
            yield Offence(text, (vm.id,), "upgrade the hosts")


RULE = Rule("VM030", "release-older-than-the-board", Severity.ERROR, check, context=MachineContext)
