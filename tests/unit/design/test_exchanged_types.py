"""Values given by hand for one product do not follow a part to another one."""

from __future__ import annotations

from designer.catalog.loader import load_catalog
from designer.design.document import Design, Part
from designer.design.edits.parts import SetType
from designer.fields import Quantity
from designer.interchange.overrides import given_way, overridden

NFS, WEKA = "storage/generic/nfs-single-mount", "storage/weka/client-100g"


def drawn(part_type: str = NFS) -> Design:
    """One storage system with three values by hand: of its type, of no type at all, and of another type alone."""
    overrides = {
        "client_read_bandwidth": Quantity(value="1.5 GB/s", source="hand"),
        "capacity": Quantity(value="80 TB", source="hand"),
        "read_bandwidth": Quantity(value="3 GB/s", source="hand"),
    }
    types = [load_catalog().get(part_type)] if part_type else []
    part = Part(id="store", kind="storage", type=part_type, overrides=overrides)
    return Design.model_validate({"name": "one", "parts": [part], "part_types": types})


def exchanged(design: Design, to: str) -> Design:
    found = load_catalog().get(to)
    return SetType(("store",), to, found, found.sources).apply(design)


def rate(design: Design) -> str:
    quantity = design.quantity(design.parts["store"], "client_read_bandwidth")
    return "" if quantity is None else str(quantity.value)


def test_a_value_of_the_old_type_gives_way() -> None:
    """By hand: 1.5 GB/s stated of one NFS mount. The WEKA client states 10.5 GB/s, so that is what counts after it."""
    after = exchanged(drawn(), WEKA)
    assert rate(after) == "10.5 GB/s"
    # neither type states them: they state how this system is set up
    assert {*after.parts["store"].overrides} == {"capacity", "read_bandwidth"}


def test_a_value_that_only_the_new_type_states_gives_way() -> None:
    """The SuperPOD target states the rate of all clients, which the NFS mount does not."""
    assert {*exchanged(drawn(), "storage/nvidia/superpod-h100").parts["store"].overrides} == {"capacity"}


def test_the_same_type_again_and_a_part_without_one_keep_what_was_given() -> None:
    assert exchanged(drawn(), NFS).parts["store"].overrides == drawn().parts["store"].overrides
    assert rate(exchanged(drawn(""), WEKA)) == "1.5 GB/s"


def test_all_doors_agree_and_what_gave_way_is_told() -> None:
    before = drawn()
    after = overridden(before, [f"store.type={WEKA}"])
    assert after.parts["store"].overrides == exchanged(before, WEKA).parts["store"].overrides
    assert given_way(before, after) == ["store: client_read_bandwidth"]
    assert given_way(before, before) == []


def test_a_value_given_beside_the_new_type_is_of_the_new_type() -> None:
    texts = ["store.client_read_bandwidth=5 GB/s", f"store.type={WEKA}"]
    assert rate(overridden(drawn(), texts)) == rate(overridden(drawn(), texts[::-1])) == "5 GB/s"
