"""Faults of networks and storage."""

from __future__ import annotations

from typing import Final

from designer.decisions.fault import BETWEEN, WHOLE, Effect, slower
from designer.decisions.faults._places import (
    DRIVE,
    FRAMES,
    GONE,
    HALF_RATE,
    KERNEL,
    LOSSES,
    RINGS_SHORT,
    STORE,
    ethernet,
    rails,
)

FAULTS: Final = (
    slower(
        "a cable at half rate",
        "the cable of {} runs at half its rate",
        "see ibstat or ethtool; clean or replace the cable",
        Effect(("ib",), HALF_RATE),
        Effect(BETWEEN, RINGS_SHORT),
        at=rails,
    ),
    slower(
        "a rail down",
        "the cable of {} is down",
        "see ibstat or ip link; look at both ends of the cable",
        Effect(("ib",), GONE),
        Effect(BETWEEN, RINGS_SHORT),
        at=rails,
    ),
    slower(
        "rails crossed",
        "cables of two rails are swapped",
        "compare ibnetdiscover or LLDP with the plan of the cables",
        Effect(BETWEEN, LOSSES),
        at=lambda machine: WHOLE if len(machine.nics) > 1 and len(machine.nics[0]) > 1 else (),
    ),
    slower(
        "RoCE with losses",
        "the network drops packets under load (no PFC)",
        "set PFC and ECN on every switch and NIC; see the pause counters of ethtool -S",
        Effect(BETWEEN, LOSSES),
        at=ethernet,
    ),
    slower(
        "small frames",
        "frames are small (MTU 1500)",
        "set an MTU of 9000 or 9216 on NICs and switches; ping -M do -s 8972",
        Effect(("ib", "store", *BETWEEN), FRAMES),
        at=ethernet,
    ),
    slower(
        "one NFS connection",
        "{} is mounted with one connection",
        "mount it with nconnect; see mountstats",
        Effect(("store",), STORE),
        at=lambda machine: machine.stores,
    ),
    slower(
        "a storage node down",
        "a node of {} is down",
        "see the health page of the storage system",
        Effect(("store",), STORE),
        at=lambda machine: machine.stores,
    ),
    slower(
        "drives rebuilding",
        "the drives work for a rebuild of their array",
        "cat /proc/mdstat, or the tool of the controller; wait until it is done",
        Effect(("fio",), KERNEL),
        at=lambda machine: WHOLE if len(machine.drives) > 1 else (),
    ),
    slower(
        "a worn drive",
        "{} is worn or hot",
        "see its SMART log; trim or replace it",
        Effect(("fio",), DRIVE),
        at=lambda machine: machine.drives,
    ),
)
