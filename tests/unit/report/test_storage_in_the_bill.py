"""Storage counts in the bill, in power and in weight, by values that say they are assumed; what states none is
named."""

from __future__ import annotations

import pytest

from designer.catalog.loader import Catalog
from designer.design.document import Design, Part
from designer.fields import amount
from designer.interchange.templates import open_design
from designer.report.tables import tables_of
from designer.report.tables.bill_of_materials import items_of
from designer.report.tables.power import draws
from designer.sources import Status

NAMELESS = "storage/generic/storage"
TYPES = [i for i in Catalog().ids("storage") if i != NAMELESS]


@pytest.mark.parametrize("type_id", TYPES)
def test_a_storage_type_states_a_power_with_a_wide_band_and_where_it_is_from(type_id: str) -> None:
    found = Catalog().get(type_id)
    power = found.values["power_max"]
    assert power.status is Status.ASSUMED
    assert power.source in found.sources or power.source == "assumed"
    assert power.low is not None
    assert power.high is not None
    low, value, high = (amount(str(v), "power") for v in (power.low, power.value, power.high))
    assert low <= value < high
    # a guess of what is behind a mount is no better than twice
    assert high >= (1.5 if "nvme" in type_id else 2) * low


def test_storage_of_a_scalable_unit_by_hand() -> None:
    """125 GB/s read over 40 GB/s a server are 3.1, and 62 GB/s written over 20 are 3.1: four servers, 4 x 1.1 kW,
    4 x 33 kg, 4 x 2 U. The cluster of four units has four times as much."""
    for name, units in (("su-h100-32", 1), ("cluster-1024", 4)):
        row = next(i for i in items_of(open_design(name)) if i.item == "Storage")
        assert (row.watts, row.weight, row.height) == (4400 * units, 132 * units, 8 * units)


def test_an_nfs_server_is_in_the_sum_of_power() -> None:
    row = next(d for d in draws(open_design("hpe-apollo-6500-nfs"), None) if "NFS" in d.model)
    assert row.rated.value == pytest.approx(1100)
    assert row.rated.status is Status.ASSUMED


@pytest.mark.parametrize("type_id", [NAMELESS, ""])
def test_storage_without_a_known_type_is_said_to_have_no_known_power(type_id: str) -> None:
    types = [Catalog().get(type_id)] if type_id else []
    part = Part(id="store", kind="storage", name="Shelf", type=type_id)
    bill = tables_of(Design.model_validate({"name": "one", "parts": [part], "part_types": types}), None)["bill"]
    row = next(r for r in bill.rows if r[0] == "Storage")
    assert row[6] is None
    assert row[-1] == "power unknown"
