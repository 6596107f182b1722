"""What dragging a copy does: the things again at another place, in their container or another one; as one step."""

from __future__ import annotations

from collections.abc import Sequence

from designer.design.address import Address, Ref, block_at
from designer.design.diff import diff
from designer.design.edit import Edit
from designer.design.edits.clipboard import Duplicate
from designer.design.edits.parts import SetParent
from designer.design.geometry import Geometry
from designer.errors import DocumentError
from designer.gui.canvas.editing import Offer, movable, put_into
from designer.gui.canvas.together import Together
from designer.gui.session import added


def copy_to(geometry: Geometry, boxes: Sequence[int], dx: float, dy: float, container: int | None = None) -> Offer:
    """The edit that copies boxes to a distance in scene units.

    Parameters
    ----------
    container
        Where the copies go, −1 for the canvas itself; None leaves each in the container of its original.
    """
    boxes = movable(geometry, boxes)
    dx, dy = round(dx), round(dy)
    if not boxes or (container is None and not (dx or dy)):
        return Offer()
    by_block: dict[Address, dict[Ref, tuple[int, int]]] = {}
    for box in boxes:
        within, ref = geometry.address(box)
        by_block.setdefault(within, {})[ref] = geometry.position(box)
    edits = tuple(Duplicate(tuple(at), (dx, dy), within=within, start=at) for within, at in by_block.items())
    edit: Edit = edits[0] if len(edits) == 1 else Together(edits, "Duplicate things")
    if container is None:
        return Offer(edit)
    wanted = put_into(geometry, boxes, dx, dy, container)
    if not isinstance(wanted.edit, SetParent):
        return wanted
    try:
        moved = _into(geometry, boxes, edits[0], wanted.edit, container)
    except DocumentError as error:
        return Offer(reason=error.text)
    return Offer(Together((edits[0], moved), edits[0].label))


def _into(geometry: Geometry, boxes: Sequence[int], made: Duplicate, wanted: SetParent, container: int) -> SetParent:
    """The edit that moves the copies into a container, where they are shown while they are dragged."""
    within = geometry.address(boxes[0])[0]
    block = block_at(made.apply(geometry.design), within)
    goal = geometry.origin[container].tolist() if container >= 0 else [0.0, 0.0]
    # where positions without a container count from: the same for all of a block
    around = [geometry.address(int(geometry.parent[b])) for b in boxes if geometry.parent[b] >= 0]
    group = next((geometry.box_of(*a) for a in around if a[1].what == "groups"), None)
    parts, groups, positions = list[str](), list[str](), dict[str, tuple[int, int]]()
    for _, ref in sorted(added(diff(geometry.design, made.apply(geometry.design)))):
        item = block.parts[ref.id] if ref.what == "parts" else block.groups[ref.id]
        base = geometry.box_of(within, Ref("parts", item.parent)) if item.parent is not None else group
        origin = geometry.origin[base].tolist() if base is not None else [0.0, 0.0]
        (parts if ref.what == "parts" else groups).append(ref.id)
        if item.position is not None:
            x, y = item.position.x + origin[0] - goal[0], item.position.y + origin[1] - goal[1]
            positions[ref.id] = (round(x), round(y))
    return SetParent(tuple(parts), wanted.parent, tuple(groups), positions, within=within)
