"""Links compared with those of equal parts."""

from __future__ import annotations

from designer.design.document import Block, Design, Group, Link, Part
from designer.design.peers import degraded_links
from designer.sources import Status


def _part(part_id: str, kind: str = "nic", product: str = "CX") -> Part:
    return Part(id=part_id, kind=kind, attributes={"product": product} if product else {})


def _design(*lanes: int, status: Status = Status.PRIMARY, product: str = "CX") -> Design:
    parts = [_part("numa0", "numa"), *(_part(f"nic{n}", product=product) for n in range(len(lanes)))]
    links = [
        Link(id=f"l{n}", kind="pcie", a="numa0", b=f"nic{n}", generation=4, lanes=width, status=status)
        for n, width in enumerate(lanes)
    ]
    return Design(name="d", parts={p.id: p for p in parts}, links={v.id: v for v in links})


def test_the_slower_twin_is_named() -> None:
    (finding,) = degraded_links(_design(16, 8, 16))
    assert finding.where == ("nic1", "l1")
    assert "Gen4 x8" in finding.text


def test_equal_unknown_and_assumed_links_are_quiet() -> None:
    assert degraded_links(_design(16, 16)) == ()
    assert degraded_links(_design(16, 8, status=Status.ASSUMED)) == ()
    assert degraded_links(_design(16, 8, product="")) == ()
    assert degraded_links(Design(name="empty")) == ()


def test_a_lost_nvlink_is_named() -> None:
    parts = [_part("nvswitch0", "nvswitch"), *(_part(f"gpu{n}", "gpu", "H100") for n in range(3))]
    links = [
        Link(id=f"l{n}", kind="nvlink", a=f"gpu{n}", b="nvswitch0", count=18 - (n == 2), status=Status.PRIMARY)
        for n in range(3)
    ]
    (finding,) = degraded_links(Design(name="d", parts={p.id: p for p in parts}, links={v.id: v for v in links}))
    assert finding.where == ("gpu2",)
    assert "17 NVLinks" in finding.text


def test_members_of_groups_are_compared_once() -> None:
    whole, half = (Block(**{k: getattr(_design(n), k) for k in ("parts", "links")}) for n in (16, 8))
    group = Group(id="servers", replicas=1000, content=whole, exceptions={7: half})
    (finding,) = degraded_links(Design(name="d", groups={"servers": group}))
    assert finding.where == ("servers[7]/nic0", "servers[7]/l0")
