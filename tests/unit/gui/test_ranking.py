"""What a few typed words find first, among parts, templates and commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.catalog.loader import load_catalog
from designer.gui.viewmodels import palette
from designer.gui.viewmodels.ranking import Words, ordered, rank
from designer.interchange.templates import list_templates


def keys(query: str) -> list[object]:
    """Ids in the palette, in the order they are shown."""
    return [row.key for group in palette.tree(load_catalog(), list_templates(), query) for row in group.children]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("nvidia l40s", "gpu/nvidia/l40s"),
        ("l40 s", "gpu/nvidia/l40s"),
        ("nfs over tcp", "storage/generic/nfs-nconnect"),
        ("quantum", "switch/nvidia/qm9700"),
        ("qm 9700", "switch/nvidia/qm9700"),
        ("infiniband ndr switch", "switch/nvidia/qm9700"),
        ("dgx a100", "server/nvidia/dgx-a100"),
        ("mellanox connectx-7", "nic/nvidia/connectx-7"),
        ("h100", "gpu/nvidia/h100-sxm5"),
        ("nvidea l40s", "gpu/nvidia/l40s"),
        ("bluefeild 3", "dpu/nvidia/bluefield-3"),
        ("infinband ndr swtich", "switch/nvidia/qm9700"),
    ],
)
def test_what_is_called_so_comes_first(query: str, first: str) -> None:
    assert keys(query)[0] == ("part", first)


def test_kinds_makers_and_synonyms_count() -> None:
    assert {k[1].split("/")[0] for k in keys("processor amd") if isinstance(k, tuple)} == {"cpu"}
    assert ("part", "drive") in keys("ssd")
    assert all("intel" in str(k) for k in keys("intel cpu")[:2])


def test_designs_are_found_by_what_people_call_them() -> None:
    assert keys("superpod h100 256")[0] == ("template", "su-h100-32")
    assert ("template", "vsphere-cluster-4") in keys("esxi")
    assert any("connectx" in str(k) for k in keys("roce nic"))


def test_a_number_is_never_taken_for_another() -> None:
    """Who types a part that is not there is not given its neighbour."""
    assert keys("qm9800") == []
    assert keys("nvidia h300") == []


def test_what_nothing_is_called_finds_nothing() -> None:
    assert palette.tree(load_catalog(), list_templates(), "xyzzyq") == []
    # letters strewn over a title are no match for parts and templates
    assert palette.tree(load_catalog(), list_templates(), "dxa1") == []


def test_letters_count_only_where_no_word_does() -> None:
    titles = ["Zoom in", "Magazine", "Zinc"]

    def words(title: str) -> Words:
        return Words(title, letters=True)

    assert ordered("zi", titles, words) == ["Zinc", "Magazine"]
    # the first letters of words
    assert ordered("zoi", titles, words) == ["Zoom in"]


def test_a_server_says_what_comes_with_it() -> None:
    servers = next(r for r in palette.tree(load_catalog(), list_templates()) if r.title == "Servers")
    details = {row.title: row.detail for row in servers.children}
    assert details["NVIDIA DGX A100"] == "8 GPUs"
    assert details["Dell PowerEdge R750"] == "chassis only"


@given(st.text("abc 1-", max_size=12), st.text("abc 1-", min_size=1, max_size=6))
def test_a_title_found_whole_is_never_behind_one_found_in_part(more: str, query: str) -> None:
    own = rank(query, Words(query))
    other = rank(query, Words(f"{more} x{query}x"))
    assert own is not None
    assert other is None or other <= own


def test_a_tip_names_the_maker_once() -> None:
    rows = [row for group in palette.tree(load_catalog(), list_templates()) for row in group.children]
    tips = [row.tip.split() for row in rows if isinstance(row.key, tuple) and "part" in row.key]
    assert len(tips) > 100
    assert [tip for tip in tips if len(tip) > 1 and tip[0] == tip[1]] == []
