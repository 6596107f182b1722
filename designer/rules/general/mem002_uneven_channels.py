"""MEM002: sockets of one machine with unlike memory.

What it checks
    Channels and capacity of the memory at each socket of a machine.
Why it matters
    A socket with fewer channels populated has a third to two thirds less bandwidth, and memory that a job does not
    find at its own socket is read over the socket links.
How to fix
    The same modules at every socket, one in every channel.
Sources
    F. Denneman, 2023-02-28 (unbalanced memory configurations).
Example
    Socket 0 with eight channels, socket 1 with six.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from designer.findings import Severity
from designer.rules.context import Context, MachinePart
from designer.rules.rule import Offence, Rule

#: what firmware and kernel keep for themselves makes equal sockets differ by less than this in dumps of machines
_EQUAL: Final = 0.95


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        by_socket: dict[int, list[MachinePart]] = {}
        for memory in machine.of("memory"):
            for joint in machine.joints[memory.number]:
                if joint.link.kind == "memory_bus" and joint.to.kind in ("cpu", "numa"):
                    by_socket.setdefault(joint.to.number, []).append(memory)
        if len(by_socket) < 2:
            continue
        for name, words in (("memory_channels", "channels"), ("memory_capacity", "memory")):
            stated = [sum(context.number(m.part, name) or 0.0 for m in items) for items in by_socket.values()]
            if 0 < min(stated) < _EQUAL * max(stated):
                where = tuple(item.path for items in by_socket.values() for item in items)
                text = (
                    f"the sockets have unlike {words}: the smallest has {min(stated) / max(stated):.0%} of the largest"
                )
                yield Offence(text, where, "populate every socket the same", equal=machine.times)
                break


RULE = Rule("MEM002", "uneven-channels", Severity.WARNING, check)
