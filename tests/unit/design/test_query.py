"""Containment, neighbours and counts."""

from __future__ import annotations

from designer.design.address import Ref
from designer.design.edits.structure import Delete
from designer.design.elaborate import elaborate
from designer.design.query import (
    children,
    containers,
    contents,
    count_groups,
    groups_in,
    links_of,
    neighbours,
    roots,
    summarize,
)
from tests.designs import one_server, one_unit, pods


def test_containment_and_neighbours() -> None:
    server = one_server()
    assert [p.id for p in roots(server)] == ["server"]
    assert len(children(server, "server")) == len(server.parts) - 1
    assert contents(server, ["server"]) == set(server.parts)
    assert containers(server, "gpu0") == ("server",)
    assert set(neighbours(server, "gpu0")) == {"psw0", "nvsw0", "nvsw1", "nvsw2", "nvsw3"}
    assert {x.id for x in links_of(server, "cpu0")} >= {"upi", "bus0"}
    assert [g.id for g in groups_in(one_unit(2), None)] == ["servers", "leaves", "spines"]


def test_an_index_does_not_outlive_a_change() -> None:
    server = one_server()
    assert "psw0" in neighbours(server, "gpu0")
    smaller = Delete((Ref("parts", "psw0"),)).apply(server)
    assert "psw0" not in neighbours(smaller, "gpu0")


def test_summary_counts_after_elaboration_by_hand() -> None:
    summary = summarize(pods(2), "pods.design.json")
    servers = 2 * 32
    assert summary["design"] == {"name": "pods2", "file": "pods.design.json"}
    assert summary["parts"] == {
        "cpu": 2 * servers,
        "gpu": 8 * servers,
        "memory": 2 * servers,
        "nic": 10 * servers,
        "nvswitch": 4 * servers,
        "pcie_switch": 8 * servers,
        "server": servers,
        "switch": 2 * (8 + 4) + 32,
    }
    # rails: 8 NICs a server; leaves to spines: 8 leaves × 4 spines × 8; spines to cores: 8 spines × 8 cores × 8
    assert summary["links"]["infiniband"] == 8 * servers + 2 * 8 * 4 * 8 + 8 * 8 * 8
    assert summary["links"]["nvlink"] == 8 * 18 * servers
    assert (summary["groups"], summary["workloads"], summary["vms"]) == (5, [], 0)


def test_counts_agree_with_elaboration_where_members_are_exceptions() -> None:
    design = Delete((Ref("parts", "gpu3"), Ref("parts", "nic4")), within=(("servers", 1),)).apply(one_unit(4))
    net = elaborate(design)
    summary = summarize(design)
    assert sum(summary["parts"].values()) == net.n_parts
    assert sum(summary["links"].values()) == sum(net.link(i).count for i in range(net.n_links))
    assert count_groups(design) == 3
