"""Frames of 1500 bytes on the network."""

from designer.decisions.fault import BETWEEN, Effect, slower
from designer.decisions.faults._places import ethernet
from designer.decisions.faults._shares import FRAMES

FAULT = slower(
    "small frames",
    "frames are small (MTU 1500)",
    "set an MTU of 9000 or 9216 on NICs and switches; ping -M do -s 8972",
    Effect(("ib", "store", *BETWEEN), FRAMES),
    at=ethernet,
)
