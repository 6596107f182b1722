"""NET008: a migration network below 10 Gb/s, or below 25 Gb/s for large machines.

What it checks
    NICs with the role vmotion, by the rate of their ports, and what virtual machines hold.
Why it matters
    Below 10 Gb/s a migration takes minutes and virtual GPUs are paused too long; machines that hold more than
    256 GB need 25 Gb/s.
How to fix
    25 or 100 Gb/s for migrations.
Sources
    VMware vSphere documentation (vMotion networking requirements).
Example
    A vMotion NIC of 1 Gb/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.engine.machines.demands import memory_of
from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Profile, Rule
from designer.sources import Constant, Status
from designer.units import format_line_rate

_TOLERANCE = 0.02
SLOW = Constant(1.25e9, 1.25e9, 1.25e9, "rule-thresholds", Status.SECONDARY, "B/s")
FAST = Constant(3.125e9, 1.25e9, 12.5e9, "rule-thresholds", Status.ASSUMED, "B/s")
#: machines that hold more than this are large
LARGE = Constant(256e9, 128e9, 512e9, "rule-thresholds", Status.ASSUMED, "B")


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        for nic in machine.of("nic", "dpu"):
            if "vmotion" not in nic.role:
                continue
            rate = sum(float(context.network.rate[link]) for _, link in context.uplinks(nic))
            large = max((memory_of(vm) for vm in context.design.vms.values()), default=0.0) > LARGE.value
            least = FAST.value if large else SLOW.value
            if 0 < rate < least * (1 - _TOLERANCE):
                text = f"{nic.path} migrates over {format_line_rate(rate)}, {format_line_rate(least)} are asked for"
                yield Offence(text, (nic.path,), "a faster NIC for migrations", equal=machine.times)


RULE = Rule("NET008", "slow-migration-network", Severity.WARNING, check, profiles=frozenset({Profile.VSPHERE}))
