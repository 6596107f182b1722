"""Links are given ports, sides and ways that cross few others: small pictures whose best way is plain to see."""

from __future__ import annotations

import numpy as np

from designer.design.document import Design, Link, Part
from designer.design.geometry import Geometry, lay_out
from designer.design.routing.bows import Links, untangle_bows
from designer.design.routing.sides import BOTTOM, TOP
from tests.ways import crossings, over_any, upon


def drawn(at: dict[str, tuple[int, int]], links: str, inside: str = "") -> Geometry:
    """Boxes at places, those named in `inside` within one server, and links such as ``a-b c-d``."""
    parts = [
        Part.model_validate(
            {
                "id": name,
                "kind": "switch",
                "position": {"x": x, "y": y},
                "size": {"width": 100, "height": 40},
                "parent": "server" if name in inside.split() else None,
            }
        )
        for name, (x, y) in at.items()
    ]
    if inside:
        parts.append(Part.model_validate({"id": "server", "kind": "server", "position": {"x": 0, "y": 200}}))
    ends = [pair.split("-") for pair in links.split()]
    made = {f"{a}-{b}": Link(id=f"{a}-{b}", a=a, b=b, kind="ethernet") for a, b in ends}
    return lay_out(Design(name="d", parts={p.id: p for p in parts}, links=made))


def test_what_leaves_a_container_has_a_port_of_its_own_beside_what_stays() -> None:
    """A NIC below a CPU, both in a server, with a switch above: both links leave the NIC at its top."""
    geometry = drawn({"cpu": (40, 60), "nic": (40, 200), "switch": (40, 0)}, "cpu-nic nic-switch", "cpu nic")
    ports = {float(x) for x, _ in _ends(geometry, "nic")}
    assert len(ports) == 2
    assert max(ports) - min(ports) >= 3
    assert not upon(geometry.connection_route, geometry.connection_kind)
    assert not over_any(geometry)


def _ends(geometry: Geometry, name: str) -> list[tuple[float, float]]:
    box = next(i for i in range(len(geometry)) if geometry.label(i) == name)
    ways = geometry.connection_route
    first = [tuple(way[0].tolist()) for way in ways[geometry.connection_a == box]]
    last = [tuple(way[-1].tolist()) for way in ways[geometry.connection_b == box]]
    return [*first, *last]


def test_links_to_stairs_leave_in_an_order_in_which_none_crosses() -> None:
    """Boxes like stairs to the right, past a switch that is below some of the ports; one link goes far below."""
    for x, switch, stairs in ((100, 60, 600), (300, 240, 900)):
        at = {"top": (x, 0), "switch": (switch, 100), "low": (0, 400)}
        at |= {f"s{n}": (stairs + 40 - 20 * n, (100, 160, 220)[n]) for n in range(3)}
        geometry = drawn(at, "top-switch top-s1 top-s2 top-s0 top-low")
        assert crossings(geometry.connection_route) == 0
        assert not over_any(geometry)


def test_a_link_goes_round_a_small_tree_instead_of_through_it() -> None:
    """Straight down from one box to another stands between a switch and what hangs on it, at its right."""
    at = {"one": (300, 0), "switch": (100, 100), "x": (0, 200), "y": (120, 200), "z": (340, 200), "two": (250, 320)}
    geometry = drawn(at, "one-switch one-two switch-x switch-y switch-z")
    assert crossings(geometry.connection_route) == 0
    assert not over_any(geometry)


def test_a_bow_goes_to_the_side_where_it_crosses_less() -> None:
    """Five boxes in a row, the middle three each with a link downwards: a bow over them is above, and stays there."""
    rect = np.array(
        [[n * 150.0, 0.0, 100.0, 40.0] for n in range(5)] + [[n * 150.0, 200.0, 100.0, 40.0] for n in (1, 2, 3)]
    )
    top_a, top_b = np.array([0, 1, 2, 3]), np.array([4, 5, 6, 7])
    for begin in (BOTTOM, TOP):
        side_a, side_b = np.array([begin, BOTTOM, BOTTOM, BOTTOM]), np.array([begin, TOP, TOP, TOP])
        untangle_bows(rect, Links(np.arange(4), (top_a, top_b), (side_a, side_b)), np.empty(0, dtype=np.int64))
        assert side_a.tolist() == [TOP, BOTTOM, BOTTOM, BOTTOM]
        assert side_b.tolist() == [TOP, TOP, TOP, TOP]


def test_nested_bows_stay_together() -> None:
    """A bow within another does not cross it, so both stay where they are."""
    rect = np.array([[n * 150.0, 0.0, 100.0, 40.0] for n in range(6)])
    top_a, top_b = np.array([0, 1]), np.array([5, 4])
    side_a, side_b = np.array([BOTTOM, BOTTOM]), np.array([BOTTOM, BOTTOM])
    untangle_bows(rect, Links(np.arange(2), (top_a, top_b), (side_a, side_b)), np.empty(0, dtype=np.int64))
    assert side_a.tolist() == side_b.tolist() == [BOTTOM, BOTTOM]
