"""Moving one part of a large picture against laying it out again, in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from designer.design.address import Ref
from designer.design.arrange import arrange
from designer.design.diff import diff
from designer.design.document import Design
from designer.design.edits.placement import Place
from designer.design.geometry import lay_out, update
from tests.designs import server_block


def _flat(servers: int) -> Design:
    """So many servers, each part of its own, none in a group."""
    block = server_block()
    parts, links = [], []
    for s in range(servers):
        for part in block.parts.values():
            above = None if part.parent is None else f"s{s}.{part.parent}"
            parts.append(part.model_copy(update={"id": f"s{s}.{part.id}", "parent": above}))
        for link in block.links.values():
            ends = {"id": f"s{s}.{link.id}", "a": f"s{s}.{link.a}", "b": f"s{s}.{link.b}"}
            links.append(link.model_copy(update=ends))
    return Design.model_validate({"name": "flat", "parts": parts, "links": links})


def test_moving_one_of_ten_thousand_parts(benchmark: Any) -> None:
    design = arrange(_flat(286))
    geometry = lay_out(design)
    moved = Place({Ref("parts", "s7.gpu3"): (400, 400)}).apply(design)
    changes = diff(design, moved)
    benchmark(update, geometry, moved, changes)
    again = _fastest(lambda: lay_out(moved))
    assert _fastest(lambda: update(geometry, moved, changes)) < again / 5


def _fastest(run: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)
