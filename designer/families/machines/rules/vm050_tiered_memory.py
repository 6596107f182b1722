"""VM050: memory tiering under machines that it does not suit.

What it checks
    Hosts with `memory_tiering` on: machines with devices on them, and the memory their machines work in
    (`active_memory`, all of their memory where it is not stated) against half of the DRAM.
Why it matters
    Memory of machines with devices is pinned and cannot leave DRAM. Of the others what is in use has to fit in half of
    it, or pages come from NVMe at a hundred times the latency.
How to fix
    DRAM for what is in use; no tiering on hosts of GPU machines.
Sources
    VMware Cloud Foundation 9 blog (memory tiering).
Example
    Machines that work in 400 GB on a host with 512 GB of DRAM and tiering on.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.design.document import VirtualMachine
from designer.engine.machines.demands import memory_of
from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Profile, Rule
from designer.sources import Constant, Status
from designer.units import format_quantity

#: share of the DRAM that may be in use
IN_USE = Constant(0.5, 0.5, 0.5, "rule-thresholds", Status.SECONDARY, "1", "as VMware advises")


def check(context: MachineContext) -> Iterator[Offence]:
    for host in context.hosts:
        placement = context.placement
        if placement is None or not context.flag(context.part_at(host.part), "memory_tiering"):
            continue
        machines = [placed.vm for placed in placement.on(host.path)]
        pinned = [vm for vm in machines if vm.devices]
        active = sum(_active(context, vm) for vm in machines)
        if pinned:
            text = f"{pinned[0].label}: its memory is pinned, tiering on {host.path} does nothing for it"
            yield Offence(text, (pinned[0].id, host.path), "no tiering on hosts of GPU machines")
        elif active > IN_USE.value * host.memory > 0:
            text = f"{host.path}: {format_quantity(active, 'size')} in use, tiering asks for at most half of "
            yield Offence(f"{text}{format_quantity(host.memory, 'size')}", (host.path,), "more DRAM")


def _active(context: MachineContext, vm: VirtualMachine) -> float:
    """Memory a machine works in [B]."""
    stated = context.amount(vm, "active_memory")
    return memory_of(vm) if stated is None else stated


RULE = Rule(
    "VM050", "tiered-memory", Severity.WARNING, check, profiles=frozenset({Profile.VSPHERE}), context=MachineContext
)
