"""The output of nccl-tests: the collective, its ranks, and bus bandwidth by message size."""

from __future__ import annotations

import re
from typing import Final

#: collectives by the names of their programs
COLLECTIVES: Final = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "broadcast": "broadcast",
    "sendrecv": "send-recv",
}
_PROGRAM: Final = re.compile(rf"({'|'.join(COLLECTIVES)})_perf")
_ROW: Final = re.compile(r"^\s*(\d+)\s+\d+\s+\w+\s+\S+\s+-?\d+\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", re.MULTILINE)
_RANK: Final = re.compile(r"^#\s+Rank\s+\d+", re.MULTILINE)


def collective(text: str) -> str:
    """Return the collective that a log names, an all-reduce where it names none."""
    found = _PROGRAM.search(text)
    return COLLECTIVES[found[1]] if found else "all-reduce"


def bus_bandwidths(text: str) -> list[tuple[int, float]]:
    """Return message sizes [B] and bus bandwidths [B/s], row by row."""
    return [(int(size), float(bus) * 1e9) for size, _, _, bus in _ROW.findall(text)]


def ranks(text: str) -> int:
    """Return the number of ranks that a log lists, 0 where it lists none."""
    return len(_RANK.findall(text))
