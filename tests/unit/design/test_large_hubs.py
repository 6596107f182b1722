"""Thousands of parts on one hub are placed and joined in steps that grow as they do, not as their pairs."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from designer.design.arrange import arrange
from designer.design.document import Design, Link, Part
from designer.design.geometry import lay_out
from designer.design.routing import uncross


def hub(count: int) -> Design:
    """A switch with so many servers, of two sizes."""
    kinds = ("server", "storage_system")
    parts = {f"h{k}": Part(id=f"h{k}", kind=kinds[k % 7 == 0]) for k in range(count)}
    links = {f"l{k}": Link(id=f"l{k}", a="hub", b=f"h{k}", kind="ethernet") for k in range(count)}
    return Design(name="hub", parts={"hub": Part(id="hub", kind="switch"), **parts}, links=links)


def steps(work: Callable[[], object]) -> int:
    """How many functions are called, those of Python and those in C."""
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_four_times_the_parts_take_four_times_the_steps_to_place() -> None:
    """Summing rows again for each part took ten times as many."""
    few, many = hub(1500), hub(6000)
    arrange(hub(10))
    assert steps(lambda: arrange(many)) < 5 * steps(lambda: arrange(few))


def test_crossings_of_links_too_many_to_change_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pair of 20,000 links would be 400 million places to look at, in memory at the same time."""
    counted: list[int] = []
    original = uncross.crossed

    def crossed(ways: uncross.Float) -> tuple[uncross.Int, int]:
        counted.append(len(ways))
        return original(ways)

    monkeypatch.setattr(uncross, "crossed", crossed)
    geometry = lay_out(hub(600))
    assert all(count <= uncross.MOST_UNCROSSED for count in counted)
    assert len(geometry.connections.a) == 600
