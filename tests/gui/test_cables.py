"""Cables follow their ports: new ones, and those of parts that become faster, slower or another type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.catalog.loader import load_catalog
from designer.design.address import Ref
from designer.design.document import Design, Link, Part
from designer.design.edits.parts import AddParts, SetType, SetValue
from designer.fields import Quantity, amount
from designer.gui.viewmodels.cables import (
    ALL_PORTS,
    PORT,
    Recabled,
    cable_speed,
    is_cable,
    let_through,
    port_speed,
    with_ports,
)
from designer.gui.viewmodels.forms import Entry
from designer.gui.viewmodels.inspector import inspect
from designer.sources import Status

NIC, SWITCH = "nic/nvidia/connectx-6-2p", "switch/nvidia/qm9700"
#: 200 Gb/s a port, two of them; the switch has 400 Gb/s a port [B/s]
SLOW, FAST = 25e9, 50e9


def pair(given: str | None = None, kind: str = "infiniband") -> Design:
    """A NIC with a cable to a switch."""
    types = tuple(load_catalog().get(i) for i in (NIC, SWITCH))
    parts = (Part(id="nic", kind="nic", type=NIC), Part(id="leaf", kind="switch", type=SWITCH))
    design = AddParts(parts, types).apply(Design(name="pair"))
    link = Link(id="cable", a="nic", b="leaf", kind=kind, bandwidth_per_direction=given, status=Status.ASSUMED)
    return design.model_copy(update={"links": {"cable": link}})


def rate(design: Design) -> float | None:
    text = design.links["cable"].bandwidth_per_direction
    return None if text is None else amount(text, "rate")


def scaled(design: Design, name: str, text: str) -> Design:
    value = Quantity(value=text, status=Status.ASSUMED)
    return with_ports(design, ("nic",), SetValue(("nic",), name, value), ()).apply(design)


def test_the_slower_port_gives_the_speed() -> None:
    design = pair()
    nic, leaf = design.parts["nic"], design.parts["leaf"]
    assert port_speed(design, nic) == (SLOW, design.part_types[NIC].values[PORT].status)
    assert cable_speed(design, nic, leaf) == cable_speed(design, leaf, nic) == (SLOW, Status.DERIVED)
    assert cable_speed(design, leaf, leaf) == (FAST, Status.DERIVED)
    assert port_speed(design, Part(id="gpu", kind="gpu")) is None
    assert is_cable("ethernet")
    assert not is_cable("pcie")


@pytest.mark.parametrize("name", [PORT, ALL_PORTS])
def test_both_numbers_of_a_nic_and_its_cable_go_together(name: str) -> None:
    value = "40 GB/s" if name == PORT else "80 GB/s"
    design = scaled(pair("25 GB/s"), name, value)
    stated = {n: amount(str(q.value), "rate") for n, q in design.parts["nic"].overrides.items()}
    assert stated == {PORT: 40e9, ALL_PORTS: 80e9}
    assert rate(design) == 40e9
    assert design.links["cable"].status is Status.ASSUMED
    back = with_ports(design, ("nic",), SetValue(("nic",), name, None), ()).apply(design)
    assert not back.parts["nic"].overrides
    assert rate(back) == SLOW
    assert back.links["cable"].status is Status.DERIVED


@given(st.floats(1e9, 400e9))
def test_a_cable_is_never_faster_than_the_other_port(wish: float) -> None:
    design = scaled(pair("25 GB/s"), PORT, f"{wish} B/s")
    assert rate(design) == pytest.approx(min(wish, FAST))


def test_a_cable_with_a_speed_of_its_own_keeps_it_and_so_do_other_links() -> None:
    assert rate(scaled(pair("10 GB/s"), PORT, "40 GB/s")) == 10e9
    assert rate(scaled(pair(None, "pcie"), PORT, "40 GB/s")) is None
    # one that had the default of its kind gets the speed of its ports
    assert rate(scaled(pair(None), PORT, "40 GB/s")) == 40e9


def test_another_type_brings_its_speed() -> None:
    other = load_catalog().get("nic/generic/infiniband-hdr100")
    design = pair("25 GB/s")
    edit = Recabled(SetType(("nic",), other.id, other), ("nic",))
    assert rate(edit.apply(design)) == 12.5e9
    assert edit.label == edit.edit.label
    # a value that says nothing about ports leaves cables alone
    plain = SetValue(("nic",), "power_per_part", Quantity(value="20 W"))
    assert with_ports(design, ("nic",), plain, ()) is plain


def inspect_link(design: Design) -> dict[str, Entry]:
    form = inspect(design, frozenset({((), Ref("links", "cable"))}))
    return {e.name: e for s in form.sections for e in s.entries}


def test_a_card_that_lets_less_through_than_its_cable_is_named() -> None:
    design = pair("200 GB/s")
    found = let_through(design, design, design.links["cable"])
    assert found == (2 * SLOW, "nic")
    narrow = pair("25 GB/s")
    assert let_through(narrow, narrow, narrow.links["cable"]) is None
    form = inspect(design, frozenset({((), Ref("links", "cable"))}))
    entries = {e.name: e for s in form.sections for e in s.entries}
    assert entries["let_through"].text == "400 Gb/s, all that nic can do"
    assert entries["bandwidth_per_direction"].text == "1.6 Tb/s"
    assert inspect_link(pair("25 GB/s", "pcie"))["bandwidth_per_direction"].text == "25 GB/s"
    assert "let_through" not in {
        e.name for s in inspect(narrow, frozenset({((), Ref("links", "cable"))})).sections for e in s.entries
    }
