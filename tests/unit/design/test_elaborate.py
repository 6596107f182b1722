"""Elaborated designs and what is kept of them."""

from __future__ import annotations

from designer.design.document import Design, Part
from designer.design.elaborate import elaborate


def test_netlists_of_many_designs_do_not_pile_up() -> None:
    """A netlist keeps its design alive, so it weighs what the definitions of its parts weigh, not only its arrays."""
    parts = {f"gpu{n}": Part(id=f"gpu{n}", kind="gpu") for n in range(2000)}
    designs = [Design(name=f"d{n}", parts=parts) for n in range(80)]
    first, last = elaborate(designs[0]), None
    for design in designs:
        last = elaborate(design)
    assert elaborate(designs[-1]) is last
    assert elaborate(designs[0]) is not first
