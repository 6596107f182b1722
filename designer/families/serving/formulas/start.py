"""Start of replicas: cold start, and weights handed from server to server."""

from __future__ import annotations

import math
from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds

#: what one reader of a file gets, whatever the path: 15 GB in 48 s plain, 14.3 s and 7.5 s with 16 and 8 readers
ONE_READER: Final = Constant(3.1e8, 2.5e8, 1.2e9, "model-streamer", Status.SECONDARY, "B/s", "Llama-3-8B from a volume")


#: compiling, sizing the cache and capturing graphs
START: Final = Constant(35.0, 15.0, 90.0, "assumed-serving", Status.ASSUMED, "s", "tens of seconds are reported")


START_EAGER: Final = Constant(12.0, 5.0, 30.0, "assumed-serving", Status.ASSUMED, "s", "without compiling and graphs")


def cold_start(
    stored: Bytes,
    from_storage: BytesPerSecond,
    readers: int,
    on_device: Bytes,
    to_device: BytesPerSecond,
    *,
    graph: bool,
    end: str = "value",
) -> Seconds:
    """Time until an engine takes requests [s].

    Parameters
    ----------
    stored
        Bytes a server reads [B].
    from_storage, to_device
        What the paths give a server and a device while all of them load [B/s].
    readers
        Of each server, at once.
    on_device
        Bytes that each device holds [B].
    end
        ``value``, ``low`` or ``high`` of what is not known.

    Notes
    -----
    Copies to the device run behind the reads, so the slower of the two counts.
    """
    pace = {"value": "value", "low": "high", "high": "low"}[end]
    rate = min(from_storage, readers * getattr(ONE_READER, pace))
    return Seconds(max(stored / rate, on_device / to_device) + getattr(START if graph else START_EAGER, end))


def seeded_rate(first: BytesPerSecond, peer: BytesPerSecond, servers: int) -> BytesPerSecond:
    """What every server sees of its weights in the mean [B/s], where one reads them and hands them on.

    Parameters
    ----------
    first, peer
        What the storage gives one server alone, and a server that has the weights one that has not [B/s].
    servers
        That start.

    Notes
    -----
    The servers that have the weights double with every round, so the last has them after 1/first + rounds/peer.
    """
    rounds = math.ceil(math.log2(servers)) if servers > 1 else 0
    return BytesPerSecond(1 / (1 / first + rounds / peer))


def rolling_update(replicas: int, at_once: int, start: Seconds) -> tuple[Seconds, Ratio]:
    """Time until all replicas are replaced [s], and the share of them that answers meanwhile [1]."""
    out = min(at_once, replicas)
    return Seconds(math.ceil(replicas / out) * start), Ratio(1 - out / replicas)


FORMULAS: Final = (
    Formula(
        "cold-start",
        "Cold start of an engine",
        cold_start,
        ("model-streamer",),
        "weights in files, no snapshot of a device",
    ),
    Formula(
        "seeding",
        "Weights from server to server",
        seeded_rate,
        ("counted-serving",),
        "whole copies, one after the other",
    ),
)
