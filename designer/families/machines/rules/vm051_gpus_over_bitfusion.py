"""VM051: GPUs lent over the network by a product that is no longer made.

What it checks
    The setting `remote_gpu` of machines stated as bitfusion, on hosts of 8.0 and later or with no release stated.
Why it matters
    vSphere Bitfusion was for 7.0; later releases do not have it, and nobody mends it.
How to fix
    Virtual GPUs or MIG instances of GPUs in the host.
Sources
    F. Denneman, 2020 to 2022; that it is discontinued is not confirmed by a document we read.
Example
    remote_gpu = bitfusion on a host with 8.0 U2.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Profile, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        host = context.host(vm)
        release = vm.release or (host.release if host is not None else "")
        if context.setting(vm, "remote_gpu") == "bitfusion" and not release.startswith("7."):
            yield Offence(f"{vm.label}: Bitfusion is not part of 8.0 and later", (vm.id,), "use virtual GPUs")


RULE = Rule(
    "VM051", "gpus-over-bitfusion", Severity.INFO, check, profiles=frozenset({Profile.VSPHERE}), context=MachineContext
)
