"""A PCIe link with errors, whose packets are sent again."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import REPLAYS


def _find(machine: Machine) -> Iterator[Fault]:
    for gpu in machine.gpus:
        title = f"the PCIe link of {gpu} has errors and sends packets again"
        remedy = "see the replay counter of nvidia-smi -q and AER in dmesg; reseat the card"
        yield Fault("packets sent again", title, gpu, remedy, effects=(Effect(("h2d", "d2h"), REPLAYS, gpu),))


FAULT = FaultKind("packets sent again", _find)
