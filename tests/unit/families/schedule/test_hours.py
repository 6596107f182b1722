"""Timetables: what is read, and what is refused."""

from __future__ import annotations

import pytest

from designer.errors import AnalysisError
from designer.families.schedule.hours import DAY, WEEK, read_timetable


def test_days_and_hours() -> None:
    lab, train = read_timetable("lab*, infer0 = mon-fri 08:00-18:00, sat 09:30-12:00; train = rest")
    assert lab.names == ("lab*", "infer0")
    assert len(lab.spans) == 6
    assert lab.spans[0] == (480, 1080)
    assert lab.spans[-1] == (5 * DAY + 570, 5 * DAY + 720)
    assert train.spans == ()
    assert lab.runs(480)
    assert not lab.runs(1080)
    assert not lab.runs(6 * DAY + 600)


def test_a_night_ends_on_the_next_day_and_the_week_goes_round() -> None:
    (night,) = read_timetable("train = 18:00-08:00")
    assert night.spans[0] == (0, 480)
    assert night.spans[1] == (1080, DAY + 480)
    assert night.spans[-1] == (6 * DAY + 1080, WEEK)
    assert sum(end - begin for begin, end in night.spans) == 7 * 14 * 60
    (weekend,) = read_timetable("train = fri-mon 00:00-24:00")
    assert weekend.spans == ((0, DAY), (4 * DAY, WEEK))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("lab0", "does not say who runs when"),
        ("= 08:00-09:00", "does not say who runs when"),
        ("lab0 = morning", "is no time of the week"),
        ("lab0 = mon tue 08:00-09:00", "is no time of the week"),
        ("lab0 = xyz 08:00-09:00", "is no day"),
        ("lab0 = 08:00-08:00", "has no length"),
        ("lab0 = 08:70-09:00", "no clock shows"),
        ("lab0 = 25:00-26:00", "no clock shows"),
        ("a" * 5000, "letters"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        read_timetable(text)
