"""Where everything of a design is drawn: absolute boxes and connections as arrays, for canvas and pictures.

Boxes are in painter's order, containers before their contents, so the contents of box i are the boxes from i + 1 to
``last[i]`` − 1. Blocks are laid out once and kept; opening a group puts its content in and makes room for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Domain
from designer.design.address import BLOCK_COLLECTIONS, Address, Ref, block_at, collection
from designer.design.arrange.arrangement import needs_room
from designer.design.arrange.roles import link_domain
from designer.design.arrange.sizes import CONTAINER, PADDING, bow_swing, card_size, fitted
from designer.design.boxes import Boxes, boxes_of
from designer.design.connections import Connections, connections_of, rates_match
from designer.design.diff import Diff, changed_fields
from designer.design.document import Annotation, Block, Design, Group, Link, Part
from designer.design.routing.route import Terrain, dependent, route
from designer.design.scene_geometry import STATUSES, Geometry, GroupAddress, summary

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
_NONE: Final[Mapping[int, tuple[float, float]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class MovingBoxes:
    """What moving needs to know of a picture; see ``designer.design.geometry.Geometry``.

    Parameters
    ----------
    fixed : (n,) whether contents of the box must not change its extent, because open groups or notes are involved
    least : (n, 2) extent a container has even when it holds nothing, scene units
    links
        What connects the boxes.
    bows : (k,) the connections that need room to bow
    routes : (m, v, 2)
    """

    rect: Float
    origin: Float
    parent: Int
    last: Int
    fixed: Bool
    least: Float
    links: Terrain
    bows: Int
    routes: Float


def moved(scene: MovingBoxes, moves: Mapping[int, tuple[float, float]]) -> MovingBoxes | None:
    """The scene with some boxes moved by distances, contents and all; None if it must be laid out again."""
    found = grown(scene, moves)
    return None if found is None else _reroute(scene, *found)


def grown(
    scene: MovingBoxes, moves: Mapping[int, tuple[float, float]], sizes: Mapping[int, tuple[float, float]] = _NONE
) -> tuple[Float, Float] | None:
    """Boxes and origins with some boxes moved by distances or given other sizes, and what is around them fitted; None
    if that must be laid out again. : (n, 4), (n, 2)

    Parameters
    ----------
    sizes
        Of a container the least one, stated from its origin.
    """
    rect, origin, least = scene.rect.copy(), scene.origin.copy(), scene.least
    for box, (dx, dy) in moves.items():
        inside = slice(box, int(scene.last[box]))
        rect[inside, :2] += (dx, dy)
        origin[inside] += (dx, dy)
    containers = {int(scene.parent[box]) for box in (*moves, *sizes)}
    if sizes:
        least = least.copy()
    for box, size in sizes.items():
        if int(scene.last[box]) > box + 1:
            least[box] = size
            containers.add(box)
        else:
            rect[box, 2:] = size
    while containers:
        container = max(containers)  # containers are in front of their contents
        containers.discard(container)
        if container < 0:
            continue
        fit = _fit(scene, rect, origin, container, least)
        if (fit == rect[container]).all():
            continue
        if scene.fixed[container]:
            return None
        rect[container] = fit
        containers.add(int(scene.parent[container]))
    return rect, origin


def _fit(scene: MovingBoxes, rect: Float, origin: Float, container: int, least: Float) -> Float:
    children = np.flatnonzero(scene.parent == container)
    r = rect[children]
    low, high = r[:, :2] - origin[container], r[:, :2] + r[:, 2:] - origin[container]
    boxes = [(float(low[:, 0].min()), float(low[:, 1].min()), float(high[:, 0].max()), float(high[:, 1].max()))]
    boxes += _bows(scene, rect, origin[container], children)
    corner, end = fitted(boxes, (float(least[container, 0]), float(least[container, 1])))
    low_corner = origin[container] + corner
    return np.array([*low_corner, end[0] - corner[0], end[1] - corner[1]])


def _bows(scene: MovingBoxes, rect: Float, origin: Float, children: Int) -> list[tuple[float, float, float, float]]:
    """Room for bows below the rows of a container, one box for the deepest."""
    first, stop = int(children[0]), int(scene.last[children[-1]])
    connections = scene.bows[(scene.links.a[scene.bows] >= first) & (scene.links.a[scene.bows] < stop)]
    if not len(connections):
        return []
    child = np.full(len(rect), -1, dtype=np.int64)
    for k in children.tolist():
        child[k : int(scene.last[k])] = k
    a, b = child[scene.links.a[connections]], child[scene.links.b[connections]]
    keep = (a >= 0) & (b >= 0) & (a != b)
    a, b = a[keep], b[keep]
    top, bottom = rect[:, 1], rect[:, 1] + rect[:, 3]
    row = (top[a] < bottom[b]) & (top[b] < bottom[a])
    found: list[tuple[float, float, float, float]] = []
    for i, j in zip(a[row].tolist(), b[row].tolist(), strict=True):
        y = float(max(bottom[i], bottom[j]) - origin[1])
        x = float(rect[i, 0] - origin[0])
        found.append((x, y, x, y + bow_swing(abs(float(rect[i, 0] - rect[j, 0]))) - PADDING / 2))
    return found


def _reroute(scene: MovingBoxes, rect: Float, origin: Float) -> MovingBoxes:
    """The scene with boxes in new places and the connections that depend on them routed again."""
    links = scene.links._replace(rect=rect, origin=origin)
    delta = rect - scene.rect
    parent = scene.parent
    around = np.where((parent >= 0)[:, None], delta[np.maximum(parent, 0)], 0.0)
    # what is in a container as before is routed as before; the last is the canvas
    stirred = np.zeros(len(rect) + 1, dtype=bool)
    inside = (delta[:, :2] != around[:, :2]).any(axis=1) | (delta[:, 2:] != 0).any(axis=1)
    stirred[parent[inside & links.solid]] = True
    resized = np.flatnonzero((delta[:, 2:] != 0).any(axis=1))
    stirred[resized] = True
    rerouted = dependent(links, stirred)
    routes = scene.routes + delta[links.a, None, :2]
    found = route(links, rerouted)
    wide = max(routes.shape[1], found.shape[1])
    routes = _pad_routes(routes, wide)
    routes[rerouted] = _pad_routes(found, wide)
    while routes.shape[1] > 2 and (routes[:, -1] == routes[:, -2]).all():
        routes = routes[:, :-1]
    return replace(scene, rect=rect, origin=origin, links=links, routes=routes)


def _pad_routes(routes: Float, wide: int) -> Float:
    """Routes with room for so many corners."""
    return np.concatenate((routes, np.repeat(routes[:, -1:], wide - routes.shape[1], axis=1)), axis=1)


__all__ = [
    "STATUSES",
    "Geometry",
    "GroupAddress",
    "lay_out",
    "may_move",
    "moving_boxes",
    "opened_in",
    "summary",
    "update",
]


#: fields of parts and groups that change no box, or move it
_HARMLESS: Final = frozenset({"position", "name", "overrides", "attributes", "note", "type"})


def opened_in(design: Design) -> frozenset[GroupAddress]:
    """The groups a document says are open, each showing what its members share."""
    found: set[Address] = set()
    todo: list[tuple[Address, Block]] = [((), design)]
    while todo:
        within, block = todo.pop()
        for group in block.groups.values():
            if not group.collapsed:
                address = (*within, (group.id, None))
                found.add(address)
                todo.append((address, group.content))
    return frozenset(found)


def lay_out(design: Design, opened: frozenset[GroupAddress] | None = None) -> Geometry:
    """The picture of a design with some groups open, by default those the document says.

    Parameters
    ----------
    opened
        Addresses of the blocks that open groups show: the last step names the group and the member, None for what
        all members share. A group within a closed one waits until that is opened.
    """
    opened = opened_in(design) if opened is None else opened
    boxes = boxes_of(design, opened)
    return _add_annotations(design, opened, boxes, connections_of(design, boxes))


def update(geometry: Geometry, design: Design, changes: Diff) -> Geometry:
    """The picture after an edit, equal to laying out `design` again but sharing what did not change.

    Parameters
    ----------
    changes
        What changed from the design of `geometry` to `design`.
    """
    assert changes.before is geometry.design
    assert changes.after is design
    moves = _moves(geometry, changes)
    if moves is None:
        return (
            _with_connections(geometry, design) if _boxes_stay(geometry, changes) else lay_out(design, geometry.opened)
        )
    if changes["annotations"]:
        if moves:
            return lay_out(design, geometry.opened)
        return _add_annotations(design, geometry.opened, geometry.boxes, geometry.connections)
    scene = moved(moving_boxes(geometry), moves) if moves else moving_boxes(geometry)
    if scene is None:
        return lay_out(design, geometry.opened)
    made = replace(
        geometry,
        design=design,
        rect=scene.rect,
        origin=scene.origin,
        connection_route=scene.routes,
        memory={**geometry.memory, "scene": scene},
    )
    return _frozen(made)


def _moves(geometry: Geometry, changes: Diff) -> dict[int, tuple[float, float]] | None:
    """Which boxes move by how much, if that is all that changes the picture; else None."""
    found: dict[int, tuple[float, float]] = {}
    for within, block in changes.blocks.items():
        shown = [n for n, address in enumerate(geometry.blocks) if _shows(geometry.design, address, within)]
        before, after = block_at(changes.before, within), block_at(changes.after, within)
        for what in BLOCK_COLLECTIONS:
            changed = block[what]
            if changed.added or changed.removed:
                return None
            for item_id in changed.changed:
                move = _move(collection(before, what)[item_id], collection(after, what)[item_id])
                if move is None:
                    return None
                for number in shown if move != (0, 0) else ():
                    box = geometry.numbers.get((number, Ref(what, item_id)))
                    if box is not None:
                        found[box] = move
    return found if may_move(geometry, list(found)) else None


def _move(old: object, new: object) -> tuple[int, int] | None:
    """How far a thing moved, if nothing else changed that shows in boxes and connections; else None."""
    if isinstance(old, Link) and isinstance(new, Link):
        return (0, 0) if rates_match(old, new) else None
    if not (isinstance(old, Part | Group) and isinstance(new, Part | Group)):
        return None
    if set(changed_fields(old, new)) - _HARMLESS:
        return None
    if isinstance(old, Group) and isinstance(new, Group) and old.exceptions.keys() != new.exceptions.keys():
        return None
    if old.position == new.position:
        return (0, 0)
    if old.position is None or new.position is None:
        return None
    return new.position.x - old.position.x, new.position.y - old.position.y


def _shows(design: Design, address: Address, within: Address) -> bool:
    """True if the block shown at `address` is the one at `within`, possibly as a member like all others."""
    if len(address) != len(within):
        return False
    block: Block = design
    for (group_id, member), (other_id, other) in zip(address, within, strict=True):
        if group_id != other_id:
            return False
        group = block.groups[group_id]
        if member != other and not (other is None and member not in group.exceptions):
            return False
        block = group.content if member is None else group.member(member)
    return True


def _boxes_stay(geometry: Geometry, changes: Diff) -> bool:
    """True if only links changed, and none that things are placed by or make room for."""
    if not geometry.placed.all():
        return False
    for within, block in changes.blocks.items():
        if any(block[what] for what in ("parts", "groups", "annotations")):
            return False
        shown = [address for address in geometry.blocks if _shows(geometry.design, address, within)]
        if not shown:
            continue
        old, new = block_at(changes.before, within), block_at(changes.after, within)
        for what in ("links", "wirings"):
            changed = block[what]
            links = [collection(old, what)[i] for i in (*changed.removed, *changed.changed)]
            links += [collection(new, what)[i] for i in (*changed.added, *changed.changed)]
            if any(needs_room(old, link) for link in links):
                return False
    return True


def _with_connections(geometry: Geometry, design: Design) -> Geometry:
    """The same boxes with the connections of another design."""
    connections = connections_of(design, geometry.boxes)
    memory = {name: known for name, known in geometry.memory.items() if name == "numbers"}
    solid = _solid(geometry.refs)
    strung = _strung(connections, geometry.rect, geometry.origin, geometry.parent, solid, geometry.n_behind)
    return _frozen(replace(geometry, design=design, connections=connections, memory=memory, **strung))


def _strung(
    connections: Connections, rect: Float, origin: Float, parent: Int, solid: Bool, before: int
) -> dict[str, Any]:
    """What a picture says of its connections, by field; `before` boxes are in front of the first."""
    kinds = tuple(dict.fromkeys(connections.kinds))
    codes = {name: i for i, name in enumerate(kinds)}
    kind = np.array([codes[k] for k in connections.kinds], dtype=np.int64)
    a, b = connections.a + before, connections.b + before
    bends = connections.bends
    routes = route(Terrain(rect, parent, solid, a, b, kind, _hosts(kinds, kind), origin, bends))
    return {
        "connection_a": a,
        "connection_b": b,
        "connection_kind": kind,
        "connection_kinds": kinds,
        "connection_count": connections.count,
        "connection_capacity": connections.capacity,
        "connection_status": connections.status,
        "connection_route": routes,
    }


def may_move(geometry: Geometry, boxes: list[int]) -> bool:
    """True if boxes are among things that stay where they are: placed ones, no open groups."""
    for container in {int(geometry.parent[box]) for box in boxes}:
        around = geometry.parent == container
        if (around & (geometry.is_group & geometry.is_container | ~geometry.placed)).any():
            return False
    return True


def moving_boxes(geometry: Geometry) -> MovingBoxes:
    """What moving boxes of a picture needs to know; kept, for the next step of a drag."""
    known = geometry.memory.get("scene")
    if isinstance(known, MovingBoxes):
        return known
    n = len(geometry)
    opened = geometry.is_group & geometry.is_container
    loose = np.zeros(n + 1, dtype=bool)  # by container, the last for the top: contents depend on each other
    np.logical_or.at(loose, geometry.parent, opened | ~geometry.placed)
    least = np.empty((n, 2))
    least[:] = CONTAINER
    for box in np.flatnonzero(geometry.is_container).tolist():
        thing = geometry.thing(box)
        if isinstance(thing, Part) and thing.size is not None:
            least[box] = (thing.size.width, thing.size.height)
    connected = np.array([bool(geometry.content(a).wirings) for a in geometry.blocks], dtype=bool)[geometry.block]
    elbow = _hosts(geometry.connection_kinds, geometry.connection_kind)
    scene = geometry.memory["scene"] = MovingBoxes(
        geometry.rect,
        geometry.origin,
        geometry.parent,
        geometry.last,
        opened | loose[geometry.parent] | connected,
        least,
        Terrain(
            geometry.rect,
            geometry.parent,
            _solid(geometry.refs),
            geometry.connection_a,
            geometry.connection_b,
            geometry.connection_kind,
            elbow,
            geometry.origin,
            geometry.connections.bends,
        ),
        np.flatnonzero(~elbow),
        geometry.connection_route,
    )
    return scene


def _add_annotations(
    design: Design, opened: frozenset[GroupAddress], boxes: Boxes, connections: Connections
) -> Geometry:
    notes = sorted(design.annotations.values(), key=lambda note: note.order)
    back = [n for n in notes if n.style == "frame"]
    front = [n for n in notes if n.style != "frame"]
    before, n = len(back), len(boxes.refs)
    total = n + len(notes)
    rect, origin, shift = (_add_rows(a, back, front) for a in (boxes.rect, boxes.origin, np.zeros((n, 2))))
    shift[before : before + n] = boxes.shift
    here = slice(before, before + n)

    def spread(values: npt.NDArray[np.generic], default: int) -> Int:
        whole = np.full(total, default, dtype=np.int64)
        whole[here] = values
        return whole

    names = ["frame"] * before + list(boxes.kinds) + ["note"] * len(front)
    kinds = tuple(dict.fromkeys(names))
    codes = {name: i for i, name in enumerate(kinds)}
    refs = [
        *(Ref("annotations", n.id) for n in back),
        *boxes.refs,
        *(Ref("annotations", n.id) for n in front),
    ]
    last = np.arange(1, total + 1)
    last[here] = boxes.last + before
    parent = spread(np.where(boxes.parent >= 0, boxes.parent + before, -1), -1)
    is_group = np.array([ref.what == "groups" for ref in refs], dtype=bool)
    made = Geometry(
        design=design,
        opened=opened,
        rect=rect,
        origin=origin,
        shift=shift,
        kind=np.array([codes[name] for name in names], dtype=np.int64),
        kinds=kinds,
        parent=parent,
        last=last,
        depth=spread(boxes.depth, 0),
        is_container=spread(boxes.is_open, 0).astype(bool),
        is_group=is_group,
        replicas=spread(boxes.replicas, 1),
        member=spread(boxes.member, -1),
        placed=spread(boxes.placed, 1).astype(bool),
        block=spread(boxes.block, 0),
        blocks=boxes.blocks,
        refs=refs,
        boxes=boxes,
        connections=connections,
        **_strung(connections, rect, origin, parent, _solid(refs), before),
    )
    return _frozen(made)


def _add_rows(values: Float, back: list[Annotation], front: list[Annotation]) -> Float:
    """Rows for annotations put around the rows of boxes."""
    if not back and not front:
        return values.copy()

    def row(note: Annotation) -> list[int]:
        size = (note.size.width, note.size.height) if note.size else card_size(note.style)
        return [note.position.x, note.position.y, *size][: values.shape[1]]

    width = values.shape[1]
    rows = [np.array([row(n) for n in notes], dtype=np.float64).reshape(-1, width) for notes in (back, front)]
    return np.concatenate([rows[0], values, rows[1]])


def _hosts(kinds: tuple[str, ...], kind: Int) -> Bool:
    """Which connections belong to a host, by the kind of each: those are drawn with right angles."""
    known = [link_domain(name) is Domain.HOST for name in kinds]
    return np.array(known, dtype=bool)[kind] if len(kind) else np.zeros(0, dtype=bool)


def _solid(refs: Sequence[Ref]) -> Bool:
    """Which boxes links run around: all but notes and frames."""
    return np.array([ref.what != "annotations" for ref in refs], dtype=bool)


def _frozen(geometry: Geometry) -> Geometry:
    for name in (
        "rect",
        "origin",
        "shift",
        "parent",
        "last",
        "connection_route",
    ):
        getattr(geometry, name).setflags(write=False)
    return geometry
