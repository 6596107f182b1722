"""VM037: machines of one GPU or less on more than a quarter of an NVLink board.

What it checks
    GPUs of a board that machines with a single GPU, or a part of one, use, as a share of the board.
Why it matters
    NVLink is of no use to them, and the groups of four and eight that need it find no place.
How to fix
    Hosts with PCIe cards for machines of one GPU, the board for groups.
Sources
    F. Denneman, 2026-03-31; the quarter is a proposal.
Example
    Three machines of one whole GPU each on a board of eight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule

#: share of a board above which groups suffer
_SHARE = 0.25


def check(context: MachineContext) -> Iterator[Offence]:
    small = {gpu.path for _, _, gpus in context.standing() for gpu in gpus if len(gpus) == 1}
    for host in context.hosts:
        sizes = Counter(gpu.board for gpu in host.gpus if gpu.board is not None)
        taken = Counter(gpu.board for gpu in host.gpus if gpu.path in small)
        for board, size in sizes.items():
            if taken[board] > size * _SHARE:
                text = f"machines of one GPU take {taken[board]} of the {size} GPUs on a board of {host.path}"
                yield Offence(text, (host.path,), "put them on hosts with PCIe cards")


RULE = Rule("VM037", "small-machines-on-a-board", Severity.WARNING, check, context=MachineContext)
