"""PCI001: more device bandwidth below a PCIe switch than its uplink carries.

What it checks
    What can meet on the links from a PCIe switch up to a socket or another switch: all GPUs below it at once, or all
    its NICs and drives, whichever is more. Both together do not: what NICs and drives bring to the GPUs next to them
    stays below the switch.
Why it matters
    Devices that all talk to the host at once share the uplink. Traffic between devices below the same switch does not
    use it. Reference servers put two GPUs with a NIC each on one uplink, and that is fine; more than that starves
    loads that come from host memory.
How to fix
    A second uplink, fewer devices per switch, or the traffic kept below the switch (NIC and GPU side by side).
Sources
    Supermicro SYS-4029GP-TRT3 and NVIDIA DGX-2 block diagrams (eight and four GPUs on one x16 uplink); NCCL topology
    dump of the NVIDIA DGX A100 (two GPUs and two NICs on one x16 uplink, which is how the vendor builds it).
Example
    Four Gen4 x16 GPUs below one Gen4 x16 uplink: 4 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context, MachineClass
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status

#: two GPUs below one uplink, each with a NIC next to it, is how reference servers are built, and fine: 2 to 1
USUAL = Constant(2.5, 2.0, 4.0, "rule-thresholds", Status.ASSUMED, "1", "two GPUs, or two NICs and two drives")


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        crowded: dict[tuple[str, float], list[str]] = {}
        computing = {item.number for item in context.gpus(machine)}
        gpus, others = _rates_below(machine, computing, True), _rates_below(machine, computing, False)
        for switch in machine.of("pcie_switch"):
            above = {item.number for item in machine.above(switch)}
            up = sum(joint.rate for joint in machine.slots(switch) if joint.to.number in above)
            down = max(gpus[switch.number], others[switch.number])
            if up and down > USUAL.value * up:
                who = "GPUs" if gpus[switch.number] == down else "NICs and drives"
                crowded.setdefault((who, round(down / up, 1)), []).append(switch.path)
        for (who, times), paths in crowded.items():
            text = f"the {who} below {' and '.join(paths[:2])}{' …' * (len(paths) > 2)} can take {times:.1f} times "
            text += "what the uplink carries"
            yield Offence(text, tuple(paths), "a second uplink, or fewer devices below it", equal=machine.times)


def _rates_below(machine: MachineClass, computing: set[int], gpus: bool) -> dict[int, float]:
    """What the links of the GPUs, or of all other devices, anywhere below each switch carry together [B/s]."""
    found = dict.fromkeys((switch.number for switch in machine.of("pcie_switch")), 0.0)
    for item in machine.items:
        above = machine.above(item) if item.kind != "pcie_switch" and (item.number in computing) == gpus else []
        rate = sum(joint.rate for joint in machine.slots(item) if above and joint.to.number == above[0].number)
        for switch in above:
            if switch.kind == "pcie_switch":
                found[switch.number] += rate
    return found


RULE = Rule("PCI001", "oversubscribed-uplink", Severity.WARNING, check)
