"""Timetables: hours of the day and days of the week in which machines and workloads run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
#: minutes of an hour, a day and a week
HOUR: Final = 60
DAY: Final = 24 * HOUR
WEEK: Final = len(DAYS) * DAY
#: what represents all the time that the machines of the other entries leave
REST: Final = "rest"
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})")
_REMEDY: Final = "write it as lab* = mon-fri 08:00-18:00; train = rest"
_LONGEST: Final = 4000


@dataclass(frozen=True, slots=True)
class Entry:
    """Who runs when.

    Parameters
    ----------
    names
        Ids of machines and workloads, with wild cards.
    spans
        Minutes of the week from 0 on Monday, begin and end of each, apart and in order; empty for the rest.
    """

    names: tuple[str, ...]
    spans: tuple[tuple[int, int], ...] = ()

    def runs(self, minute: int) -> bool:
        """True if it runs in a minute of the week; the rest is for others to say."""
        return any(begin <= minute < end for begin, end in self.spans)


def read_timetable(text: str, place: str = "timetable") -> tuple[Entry, ...]:
    """The entries of a timetable: ``lab*, infer0 = mon-fri 08:00-18:00, sat 09:00-12:00; train = rest``.

    Without days hours are those of every day; an end before its begin is on the next day.

    Raises
    ------
    AnalysisError
        If it cannot be read.
    """
    if len(text) > _LONGEST:
        raise AnalysisError(f"a timetable of {len(text):,} letters", place=place, remedy="use wild cards")
    found: list[Entry] = []
    for piece in (p.strip() for p in text.split(";")):
        if not piece:
            continue
        names, sign, when = piece.partition("=")
        ids = tuple(name for name in (n.strip() for n in names.split(",")) if name)
        if not sign or not ids:
            raise AnalysisError(f"{piece[:60]!r} does not say who runs when", place=place, remedy=_REMEDY)
        if when.strip() == REST:
            found.append(Entry(ids))
            continue
        found.append(
            Entry(ids, _join_spans([span for each in when.split(",") for span in _spans(each.strip(), place)]))
        )
    if not found:
        raise AnalysisError("the timetable is empty", place=place, remedy=_REMEDY)
    return tuple(found)


def _spans(text: str, place: str) -> list[tuple[int, int]]:
    *days, clock = text.split() or [""]
    parts = _CLOCK.fullmatch(clock)
    if parts is None or len(days) > 1:
        raise AnalysisError(f"{text[:60]!r} is no time of the week", place=place, remedy=_REMEDY)
    begin, end = (_minute(parts[k], parts[k + 1], text, place) for k in (1, 3))
    if begin == end % DAY and end != DAY:
        raise AnalysisError(f"{text[:60]!r} has no length", place=place, remedy="end later than it begins; 00:00-24:00")
    if end <= begin:
        end += DAY
    found: list[tuple[int, int]] = []
    for day in _days(days[0] if days else "mon-sun", place):
        first, last = day * DAY + begin, day * DAY + end
        found.append((first, min(last, WEEK)))
        if last > WEEK:
            found.append((0, last - WEEK))
    return found


def _minute(hours: str, minutes: str, text: str, place: str) -> int:
    found = int(hours) * HOUR + int(minutes)
    if int(minutes) >= HOUR or found > DAY:
        raise AnalysisError(f"{text[:60]!r} has a time that no clock shows", place=place, remedy="write 00:00 to 24:00")
    return found


def _days(text: str, place: str) -> list[int]:
    first, dash, last = text.lower().partition("-")
    if first not in DAYS or (dash and last not in DAYS):
        raise AnalysisError(f"{text[:20]!r} is no day", place=place, remedy=f"use {', '.join(DAYS)}, or mon-fri")
    begin = DAYS.index(first)
    return [(begin + k) % len(DAYS) for k in range((DAYS.index(last or first) - begin) % len(DAYS) + 1)]


def _join_spans(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return tuple(found)
