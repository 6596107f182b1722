"""Rows of a part type for people."""

from __future__ import annotations

import pytest

from designer.catalog.describe import ValueRow, describe, missing
from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType, SourceRecord, part_kinds
from designer.fields import Quantity
from designer.sources import Status


def _rows(id: str) -> dict[str, ValueRow]:
    return {r.name: r for r in describe(load_catalog().get(id))}


def test_rows_carry_value_unit_source_and_status() -> None:
    row = _rows("gpu/nvidia/h100-sxm5")["memory_bandwidth"]
    assert (row.title, row.text, row.unit, row.value) == ("Memory bandwidth", "3.35 TB/s", "B/s", 3.35e12)
    assert row.source == "S05"
    assert "accelerators" in row.source_title
    assert row.status is Status.SECONDARY
    assert row.band == ""


def test_rates_spelled_in_bits_show_both() -> None:
    assert _rows("nic/nvidia/connectx-7")["bandwidth_per_direction"].text == "50 GB/s (400 Gb/s)"


def test_bands_are_shown_and_given_in_si() -> None:
    row = _rows("storage/generic/nfs-single-mount")["client_read_bandwidth"]
    assert row.band == "1.5 GB/s – 2.5 GB/s"
    assert (row.low, row.value, row.high) == (1.5e9, 2e9, 2.5e9)


def test_a_half_open_band_ends_at_the_value() -> None:
    row = _rows("switch/nvidia/qm8700")["hop_latency"]
    assert row.band == "90 ns – 130 ns"
    assert row.low is None


def test_counts_flags_and_names() -> None:
    rows = _rows("nvswitch/nvidia/nvswitch-gen3")
    assert (rows["ports"].text, rows["ports"].unit, rows["ports"].value) == ("64", "", 64.0)
    assert rows["in_switch_reduction"].text == "yes"
    form = _rows("gpu/nvidia/h100-sxm5")["form"]
    assert (form.text, form.value) == ("SXM5", None)


@pytest.mark.parametrize("kind", sorted(part_kinds()))
def test_every_part_of_a_kind_has_a_row_per_value_in_the_order_of_the_kind(kind: str) -> None:
    order = [f.name for f in part_kinds()[kind].fields]
    for part in load_catalog().all(kind):
        rows = describe(part)
        assert [r.name for r in rows] == [n for n in order if n in part.values]
        assert all(r.text and "{" not in r.text for r in rows)
        assert {f.name for f in missing(part)} == set(order) - set(part.values)


def test_parts_of_an_unknown_kind_are_shown_as_they_stand() -> None:
    part = PartType(
        id="toaster/acme/one",
        kind="toaster",
        title="Toaster",
        values={"slot_count": Quantity(value=2, source="x"), "glow": Quantity(value=True)},
        sources={"x": SourceRecord(title="box")},
    )
    rows = describe(part)
    assert [(r.title, r.text, r.source_title) for r in rows] == [("slot count", "2", "box"), ("glow", "yes", "")]
    assert missing(part) == ()


def test_a_value_that_cannot_be_read_is_shown_as_written() -> None:
    part = PartType(id="gpu/a/b", kind="gpu", title="B", values={"memory_capacity": Quantity(value="eighty")})
    (row,) = describe(part)
    assert (row.text, row.value) == ("eighty", None)
