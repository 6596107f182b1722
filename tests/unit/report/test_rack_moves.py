"""Racks apart from the drawing: where units may stand, what feeds carry, and what design rules say of it."""

from __future__ import annotations

import pytest

import designer
from designer.design.document import Design, Elevation
from designer.design.edits.parts import SetPartId
from designer.design.edits.racks import RemoveRacks, SetRacks
from designer.errors import DocumentError
from designer.report.rack_moves import limits, move, nearest_place, new_rack, next_place, why_not
from designer.report.tables.racks import Placed, Rack, feeds_of, plan_of
from designer.rules.runner import check


@pytest.fixture(scope="module")
def design() -> Design:
    return designer.open_design("su-h100-32")


def test_feeds_by_hand() -> None:
    """Two feeds, 9 kW shared and 1 kW on A alone: 4.5 + 1 and 4.5; with the other lost 9 + 1 and 9.

    Three feeds: a third of 9 kW each, half of it with one lost; a rack fed 20 kW with one lost has feeds of 10 kW.
    """
    units = [Placed(1, 1, 4, "a", "server", 9e3, True), Placed(2, 5, 1, "b", "switch", 1e3, True, feed="A")]
    two = feeds_of(Rack("r", 42, 20e3, units, feeds=2))
    assert [(f.name, f.all_there, f.one_lost, f.limit) for f in two] == [
        ("A", 5500, 10000, 20e3),
        ("B", 4500, 9000, 20e3),
    ]
    three = [(f.all_there, f.one_lost, f.limit) for f in feeds_of(Rack("r", 42, 20e3, units, feeds=3))]
    assert three == [
        (4e3, 5.5e3, 1e4),
        (3e3, 4.5e3, 1e4),
        (3e3, 4.5e3, 1e4),
    ]
    (alone,) = feeds_of(Rack("r", 42, 20e3, units, feeds=1))
    assert (alone.all_there, alone.one_lost, alone.limit) == (10e3, 10e3, 20e3)


def test_a_move_takes_the_proposal_over_and_leaves_the_rest(design: Design) -> None:
    plan = plan_of(design)
    first = plan.racks[0].units[0]
    moved = plan_of(move(design, plan, first.part, 0, 30).apply(design))
    assert [r.name for r in moved.racks] == [r.name for r in plan.racks]
    assert moved.of_unit == plan.of_unit
    for old, new in zip(plan.racks, moved.racks, strict=True):
        assert (new.height, new.power) == (old.height, old.power)
        want = {u.part: 30 if u.part == first.part else u.at for u in old.units}
        assert {u.part: u.at for u in new.units} == want
    assert moved.drawn, "every place is the design's own now"


def test_places_up_and_down_and_beside(design: Design) -> None:
    """Three of 8 units stand from 1 to 24 in 48: the lowest finds its next place at 25, none below."""
    plan = plan_of(design)
    low, middle, high = (u.part for u in sorted(plan.racks[0].units, key=lambda u: u.at))
    assert next_place(design, plan, low, 1) == 25
    assert next_place(design, plan, low, -1) is None
    assert next_place(design, plan, high, 1) == 18
    assert why_not(design, plan, low, 0, 41) == ""
    assert "beyond the height" in why_not(design, plan, low, 0, 42)
    assert "occupied" in why_not(design, plan, low, 0, 5)
    assert nearest_place(design, plan, middle, 1)[0] == 0
    # 3 × 10.2 kW and one more are 40.8 kW
    assert nearest_place(design, plan, middle, 1)[1].startswith("over its power: 40.8")
    wider = limits(design, plan, 1, {"power": "41 kW", "weight_capacity": "500 kg"}).apply(design)
    assert "over its weight: 520 kg" in why_not(wider, plan_of(wider), middle, 1, 30), "4 × 130 kg"


def test_elevations_follow_names_and_refuse_what_is_not_there(design: Design) -> None:
    storage = next(p.id for p in design.parts.values() if p.kind == "storage")
    rack = Elevation.model_validate({"id": "rack1", "units": {storage: {"unit": 3}}})
    placed = SetRacks((rack,)).apply(design)
    renamed = SetPartId(storage, "files").apply(placed)
    assert list(renamed.racks["rack1"].units) == ["files"]
    with pytest.raises(DocumentError, match="there is no part"):
        SetRacks((Elevation.model_validate({"id": "x", "units": {"nobody": {"unit": 1}}}),)).apply(design)
    with pytest.raises(DocumentError, match="would be in"):
        SetRacks((rack.model_copy(update={"id": "rack2"}),)).apply(placed)
    assert RemoveRacks(("rack1",)).apply(placed) == design
    assert len(plan_of(new_rack(design, plan_of(design), 0).apply(design)).racks) == len(plan_of(design).racks) + 1


def test_rules_see_elevations(design: Design) -> None:
    """Four DGX H100 are 40.8 kW in a rack stated to feed 40 kW; one of 8 units at unit 45 of 48 sticks out."""
    units = {f"servers[{k}]/server": {"unit": 1 + 8 * k} for k in range(4)}
    rack = Elevation.model_validate({"id": "rack1", "height": 48, "power": "40 kW", "units": units})
    codes = {f.code for f in check(SetRacks((rack,)).apply(design)).findings}
    assert "PWR001" in codes
    assert "PWR002" not in codes
    high = Elevation.model_validate({"id": "rack1", "height": 48, "units": {"servers[0]/server": {"unit": 45}}})
    codes = {f.code for f in check(SetRacks((high,)).apply(design)).findings}
    assert "PWR002" in codes
    assert "PWR001" not in codes


def test_racks_of_a_group_say_how_to_move_a_unit_between_them() -> None:
    """96 equal racks in the drawing: a tray has room in any other, and still what is in one is in all of them."""
    clustered = designer.open_design("cluster-gb200-6912")
    plan = plan_of(clustered)
    unit = plan.racks[0].units[0]
    free = int(max(u.top for u in plan.racks[1].units))
    assert not why_not(clustered, plan, unit.part, 0, free), "inside its own rack it goes where room is"
    assert "one of a group" in why_not(clustered, plan, unit.part, 1, free)
