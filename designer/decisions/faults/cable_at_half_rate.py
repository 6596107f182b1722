"""A cable that runs at half its rate, such as 200 instead of 400 Gb/s."""

from designer.decisions.fault import BETWEEN, Effect, slower
from designer.decisions.faults._places import rails
from designer.decisions.faults._shares import HALF_RATE, RINGS_SHORT

FAULT = slower(
    "a cable at half rate",
    "the cable of {} runs at half its rate",
    "see ibstat or ethtool; clean or replace the cable",
    Effect(("ib",), HALF_RATE),
    Effect(BETWEEN, RINGS_SHORT),
    at=rails,
)
