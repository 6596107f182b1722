"""Fixes reach members of groups: all of them where they are equivalent, one alone where it differs."""

from __future__ import annotations

from designer.design.document import Design
from designer.design.edits.links import ChangeLinks
from designer.interchange.templates import open_design
from designer.rules.runner import check, fix_of

SERVER = open_design("su-h100-32")


def narrow(design: Design) -> list[str]:
    """Places of cards in slots too narrow for them."""
    return [f.where[-1] for f in check(design, chosen=["LNK001"]).findings]


def test_by_hand_a_slot_of_all_members() -> None:
    """The slot of NIC 3 has eight lanes in what 32 servers share: one finding for all, one edit of what they share."""
    design = ChangeLinks(("psw3--nic3",), {"lanes": 8}, within=("servers",)).apply(SERVER)
    (finding,) = check(design, chosen=["LNK001"]).findings
    fix = fix_of(design, finding)
    assert fix is not None
    assert "16 lanes in all 32 members" in fix.title
    mended = fix.edit.apply(design)
    assert narrow(mended) == []
    assert mended.groups["servers"].exceptions == {}
    assert mended.groups["servers"].content.links["psw3--nic3"].lanes == 16


def test_by_hand_a_slot_of_one_member() -> None:
    """Server 5 alone trained its slot at eight lanes: it differs from the 31 others, and only it is mended."""
    design = ChangeLinks(("psw3--nic3",), {"lanes": 8}, within=(("servers", 5),)).apply(SERVER)
    assert narrow(design) == ["servers[5]/nic3"]
    (finding,) = check(design, chosen=["LNK001"]).findings
    fix = fix_of(design, finding)
    assert fix is not None
    assert "in this member alone" in fix.title
    mended = fix.edit.apply(design)
    assert narrow(mended) == []
    before, after = design.groups["servers"], mended.groups["servers"]
    assert after.content == before.content
    assert after.member(5).links["psw3--nic3"].lanes == 16


def test_by_hand_a_link_slower_than_its_twin() -> None:
    """GPU 2 hangs at generation 4 in all servers, its seven twins at 5: it is drawn as they are, in all of them."""
    design = ChangeLinks(("psw2--gpu2",), {"generation": 4}, within=("servers",)).apply(SERVER)
    found = [f for f in check(design, chosen=["LNK003"]).findings if "psw2--gpu2" in f.where[-1]]
    assert found
    fix = fix_of(design, found[0])
    assert fix is not None
    mended = fix.edit.apply(design)
    assert mended.groups["servers"].content.links["psw2--gpu2"].generation == 5
    assert not check(mended, chosen=["LNK003"]).findings
