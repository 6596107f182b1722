"""NET014: a GPU server with less bandwidth to storage and users than the reference designs.

What it checks
    NICs with the role storage, frontend or north-south of machines with eight Hopper or Blackwell GPUs: the rate of
    their cables against 2 × 200 Gb/s (H100, H200, B200) or 2 × 400 Gb/s (B300), and whether they reach two switches.
Why it matters
    Datasets, checkpoints and users come this way. One port or one switch stops all of it; half the rate doubles the
    time of every checkpoint.
How to fix
    Two ports of 200 Gb/s, or 400 Gb/s for B300, each to a switch of its own.
Sources
    NVIDIA enterprise reference architectures (north-south network of HGX systems).
Example
    A server with eight H100 and one storage port of 100 Gb/s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import IN_PRODUCTION, Offence, Rule
from designer.sources import Constant, Status
from designer.units import format_line_rate

_TOLERANCE = 0.02
ASKED = Constant(50e9, 50e9, 50e9, "rule-thresholds", Status.SECONDARY, "B/s", "two ports of 200 Gb/s")
ASKED_OF_B300 = Constant(100e9, 100e9, 100e9, "rule-thresholds", Status.SECONDARY, "B/s", "two ports of 400 Gb/s")
_ROLES = {"storage", "frontend", "front-end", "north-south"}
_GPUS = re.compile(r"\b(h100|h200|b200|b300)\b")
#: GPUs of the servers the reference designs are for
_BOARD = 8


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        gpus = context.gpus(machine)
        found = [m[1] for gpu in gpus if (m := _GPUS.search(_title(context, gpu.part.type, gpu.part.label)))]
        nics = [nic for nic in machine.of("nic", "dpu") if _ROLES & set(re.split(r"[,/+ ]+", nic.role))]
        uplinks = [up for nic in nics for up in context.uplinks(nic)]
        if len(found) < _BOARD or not uplinks:
            continue
        rate = sum(float(context.network.rate[link]) for _, link in uplinks)
        asked = ASKED_OF_B300.value if "b300" in found else ASKED.value
        where = tuple(nic.path for nic in nics)
        if rate < asked * (1 - _TOLERANCE):
            text = f"{where[0]}: {format_line_rate(rate)} to storage and users, reference designs have "
            yield Offence(f"{text}{format_line_rate(asked)}", where, "more or faster ports", equal=machine.times)
        elif len({switch for switch, _ in uplinks}) == 1:
            text = f"{where[0]}: all ports to storage and users are on one switch"
            yield Offence(text, where, "cable one of them to a second switch", equal=machine.times)


def _title(context: Context, type_id: str, label: str) -> str:
    """Words by which a GPU is known."""
    known = context.design.part_types.get(type_id)
    words = f"{known.title if known is not None else label} {type_id}"
    return re.sub(r"[^a-z0-9]+", " ", words.lower())


RULE = Rule("NET014", "narrow-way-to-storage", Severity.WARNING, check, profiles=IN_PRODUCTION)
