"""PCI005: all GPUs on one socket, fed from the memory of both.

What it checks
    Machines with two sockets and GPUs at one alone: what their slots take against the socket links.
Why it matters
    Half of the memory is on the other side: what comes from there shares the socket links, which are narrower
    than two slots.
How to fix
    Spread the GPUs over the sockets, or keep their data on one.
Sources
    F. Denneman, 2020-01-30; vendors' socket link rates.
Example
    Four Gen5 GPUs on socket 0, three UPI links.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status
from designer.units import format_quantity

#: half of what the GPUs read lies at the other socket
SHARE = Constant(0.5, 0.25, 1.0, "rule-thresholds", Status.ASSUMED)


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        sockets = machine.of("cpu")
        gpus = [gpu for gpu in context.gpus(machine) if machine.processor(gpu) is not None]
        homes = {home.number for gpu in gpus if (home := machine.processor(gpu)) is not None}
        if len(sockets) < 2 or len(homes) != 1 or len(gpus) < 2:
            continue
        (home,) = homes
        between = sum(joint.rate for joint in machine.joints[home] if joint.to.kind == "cpu")
        slots = sum(joint.rate for gpu in gpus for joint in machine.slots(gpu)[:1])
        if 0 < between < slots * SHARE.value:
            text = f"{len(gpus)} GPUs at one socket take {format_quantity(slots, 'rate')}, its links to the other "
            text += f"socket carry {format_quantity(between, 'rate')}"
            yield Offence(text, tuple(gpu.path for gpu in gpus), "spread them over the sockets", equal=machine.times)


RULE = Rule("PCI005", "gpus-on-one-socket", Severity.WARNING, check)
