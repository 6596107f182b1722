"""HW002: hosts of one pool that cannot take each other's virtual machines.

What it checks
    Hosts with virtual machines: types of GPUs, attributes `vgpu_mode` and `ecc`, and releases.
Why it matters
    A machine with a virtual GPU moves only to the same GPU in the same mode with the same ECC setting: unlike
    hosts are no spare for each other.
How to fix
    Identical twins per pool.
Sources
    NVIDIA AI Enterprise user guide.
Example
    Three hosts with ECC on, one with ECC off.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    placement = context.placement
    if placement is None:
        return
    kinds: dict[tuple[object, ...], str] = {}
    for host in placement.hosts.hosts:
        if not host.gpus:
            continue
        part = context.network.net.part(host.part)
        modes = tuple(part.attributes.get(name, "") for name in ("vgpu_mode", "ecc", "release"))
        kinds.setdefault((tuple(sorted({gpu.title for gpu in host.gpus})), *modes), host.path)
    if len(kinds) > 1:
        yield Offence(f"hosts are of {len(kinds)} kinds", tuple(kinds.values()), "make hosts of a pool identical")


RULE = Rule("HW002", "unlike-hosts-of-a-pool", Severity.WARNING, check, context=MachineContext)
