"""Fields of groups that changes and ``--set`` give."""

from __future__ import annotations

import pytest

from designer.errors import FormatError
from designer.interchange.changes import apply_changes
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from designer.interchange.overrides import overridden
from designer.interchange.templates import open_design


def test_member_names_are_set_and_kept_in_the_file() -> None:
    design = overridden(open_design("su-h100-32"), ["groups.servers.naming=dgx{001}", "groups.servers.replicas=16"])
    group = design.groups["servers"]
    assert (group.naming, group.replicas) == ("dgx{001}", 16)
    assert loads(dumps(design)).design == design
    assert overridden(open_design("su-h100-32"), ["groups.servers=16"]).groups["servers"].replicas == 16


def test_changes_take_a_number_or_fields() -> None:
    design = open_design("su-h100-32")
    both = apply_changes(design, {"groups": {"servers": {"replicas": 8, "naming": "n{0}"}, "spines": 2}}, "given")
    assert (both.groups["servers"].replicas, both.groups["servers"].naming, both.groups["spines"].replicas) == (
        8,
        "n{0}",
        2,
    )


@pytest.mark.parametrize("text", ["servers.naming=dgx", "servers.content=x", "servers.replicas=no"])
def test_what_a_group_cannot_take_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        overridden(open_design("su-h100-32"), [f"groups.{text}"])
