"""The matrices of hwloc files: which objects NVLink joins and how fast, and how far NUMA nodes are from each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.xml import Element

MOST_OBJECTS: Final = 2048
_KEY = re.compile(r"(?:[A-Za-z0-9]{1,20}:)?[0-9]{1,20}\Z", re.ASCII)


def nvlink_bandwidths(root: Element, file: str) -> dict[tuple[str, str], int]:
    """Bandwidth between two objects [MB/s] by ``Type:gp_index``, zero entries and the diagonal left out.

    Raises
    ------
    ExchangeError
        If the matrix does not have the size it says.
    """
    found: dict[tuple[str, str], int] = {}
    for element in root.children:
        if element.tag in ("distances2", "distances2hetero") and element.get("name") == "NVLinkBandwidth":
            _read_matrix(element, file, found)
    return found


def _read_matrix(element: Element, file: str, found: dict[tuple[str, str], int]) -> None:
    keys = " ".join(e.text for e in element.all("indexes")).split()
    if element.tag == "distances2":
        keys = [f"{element.get('type')}:{key}" for key in keys]
    values = " ".join(e.text for e in element.all("u64values")).split()
    size = len(keys)
    if size > MOST_OBJECTS or element.get("nbobjs") != str(size) or len(values) != size * size:
        raise ExchangeError(
            f"the NVLink matrix of {element.get('nbobjs')[:20]} objects has {size} names and {len(values)} values",
            file=file,
            place=f"line {element.line}",
            remedy="the file is damaged; write it again with lstopo",
        )
    if not all(_KEY.match(key) for key in keys):
        raise ExchangeError("the NVLink matrix names no objects", file=file, place=f"line {element.line}")
    for row in range(size):
        for column in range(size):
            text = values[row * size + column]
            value = int(text) if re.fullmatch(r"[0-9]{1,12}", text, re.ASCII) else 0
            if value and row != column and (keys[column], keys[row]) not in found:
                found[keys[row], keys[column]] = value


def numa_latencies(root: Element, numbers: Sequence[str], file: str) -> list[list[float]]:
    """Relative latencies between the NUMA nodes with these numbers of the system; empty where the file has none.

    Versions 2 and 3 write ``<distances2 name="NUMALatency">`` at the end, version 1 ``<distances>`` inside an object.

    Raises
    ------
    ExchangeError
        If the matrix does not have the size it says.
    """
    for element in root.walk():
        if element.tag == "distances2" and element.get("type") == "NUMANode" and "Latency" in element.get("name"):
            keys = " ".join(e.text for e in element.all("indexes")).split()
            values = " ".join(e.text for e in element.all("u64values")).split()
            if len(keys) > MOST_OBJECTS or len(values) != len(keys) ** 2:
                raise ExchangeError(
                    f"the latency matrix of NUMA nodes has {len(keys)} names and {len(values)} values",
                    file=file,
                    place=f"line {element.line}",
                    remedy="the file is damaged; write it again with lstopo",
                )
            found = _latency_rows(values, len(keys))
            row = {key: i for i, key in enumerate(keys)}
            if found and element.get("indexing", "os") == "os" and set(numbers) <= set(row):
                return [[found[row[a]][row[b]] for b in numbers] for a in numbers]
        elif element.tag == "distances" and element.get("nbobjs") == str(len(numbers)):
            found = _latency_rows([e.get("value") for e in element.all("latency")], len(numbers))
            if found:
                return found
    return []


def _latency_rows(values: Sequence[str], size: int) -> list[list[float]]:
    if len(values) != size * size or not all(re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", v, re.ASCII) for v in values):
        return []
    return [[float(v) for v in values[row * size : (row + 1) * size]] for row in range(size)]


def socket_distances(
    latencies: Sequence[Sequence[float]], sockets: Sequence[Sequence[str]]
) -> dict[tuple[str, str], float]:
    """The least latency between two sockets, by the NUMA nodes each has; ``sockets`` names those of each node."""
    found: dict[tuple[str, str], float] = {}
    for row, ones in zip(latencies, sockets, strict=False):
        for value, others in zip(row, sockets, strict=False):
            for a in ones:
                for b in others:
                    if a != b:
                        key = (a, b) if a < b else (b, a)
                        found[key] = min(found.get(key, value), value)
    return found
