"""PCI003: access control services on while GPUs and NICs are to talk directly.

What it checks
    The traffic policy: PCIe access control (ACS) together with GPUDirect, on machines with PCIe switches.
Why it matters
    With ACS every peer-to-peer transfer climbs to the root complex and comes back: uplinks carry it twice and the
    rate falls far below that of the switch.
How to fix
    Turn ACS off on bare metal, or use address translation services (ATS) under a hypervisor.
Sources
    NVIDIA AI Enterprise user guide; NCCL troubleshooting guide (PCI access control services).
Example
    A bare-metal DGX A100 with ACS left on by the firmware.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.design.edits.properties import SetPolicy
from designer.findings import Finding, Severity
from designer.rules.context import Context
from designer.rules.rule import Fix, Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    policy = context.design.policy
    if not (policy.pcie_acs and policy.gpudirect):
        return
    for machine in context.machines:
        switches = machine.of("pcie_switch")
        if switches and context.gpus(machine):
            text = f"PCIe access control sends what passes {switches[0].path} between devices up to the socket"
            yield Offence(text, (switches[0].path,), "turn ACS off, or use ATS", equal=machine.times)
            return


def fix(context: Context, finding: Finding) -> Fix:
    """Turn it off."""
    return Fix("Turn PCIe access control off", SetPolicy({"pcie_acs": False}))


RULE = Rule("PCI003", "access-control-with-gpudirect", Severity.WARNING, check, fix=fix)
