"""What an hour and a token cost, by hand, at prices that the reader gives."""

from __future__ import annotations

from pathlib import Path

import pytest

import designer
from designer.analysis.study import analyze
from designer.errors import FormatError
from designer.report.assembly import compose_report
from designer.report.document import plain
from designer.report.running_cost import Hourly, energy, hourly, owned, units
from designer.report.settings import Chosen, Cost, Energy, Settings, load_settings
from designer.report.tables.cost import priced, read_prices, totals
from designer.report.tables.power import draws, total

HOUR = Hourly("EUR", 20.0, 20.0, 20.0, {"rent": 20.0}, ())


def test_an_hour_of_what_was_bought_by_hand() -> None:
    """262,980 over three years of 8,766 hours: 10 an hour; in use half of the time, an hour in use costs 20."""
    assert owned(262_980, 3, 1.0) == pytest.approx(10)
    assert owned(262_980, 3, 0.5) == pytest.approx(20)


def test_an_hour_of_energy_by_hand() -> None:
    """10 kW with a PUE of 1.3 are 13 kWh an hour; at 0.25 each: 3.25."""
    assert energy(10_000, 1.3, 0.25) == pytest.approx(3.25)


def test_a_rented_server_by_hand() -> None:
    """Eight accelerators at 2.50 an hour: 20 an hour, and the energy next to it where the rent does not pay for it."""
    design = designer.open_design("hgx-h100-8")
    inputs = Cost(rent=2.5, currency="EUR", source="an offer")
    (found,) = hourly(design, Settings(chosen=Chosen(cost=inputs, energy=Energy(price=0.25, currency="EUR"))), None)
    assert (found.currency, found.value, dict(found.pieces)) == ("EUR", 20.0, {"rent": 20.0})
    beside = Chosen(
        cost=Cost(rent=2.5, currency="EUR", energy_in_rent=False), energy=Energy(price=0.25, currency="EUR")
    )
    (both,) = hourly(design, Settings(chosen=beside), None)
    load = total(draws(design, None))[1]
    assert load is not None
    assert both.value == pytest.approx(20 + load.value / 1000 * 0.25)
    assert both.low < both.value < both.high
    assert both.assumed == ("PUE 1",)


CPU_PRICES = """part,currency,price
server/generic/server,USD,4000
cpu/intel/xeon-gnr-sp,USD,10000
memory/generic/ddr5-6400-8ch,USD,3000
nic/generic/ethernet-100g,USD,700
drive/generic/nvme-gen5,USD,500
"""


def test_a_server_without_accelerators_by_hand() -> None:
    """4,000 + 2 x 10,000 + 2 x 3,000 + 700 + 500 = 31,200 over 26,298 hours: 1.186; 433 W at 0.10 a kWh: 0.043.

    50 tokens a second are 179,800 an hour: 6.84 for a million of them.
    """
    design = designer.open_design("serving-cpu-2s")
    result = analyze(design, curves=False).workloads[0]
    chosen = Chosen(cost=Cost(years=3), energy=Energy(price=0.10))
    (found,) = hourly(design, Settings(chosen=chosen, prices=read_prices(CPU_PRICES)), result)
    assert found.pieces["hardware"] == pytest.approx(31_200 / 26_298)
    assert found.pieces["energy"] == pytest.approx(result.metrics["power"].value / 1000 * 0.10)
    assert result.metrics["power"].value == pytest.approx(433, rel=0.05)
    cost = next(unit.cost for unit in units(result, found) if unit.name == "a million tokens")
    assert cost.value == pytest.approx(6.84, rel=0.01)
    assert cost.low < cost.value < cost.high


def test_a_rent_of_accelerators_is_no_price_of_a_server_without_any() -> None:
    """Nothing at 2.50 each is not free: it is said, and the rent of the server counts where it is given."""
    design = designer.open_design("serving-cpu-2s")
    result = analyze(design, curves=False).workloads[0]
    assert hourly(design, Settings(chosen=Chosen(cost=Cost(rent=2.5))), result) == ()
    chapter = compose_report([design], Settings(chosen=Chosen(chapters=("running-cost",), cost=Cost(rent=2.5))))
    assert "No cost follows" in plain(chapter.chapters[-1].title)
    (found,) = hourly(design, Settings(chosen=Chosen(cost=Cost(server_rent=1.8))), result)
    assert found.value == 1.8
    # 1.80 over 179,800 tokens
    assert units(result, found)[0].cost.value == pytest.approx(10.0, rel=0.01)


def test_what_the_price_of_a_unit_pays_for_is_never_left_out_in_silence() -> None:
    """A server of no product and its drive are added up; its processors without a price are within its price."""
    design = designer.open_design("serving-cpu-2s")
    prices = read_prices("part,currency,price\nserver/generic/server,USD,4000\ndrive/generic/nvme-gen5,USD,500\n")
    lines = priced(design, prices)
    assert totals(lines) == {"USD": 4500.0}
    assert sum(line.within for line in lines) == 3
    assert not any(line.missing for line in lines)
    # a product comes with what is inside
    whole = read_prices("part,currency,price\nserver/nvidia/hgx-h100-8,USD,262980\ngpu/nvidia/h100-sxm5,USD,30000\n")
    assert totals(priced(designer.open_design("hgx-h100-8"), whole)) == {"USD": 262980.0}


def test_currencies_are_never_mixed() -> None:
    design = designer.open_design("hgx-h100-8")
    prices = read_prices("part,currency,price\nserver/nvidia/hgx-h100-8,USD,262980\n")
    chosen = Chosen(cost=Cost(years=3), energy=Energy(price=0.25, currency="EUR"))
    found = {one.currency: one for one in hourly(design, Settings(chosen=chosen, prices=prices), None)}
    assert set(found) == {"USD", "EUR"}
    assert found["USD"].value == pytest.approx(10)
    assert found["USD"].assumed[0] == "in use all the time"


def test_tokens_and_steps_by_hand() -> None:
    """20 an hour at 1,000 tokens/s, 3.6 million an hour: 5.56 for a million. A step of 1.8 s: 20 / 2,000 = 0.01."""
    design = designer.open_design("hgx-h100-8")
    result = next(w for w in analyze(design, curves=False).workloads if "step_time" in w.metrics)
    found = {unit.name: unit.cost for unit in units(result, HOUR)}
    step = result.metrics["step_time"]
    assert found["a training step"].value == pytest.approx(20 * step.value / 3600)
    assert found["a training step"].low == pytest.approx(20 * step.low / 3600)
    rate = result.metrics.get("tokens_per_second") or result.metrics["samples_per_second"]
    name = "a million tokens" if "tokens_per_second" in result.metrics else "a million samples"
    assert found[name].value == pytest.approx(20 / (rate.value * 3600) * 1e6)
    assert found[name].low <= found[name].value <= found[name].high
    assert pytest.approx(5.56, abs=0.01) == 20 / (1000 * 3600) * 1e6


def test_nothing_is_said_without_an_input() -> None:
    design = designer.open_design("hgx-h100-8")
    chosen = Chosen(chapters=("running-cost",))
    assert [c.key for c in compose_report([design], Settings(chosen=chosen)).chapters] == ["summary"]
    priced = Chosen(chapters=("running-cost",), cost=Cost(rent=2.5, currency="EUR"))
    chapter = compose_report([design], Settings(chosen=priced)).chapters[-1]
    assert chapter.key == "running-cost"
    assert "EUR" in plain(chapter.title)


@pytest.mark.parametrize("text", ["rent = -1", "years = 0", "busy = 2", "rate = 3"])
def test_a_wrong_input_is_told_where(tmp_path: Path, text: str) -> None:
    file = tmp_path / "s.toml"
    file.write_text(f"[cost]\n{text}\n", "utf-8")
    with pytest.raises(FormatError, match="cost"):
        load_settings(file)
