"""Edits that draw a way to serve: its layout, and more servers like those that are drawn, cabled in the same way."""

from __future__ import annotations

import math

from designer.catalog.parttype import Capability, part_kinds
from designer.decisions.serving_size import Candidate
from designer.design.address import Ref
from designer.design.document import Block, Design, WorkloadSpec
from designer.design.edit import Edit
from designer.design.edits.clipboard import Duplicate
from designer.design.edits.groups import SetReplicas
from designer.design.edits.together import Together
from designer.design.edits.workloads import ChangeWorkload
from designer.design.geometry import lay_out
from designer.design.query import contents, count_kinds, roots
from designer.engine.network import build_network
from designer.engine.routes.selection import resolve
from designer.errors import DocumentError

#: room between two servers [px]
_GAP = 64


def more_servers(design: Design, accelerators: int) -> Edit:
    """The edit that adds servers like the drawn ones until there are so many more accelerators.

    A group of servers gets more members, which its wirings join; a single server is copied with its links to switches
    and storage. Servers of which most accelerators are drawn are the ones that are added.

    Raises
    ------
    DocumentError
        If no accelerator is in a server or in a group of servers.
    """
    per_group = {g.id: accelerators_in(g.content) for g in design.groups.values()}
    per_server = {p.id: _accelerators_inside(design, p.id) for p in roots(design)}
    totals = [(n * design.groups[g].replicas, "groups", g, n) for g, n in per_group.items() if n]
    totals += [(n, "parts", p, n) for p, n in per_server.items() if n]
    if not totals:
        raise DocumentError(
            "no accelerator is in a server, so there is none to add more of",
            remedy="put the accelerators into a server, or draw more of them",
        )
    _, what, key, each = max(totals, key=lambda row: row[0])
    count = math.ceil(accelerators / each)
    if what == "groups":
        return SetReplicas(key, design.groups[key].replicas + count)
    geometry = lay_out(design)
    box = geometry.box_of((), Ref("parts", key))
    assert box is not None, "a part of the design is drawn"
    x, y, wide, high = (round(float(side)) for side in geometry.rect[box])
    columns = math.ceil(math.sqrt((count + 1) * high / wide)) if wide else 1
    start = {Ref("parts", key): (x, y)}
    offsets = [(k % columns * (wide + _GAP), k // columns * (high + _GAP)) for k in range(1, count + 1)]
    copies = tuple(Duplicate((Ref("parts", key),), offset, outside_links=True, start=start) for offset in offsets)
    return Together(copies, f"Add {count} server{'s' if count > 1 else ''}")


def accelerators_in(block: Block) -> int:
    """How many accelerators a block holds, with those of its groups."""
    return sum(n for kind, n in count_kinds(block).items() if _accelerates(kind))


def _accelerators_inside(design: Design, part_id: str) -> int:
    inside = contents(design, (part_id,)) - {part_id}
    return sum(_accelerates(design.parts[i].kind) for i in inside)


def _accelerates(kind: str) -> bool:
    known = part_kinds().get(kind)
    return known is not None and Capability.ACCELERATE in known.capabilities


def place_layout(design: Design, workload: str, way: Candidate, drawn: int) -> Edit:
    """The edit that places a way to serve on the drawing.

    Parameters
    ----------
    drawn
        How many accelerators the search found drawn.

    Raises
    ------
    DocumentError
        If more accelerators are needed and there is no server to add, or the workload would not use the new ones.
    """
    spec = design.workloads[workload]
    settings = {**spec.settings, "tensor": way.tensor, "replicas": way.replicas}
    change = ChangeWorkload(workload, {"settings": settings})
    missing = way.accelerators - drawn
    if missing <= 0:
        return change
    more = more_servers(design, missing)
    _require_used(more.apply(design), spec, way.accelerators)
    return Together((more, change), f"Add servers for {way.needed}")


def _require_used(design: Design, spec: WorkloadSpec, wanted: int) -> None:
    """Refuse servers that the workload would not run on."""
    group = str(spec.settings.get("group") or "gpus")
    if len(resolve(build_network(design), group, f"workloads.{spec.id}.group")) < wanted:
        raise DocumentError(
            f"{spec.title or spec.id} runs on {group} only, so accelerators of more servers would stay idle",
            remedy="choose gpus as its accelerators, then ask again",
        )
