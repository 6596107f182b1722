"""Ethernet that drops packets of RDMA under load: no flow control by priority."""

from designer.decisions.fault import BETWEEN, Effect, slower
from designer.decisions.faults._places import ethernet
from designer.decisions.faults._shares import LOSSES

FAULT = slower(
    "RoCE with losses",
    "the network drops packets under load (no PFC)",
    "set PFC and ECN on every switch and NIC; see the pause counters of ethtool -S",
    Effect(BETWEEN, LOSSES),
    at=ethernet,
)
