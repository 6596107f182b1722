"""VM036: a machine whose GPUs are not all joined by NVLink, though its host has boards.

What it checks
    Machines with several GPUs, some of which hang on different boards of their host, or on none.
Why it matters
    Collectives between them run over PCIe and the links between sockets.
How to fix
    Take all of them from one board.
Sources
    F. Denneman, 2026-03-27.
Example
    Two GPUs of a host of two boards of four, one from each.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm, _, gpus in context.standing():
        boards = {gpu.board for gpu in gpus}
        if len(boards) > 1:
            text = f"the {len(gpus)} GPUs of {vm.id} are of {len(boards)} NVLink domains"
            yield Offence(text, (vm.id, gpus[0].path), "take all of its GPUs from one board")


RULE = Rule("VM036", "two-nvlink-domains", Severity.WARNING, check, context=MachineContext)
