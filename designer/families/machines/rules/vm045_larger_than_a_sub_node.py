"""VM045: a machine with GPUs larger than a NUMA node of a socket that is cut into several.

What it checks
    Machines with GPUs on sockets with `numa_nodes_per_socket` above one, or with NUMA domains drawn below them: their
    virtual CPUs and memory against one node.
Why it matters
    Sub-NUMA clustering (SNC, NPS) makes nodes of a half or a quarter of a socket. A machine that does not fit spreads
    over several, and measurements show up to 93 % more latency at worst.
How to fix
    Switch SNC or NPS off on hosts of GPU machines, or make the machine fit.
Sources
    F. Denneman, 2022-09-21.
Example
    24 virtual CPUs with a GPU on sockets of 32 cores with NPS4.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.engine.machines.demands import memory_of
from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.units import format_quantity


def check(context: MachineContext) -> Iterator[Offence]:
    for vm, _, gpus in context.standing():
        host = context.host(vm)
        node = context.sub_node(host) if host is not None else None
        if node is None or not gpus:
            continue
        if vm.vcpus > node.cores > 0:
            text = f"{vm.label}: {vm.vcpus} virtual CPUs, a NUMA node of its host has {node.cores:.0f} cores"
            yield Offence(text, (vm.id,), "switch SNC or NPS off, or make it smaller")
        elif memory_of(vm) > node.memory > 0:
            text = f"{vm.label}: {format_quantity(memory_of(vm), 'size')} of memory, a NUMA node of its host has "
            text += format_quantity(node.memory, "size")
            yield Offence(text, (vm.id,), "switch SNC or NPS off, or make it smaller")


RULE = Rule("VM045", "larger-than-a-sub-node", Severity.WARNING, check, context=MachineContext)
