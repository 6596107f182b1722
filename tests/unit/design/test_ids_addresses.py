"""New ids, and addresses through groups."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.design.address import Ref, address_text, block_at, get_item, place, split_path, with_block
from designer.design.document import Block, check_id
from designer.design.ids import Numberer, next_id, renumbered
from designer.design.references import reaches
from designer.errors import DocumentError
from tests.designs import one_unit, pods


@pytest.mark.parametrize(
    ("taken", "wish", "given_id"),
    [
        ([], "gpu0", "gpu0"),
        (["gpu0"], "gpu0", "gpu1"),
        (["gpu0", "gpu1", "gpu3"], "gpu0", "gpu2"),
        (["rack09"], "rack09", "rack10"),
        (["rack099"], "rack099", "rack100"),
        (["leaf"], "leaf", "leaf2"),
        (["9"], "9", "10"),
        (["a" * 200], "a" * 200, "a" * 190 + "2"),
    ],
)
def test_natural_numbering(taken: list[str], wish: str, given_id: str) -> None:
    assert next_id(taken, wish) == given_id


WISHES = st.lists(st.from_regex(r"[a-c]{1,2}[0-9]{0,3}", fullmatch=True), max_size=30)


@given(WISHES, st.sets(st.sampled_from(["a0", "a1", "b", "c09"])))
def test_ids_are_new_and_valid(wishes: list[str], taken: set[str]) -> None:
    numberer = Numberer(taken)
    given_ids = [numberer.take(wish) for wish in wishes]
    assert len(set(given_ids)) == len(wishes)
    assert not set(given_ids) & taken
    assert all(check_id(i) for i in given_ids)


def test_names_follow_numbers() -> None:
    assert renumbered("GPU 0", "gpu0", "gpu8") == "GPU 8"
    assert renumbered("GPU 1", "gpu0", "gpu8") == "GPU 1"
    assert renumbered("", "gpu0", "gpu8") == ""


def test_addresses_lead_to_blocks_and_places() -> None:
    design = pods(2)
    within = ("pods", ("servers", 3))
    assert block_at(design, within) is block_at(design, ("pods", "servers"))
    assert address_text(within) == "pods[*]/servers[3]"
    assert place(within, "parts", "gpu0") == "groups.pods.content.groups.servers.exceptions.3.parts.gpu0"
    assert split_path("pods[1]/servers[*]/gpu0") == ((("pods", 1), ("servers", None)), "gpu0")
    assert get_item(block_at(design, within), Ref("parts", "gpu0")).kind == "gpu"
    for bad in (("x",), ("pods", ("servers", 32)), ("servers",)):
        with pytest.raises(DocumentError):
            block_at(design, bad)


def test_exchanging_a_block_shares_the_rest() -> None:
    design = pods(2)
    assert with_block(design, ("pods", "servers"), block_at(design, ("pods", "servers"))) is design
    changed = with_block(design, ("pods", ("servers", 3)), Block())
    servers = changed.groups["pods"].content.groups["servers"]
    assert dict(servers.exceptions) == {3: Block()}
    assert servers.content is design.groups["pods"].content.groups["servers"].content
    assert changed.groups["cores"] is design.groups["cores"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("servers[0]/gpu0", True),
        ("servers[*]/gpu*", True),
        ("servers/gpu7", True),
        ("servers[0-1]/gpu{0-7}", True),
        ("servers[2]/gpu0", False),
        ("servers[0]/gpu8", False),
        ("gpu0", False),
        ("x[0]/gpu0", False),
        ("servers[0-2]/gpu0", False),
        ("servers[a]/gpu0", False),
        ("servers[0]/", False),
    ],
)
def test_reaching(path: str, found: bool) -> None:
    assert reaches(one_unit(2), path) is found
