"""From weights in storage to the first request: reading, copying to the device, and the engine's own start."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Seconds

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


FORMULA: Final = Formula(
    "cold-start",
    "Cold start of an engine",
    cold_start,
    ("model-streamer",),
    "weights in files, no snapshot of a device",
)
