"""A group of one member is written as what it is: nobody counts to one."""

from __future__ import annotations

import pytest

from designer.design.document import Block, Design, Group, Part
from designer.design.geometry import lay_out
from designer.drawing.compose_text import badge, title


def drawn(replicas: int, opened: bool) -> tuple[str, str]:
    content = Block(parts={"cpu": Part(id="cpu", kind="cpu")})
    group = Group(id="node", name="Node", replicas=replicas, content=content)
    geometry = lay_out(
        Design(name="one", groups={"node": group}), frozenset({(("node", None),)}) if opened else frozenset()
    )
    box = int(geometry.is_group.nonzero()[0][0])
    return title(geometry, box), badge(geometry, box)


@pytest.mark.parametrize("opened", [False, True])
def test_one_member_has_no_count(opened: bool) -> None:
    assert drawn(1, opened) == ("Node", "")


def test_several_members_are_counted() -> None:
    assert drawn(2, opened=False) == ("Node", "×2")
    assert drawn(2, opened=True)[0] == "Node ×2"
