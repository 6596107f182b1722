"""Leading links around boxes: a drag of a server with a hundred links, its frames and the way to rest.

Against the textbook's way around boxes. Aimed at are 16 ms for a frame of a
drag, 120 ms until routes are at rest behind it, 32 ms to lead a template.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from designer.design.address import Ref
from designer.design.arrange import arrange
from designer.design.diff import diff
from designer.design.document import Design, Link, Part
from designer.design.edits.placement import Place
from designer.design.geometry import lay_out, moving_boxes, update
from designer.design.room import Room
from designer.design.routing.route import Terrain, _known, route, sketch
from designer.interchange.templates import open_design
from tests.bench.ratios import against, led_over_a_grid
from tests.ways import over_any, over_boxes


def _hundred_links() -> Design:
    """A server between 100 switches, each linked to it, among 200 other servers."""
    parts = [Part(id="server", kind="server")]
    parts += [Part(id=f"s{n}", kind="switch") for n in range(100)]
    parts += [Part(id=f"other{n}", kind="server") for n in range(200)]
    links = [Link(id=f"l{n}", a="server", b=f"s{n}", kind="ethernet") for n in range(100)]
    links += [Link(id=f"o{n}", a=f"other{n}", b=f"s{n % 100}", kind="ethernet") for n in range(200)]
    return arrange(Design.model_validate({"name": "hundred", "parts": parts, "links": links}))


def test_routes_of_a_server_with_a_hundred_links_come_to_rest(benchmark: Any) -> None:
    design = _hundred_links()
    geometry = lay_out(design)
    box = geometry.box_of((), Ref("parts", "server"))
    assert box is not None
    _, top, _, high = geometry.bounds()
    x = round(float(geometry.rect[box, 0]))
    moved = Place({Ref("parts", "server"): (x + 40, round(top + high) + 80)}).apply(design)
    changes = diff(design, moved)
    after = update(geometry, moved, changes)
    assert not over_any(after)
    benchmark.pedantic(lambda: None, rounds=1)
    assert against(benchmark, lambda: update(geometry, moved, changes), led_over_a_grid) <= 8.2


def test_a_frame_of_that_drag_leads_its_links_around_boxes(benchmark: Any) -> None:
    """Coarsely: in less than a quarter of what it takes until they are at rest, which is against the same."""
    geometry = lay_out(_hundred_links())
    box = geometry.box_of((), Ref("parts", "server"))
    assert box is not None
    chosen = np.flatnonzero((geometry.connection_a == box) | (geometry.connection_b == box))
    assert len(chosen) == 100
    ways = geometry.connection_route[chosen]
    room, links, shifts = Room(geometry, [box]), moving_boxes(geometry).links, []
    _, top, _, high = geometry.bounds()
    down = round(top + high - float(geometry.rect[box, 1])) + 80

    def frame() -> None:
        spot = room.nearest(40 + 8 * len(shifts), down)
        assert spot is not None
        shifts.append(spot)
        rect = room.rects(*spot)
        mine = (geometry.connection_a[chosen] == box)[:, None] * np.array(spot)
        led = sketch(links._replace(rect=rect), chosen, ways[:, 0] + mine, ways[:, -1] + np.array(spot) - mine)
        a, b = geometry.connection_a[chosen], geometry.connection_b[chosen]
        if len(shifts) == 1:
            assert not over_boxes(rect, geometry.parent, links.solid, a, b, led)

    benchmark.pedantic(lambda: None, rounds=1)
    assert against(benchmark, frame, led_over_a_grid) <= 2.0


def test_a_template_is_led_in_a_frame_or_two(benchmark: Any) -> None:
    geometry = lay_out(open_design("hgx-h100-8"))
    solid, above = np.ones(len(geometry), dtype=bool), np.zeros(geometry.n_connections, dtype=bool)
    a, b, kind = geometry.connection_a, geometry.connection_b, geometry.connection_kind
    scene = Terrain(geometry.rect, geometry.parent, solid, a, b, kind, above)

    def again() -> None:
        _known.forget()
        route(scene)

    benchmark.pedantic(lambda: None, rounds=1)
    assert against(benchmark, again, led_over_a_grid) <= 1.9


def test_routes_of_a_tangled_mesh_come_to_rest(benchmark: Any) -> None:
    """A GPU of sixteen in an irregular mesh is moved: links are given other ports and ways until few cross."""
    design = open_design("mi250x-16gcd")
    geometry = lay_out(design)
    gpu = Ref("parts", "gpu3")
    box = geometry.box_of((), gpu)
    assert box is not None
    x, y = (geometry.rect[box, :2] - geometry.rect[geometry.parent[box], :2]).tolist()
    moved = Place({gpu: (round(x) + 8, round(y) + 8)}).apply(design)
    changes = diff(design, moved)

    def again() -> None:
        _known.forget()
        update(geometry, moved, changes)

    benchmark.pedantic(lambda: None, rounds=1)
    assert against(benchmark, again, led_over_a_grid) <= 6.0
