"""VM047: migrations over a distance or a network that vSphere does not support.

What it checks
    Migration workloads: their round-trip time against 150 ms, and the migration NICs of the hosts their machines stand
    on against 250 Mb/s for each migration at the same time.
Why it matters
    Longer ways are not supported: migrations fail or take without end.
How to fix
    Hosts that are nearer, a faster link, or fewer migrations at the same time.
Sources
    VMware KB 336244; VMware vSphere documentation (vMotion networking requirements).
Example
    A round trip of 200 ms.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.formulas.vmotion_admission import LEAST_PER_MIGRATION
from designer.families.machines.formulas.vmotion_long_distance import LONGEST_ROUND_TRIP
from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Profile, Rule
from designer.units import format_line_rate, format_quantity


def check(context: MachineContext) -> Iterator[Offence]:
    for name, operation in context.migrations.items():
        far = operation.conditions.round_trip
        if far > LONGEST_ROUND_TRIP.value:
            text = f"{name}: a round trip of {format_quantity(far, 'duration')}, 150 ms are supported"
            yield Offence(text, (name,), "hosts that are nearer")
        hosts = {host.path: host for vm in context.moved_by(name) if (host := context.host(context.design.vms[vm]))}
        for path, host in hosts.items():
            rate = sum(nic.line_rate for nic in host.migration_nics)
            at_once = max(1, operation.conditions.at_once)
            if 0 < rate < at_once * LEAST_PER_MIGRATION.value:
                text = f"{name}: {path} migrates over {format_line_rate(rate)}, {at_once} at the same time need "
                text += format_line_rate(at_once * LEAST_PER_MIGRATION.value)
                yield Offence(text, (name, path), "a faster link, or fewer at the same time")


RULE = Rule(
    "VM047",
    "too-far-to-move",
    Severity.WARNING,
    check,
    profiles=frozenset({Profile.VSPHERE}),
    context=MachineContext,
)
