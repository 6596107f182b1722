"""How quick edits and questions are in a document of 10,000 parts, against copying its list of parts once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from designer.design.address import Ref
from designer.design.diff import diff
from designer.design.document import Design, Link, Part, Position
from designer.design.edits.links import AddLinks
from designer.design.edits.parts import ChangeParts, RemoveParts
from designer.design.legality import can_connect
from tests.moving import MoveBy

pytestmark = pytest.mark.alone

PARTS = 10_000


def large() -> Design:
    """GPUs at one switch."""
    parts = [Part(id=f"gpu{i}", kind="gpu", position=Position(x=i, y=0)) for i in range(PARTS - 1)]
    links = [Link(id=f"l{i}", kind="pcie", a=f"gpu{i}", b="psw") for i in range(PARTS - 1)]
    return Design.model_validate({"name": "x", "parts": [*parts, Part(id="psw", kind="pcie_switch")], "links": links})


def shortest(run: Callable[[], Any]) -> float:
    """Shortest of some runs [s]."""
    times: list[float] = []
    for _ in range(20):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


RUNS: dict[str, tuple[Callable[[Design, Design], Any], float]] = {
    "change": (lambda d, _: ChangeParts(("gpu5",), {"name": "x"}).apply(d), 10),
    "nudge": (lambda d, _: MoveBy((Ref("parts", "gpu5"),), 1, 1).apply(d), 10),
    "connect": (lambda d, _: AddLinks((Link(id="new", kind="nvlink", a="gpu1", b="gpu2"),)).apply(d), 10),
    "delete": (lambda d, _: RemoveParts(("gpu5",)).apply(d), 200),
    "diff": (lambda d, other: diff(d, other), 40),
    "may connect": (lambda d, _: can_connect(d, "gpu1", "psw"), 1),
}


@pytest.mark.parametrize("name", RUNS)
def test_edits_cost_about_a_copy_of_what_they_touch(benchmark: Any, name: str) -> None:
    run, most = RUNS[name]
    design = large()
    other = ChangeParts(("gpu5",), {"name": "other"}).apply(design)
    benchmark(run, design, other)
    copy = shortest(lambda: dict(design.parts))
    assert shortest(lambda: run(design, other)) < most * copy
