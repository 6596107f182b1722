"""Tables behind the report, with counts worked out by hand."""

from __future__ import annotations

import csv
import io
import zipfile

import pytest

import designer
from designer.design.document import with_changes
from designer.errors import FormatError
from designer.formulas.power.server_power import accelerator_power, wall_power
from designer.report.inventory import bundles, inventory
from designer.report.tables import tables_of
from designer.report.tables.bill_of_materials import items_of
from designer.report.tables.cost import priced, read_prices, totals
from designer.report.tables.racks import plan_of
from designer.report.tables.table_sheet import safe, to_csv, to_xlsx
from designer.report.verdicts import Verdict, judge
from designer.sources import Estimate
from designer.units import Ratio, Watts


def test_a_scalable_unit_counts_what_its_reference_counts() -> None:
    """32 servers on eight rails: 32 × 8 = 256 cables to the leaves; 8 leaves × 4 spines × 8 = 256 above them."""
    design = designer.open_design("su-h100-32")
    found = {b.name: b.cables for b in bundles(inventory(design))}
    assert found["DGX H100 → Leaf switches"] == 32 * 8
    assert found["Leaf switches → Spine switches"] == 8 * 4 * 8
    assert sum(found.values()) == 640
    counts = {i.model: i.count for i in items_of(design)}
    assert counts["NVIDIA DGX H100"] == 32
    assert counts["NVIDIA H100 SXM5 80 GB"] == 32 * 8
    assert counts["NVIDIA QM9700 (NDR)"] == 8 + 4 + 2 + 2 + 2


def test_a_rack_holds_what_it_can_feed() -> None:
    """A server of 10.2 kW fits three times into 40 kW, not four times: 32 servers take eleven racks."""
    plan = plan_of(designer.open_design("su-h100-32"))
    servers = [r for r in plan.racks if any(u.kind == "server" for u in r.units)]
    assert len(servers) == 11
    assert all(r.watts <= r.power for r in plan.racks)
    assert all(u.at + u.height - 1 <= r.height for r in plan.racks for u in r.units)
    one = [sum(u.kind == "server" for u in r.units) for r in servers]
    assert sum(one) == 32


def test_cables_within_a_rack_are_shorter_than_across() -> None:
    design = designer.open_design("su-h100-32")
    plan = plan_of(design)
    a, b = plan.racks[0].units[:2]
    far = plan.racks[-1].units[0]
    assert plan.length(a.part, b.part) < plan.length(a.part, far.part)


def test_power_of_an_accelerator_by_hand() -> None:
    """An H100 with 20 % of its arithmetic and half its memory busy: 411 + 111 × 0.5 + 862 × 0.2 = 639 W."""
    assert accelerator_power(Watts(700), Ratio(0.2), Ratio(0.5)) == pytest.approx(638.9)
    assert accelerator_power(Watts(700), Ratio(0.6), Ratio(1.0)) == 700


@pytest.mark.parametrize("kilowatts", [10.40, 10.44, 9.89])
def test_a_loaded_server_at_the_wall_is_near_its_reading(kilowatts: float) -> None:
    """Eight B200 at their limit of 1 kW and 325 W beside each: 10.6 kW; published for large language models."""
    full = accelerator_power(Watts(1000), Ratio(0.4), Ratio(0.5))
    assert wall_power(Watts(8 * full), 8) == pytest.approx(kilowatts * 1000, rel=0.10)


def test_prices_come_from_the_list_alone() -> None:
    design = designer.open_design("su-h100-32")
    prices = read_prices("part,currency,price,date,valid_until\nswitch/nvidia/qm9700,EUR,20000,2026-10-01,2026-12-31\n")
    lines = priced(design, prices)
    assert totals(lines) == {"EUR": 18 * 20000.0}
    assert any(line.price is None for line in lines)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("part,price\nx,1\n", "no column 'currency'"),
        ("part,currency,price\nx,EUR,much\n", "is no price"),
        ("part,currency,price\nx,,1\n", "no currency"),
        ("part,currency,price\nx,EUR,-1\n", "is no price"),
        ("part,currency,price\nx,EUR,nan\n", "is no price"),
    ],
)
def test_a_wrong_price_list_is_told_where(text: str, told: str) -> None:
    with pytest.raises(FormatError, match=told):
        read_prices(text, "prices.csv")


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@x", "\t=1", " =1", "|x"])
def test_no_cell_is_taken_for_a_formula(name: str) -> None:
    assert safe(name).startswith("'")
    design = designer.open_design("m40-server")
    parts = [with_changes(p, name=name, type="") if p.kind == "gpu" else p for p in design.parts.values()]
    hostile = with_changes(design, parts=parts)
    table = tables_of(hostile)["bill"]
    cells = [cell for row in csv.reader(io.StringIO(to_csv(table))) for cell in row]
    assert not [c for c in cells if c.lstrip().startswith(("=", "+", "@", "|"))]
    pytest.importorskip("xlsxwriter")
    book = zipfile.ZipFile(io.BytesIO(to_xlsx([table], "x")))
    assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")


@pytest.mark.parametrize(
    ("band", "verdict"),
    [
        ((11.0, 12.0, 13.0), Verdict.MET),
        ((9.0, 12.0, 13.0), Verdict.LIKELY),
        ((8.0, 9.0, 11.0), Verdict.UNLIKELY),
        ((7.0, 8.0, 9.0), Verdict.NOT_MET),
    ],
)
def test_verdicts_are_read_from_the_band(band: tuple[float, float, float], verdict: Verdict) -> None:
    low, value, high = band
    assert judge(Estimate(value, low, high, "B/s"), ">=", 10.0) is verdict
    assert judge(Estimate(20 - value, 20 - high, 20 - low, "s"), "<=", 10.0) is verdict
