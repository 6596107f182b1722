"""NET005: a cable between a NIC and a switch that runs slower than the NIC can.

What it checks
    Network links of NICs with one port against the rate of a port that the NIC states.
Why it matters
    A port that came up at half its rate looks like a slow network: usually a cable, a transceiver or a port
    setting.
How to fix
    Cable and transceiver for the full rate, or a smaller NIC.
Sources
    IEEE 802.3 (auto-negotiation); vendors' data sheets of NICs.
Example
    A 200 Gb/s NIC on a link drawn with 100 Gb/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.units import format_line_rate

#: rates this close together are one
_TOLERANCE = 0.02


def check(context: Context) -> Iterator[Offence]:
    net = context.network.net
    for machine in context.machines:
        for nic in machine.of("nic", "dpu"):
            able = context.number(nic.part, "port_bandwidth_per_direction")
            if able is None:
                continue
            for switch, link in context.uplinks(nic):
                definition = net.link(link)
                rate = float(context.network.rate[link]) / definition.count
                port = context.number(net.part(switch), "port_bandwidth_per_direction")
                if rate < able * (1 - _TOLERANCE) and (port is None or rate < port * (1 - _TOLERANCE)):
                    text = f"{nic.path} can run at {format_line_rate(able)}, its cable at {format_line_rate(rate)}"
                    yield Offence(text, (nic.path,), "a cable for the full rate, or a smaller NIC", equal=machine.times)
                    break


RULE = Rule("NET005", "cable-slower-than-its-ports", Severity.WARNING, check)
