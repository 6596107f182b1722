"""Channels as rows: looked up one by one they say the same as all of them read through."""

from __future__ import annotations

import pytest

from designer.analysis.study import analyze
from designer.engine.results import Rows
from designer.engine.routes.channel_rows import ChannelRows, at_part, busiest_first, of_link, with_ids
from designer.interchange.templates import open_design


@pytest.fixture(scope="module", params=["hgx-h100-8", "su-h100-32"])
def rows(request: pytest.FixtureRequest) -> ChannelRows:
    found = analyze(open_design(request.param), curves=False).channels
    assert isinstance(found, ChannelRows)
    return found


def test_looking_up_agrees_with_reading_through(rows: ChannelRows) -> None:
    plain = list(rows)
    busy = next(i for i in busiest_first(rows, idle=False))
    row = plain[busy]
    link = row.id.rpartition(":")[0]
    assert with_ids(rows, (row.id, "nothing:ab", "none")) == with_ids(plain, (row.id,)) == {row.id: row}
    assert of_link(rows, link) == of_link(plain, link)
    assert len(of_link(rows, link)) == 2
    for part in (row.source, row.target):
        arriving, leaving = at_part(rows, part)
        assert (arriving, leaving) == at_part(plain, part)
        assert row in (arriving if part == row.target else leaving)
    assert at_part(rows, "no/such[9]/part") == ([], [])


def test_the_busiest_come_first_and_idle_ones_only_when_asked(rows: ChannelRows) -> None:
    plain = list(rows)
    for idle in (False, True):
        order = busiest_first(rows, idle)
        shares = [plain[i].utilization for i in order]
        assert shares == sorted(shares, reverse=True)
        assert len(order) == sum(1 for r in plain if idle or r.load > 0)
        assert [plain[i].utilization for i in busiest_first(plain, idle)] == shares


def test_rows_made_one_by_one_are_made_once() -> None:
    made: list[int] = []
    rows = Rows(one=lambda i: made.append(i) or i * i, count=5)
    assert (rows[2], rows[-1], rows[2], list(rows[0:2])) == (4, 16, 4, [0, 1])
    assert made == [2, 4, 0, 1]
    assert list(rows) == [0, 1, 4, 9, 16]
    with pytest.raises(IndexError):
        rows[5]
