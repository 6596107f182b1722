"""A PCIe link with errors, whose packets are sent again."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import REPLAYS

FAULT = slower(
    "packets sent again",
    "the PCIe link of {} has errors and sends packets again",
    "see the replay counter of nvidia-smi -q and AER in dmesg; reseat the card",
    Effect(("h2d", "d2h"), REPLAYS),
    at=lambda machine: machine.gpus,
)
