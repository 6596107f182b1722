"""A cable of a rail that is down."""

from designer.decisions.fault import BETWEEN, Effect, slower
from designer.decisions.faults._places import rails
from designer.decisions.faults._shares import GONE, RINGS_SHORT

FAULT = slower(
    "a rail down",
    "the cable of {} is down",
    "see ibstat or ip link; look at both ends of the cable",
    Effect(("ib",), GONE),
    Effect(BETWEEN, RINGS_SHORT),
    at=rails,
)
