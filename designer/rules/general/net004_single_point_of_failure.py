"""NET004: one switch whose loss cuts machines off from storage or from each other.

What it checks
    Storage systems and machines that reach a fabric through a single switch, where several machines use it.
Why it matters
    One failed switch, or its upgrade, stops every job.
How to fix
    Two switches, each machine and each storage system cabled to both.
Sources
    NVIDIA enterprise reference architectures (north-south network to two switches).
Example
    A storage system with both ports on the same switch.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.catalog.parttype import Capability
from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import IN_PRODUCTION, Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    net, fabric = context.network.net, context.fabric
    stores = context.network.has(Capability.STORE)
    switches: dict[int, set[int]] = {}
    for gateway, switch in zip(fabric.gateway.tolist(), fabric.to_switch.tolist(), strict=True):
        if stores[gateway]:
            switches.setdefault(gateway, set()).add(switch)
    single = [store for store, of in switches.items() if len(of) == 1]
    hosts = {int(context.network.island[g]) for g in fabric.gateway.tolist() if not stores[g]} if single else set()
    if single and len(hosts) > 1:
        path = net.path(single[0])
        text = f"{net.part(single[0]).label} is reached by {len(hosts):,} machines through one switch alone"
        yield Offence(text, (path,), "cable it to a second switch", equal=len(single))


RULE = Rule("NET004", "single-point-of-failure", Severity.WARNING, check, profiles=IN_PRODUCTION)
