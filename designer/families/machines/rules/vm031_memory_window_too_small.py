"""VM031: a memory window smaller than the GPUs of the machine need, or no power of two.

What it checks
    The setting `mmio` of machines, as text with its unit, against the memory of their passthrough GPUs.
Why it matters
    The memory of the GPUs does not map; the driver fails to start.
How to fix
    At least twice the memory of the GPUs, rounded up to a power of two.
Sources
    F. Denneman, 2023-05-30; NVIDIA AI Enterprise user guide.
Example
    mmio = 64 GiB with two GPUs of 80 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.units import format_quantity, parse_size


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        stated = context.setting(vm, "mmio").upper().replace("IB", "iB")
        host = context.host(vm)
        passed = [d.part for d in vm.devices if d.kind in ("passthrough", "dynamic_directpath")]
        if not stated or host is None or not passed:
            continue
        need = sum(gpu.memory for gpu in host.gpus if gpu.path in passed)
        window = parse_size(stated)
        if window < need or round(window) & (round(window) - 1):
            stated_as, least = format_quantity(window, "size"), format_quantity(need, "size")
            text = f"{vm.label}: its memory window is {stated_as}, its GPUs need a power of two from {least}"
            yield Offence(text, (vm.id,), "raise pciPassthru.64bitMMIOSizeGB")


RULE = Rule("VM031", "memory-window-too-small", Severity.ERROR, check, context=MachineContext)
