"""NET007: RDMA over Ethernet on ports without lossless settings or with small frames.

What it checks
    Attributes `mtu` and `lossless` of NICs and switches that state `rdma` as roce: frames below 9000 bytes, or
    lossless off.
Why it matters
    A dropped packet makes RDMA over Ethernet send a whole window again; small frames cost rate.
How to fix
    Priority flow control and ECN end to end, frames of 9000 bytes or more.
Sources
    NVIDIA AI Enterprise user guide; vendors' RoCE deployment guides.
Example
    A NIC with rdma = roce and mtu = 1500.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status

#: smallest frames RDMA should have
SMALLEST = Constant(9000, 4200, 9216, "rule-thresholds", Status.SECONDARY, "B")


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        for nic in machine.of("nic", "dpu"):
            if context.text(nic.part, "rdma") != "roce":
                continue
            mtu, lossless = context.text(nic.part, "mtu"), context.text(nic.part, "lossless")
            small = mtu.isdigit() and int(mtu) < SMALLEST.value
            if small or lossless in ("no", "false", "off"):
                why = f"frames of {mtu} bytes" if small else "lossless settings off"
                yield Offence(
                    f"{nic.path} has {why} under RDMA",
                    (nic.path,),
                    "PFC, ECN and frames of 9000 bytes",
                    equal=machine.times,
                )


RULE = Rule("NET007", "roce-with-losses", Severity.WARNING, check)
