"""Large designs with every part placed, for the canvas: many servers as single parts, not as a group."""

from __future__ import annotations

import numpy as np

from designer.design.document import Design, Link, Part, Position
from tests import designs


def cluster(servers: int) -> Design:
    """Servers in a square, every part placed by hand; each row has its leaf switches, all leaves have one spine."""
    block = designs.server_block()
    parts: dict[str, Part] = {"spine": Part(id="spine", kind="switch", position=Position(x=0, y=-400))}
    links: dict[str, Link] = {}
    side = int(np.ceil(np.sqrt(servers)))
    for s in range(servers):
        for k, part in enumerate(block.parts.values()):
            place = (
                Position(x=s % side * 1500, y=s // side * 900)
                if part.parent is None
                else Position(x=40 + k % 9 * 150, y=60 + k // 9 * 160)
            )
            parts[f"s{s}-{part.id}"] = part.model_copy(
                update={
                    "id": f"s{s}-{part.id}",
                    "parent": f"s{s}-{part.parent}" if part.parent else None,
                    "position": place,
                }
            )
        for link in block.links.values():
            name = f"s{s}-{link.id}"
            links[name] = link.model_copy(update={"id": name, "a": f"s{s}-{link.a}", "b": f"s{s}-{link.b}"})
        leaf = f"leaf{s // side}-{s % side // 8}"
        if leaf not in parts:
            corner = Position(x=s % side * 1500 + 40, y=s // side * 900 - 120)
            parts[leaf] = Part(id=leaf, kind="switch", position=corner)
            links[f"{leaf}-up"] = Link(id=f"{leaf}-up", a=leaf, b="spine", kind="infiniband")
        links[f"up{s}"] = Link(id=f"up{s}", a=f"s{s}-nic0", b=leaf, kind="infiniband")
    return Design(name="cluster", parts=parts, links=links)
