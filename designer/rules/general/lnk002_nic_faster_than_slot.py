"""LNK002: a NIC whose network ports carry more than its slot.

What it checks
    The rate of all cables of a NIC against the raw rate of its PCIe link.
Why it matters
    A 400 Gb/s port needs 50 GB/s; a Gen4 x16 slot gives 31.5 GB/s, so a third of the port can never be used.
How to fix
    A newer slot, a second slot (multi-host or socket-direct cards), or a slower NIC.
Sources
    PCI-SIG base specification; NVIDIA ConnectX-7 user manual (host interface).
Example
    An 800 Gb/s NIC in a Gen5 x16 slot: 100 GB/s against 63 GB/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.units import format_line_rate, format_quantity

#: a slot this much smaller than the ports is still a match: 200 Gb/s ports are sold for x16 Gen3 with two slots
_TOLERANCE = 0.02


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        for item in machine.of("nic", "dpu"):
            slots = machine.slots(item)
            links = {link for _, link in context.uplinks(item)}
            ports = sum(float(context.network.rate[link]) for link in links)
            able = context.number(item.part, "bandwidth_per_direction")
            ports = min(ports, able) if able is not None else ports
            slot = sum(joint.rate for joint in slots)
            if slots and slot < ports * (1 - _TOLERANCE):
                text = (
                    f"the cables of {item.path} carry {format_line_rate(ports)}, its slot only "
                    f"{format_quantity(slot, 'rate')}"
                )
                where = (item.path, slots[0].path)
                yield Offence(text, where, "use a newer or a second slot, or a slower NIC", equal=machine.times)


RULE = Rule("LNK002", "nic-faster-than-slot", Severity.WARNING, check)
