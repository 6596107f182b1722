"""Tables behind the report, with counts worked out by hand."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import designer
from designer.catalog.loader import Catalog
from designer.design.document import with_changes
from designer.design.edits.parts import SetType
from designer.errors import ExchangeError, FormatError
from designer.formulas.power.server_power import accelerator_power, power_at_work, wall_power
from designer.report.inventory import bundles, inventory
from designer.report.tables import tables_of
from designer.report.tables.bill_of_materials import items_of, sheet
from designer.report.tables.cost import priced, read_prices, totals
from designer.report.tables.power import draws, total
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


def test_bill_and_costs_begin_with_the_item() -> None:
    design = designer.open_design("hgx-h100-4")
    assert [column.head for column in sheet(design).columns[:3]] == ["Item", "Model", "Role"]


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


#: servers of eight B200 at the wall while they serve: 70B, 405B, 8B, images, speech, graphs (MLPerf Inference v5.1)
WALL = (10.40, 10.44, 9.89, 9.57, 9.44, 9.01, 9.51, 9.44, 7.64, 7.47)


@pytest.mark.parametrize("kilowatts", WALL[:3])
def test_a_loaded_server_at_the_wall_is_near_its_reading(kilowatts: float) -> None:
    """Eight B200 at their limit of 1 kW and 325 W next to each: 10.6 kW; published for large language models."""
    full = accelerator_power(Watts(1000), Ratio(0.4), Ratio(0.5))
    assert wall_power(Watts(8 * full), 8) == pytest.approx(kilowatts * 1000, rel=0.10)


@pytest.mark.parametrize("kilowatts", WALL)
def test_every_reading_at_the_wall_lies_in_the_band_of_a_server_of_unknown_use(kilowatts: float) -> None:
    """How busy the arithmetic was is not published. A B200 of 1 kW that works draws 411/700 = 587 W at rest, with the
    band of another model, exp(hypot(0.15, 0.12)) = 1.21, at least 484 W; at most its limit. Next to each stand 240 to
    360 W: 8 x (484 + 240) = 5.8 kW to 8 x 1360 = 10.9 kW."""
    _, low, high = power_at_work(Watts(1000), None, same_model=False)
    assert 8 * (low + 240) == pytest.approx(5.8e3, rel=0.01)
    assert 8 * (high + 360) == pytest.approx(10.88e3)
    assert 8 * (low + 240) <= kilowatts * 1000 <= 8 * (high + 360)


def test_the_band_of_an_h100_by_hand() -> None:
    """20 % of the arithmetic: 639 W. Low: without memory 411 + 172.4 = 583.4 W over exp(0.15) = 502 W. High: with all
    of the memory 694.4 W times 1.16 is beyond the limit of 700 W. The median error of 7.3 % alone would have begun at
    541 W, where only half of all points lie."""
    arithmetic = (Ratio(0.2), Ratio(0.2), Ratio(0.2))
    value, low, high = power_at_work(Watts(700), arithmetic, same_model=True)
    assert value == pytest.approx(638.9)
    assert low == pytest.approx(502.1, abs=0.1)
    assert high == 700
    assert power_at_work(Watts(700), arithmetic, same_model=False)[1] < low


@given(limit=st.floats(1, 2000), share=st.floats(0, 1), known=st.booleans(), same=st.booleans())
def test_no_accelerator_draws_more_than_its_limit(limit: float, share: float, known: bool, same: bool) -> None:
    arithmetic = (Ratio(share), Ratio(share / 2), Ratio(min(1.0, share * 2))) if known else None
    value, low, high = power_at_work(Watts(limit), arithmetic, same)
    assert 0 < low <= value <= high <= limit


def test_a_switch_draws_between_its_copper_and_its_optics() -> None:
    """QM9700: 747 W with copper cables, 1,720 W with optics in every cage: 1,233.5 W between; eighteen of them rated
    31 kW. Nothing of the network is missing in the sum."""
    found = draws(designer.open_design("su-h100-32"), None)
    switch = next(d for d in found if d.model.startswith("NVIDIA QM9700"))
    assert switch.load is not None
    assert (switch.load.low, switch.load.high) == (747, 1720)
    assert switch.load.value == pytest.approx(1233.5)
    assert switch.count * (switch.rated.value or 0) == pytest.approx(30_960)
    assert not any("switch" in model.lower() or "QM" in model for model in total(found)[2])


@pytest.mark.parametrize(("unit", "kilowatts"), [("switch/nvidia/qm9700", 1.72), ("switch/nvidia/sn5600", 2.17)])
def test_rated_switches_of_the_catalog_state_typical_and_largest(unit: str, kilowatts: float) -> None:
    values = Catalog().get(unit).values
    assert values["power_max"].si("power") == pytest.approx(kilowatts * 1e3)
    assert values["power_typical"].si("power") < values["power_max"].si("power")


def test_prices_come_from_the_list_alone() -> None:
    design = designer.open_design("su-h100-32")
    prices = read_prices("part,currency,price,date,valid_until\nswitch/nvidia/qm9700,EUR,20000,2026-10-01,2026-12-31\n")
    lines = priced(design, prices)
    assert totals(lines) == {"EUR": 18 * 20000.0}
    assert any(line.price is None for line in lines)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("part,price\nx,1\n", "no column 'currency'"),
        ("part,currency,price\nx,EUR,much\n", "is no price"),
        ("part,currency,price\nx,,1\n", "no currency"),
        ("part,currency,price\nx,EUR,-1\n", "is no price"),
        ("part,currency,price\nx,EUR,nan\n", "is no price"),
    ],
)
def test_a_wrong_price_list_is_told_where(text: str, stated: str) -> None:
    with pytest.raises(FormatError, match=stated):
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
    # the only formulas are the totals below the table: sums over cells, without any text of the design
    formulas = re.findall(r"<f>(.*?)</f>", book.read("xl/worksheets/sheet1.xml").decode())
    assert len(formulas) == len(table.totals)
    allowed = r"SUMPRODUCT\(E2:E\d+,[G-I]2:[G-I]\d+,--\(J2:J\d+&lt;&gt;\"inside\"\)\)"
    assert all(re.fullmatch(allowed, formula) for formula in formulas), formulas


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


def test_weight_on_the_floor_by_hand() -> None:
    """Three DGX H100 of 130 kg in a rack of 150 kg: 540 kg. On 0.6 by 1.2 m: 540 × 9.807 / 0.72 = 7.36 kN/m².
    Storage whose type states no weight is counted, not guessed."""
    design = designer.open_design("su-h100-32")
    plan = plan_of(design)
    servers = next(rack for rack in plan.racks if len(rack.units) == 3 and rack.units[0].kind == "server")
    assert servers.weight == pytest.approx(540)
    assert servers.floor_load == pytest.approx(7.355, abs=0.01)
    assert servers.unweighed == 0
    nameless = SetType(("storage",), "storage/generic/storage", Catalog().get("storage/generic/storage")).apply(design)
    for drawn, silent in ((design, 0), (nameless, 1)):
        others = [rack for rack in plan_of(drawn).racks if any(unit.kind == "storage" for unit in rack.units)]
        assert sum(rack.unweighed for rack in others) == silent


def test_no_load_is_above_the_limits_of_the_parts() -> None:
    """Eight H100 of 700 W are 5.6 kW; around them at most 8 × 360 W = 2.88 kW was read: 8.48 kW, and no band above."""
    design = designer.open_design("hgx-h100-8")
    (found,) = (d for d in draws(design, None) if d.unit.accelerators())
    assert found.rated.summed
    assert found.rated.value == pytest.approx(5600 + 2880)
    assert found.load is not None
    assert found.load.high <= (found.rated.value or 0) * (1 + 1e-9)


def test_a_cell_too_long_for_csv_is_refused_with_its_line() -> None:
    with pytest.raises(ExchangeError, match="line 3: not CSV"):
        read_prices("part,currency,price\nx,USD,1\ny,USD," + "1" * 131_073 + "\n", "prices.csv")
    with pytest.raises(ExchangeError, match="line 1: not CSV"):
        read_prices("part" * 40_000 + ",currency,price\n", "prices.csv")


def test_a_workbook_has_totals_as_formulas() -> None:
    """A scalable unit: 32 servers of 10.2 kW and 18 switches of 1.72 kW in addition to storage; inner parts are not
    counted
    twice. The total of a currency is the sum of its column."""
    design = designer.open_design("su-h100-32")
    rated = next(t for t in sheet(design).totals if t.label.startswith("Rated"))
    by_hand = 32 * 10_200 + 18 * 1_720 + sum(r[4] * r[6] for r in sheet(design).rows if r[0] == "Storage")  # type: ignore[operator]
    assert rated.value == pytest.approx(by_hand)
    prices = read_prices("part,currency,price\nserver/nvidia/dgx-h100,USD,300000\nswitch/nvidia/qm9700,EUR,20000\n")
    tables = tables_of(design, prices)
    assert {t.label: t.value for t in tables["cost"].totals} == {"Total, USD": 9_600_000, "Total, EUR": 360_000}
    data = to_xlsx(list(tables.values()), "x")
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        cells = "".join(book.read(n).decode() for n in book.namelist() if "worksheets/sheet" in n)
    assert "<f>SUMPRODUCT(" in cells
    assert "<f>SUMIF(G2:G" in cells
    assert "<v>9600000</v>" in cells


def test_a_report_has_a_title_block_where_it_is_filled_in(tmp_path: Path) -> None:
    from designer.report.assembly import Given, compose_report
    from designer.report.settings import load_settings

    (tmp_path / "s.toml").write_text('customer = "Example AG"\nproject = "Pod 1"\nrevision = "B"\napproved = "open"\n')
    design = designer.open_design("m40-server")
    facts = dict(compose_report([Given(design, "", ())], load_settings(tmp_path / "s.toml")).facts)
    assert (facts["Customer"], facts["Project"], facts["Revision"], facts["Approved"]) == (
        "Example AG",
        "Pod 1",
        "B",
        "open",
    )
    assert "Customer" not in dict(compose_report([Given(design, "", ())], load_settings()).facts)
