"""Waivers: what is accepted, for how long, and that it is stored in the design."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from designer.design.document import Design, Waiver
from designer.design.edits.waivers import AddWaivers, RemoveWaivers
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from designer.interchange.templates import open_design
from designer.rules.runner import check

FAIL = Path(__file__).parents[2] / "rules" / "MEM001" / "fail.design.json"
TODAY = date(2026, 11, 22)


def waiver(**changes: object) -> Waiver:
    stated = {
        "id": "w",
        "code": "MEM001",
        "reason": "nothing is staged",
        "author": "the architect",
        "expires": "2026-11-22",
    }
    return Waiver.model_validate({**stated, **changes})


def codes(design: Design, day: date = TODAY) -> list[str]:
    return [f.code for f in check(design, today=day, chosen=["MEM001"]).findings]


def test_a_waived_finding_is_reported_apart_until_its_last_day() -> None:
    design = open_design(FAIL)
    assert codes(design) == ["MEM001"]
    accepted = AddWaivers((waiver(),)).apply(design)
    assert codes(accepted) == []
    (waived,) = check(accepted, today=TODAY, chosen=["MEM001"]).waived
    assert (waived.finding.code, waived.waiver.author) == ("MEM001", "the architect")
    assert codes(accepted, date(2026, 11, 23)) == ["MEM001", "WAIVER-EXPIRED"]
    assert codes(RemoveWaivers(("w",)).apply(accepted)) == ["MEM001"]


def test_a_waiver_covers_its_own_places_alone() -> None:
    design = open_design(FAIL)
    (found,) = check(design, today=TODAY, chosen=["MEM001"]).findings
    assert codes(AddWaivers((waiver(where=found.where),)).apply(design)) == []
    assert codes(AddWaivers((waiver(where=found.where[:1]),)).apply(design)) == ["MEM001"]
    assert codes(AddWaivers((waiver(code="MEM002"),)).apply(design)) == ["MEM001"]


def test_a_waiver_is_kept_in_the_file() -> None:
    design = AddWaivers((waiver(where=("memory0",)),)).apply(open_design(FAIL))
    assert loads(dumps(design)).design.waivers == design.waivers


@pytest.mark.parametrize("day", ["tomorrow", "2026-13-01", "22.11.2026", ""])
def test_a_last_day_is_a_day(day: str) -> None:
    with pytest.raises(ValidationError, match="2027-01-31"):
        waiver(expires=day)


@pytest.mark.parametrize("field", ["reason", "author"])
def test_a_waiver_says_who_and_why(field: str) -> None:
    with pytest.raises(ValidationError):
        waiver(**{field: ""})
