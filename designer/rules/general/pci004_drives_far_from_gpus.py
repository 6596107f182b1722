"""PCI004: drives on one socket and GPUs on the other.

What it checks
    Drives of a machine with GPUs: whether the sockets with GPUs have drives, where there are several.
Why it matters
    What is read for those GPUs crosses the socket links once more, next to everything else that does.
How to fix
    Spread the drives over the sockets with GPUs.
Sources
    F. Denneman, 2026-03-27.
Example
    Four drives on socket 0, four GPUs on socket 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        drives = [item for item in machine.of("drive") if machine.processor(item) is not None]
        gpus = [gpu for gpu in context.gpus(machine) if machine.processor(gpu) is not None]
        near = {home.number for drive in drives if (home := machine.processor(drive)) is not None}
        far = [gpu for gpu in gpus if (home := machine.processor(gpu)) is not None and home.number not in near]
        if len(drives) > 1 and len(far) == len(gpus) and far:
            text = f"no drive is at the socket of {far[0].path}" + f" and {len(far) - 1} more" * (len(far) > 1)
            where = tuple(drive.path for drive in drives)
            yield Offence(text, where, "move drives to the socket of the GPUs", equal=machine.times)


RULE = Rule("PCI004", "drives-far-from-gpus", Severity.WARNING, check)
