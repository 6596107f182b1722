"""PCI001: more device bandwidth below a PCIe switch than its uplink carries.

What it checks
    The links from a PCIe switch down to GPUs, NICs and drives against its links up to a socket or another switch.
Why it matters
    Devices that all talk to the host at once share the uplink. Traffic between devices below the same switch does not
    use it, so this is a fault only for loads that come from host memory.
How to fix
    A second uplink, fewer devices per switch, or the traffic kept below the switch (NIC and GPU side by side).
Sources
    Supermicro SYS-4029GP-TRT3 and NVIDIA DGX-2 block diagrams (eight and four GPUs on one x16 uplink).
Example
    Two Gen4 x16 GPUs and two x16 NICs below one Gen4 x16 uplink: 4 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status

#: a GPU with its own NIC below one uplink is how reference servers are built, and fine: 2 to 1, and a drive beside
USUAL = Constant(2.5, 2.0, 4.0, "rule-thresholds", Status.ASSUMED, "1", "a GPU and a NIC of the same width, one drive")


def check(context: Context) -> Iterator[Offence]:
    """See the page above."""
    for machine in context.machines:
        crowded: dict[float, list[str]] = {}
        for switch in machine.of("pcie_switch"):
            above = {item.number for item in machine.above(switch)}
            up = sum(joint.rate for joint in machine.slots(switch) if joint.to.number in above)
            down = sum(joint.rate for joint in machine.slots(switch) if joint.to.number not in above)
            if up and down > USUAL.value * up:
                crowded.setdefault(round(down / up, 1), []).append(switch.path)
        for times, paths in crowded.items():
            text = f"the devices below {' and '.join(paths[:2])}{' …' * (len(paths) > 2)} can take {times:.1f} times "
            text += "what the uplink carries"
            yield Offence(text, tuple(paths), "a second uplink, or fewer devices below it", alike=machine.times)


RULE = Rule("PCI001", "oversubscribed-uplink", Severity.WARNING, check)
