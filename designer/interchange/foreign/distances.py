"""The bandwidth matrix of hwloc files: which objects NVLink joins and how fast."""

from __future__ import annotations

import re
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
