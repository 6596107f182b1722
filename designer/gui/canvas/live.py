"""What the analysis says about the picture: load and utilisation of wires, what binds, what is on a route. No Qt.

Channels are numbered as in the analysis: ``2·link`` runs a → b, ``2·link + 1`` b → a of the elaborated design.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.elaborate import Netlist, elaborate
from designer.design.geometry import STATUSES, Geometry
from designer.design.wires import part_boxes
from designer.errors import DocumentError
from designer.gui.canvas.canvas_theme import STEPS
from designer.sources import Status

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: utilisation from which a channel counts as saturated and is labelled
SATURATED: Final = STEPS[-1]
#: exponent of the mean by which containers are coloured
_LEAN: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """Load of all channels of the elaborated design.

    Parameters
    ----------
    load : (n_channels,) payload [B/s]
    utilization : (n_channels,) share of what the channel can achieve, 0 to 1; NaN where nothing is known
    """

    load: Float
    utilization: Float

    def same(self, other: Loads) -> bool:
        """Whether the numbers are equal."""
        return np.array_equal(self.load, other.load) and np.array_equal(self.utilization, other.utilization, True)


@dataclass(frozen=True, slots=True, eq=False)
class WireMap:
    """Which channels a wire stands for.

    Parameters
    ----------
    net
        The elaborated design; None where it cannot be elaborated.
    wire : (n_links,) wire that shows each link, −1 for none
    turned : (n_links,) whether the link runs against its wire
    """

    net: Netlist | None
    wire: Int
    turned: Bool


@dataclass(frozen=True, slots=True, eq=False)
class Live:
    """State of the wires; the two columns are the directions a → b and b → a of the wire.

    Parameters
    ----------
    load : (m, 2) load of the busiest channel [B/s]
    limit : (m, 2) what that channel can achieve [B/s]
    used : (m, 2) utilisation of the busiest channel, NaN where nothing is known
    heat : (m, 2) class of utilisation, −1 where nothing is known
    assumed : (m,) whether the capacity is assumed
    bound : (m,) whether the wire binds
    on_route : (m,) or None: what the highlighted route uses
    box_used : (n,) utilisation of the busiest wire at a box, NaN
    known
        Whether there is any load to show.
    """

    load: Float
    limit: Float
    used: Float
    heat: Int
    assumed: Bool
    bound: Bool
    on_route: Bool | None
    box_on_route: Bool | None
    box_used: Float
    known: bool = False


def wire_map(geometry: Geometry) -> WireMap:
    """Which wire shows each link of the elaborated design."""
    none = WireMap(None, np.empty(0, dtype=np.int64), np.empty(0, dtype=bool))
    try:
        net = elaborate(geometry.design)
        shown = part_boxes(net, geometry.boxes, every_member=True)
    except DocumentError:
        return none
    if not geometry.n_wires or not net.n_links:
        return WireMap(net, np.full(net.n_links, -1), np.zeros(net.n_links, dtype=bool))
    front = sum(1 for ref in geometry.refs if ref.what == "annotations" and ref.id in _frames(geometry))
    shown = np.where(shown >= 0, shown + front, -1)
    kinds = {name: i for i, name in enumerate(geometry.wire_kinds)}
    kind_of = np.array([kinds.get(d.kind, -1) for d in net.link_defs], dtype=np.int64)
    a, b, kind = shown[net.link_a], shown[net.link_b], kind_of[net.link_def]
    n, k = len(geometry) + 1, len(kinds) + 1
    key = (np.minimum(a, b) * n + np.maximum(a, b)) * k + kind
    wa, wb = geometry.wire_a, geometry.wire_b
    own = (np.minimum(wa, wb) * n + np.maximum(wa, wb)) * k + geometry.wire_kind
    order = np.argsort(own, kind="stable")
    at = np.searchsorted(own[order], key).clip(0, len(own) - 1)
    wire = order[at]
    wire = np.where((own[wire] == key) & (a >= 0) & (b >= 0) & (kind >= 0), wire, -1)
    return WireMap(net, wire, (wire >= 0) & (a == wb[wire]))


def _frames(geometry: Geometry) -> set[str]:
    return {a.id for a in geometry.design.annotations.values() if a.style == "frame"}


def nothing(geometry: Geometry) -> Live:
    """The state of a picture nothing is known about."""
    m = geometry.n_wires
    unknown = np.full((m, 2), np.nan)
    assumed = geometry.wire_status == STATUSES.index(Status.ASSUMED)
    return Live(
        load=unknown, limit=unknown, used=unknown, heat=np.full((m, 2), -1, dtype=np.int64), assumed=assumed,
        bound=np.zeros(m, dtype=bool), on_route=None, box_on_route=None, box_used=np.full(len(geometry), np.nan),
    )  # fmt: skip


def with_loads(live: Live, geometry: Geometry, found: WireMap, loads: Loads | None) -> Live:
    """The state with loads put on the wires; a wire shows the busiest channel of each direction."""
    links = np.flatnonzero(found.wire >= 0)
    if loads is None or len(loads.load) != 2 * len(found.wire) or not len(links):
        # of another design: nothing is known until the answer for this one is there
        return live
    load, limit, used = (np.full((geometry.n_wires, 2), np.nan) for _ in range(3))
    for direction in (0, 1):
        channel = 2 * links + (found.turned[links] ^ bool(direction))
        _busiest(found.wire[links], loads.load[channel], loads.utilization[channel], load, limit, used, direction)
    heat = np.where(np.isnan(used), -1, np.searchsorted(STEPS, np.nan_to_num(used), side="right"))
    most = np.fmax(used[:, 0], used[:, 1])
    box = np.full(len(geometry), -1.0)
    np.maximum.at(box, geometry.wire_a, np.nan_to_num(most, nan=-1.0))
    np.maximum.at(box, geometry.wire_b, np.nan_to_num(most, nan=-1.0))
    _raise_containers(geometry, box)
    return replace(
        live,
        load=load,
        limit=limit,
        used=used,
        heat=heat,
        box_used=np.where(box < 0, np.nan, box),
        known=bool((heat >= 0).any()),
    )


def _busiest(wire: Int, load: Float, utilization: Float, out: Float, limit: Float, used: Float, direction: int) -> None:
    share = np.nan_to_num(utilization, nan=-1.0)
    order = np.lexsort((load, share, wire))
    last = np.ones(len(order), dtype=bool)
    last[:-1] = wire[order][1:] != wire[order][:-1]
    top = order[last]
    at = wire[top]
    out[at, direction] = load[top]
    used[at, direction] = utilization[top]
    with np.errstate(divide="ignore", invalid="ignore"):
        limit[at, direction] = np.where(utilization[top] > 0, load[top] / utilization[top], np.nan)


def _raise_containers(geometry: Geometry, box: Float) -> None:
    """Containers take a mean of what they hold that leans to the busiest; the busiest alone would always be full."""
    known = (box >= 0) & ~geometry.is_container
    weight = np.where(known, 1.0, 0.0)
    power = np.where(known, np.maximum(box, 0.0) ** _LEAN, 0.0)
    for d in range(int(geometry.depth.max()) if len(geometry) else 0, 0, -1):
        here = np.flatnonzero((geometry.depth == d) & (geometry.parent >= 0))
        np.add.at(weight, geometry.parent[here], weight[here])
        np.add.at(power, geometry.parent[here], power[here])
    held = geometry.is_container & (weight > 0)
    box[held] = (power[held] / weight[held]) ** (1 / _LEAN)


def with_binding(live: Live, found: WireMap, numbers: Mapping[str, int], ids: Iterable[str]) -> Live:
    """The state with the wires of some channels marked as binding."""
    bound = np.zeros(len(live.bound), dtype=bool)
    wires = wires_of_channels(found, numbers, ids)
    bound[wires] = True
    return replace(live, bound=bound)


def with_route(live: Live, geometry: Geometry, found: WireMap, numbers: Mapping[str, int], ids: Iterable[str]) -> Live:
    """The state with a route lit; without ids nothing is."""
    ids = tuple(ids)
    if not ids:
        return replace(live, on_route=None, box_on_route=None)
    wires = wires_of_channels(found, numbers, ids)
    lit = np.zeros(geometry.n_wires, dtype=bool)
    lit[wires] = True
    boxes = np.zeros(len(geometry), dtype=bool)
    boxes[geometry.wire_a[wires]] = True
    boxes[geometry.wire_b[wires]] = True
    return replace(live, on_route=lit, box_on_route=boxes)


def wires_of_channels(found: WireMap, numbers: Mapping[str, int], ids: Iterable[str]) -> Int:
    """Numbers of the wires that show channels, given by ids such as ``up:ab``. : (k,)"""
    links = [numbers[path] for path in (channel.rpartition(":")[0] or channel for channel in ids) if path in numbers]
    if not links:
        return np.empty(0, dtype=np.int64)
    wires = found.wire[np.array(links, dtype=np.int64)]
    return np.unique(wires[wires >= 0])


def link_numbers(found: WireMap, ids: Iterable[str]) -> dict[str, int]:
    """Number of the link of each channel id that exists; walks the groups of a path, never all links."""
    if found.net is None:
        return {}
    known: dict[str, int] = {}
    places: dict[int, dict[str, int]] = {}
    for channel in ids:
        path = channel.rpartition(":")[0] or channel
        if path not in known:
            number = _link_number(found.net, path, places)
            if number is not None:
                known[path] = number
    return known


def _link_number(net: Netlist, path: str, places: dict[int, dict[str, int]]) -> int | None:
    """Number of a link; `places` collects, by the identity of the block, where each link stands among its own."""
    base = 0
    *steps, last = path.split("/")
    for step in steps:
        name, member = _indexed(step)
        group = next((g for g in net.groups if g.id == name), None)
        if group is None or member is None or not 0 <= member < len(group.net_of):
            return None
        base += int(group.link_start[member])
        net = group.net(member)
    if last in net.block.links:
        key = id(net.block)
        if key not in places:
            places[key] = {link_id: number for number, link_id in enumerate(net.block.links)}
        return base + places[key][last]
    name, member = _indexed(last)
    for wiring, start, stop in net.wirings:
        if wiring == name and member is not None and start + member < stop:
            return base + start + member
    return None


def _indexed(text: str) -> tuple[str, int | None]:
    name, bracket, rest = text.partition("[")
    digits = rest.rstrip("]")
    return name, int(digits) if bracket and digits.isdigit() else None
