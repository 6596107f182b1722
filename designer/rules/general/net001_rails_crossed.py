"""NET001: the n-th NICs of the servers do not end at the same leaf.

What it checks
    Servers of one group whose compute NICs are each cabled to one leaf: NIC k of all servers that share leaves should
    end at the same leaf, and different NICs at different leaves.
Why it matters
    On a rail-optimised fabric GPU k talks to GPU k of other servers in one hop. With rails crossed that traffic climbs
    to the spines and meets others there.
How to fix
    Cable NIC k of every server to leaf k.
Sources
    Juniper AI data-centre design guide; NVIDIA enterprise reference architectures (rail-optimised topology).
Example
    In server 3 the cables of NIC 0 and NIC 1 are swapped.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.engine.network.islands import find_islands
from designer.findings import Severity
from designer.rules.context import COMPUTE_ROLES, Context, MachineClass
from designer.rules.rule import Offence, Profile, Rule

#: fewer compute NICs make no rails
_FEWEST = 4


def check(context: Context) -> Iterator[Offence]:
    rails: dict[tuple[str, int], dict[int, list[str]]] = {}
    for machine in context.machines:
        nics = [item for item in machine.of("nic") if item.role in COMPUTE_ROLES and context.uplinks(item)]
        if len(nics) < _FEWEST or not context.gpus(machine):
            continue
        yield from _nics_at_same_leaf(context, machine)
        for at, leaves in _leaves(context, machine, [nic.number for nic in nics]):
            for path, leaf in leaves:
                rails.setdefault((path.split("/")[0].split("[")[0], at), {}).setdefault(leaf, []).append(path)
    for (_, at), leaves in sorted(rails.items()):
        # several pods have several leaves per rail: only a leaf with a single server next to a crowded one is odd
        few = [paths for paths in leaves.values() if len(paths) == 1]
        crowd = max(map(len, leaves.values()))
        if few and crowd > 2 and len(few) < len(leaves):
            first = few[0][0]
            yield Offence(
                f"{first} ends at another leaf than NIC {at} of the other servers",
                (first,),
                "cable NIC k of every server to leaf k",
            )


def _nics_at_same_leaf(context: Context, machine: MachineClass) -> Iterator[Offence]:
    """NICs of one server at the same leaf while other NICs have leaves of their own."""
    nics = [item for item in machine.of("nic") if item.role in COMPUTE_ROLES]
    leaf_of = {nic.path: {switch for switch, _ in context.uplinks(nic)} for nic in nics}
    single = {path: next(iter(leaves)) for path, leaves in leaf_of.items() if len(leaves) == 1}
    used = set(single.values())
    if 1 < len(used) < len(single) and len(single) % len(used):
        paths = tuple(single)
        text = f"{len(single)} compute NICs of {paths[0].rpartition('/')[0] or 'the server'} end at {len(used)} leaves"
        yield Offence(text, paths, "cable NIC k of every server to leaf k", equal=machine.times)


def _leaves(context: Context, machine: MachineClass, nics: list[int]) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """For the n-th NIC: path and leaf in each machine of the class."""
    import numpy as np

    islands, fabric, net = find_islands(context.network), context.fabric, context.network.net
    equal = np.flatnonzero(islands.class_of == islands.class_of[machine.island])
    for at, number in enumerate(nics):
        local = int(islands.local[number])
        parts = islands.parts[islands.part_start[equal] + local]
        starts, ends = fabric.uplink_start[parts], fabric.uplink_start[parts + 1]
        one = ends - starts == 1
        leaves = fabric.to_switch[starts[one]]
        counts = {int(k): int(n) for k, n in zip(*np.unique(leaves, return_counts=True), strict=True)}
        rows: list[tuple[str, int]] = []
        for leaf, count in counts.items():
            members = parts[one][leaves == leaf]
            shown = members[: min(3, count)].tolist()
            rows += [(net.path(int(p)), leaf) for p in shown]
        yield at, rows


RULE = Rule("NET001", "rails-crossed", Severity.WARNING, check, profiles=frozenset({Profile.SUPERPOD, Profile.LAB}))
