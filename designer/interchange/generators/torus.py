"""Torus: a router for each server, joined to its neighbours in up to four dimensions, the last to the first.

Sources: Dally & Towles 2004, "Principles and Practices of Interconnection Networks", chapter 5.
"""

from __future__ import annotations

from itertools import product
from math import prod

from designer.design.document import Design, Link
from designer.interchange.generators._generator import ASKED, SERVER, Asked, Drawing, Generator, Parameter, refuse
from designer.sources import Status

PARAMETERS = (Parameter("shape", "4x4x4", "servers along each dimension, such as 4x4x4"), *SERVER)
_MOST = 20_000


def make(asked: Asked) -> Design:
    """The design.

    Raises
    ------
    FormatError
        If the numbers make no such network.
    """
    words = asked.text("shape").lower().split("x")
    if not 1 <= len(words) <= 4 or not all(w.isascii() and w.isdigit() and 0 < len(w) < 6 for w in words):
        raise refuse(f"{asked.text('shape')[:40]!r} is no shape", "write 4x4x4")
    shape = [int(w) for w in words]
    total = prod(shape)
    if min(shape) < 1 or total > _MOST:
        raise refuse(f"{total} servers", f"use 1 to {_MOST:,}")
    drawing = Drawing(asked, "torus", f"Torus {asked.text('shape')}, {total} servers")
    drawing.servers(total, 1)
    ports = 1 + sum(2 if n > 2 else n - 1 for n in shape)
    drawing.switches("routers", "Routers", total, ports, "router")
    drawing.connect("hosts", "pairs", drawing.nics(0, 0), "routers[*]/switch")
    links = {link.id: link for link in _links(drawing, shape)}
    made = drawing.design(f"{total} routers of {ports} ports, {len(links)} links between them.")
    return made.model_copy(update={"links": links})


def _links(drawing: Drawing, shape: list[int]) -> list[Link]:
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    found: list[Link] = []
    for place in product(*(range(n) for n in shape)):
        here = sum(p * s for p, s in zip(place, strides, strict=True))
        for axis, size in enumerate(shape):
            # of two members the way there is the way back: one link
            if size == 1 or (size == 2 and place[axis] == 1):
                continue
            there = here + ((place[axis] + 1) % size - place[axis]) * strides[axis]
            found.append(
                Link(
                    id=f"axis{axis}-{here}-{there}",
                    a=f"routers[{here}]/switch",
                    b=f"routers[{there}]/switch",
                    kind=drawing.kind,
                    bandwidth_per_direction=drawing.rate,
                    source=ASKED,
                    status=Status.SECONDARY,
                )
            )
    return found


GENERATOR = Generator("torus", "Torus of routers", PARAMETERS, make)
