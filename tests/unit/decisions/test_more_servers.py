"""Servers that are added are cabled as the drawn ones are, and carry names of their own."""

from __future__ import annotations

import pytest

import designer
from designer.decisions.more_servers import more_servers
from designer.design.address import Ref
from designer.design.edits.structure import Delete
from designer.errors import DocumentError
from designer.findings import Severity


def test_four_more_gpus_are_one_more_server_with_its_storage_links() -> None:
    before = designer.open_design("serving-h100-8")
    after = more_servers(before, 4).apply(before)
    inside = [p for p in before.parts.values() if p.id == "server" or p.parent == "server"]
    assert len(after.parts) - len(before.parts) == len(inside) == 43
    assert sum(p.kind == "gpu" for p in after.parts.values()) == 16
    # each of the two storage NICs leads to the storage switch, in the copy as in the original
    to_switch = [x for x in after.links.values() if "storage_switch" in (x.a, x.b) and "storage" not in (x.a, x.b)]
    assert len(to_switch) == 4
    names = [p.label for p in after.parts.values() if p.kind == "server"]
    assert len(names) == len(set(names)) == 2
    broken = [f.code for f in designer.check(before) if f.severity is Severity.ERROR]
    assert [f.code for f in designer.check(after) if f.severity is Severity.ERROR] == broken


def test_a_group_of_servers_gets_more_members() -> None:
    before = designer.open_design("su-h100-32")
    # nine GPUs are two servers of eight
    assert more_servers(before, 9).apply(before).groups["servers"].replicas == 34
    assert more_servers(before, 8).apply(before).groups["servers"].replicas == 33


def test_several_servers_do_not_cover_each_other() -> None:
    before = designer.open_design("serving-h100-8")
    after = more_servers(before, 24).apply(before)
    places = {(p.position.x, p.position.y) for p in after.parts.values() if p.kind == "server" and p.position}
    assert len(places) == 4


def test_without_a_server_there_is_none_to_add() -> None:
    design = designer.open_design("serving-h100-8")
    bare = Delete((Ref("parts", "server"),)).apply(design)
    with pytest.raises(DocumentError, match="no accelerator is in a server"):
        more_servers(bare, 1)
