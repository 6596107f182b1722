"""PCI006: a firmware switch off that devices of virtual machines need.

What it checks
    Attributes `iommu`, `above_4g` and `sriov` of servers that run machines with devices.
Why it matters
    Without them devices cannot be assigned, their memory windows do not map, or MIG and newer virtual GPUs do
    not start.
How to fix
    Turn them on in the firmware profile.
Sources
    F. Denneman, 2023-05-30 and 2022-10-18.
Example
    iommu = off on a host with virtual GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule

_SWITCHES = {"iommu": "the IOMMU (VT-d)", "above_4g": "decoding above 4 GiB", "sriov": "SR-IOV"}


def check(context: MachineContext) -> Iterator[Offence]:
    used = {
        host.path: host for vm in context.design.vms.values() if vm.devices and (host := context.host(vm)) is not None
    }
    for path, host in used.items():
        part = context.network.net.part(host.part)
        off = [
            name for name in _SWITCHES if part.attributes.get(name, "").lower() in ("off", "no", "false", "disabled")
        ]
        if off:
            words = " and ".join(_SWITCHES[name] for name in off)
            yield Offence(f"{path} has {words} off, its machines need it", (path,), "turn it on in the firmware")


RULE = Rule("PCI006", "firmware-switch-off", Severity.ERROR, check, context=MachineContext)
