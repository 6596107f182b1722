"""Slurm's bracket lists of names: ``n[001-018,020],gw`` read, bounded, and written again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final

from designer.errors import ExchangeError

#: a list that represents more names than this is refused
MOST: Final = 200_000
_TAIL: Final = re.compile(r"(.*?)([0-9]{1,9})([^0-9]*)\Z", re.DOTALL)


def expand(text: str, place: str = "") -> list[str]:
    """The names in a list.

    Raises
    ------
    ExchangeError
        If brackets do not match, a range runs backwards, or it represents too many names.
    """
    names: list[str] = []
    for item in _items(text, place):
        options = [_choices(piece, place) if inside else [piece] for piece, inside in _pieces(item)]
        total = 1
        for option in options:
            total *= len(option)
        if total + len(names) > MOST:
            raise ExchangeError(f"the list means more than {MOST:,} names", place=place, remedy="split the list")
        names += ["".join(picked) for picked in product(*options)]
    return names


def _items(text: str, place: str) -> list[str]:
    """The items between commas that are not inside brackets."""
    items, depth, start = list[str](), 0, 0
    for at, char in enumerate(text):
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
        if depth not in (0, 1):
            raise ExchangeError(f"brackets do not match in {text[:60]!r}", place=place, remedy="write n[001-018,020]")
        if char == "," and depth == 0:
            items.append(text[start:at])
            start = at + 1
    if depth:
        raise ExchangeError(f"a bracket is open in {text[:60]!r}", place=place, remedy="write n[001-018,020]")
    items.append(text[start:])
    return [item.strip() for item in items if item.strip()]


def _pieces(item: str) -> list[tuple[str, bool]]:
    """Text and bracket contents in turn."""
    found: list[tuple[str, bool]] = []
    rest = item
    while "[" in rest:
        before, _, rest = rest.partition("[")
        inside, _, rest = rest.partition("]")
        found += [(before, False), (inside, True)]
    return [*found, (rest, False)]


def _choices(inside: str, place: str) -> list[str]:
    chosen: list[str] = []
    for one in inside.split(","):
        low, dash, high = one.strip().partition("-")
        high = high if dash else low
        if not (low.isascii() and low.isdigit() and high.isascii() and high.isdigit()) or max(len(low), len(high)) > 12:
            raise ExchangeError(f"{one[:40]!r} is no range of numbers", place=place, remedy="write n[001-018,020]")
        first, last = int(low), int(high)
        if last < first:
            raise ExchangeError(f"the range {one[:40]} runs backwards", place=place, remedy="write the lower end first")
        if last - first >= MOST:
            raise ExchangeError(f"{one[:40]} means more than {MOST:,} names", place=place, remedy="split the list")
        chosen += [f"{n:0{len(low)}d}" for n in range(first, last + 1)]
    return chosen


def compress(names: Iterable[str]) -> str:
    """The names as one list, numbers in ranges, in the order of first use of each stem."""
    stems: dict[tuple[str, int, str], list[int]] = {}
    plain: dict[str, None] = {}
    for name in names:
        match = _TAIL.match(name)
        if match is None or re.search(r"[\[\],]", name):
            plain[name] = None
        else:
            width = len(match[2]) if match[2].startswith("0") and len(match[2]) > 1 else 0
            stems.setdefault((match[1], width, match[3]), []).append(int(match[2]))
    lists = [_write_ranges(stem, width, tail, numbers) for (stem, width, tail), numbers in stems.items()]
    return ",".join([*lists, *plain])


def _write_ranges(stem: str, width: int, tail: str, numbers: Sequence[int]) -> str:
    ordered = sorted(set(numbers))
    if len(ordered) == 1:
        return f"{stem}{ordered[0]:0{width}d}{tail}"
    ranges: list[str] = []
    start = last = ordered[0]
    for number in [*ordered[1:], -1]:
        if number == last + 1:
            last = number
            continue
        low, high = f"{start:0{width}d}", f"{last:0{width}d}"
        ranges.append(low if start == last else f"{low}-{high}")
        start = last = number
    return f"{stem}[{','.join(ranges)}]{tail}"
