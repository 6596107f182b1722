"""Which group one may choose a member of, and which rows are about selected links."""

from __future__ import annotations

from designer.design.address import Ref
from designer.design.document import Block, Design, Group, Part
from designer.gui.viewmodels.links import rows_of
from designer.gui.viewmodels.members import Shown, group_in_question, moved
from designer.gui.viewmodels.table import Cell, Line

GPU = Ref("parts", "gpu")
INNER = (("pods", None), ("servers", None))


def pods() -> Design:
    """Three pods of four servers of one GPU; server 2 of each pod differs."""
    block = Block(parts={"gpu": Part(id="gpu", kind="gpu")})
    servers = Group(id="servers", replicas=4, content=block, exceptions={2: block}, collapsed=False)
    group = Group(id="pods", replicas=3, content=Block(groups={"servers": servers}), collapsed=False)
    return Design(name="pods", groups={"pods": group})


def asked(*selection: tuple[object, Ref], members: dict[object, int] | None = None) -> Shown:
    found = group_in_question(pods(), frozenset(selection), members or {})  # type: ignore[arg-type]
    assert found is not None
    return found


def test_the_innermost_group_around_the_selection_is_meant() -> None:
    assert asked((INNER, GPU)).group == "servers"
    assert asked((INNER, GPU)).within == (("pods", None),)
    assert asked(((("pods", 1), ("servers", 2)), GPU)).within == (("pods", None),)
    assert asked(((), Ref("groups", "pods"))).group == "pods"
    assert asked(((("pods", None),), Ref("groups", "servers"))).group == "servers"
    # with nothing selected, the open one
    assert asked().group == "pods"
    assert group_in_question(Design(name="empty"), frozenset(), {}) is None


def test_members_go_round_through_what_all_share() -> None:
    shown, seen = asked((INNER, GPU)), list[int | None]()
    for _ in range(5):
        seen.append(shown.other(1))
        key = (*shown.within, (shown.group, None))
        shown = asked((INNER, GPU), members={} if seen[-1] is None else {key: seen[-1]})
    assert seen == [0, 1, 2, 3, None]
    assert shown.other(-1) == 3


def test_words_tell_how_a_member_stands_to_the_others() -> None:
    assert "but 1 that differs" in asked((INNER, GPU)).words
    assert asked((INNER, GPU), members={INNER: 2}).words.startswith("Differs")
    assert asked((INNER, GPU), members={INNER: 3}).words.startswith("Like the others")
    # a member that is gone is not shown
    assert asked((INNER, GPU), members={INNER: 9}).member is None


def test_the_selection_goes_along() -> None:
    other = ((), Ref("groups", "pods"))
    selection = frozenset({(INNER, GPU), other})
    there = moved(selection, asked((INNER, GPU)), 3)
    assert there == {((("pods", None), ("servers", 3)), GPU), other}
    assert moved(there, asked((INNER, GPU)), None) == selection


def test_rows_of_links_and_wirings() -> None:
    keys = ["a--b:ab", "a--b:ba", "a--bc:ab", "servers[3]/a--b:ab", "servers[12]/a--b:ba", "rails[7]:ab", "x.y:ab"]
    rows = [Line((Cell(k),), k) for k in keys]
    shared, third = (("servers", None),), (("servers", 3),)

    def chosen(*picked: tuple[object, Ref]) -> list[str]:
        return [keys[i] for i in rows_of(rows, frozenset(picked))]  # type: ignore[arg-type]

    assert chosen(((), Ref("links", "a--b"))) == keys[:2]
    assert chosen((shared, Ref("links", "a--b"))) == keys[3:5]
    assert chosen((third, Ref("links", "a--b"))) == keys[3:4]
    assert chosen(((), Ref("wirings", "rails"))) == keys[5:6]
    assert chosen(((), Ref("links", "x.y"))) == keys[6:]
    assert chosen(((), Ref("links", "xzy"))) == []
    assert chosen(((), Ref("parts", "a--b"))) == []
