"""Racks as built: trays in the places of the rack's layout, power shelves and their loss, busbar, liquid and air."""

from __future__ import annotations

from itertools import pairwise

import pytest

import designer
from designer.design.document import Design, with_changes
from designer.errors import DocumentError
from designer.fields import Quantity
from designer.report.inventory import inventory
from designer.report.tables.bill_of_materials import items_of
from designer.report.tables.rack_layout import read_layout
from designer.report.tables.racks import plan_of
from designer.report.tables.supply import supplies
from designer.sources import Status


def _nvl72() -> Design:
    return designer.open_design("gb200-nvl72")


def test_the_trays_of_an_nvl72_are_in_the_places_of_its_layout() -> None:
    rack = plan_of(_nvl72()).racks[0]
    servers = sorted(u.at for u in rack.units if u.kind == "server")
    # eight below nine switch trays, ten above
    assert servers == [*range(8, 16), *range(25, 35)]
    switches = sorted(u.at for u in rack.units if u.kind == "nvswitch")
    assert switches == [16 + k / 2 for k in range(18)]
    assert [f.at for f in rack.fixed if f.name == "Power shelf"] == [2, 3, 4, 5, 37, 38, 39, 40]
    taken = sorted((u.at, u.top) for u in (*rack.units, *rack.fixed))
    assert all(below[1] <= above[0] for below, above in pairwise(taken))


def test_supply_and_cooling_of_an_nvl72_by_hand() -> None:
    (found,) = supplies(_nvl72())
    # 18 trays of 6.3 kW and 18 switch chips of 0.6 kW
    assert found.load == pytest.approx(18 * 6300 + 18 * 600)
    assert (found.capacity, found.half_lost) == (8 * 33e3, 4 * 33e3)
    assert found.loss == pytest.approx(124_200 / 0.97 - 124_200)
    # eight trays lie between the lower shelves and the switches: the four lower shelves feed half of the load upwards
    assert found.busbar == pytest.approx(124_200 / 2)
    # nine tenths of the trays' heat and eight tenths of the switches'
    assert found.liquid == pytest.approx(0.9 * 113_400 + 0.8 * 10_800)
    assert found.liquid + found.air == pytest.approx(found.input)
    # 110.7 kW over 3.9 kJ/(kg K), 1.02 kg/L and 10 K
    assert found.flow == pytest.approx(110_700 / (3900 * 1.02 * 10) * 60)
    assert found.problems() == ()


def test_a_rack_whose_half_of_the_shelves_is_too_little_says_so() -> None:
    design = _nvl72()
    stated = Quantity(value="15 kW", source="given", status=Status.ASSUMED)
    rack = with_changes(design.parts["rack"], overrides={"power_shelf_capacity": stated})
    (found,) = supplies(with_changes(design, parts={**design.parts, "rack": rack}))
    assert found.problems() == ("needs more than its power shelves give",)


def test_power_shelves_are_in_the_bill_once_for_each_rack() -> None:
    counts = {line.item: line.count for line in items_of(designer.open_design("cluster-gb200-6912"))}
    assert counts["Rack"] == 96
    assert counts["Power shelf"] == 96 * 8


def test_equal_racks_of_a_group_have_one_layout() -> None:
    design = designer.open_design("cluster-gb200-6912")
    plan = plan_of(design)
    places = {tuple(sorted(u.at for u in r.units)) for r in plan.racks if r.fixed}
    assert len(places) == 1
    assert len([r for r in plan.racks if r.fixed]) == len(inventory(design).racks)


@pytest.mark.parametrize("text", ["server", "server 9-3", "server 1-4, nvswitch 4-6", "server x-y"])
def test_a_layout_that_cannot_be_read_names_its_entry(text: str) -> None:
    with pytest.raises(DocumentError, match=r"server|nvswitch") as caught:
        read_layout(text)
    assert caught.value.remedy


def test_a_gb300_rack_by_hand() -> None:
    (found,) = supplies(designer.open_design("gb300-nvl72"))
    # 18 trays of 6.6 kW, 18 switch chips of 0.6 kW; 94 and 80 % of them into liquid
    assert found.load == pytest.approx(18 * 6600 + 18 * 600)
    assert found.liquid == pytest.approx(0.94 * 118_800 + 0.8 * 10_800)
    assert found.busbar == pytest.approx(129_600 / 2)
    assert found.problems() == ()


def test_eight_servers_of_mi355x_are_above_the_cooling_unit_of_their_rack() -> None:
    design = designer.open_design("mi355x-rack-64")
    rack = plan_of(design).racks[0]
    assert sorted(u.at for u in rack.units if u.kind == "server") == [5, 9, 13, 17, 21, 25, 29, 33]
    assert [(f.at, f.height) for f in rack.fixed if f.name == "Cooling distribution unit"] == [(1, 4)]
    (found,) = supplies(design)
    assert found.liquid == pytest.approx(0.8 * 8 * 14_500)
