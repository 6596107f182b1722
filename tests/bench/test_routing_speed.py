"""Leading links around boxes: a drag of a server with a hundred links, its frames and the way to rest.

Budgets are those of a quiet machine; `pace` says how they gate.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from designer.design.address import Ref
from designer.design.arrange import arrange
from designer.design.diff import diff
from designer.design.document import Design, Link, Part
from designer.design.edits.placement import Place
from designer.design.geometry import lay_out, update
from designer.design.routing.route import Terrain, _led, route
from designer.drawing.polylines import stretched
from designer.interchange.templates import open_design
from tests.bench.pace import paced
from tests.ways import over_any

#: a step of a drag, and until routes are at rest behind it [s]
FRAME: Final = 0.016
SETTLED: Final = 0.120


def _hundred_links() -> Design:
    """A server between 100 switches, each linked to it, among 200 other servers."""
    parts = [Part(id="server", kind="server")]
    parts += [Part(id=f"s{n}", kind="switch") for n in range(100)]
    parts += [Part(id=f"other{n}", kind="server") for n in range(200)]
    links = [Link(id=f"l{n}", a="server", b=f"s{n}", kind="ethernet") for n in range(100)]
    links += [Link(id=f"o{n}", a=f"other{n}", b=f"s{n % 100}", kind="ethernet") for n in range(200)]
    return arrange(Design.model_validate({"name": "hundred", "parts": parts, "links": links}))


def test_routes_of_a_server_with_a_hundred_links_come_to_rest() -> None:
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
    assert paced(lambda: update(geometry, moved, changes), clock=time.process_time) <= SETTLED


def test_a_frame_of_that_drag_only_stretches_its_links() -> None:
    geometry = lay_out(_hundred_links())
    box = geometry.box_of((), Ref("parts", "server"))
    chosen = np.flatnonzero((geometry.connection_a == box) | (geometry.connection_b == box))
    assert len(chosen) == 100
    ways, shift = geometry.connection_route[chosen], np.full((100, 2), 7.0)
    none = np.zeros((100, 2))
    assert paced(lambda: stretched(ways, shift, none), clock=time.process_time) <= FRAME


def test_a_template_is_led_in_a_frame_or_two() -> None:
    geometry = lay_out(open_design("hgx-h100-8"))
    solid, above = np.ones(len(geometry), dtype=bool), np.zeros(geometry.n_connections, dtype=bool)
    a, b, kind = geometry.connection_a, geometry.connection_b, geometry.connection_kind
    scene = Terrain(geometry.rect, geometry.parent, solid, a, b, kind, above)

    def anew() -> None:
        _led.cache_clear()
        route(scene)

    assert paced(anew, clock=time.process_time) <= 2 * FRAME
