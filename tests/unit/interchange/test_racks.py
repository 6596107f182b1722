"""Several racks of a rack, and a rack that is not shrunk by accident."""

from __future__ import annotations

import pytest

from designer.design.elaborate import elaborate
from designer.errors import FormatError
from designer.interchange.changes import make_cluster
from designer.interchange.native.reader import load
from designer.interchange.templates import find_template


def test_servers_of_a_rack_are_not_taken_out_silently() -> None:
    """Two racks were meant, and a rack of two trays was answered."""
    rack = load(find_template("gb200-nvl72")).design
    with pytest.raises(FormatError, match="rack of 18 servers") as refused:
        make_cluster(rack, 2, "changes.servers")
    assert '{"racks": 2}' in str(refused.value.remedy)
    assert make_cluster(rack, 18, "changes.servers").groups["trays"].replicas == 18


def test_two_racks_are_two_of_everything_and_joined() -> None:
    rack = load(find_template("gb200-nvl72")).design
    two = make_cluster(rack, {"racks": 2}, "changes.servers")
    one, net = elaborate(rack), elaborate(two)
    assert net.n_parts == 2 * one.n_parts + 1
    gpus = sum(part.kind == "gpu" for part in map(net.part, range(net.n_parts)))
    assert gpus == 2 * 72
    switch = net.index_of("cluster_switch")
    assert ((net.link_a == switch) | (net.link_b == switch)).sum() == net.n_links - 2 * one.n_links > 0


def test_what_is_no_rack_has_no_racks() -> None:
    with pytest.raises(FormatError, match="one rack"):
        make_cluster(load(find_template("hgx-h100-8")).design, {"racks": 2}, "changes.servers")
