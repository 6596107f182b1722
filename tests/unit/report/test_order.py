"""Cables and transceivers to order: published bills of reference architectures, and counts worked out by hand."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import designer
from designer.catalog.cabling import cabling
from designer.catalog.loader import load_catalog
from designer.catalog.sources import shipped_sources
from designer.design.document import Design, Group, with_changes
from designer.fields import Quantity
from designer.interchange.generating import generate
from designer.report.inventory import inventory
from designer.report.tables.cost import priced, read_prices, totals
from designer.report.tables.order import OrderLine, _Places, order, sheet
from designer.report.tables.racks import plan_of


def _with_types(design: Design, server: str, switch: str, card: str) -> Design:
    """A generated fabric with its servers, cards and switches of a type of the catalog."""
    wanted = {"server": server, "switch": switch, "nic": card}
    carried = {t: load_catalog().get(t) for t in wanted.values()}
    groups: dict[str, Group] = {}
    for name, group in design.groups.items():
        parts = {
            k: with_changes(p, type=wanted.get(p.kind, p.type), overrides={}) for k, p in group.content.parts.items()
        }
        groups[name] = with_changes(group, content=with_changes(group.content, parts=parts))
    return with_changes(design, groups=groups, part_types={**design.part_types, **carried})


def _h100(nodes: int) -> Design:
    made = generate("rail-optimized", {"nodes": str(nodes), "unit": "32"})
    return _with_types(made, "server/nvidia/dgx-h100", "switch/nvidia/qm9700", "nic/nvidia/connectx-7")


def _counts(lines: list[OrderLine]) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in lines:
        found[line.part.rpartition("-N0")[0] if line.item == "Fibre" else line.part] += line.count
    return found


def test_the_superpod_of_127_systems_orders_what_its_reference_lists() -> None:
    """RA-11333-001 table 8: 2,040 NDR fibres (127 × 8 to the leaves, 1,024 above), 508 twin-port modules in the systems
    (four cages each) and 1,536 in 48 switches of 32 cages: a leaf of 31 systems has 63 links, in 32 cages."""
    design = _h100(127)
    assert {t.number: t.count for t in order(design, "optical") if t.item == "Transceiver"} == {
        "980-9I51A-00NS00": 508,
        "980-9I510-00NS00": 1_536,
    }
    fibres = [line for line in order(design, "optical") if line.item == "Fibre"]
    assert sum(line.count for line in fibres) == 2_040
    assert {line.medium for line in fibres} == {"multimode"}
    assert {line.number for line in fibres if line.length == 30} <= {"980-9I570-00N030"}


@pytest.mark.parametrize(
    ("nodes", "leaves", "spines", "down", "up"),
    [(31, 8, 4, 248, 256), (63, 16, 8, 504, 512), (95, 24, 16, 760, 768), (127, 32, 16, 1_016, 1_024)],
)
def test_units_of_31_to_127_systems(nodes: int, leaves: int, spines: int, down: int, up: int) -> None:
    """RA-11333-001 table 4, without the four cables of the fabric managers: 31 × 8 = 248 …, 8 leaves × 32 up = 256."""
    design = _h100(nodes)
    assert inventory(design).of_kind("switch") == leaves + spines
    assert sum(line.count for line in order(design, "optical") if line.item == "Fibre") == down + up


@pytest.mark.parametrize(("nodes", "modules", "copper"), [(4, 16, 8), (8, 32, 16)])
def test_the_basepod_orders_what_its_reference_lists(nodes: int, modules: int, copper: int) -> None:
    """RA-11127-001 V5 table 4.2: two switches; as many twin-port modules in them as in the systems, 8 × 4 = 32, and 16
    twin-port copper cables of 2 × 400 Gb/s between the switches. The table prints 32 fibres for 8 systems with eight
    links each, one a cage; each link needs its own: 64."""
    made = generate("leaf-spine", {"nodes": str(nodes), "rails": "8", "ports": "64"})
    design = _with_types(made, "server/nvidia/dgx-h100", "switch/nvidia/qm9700", "nic/nvidia/connectx-7")
    two = with_changes(design.groups["leaves"], replicas=2)
    isl = with_changes(
        design.wirings["spine"], a="leaves[0]/switch", b="leaves[1]/switch", count=nodes * 4, pattern="pairs"
    )
    groups = {k: v for k, v in design.groups.items() if k != "spines"} | {"leaves": two}
    design = with_changes(
        design, groups=groups, wirings={**design.wirings, "spine": isl}, workloads={}, default_workload=""
    )
    counts = _counts(order(design))
    assert counts["MMA4Z00-NS-FLT"] == counts["MMA4Z00-NS"] == modules
    assert sum(n for part, n in counts.items() if part.startswith(("MCP4Y10", "MCA4J80"))) == copper
    assert counts["MFP7E10"] == nodes * 8


def test_xdr_fabric_of_576_systems() -> None:
    """DGX SuperPOD Rubin NVL8 (SP-12834-001): 64 + 36 switches, 4,608 single-port modules in the systems, 4,608
    twin-port ones between leaves and spines, 4,608 + 4,608 fibres. 4,608 links end in 2,304 twin-port modules of the
    leaves; the printed 2,034 has two digits exchanged."""
    made = generate("rail-optimized", {"nodes": "576", "unit": "72", "ports": "144", "rate": "800 Gb/s"})
    design = _with_types(made, "server/nvidia/hgx-b300-8", "switch/nvidia/q3400", "nic/nvidia/connectx-8")
    counts = _counts(order(design, "optical"))
    assert inventory(design).of_kind("switch") == 64 + 36
    assert counts["MMS4A20"] == 4_608
    assert counts["MMS4A00"] == 2_304 + 4_608
    assert sum(line.count for line in order(design, "optical") if line.item == "Fibre") == 4_608 + 4_608


def test_two_links_share_a_splitter_and_a_left_over_link_takes_a_module() -> None:
    """A switch with three links to single-port cards 2 m away: one splitter for two, one module pair for the third."""
    made = generate("leaf-spine", {"nodes": "3", "gpus": "1"})
    design = _with_types(made, "server/nvidia/hgx-h100-8", "switch/nvidia/qm9700", "nic/nvidia/connectx-7")
    lines = [line for line in order(design) if "Servers" in line.role]
    found = {line.part.partition("-N0")[0]: (line.count, line.links) for line in lines}
    assert found["MCP7Y00"] == (1, 2)
    assert found["MMA4Z00-NS400"] == (1, 1)


def test_every_link_is_served_once() -> None:
    """640 links: each in one cable or fibre, whatever is preferred."""
    design = designer.open_design("su-h100-32")
    for media in ("any", "optical"):
        assert sum(line.links for line in order(design, media) if line.item != "Transceiver") == 640


def test_optical_leaves_copper_out() -> None:
    design = designer.open_design("su-h100-32")
    assert any(line.medium == "DAC" for line in order(design))
    assert not any(line.medium in ("DAC", "ACC") for line in order(design, "optical"))


def test_spares_by_hand() -> None:
    """3 % of 128 modules is 3.84: four; 2 % of ten is one."""
    lines = {line.part: line for line in order(designer.open_design("su-h100-32"), spares=0.03)}
    assert lines["MMA4Z00-NS-FLT"].spares == 4
    assert all(line.spares == 0 for line in order(designer.open_design("su-h100-32"), spares=0.0))


def test_lengths_are_those_of_the_plan() -> None:
    design = designer.open_design("su-h100-32")
    plan, stock = plan_of(design), inventory(design)
    a, b = stock.unit[stock.net.link_a], stock.unit[stock.net.link_b]
    some = np.flatnonzero(a != b)[::7]
    expected = [plan.length(int(x), int(y)) for x, y in zip(a[some], b[some], strict=True)]
    assert _Places(plan, stock).lengths(a[some], b[some]) == pytest.approx(expected)


def test_prices_by_ordering_number_by_medium_and_length_and_by_medium() -> None:
    """The most specific price counts: 230 fibres of 7 m and 5 spares at 40, the other fibres at 30; modules at 500."""
    design = designer.open_design("su-h100-32")
    text = "part,currency,price\n980-9I51A-00NS00,USD,500\n"
    text += "cable/multimode/400Gb/s/7m,USD,40\ncable/multimode/400Gb/s,USD,30\n"
    lines = [p for p in priced(design, read_prices(text)) if p.price is not None]
    expected = (128 + 3) * 500 + (230 + 5) * 40 + (60 + 2 + 30 + 1) * 30
    assert totals(lines) == {"USD": expected}


def test_one_price_for_a_kind_of_cable_still_counts() -> None:
    design = designer.open_design("su-h100-32")
    lines = priced(design, read_prices("part,currency,price\ncable/infiniband/400Gb/s,USD,10\n"))
    assert totals(lines) == {"USD": 6_400}
    assert not any(line.item.item == "Transceiver" for line in lines)


def test_an_own_connector_counts_before_that_of_the_catalog() -> None:
    design = _h100(32)
    switch = design.groups["leaves"].content.parts["switch"]
    switch = with_changes(switch, overrides={"connector": Quantity(value="qsfp-dd", source="own")})
    leaves = with_changes(
        design.groups["leaves"], content=with_changes(design.groups["leaves"].content, parts={"switch": switch})
    )
    lines = order(with_changes(design, groups={**design.groups, "leaves": leaves}))
    assert sum(line.count for line in lines if not line.part) == 32 * 8 + 256


def test_products_are_sourced_and_their_numbers_belong_to_one_length() -> None:
    products = [*cabling().assembly, *cabling().transceiver, *cabling().fibre]
    assert {p.source for p in products} <= set(shipped_sources())
    numbers = [n for p in products if not hasattr(p, "connector") for some in p.lengths.values() for n in some]  # type: ignore[union-attr]
    assert len(numbers) == len(set(numbers))


def test_the_table_has_a_line_for_each_product() -> None:
    table = sheet(designer.open_design("su-h100-32"))
    assert [c.head for c in table.columns][:4] == ["Item", "Product", "Part number", "Ordering number"]
    assert all(row[7] > 0 for row in table.rows)  # type: ignore[operator]
    assert any("assumed" in note for note in table.notes)


def test_ends_without_a_place_have_no_length() -> None:
    lengths = [line.length for line in order(designer.open_design("cluster-1024")) if line.item == "Transceiver"]
    assert lengths
    assert all(math.isnan(length) for length in lengths)
