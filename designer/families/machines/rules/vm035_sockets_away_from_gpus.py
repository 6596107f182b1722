"""VM035: a machine on several sockets whose GPUs all hang on one.

What it checks
    Machines placed on two or more sockets of their host while every GPU they have a part of is at one of them.
Why it matters
    Half of the threads reach the GPUs over the links between sockets.
How to fix
    A machine small enough for one socket, or GPUs of each of its sockets.
Sources
    F. Denneman, 2022-10-25.
Example
    96 virtual CPUs over two sockets of 32 cores, with one GPU of socket 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm, sockets, gpus in context.standing():
        near = {gpu.socket for gpu in gpus}
        if len(sockets) > 1 and len(near) == 1:
            text = f"{vm.id} runs on {len(sockets)} sockets, its GPUs all at socket {near.pop()}"
            remedy = "make it small enough for one socket, or give it GPUs of each"
            yield Offence(text, (vm.id, gpus[0].path), remedy)


RULE = Rule("VM035", "sockets-away-from-gpus", Severity.WARNING, check, context=MachineContext)
