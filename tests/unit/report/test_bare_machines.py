"""Reports of what importers make of real machines: no part types, switches below switches, no network."""

from __future__ import annotations

import re

import pytest

import designer
from designer.design.document import Design, Link, Part
from designer.report.assembly import compose_report
from designer.report.document import Report
from designer.report.renderers.html import to_html
from designer.report.renderers.markdown import to_markdown
from designer.report.settings import Chosen, Settings
from designer.report.tables.racks import plan_of

GPUS = 4
UPLINK = 8e9


def _design(*extra: tuple[str, str, str, str]) -> Design:
    parts = [
        Part(id="server0", kind="server"),
        Part(id="cpu0", kind="cpu", parent="server0"),
        Part(id="memory0", kind="memory", parent="server0"),
        *(Part(id=f"switch{n}", kind="pcie_switch", parent="server0") for n in range(3)),
        *(Part(id=f"gpu{n}", kind="gpu", parent="server0") for n in range(GPUS)),
    ]
    links = [
        Link.model_validate({"id": f"{a}--{b}", "a": a, "b": b, "kind": kind, "bandwidth_per_direction": rate})
        for a, b, kind, rate in extra
    ]
    return Design.model_validate({"name": "bare", "parts": {p.id: p for p in parts}, "links": {x.id: x for x in links}})


@pytest.fixture(scope="module")
def row() -> Design:
    """One socket, a narrow uplink, a switch below a switch below a switch, four GPUs of no known type."""
    drawn = _design(
        ("memory0", "cpu0", "memory_bus", "200 GB/s"),
        ("cpu0", "switch0", "pcie", "8 GB/s"),
        ("switch0", "switch1", "pcie", "16 GB/s"),
        ("switch1", "switch2", "pcie", "16 GB/s"),
        *(("switch2", f"gpu{n}", "pcie", "16 GB/s") for n in range(GPUS)),
    )
    return designer.with_workload(drawn, "h2d", "transfer", "Host to GPUs", **{"from": "memory", "to": "gpus"})


@pytest.fixture(scope="module")
def report(row: Design) -> Report:
    return compose_report([row])


def test_links_in_a_row_carry_the_bytes_once(row: Design, report: Report) -> None:
    """All four flows pass the uplink, so together they are what it carries: less than 8 GB/s. The two links from
    switch to switch stand in a row and carry the same bytes, not twice as many."""
    rate = next(w.metrics["rate"].value for w in designer.analyze(row).workloads if w.kind == "transfer")
    assert 0 < rate <= UPLINK
    page = to_html(report)
    drawn = re.search(r"load ([\d.]+)\s*GB/s", page)
    assert drawn is not None
    assert float(drawn[1]) * 1e9 == pytest.approx(rate, rel=0.01)
    assert "2 in a row" in re.sub(r"\s", " ", page)


def test_parts_named_alike_are_counted_on_one_line() -> None:
    """Eighteen NICs that an importer gave places of their own are no eighteen kinds."""
    drawn = _design(("memory0", "cpu0", "memory_bus", "200 GB/s"), ("cpu0", "switch0", "pcie", "8 GB/s"))
    nics = [Part(id=f"mlx5_{n}", kind="nic", parent="server0", attributes={"slot": f"{n}"}) for n in range(18)]
    drawn = drawn.model_copy(update={"parts": {**drawn.parts, **{p.id: p for p in nics}}})
    lines = [line for line in to_markdown(compose_report([drawn])).splitlines() if "mlx5" in line]
    assert lines == ["| mlx5 | 18 | NICs |", "| mlx5 | NIC | 18 | 18 each |"]


def test_copies_to_all_gpus_are_accepted_with_copies_to_all(report: Report) -> None:
    """What a GPU gets while all are fed is no copy to one GPU alone."""
    page = to_html(report)
    assert "host_to_all_memcpy_ce" in page
    assert "host_to_device_memcpy_ce" not in page


def test_accelerators_without_a_type_are_not_named(report: Report) -> None:
    assert "measured on ." not in to_markdown(report)


def test_power_that_nobody_states_is_said_to_be_missing(report: Report) -> None:
    """Neither the server nor its parts state watts: no chapter of power, and a line that says so."""
    assert not [c for c in report.chapters if c.key.startswith("power")]
    assert "| **Power** |" in to_markdown(report)


def test_a_server_alone_is_not_counted_on_no_cables() -> None:
    alone = Design.model_validate({"name": "alone", "parts": {"server0": {"id": "server0", "kind": "server"}}})
    stated = to_markdown(compose_report([alone]))
    assert "without a network cable" in stated
    assert not re.search(r"\b0\s(cables|workloads|figures)", stated)


def test_ways_side_by_side_are_one_hop_of_their_sum() -> None:
    """Two drives on each of 36 CPUs are 72 links side by side, none behind another: 72 times 15.75 GB/s raw, and what
    they achieve is never less than what passes through them."""
    page = re.sub(r"\s", " ", to_html(compose_report([designer.open_design("gb200-nvl72")], _only("data-path"))))
    assert "72 × 15.8 GB/s" in page
    assert "in a row" not in page


def test_a_design_that_no_failure_stops_says_none() -> None:
    stated = to_markdown(compose_report([designer.open_design("gb200-nvl72")], _only("failures")))
    assert "single failures stops it" in stated


def test_two_switches_of_a_tray_take_one_unit() -> None:
    """18 compute trays and 18 NVSwitches, two in a tray: 18 + 18 ÷ 2 = 27 units; 8 of power, 2 of management."""
    plan = plan_of(designer.open_design("gb200-nvl72"))
    assert sum(rack.used for rack in plan.racks) == 27 + 8 + 2


def _only(chapter: str) -> Settings:
    return Settings(chosen=Chosen(chapters=(chapter,)))
