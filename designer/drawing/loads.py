"""What the analysis says about the picture: load and utilisation of connections, what binds, what is on a route. No Qt.

Channels are numbered as in the analysis: ``2·link`` runs a → b, ``2·link + 1`` b → a of the elaborated design.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from designer.design.channels import link_number
from designer.design.connections import open_links, part_boxes
from designer.design.document import Part
from designer.design.elaborate import Netlist, elaborate
from designer.design.geometry import STATUSES, Geometry
from designer.drawing.theme import STEPS
from designer.engine.network.partition import Numbers, Partition
from designer.engine.results import Bottleneck, ChannelLoads, LoadsOfClasses
from designer.errors import DocumentError
from designer.sources import Status

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


def boxes_of_parts(geometry: Geometry) -> Int:
    """For each elaborated part the box of the picture that shows it, −1 where none does. : (n_parts,)

    Members of an open group that are like the one shown have its boxes.

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    shown = part_boxes(elaborate(geometry.design), geometry.boxes, every_member=True)
    shown[shown >= 0] += geometry.n_behind
    return shown


def links_on_connections(geometry: Geometry, shown: Int) -> tuple[Int, Int, Bool]:
    """The elaborated links that connections show, ascending, the connection of each, and whether that runs b → a.

    Members of an open group that are like the one shown count for its connections. : (k,) each

    Parameters
    ----------
    shown
        What `boxes_of_parts` returns.

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    net = elaborate(geometry.design)
    codes = {kind: code for code, kind in enumerate(geometry.connection_kinds)}
    connection_key = _key(
        geometry.connection_a, geometry.connection_b, geometry.connection_kind, len(geometry), len(codes)
    )
    order = np.argsort(connection_key, kind="stable")
    links = open_links(net, geometry.boxes) if len(order) else np.empty(0, dtype=np.int64)
    # numbers that are multiplied below
    a, b = (shown[ends[links]].astype(np.int64) for ends in (net.link_a, net.link_b))
    seen = (a >= 0) & (b >= 0) & (a != b)
    links, a, b = links[seen], a[seen], b[seen]
    if not len(links):
        return links, links, np.empty(0, dtype=bool)
    kind = np.array([codes.get(link.kind, -1) for link in net.link_defs], dtype=np.int64)[net.link_def[links]]
    key = _key(a, b, kind, len(geometry), len(codes))
    drawn = order[np.minimum(np.searchsorted(connection_key[order], key), len(order) - 1)]
    found = (kind >= 0) & (connection_key[drawn] == key)
    links, drawn, a = links[found], drawn[found], a[found]
    return links, drawn, geometry.connection_a[drawn] != a


def _key(a: Int, b: Int, kind: Int, boxes: int, kinds: int) -> Int:
    return (np.minimum(a, b) * boxes + np.maximum(a, b)) * kinds + kind


Float = npt.NDArray[np.float64]

#: utilisation from which a channel counts as saturated and is labelled
SATURATED: Final = STEPS[-1]
#: pairs of connections and classes below so many times those that occur are marked; more are sorted
_MARKED_LIMIT: Final = 8
#: exponent of the mean by which containers are coloured
_LEAN: Final = 4
#: among more parts of a kind equal ones are not looked for
_MOST_EQUAL: Final = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """What parts do at an instant.

    Parameters
    ----------
    parts : (k,) numbers of the parts in the elaborated design
    busy : (k,) share of the time they compute, 0 to 1; NaN for those that do not
    fill : (k,) share of their memory that is taken, 0 to 1; NaN where that is not followed
    """

    parts: Int
    busy: Float
    fill: Float

    def same(self, other: Activity) -> bool:
        """True if both numbers are equal."""
        return (
            np.array_equal(self.parts, other.parts)
            and np.array_equal(self.busy, other.busy, True)
            and np.array_equal(self.fill, other.fill, True)
        )


@dataclass(frozen=True, slots=True, eq=False)
class ChannelState:
    """Load of all channels of the elaborated design, or of each class of them.

    Parameters
    ----------
    load : (n_channels,) or (n_classes,) payload [B/s]
    utilization : (n_channels,) or (n_classes,) share of what each can achieve, 0 to 1; NaN where nothing is known
    activity
        What parts do at an instant of a run; None where nothing is run over time.
    title
        What the colours mean where that is something else than utilisation.
    words
        Words of the marks on links and parts by path, where they have not failed but are marked as those that have.
    classes
        Which channels are the same, where they are given in classes; None where each is reported.
    """

    load: Float
    utilization: Float
    activity: Activity | None = None
    title: str = ""
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    classes: Partition[Numbers] | None = None

    @staticmethod
    def of(loads: ChannelLoads) -> ChannelState:
        """What an analysis has found, in classes as far as it states them."""
        stated = loads.stored
        if isinstance(stated, LoadsOfClasses):
            return ChannelState(stated.load, stated.utilization, classes=stated.classes)
        return ChannelState(*stated)

    @property
    def n_channels(self) -> int:
        """How many channels there are."""
        return len(self.load) if self.classes is None else len(self.classes.of)

    def every(self) -> tuple[Float, Float]:
        """Load and utilisation of each channel. : (n_channels,) both"""
        if self.classes is None:
            return self.load, self.utilization
        return self.load[self.classes.of], self.utilization[self.classes.of]

    def _same_classes(self, other: ChannelState) -> bool:
        """True if numbers of both are of the same channels or classes."""
        mine, its = self.classes, other.classes
        return mine is its or (mine is not None and its is not None and np.array_equal(mine.of, its.of))

    def same(self, other: ChannelState) -> bool:
        """True if both numbers are equal."""
        equal = self._same_classes(other)
        mine, its = ((one.load, one.utilization) if equal else one.every() for one in (self, other))
        return (
            np.array_equal(mine[0], its[0])
            and (self.title, self.words) == (other.title, other.words)
            and np.array_equal(mine[1], its[1], True)
            and (self.activity is None) == (other.activity is None)
            and (self.activity is None or other.activity is None or self.activity.same(other.activity))
        )


@dataclass(frozen=True, slots=True, eq=False)
class ConnectionMap:
    """Which channels a connection represents.

    Parameters
    ----------
    net
        The elaborated design; None where it cannot be elaborated.
    links : (k,) links that connections show, ascending
    connection : (k,) the connection that shows each
    turned : (k,) whether the link runs against its connection
    box : (n_parts,) box that shows each part, −1 for none
    """

    net: Netlist | None
    links: Int
    connection: Int
    turned: Bool
    box: Int

    @property
    def n_links(self) -> int:
        """Links of the design."""
        return self.net.n_links if self.net is not None else 0

    def connections_of(self, links: Int) -> Int:
        """The connection that shows each of some links, −1 for none. : (n,)"""
        if not len(self.links):
            return np.full(len(links), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.links, links), len(self.links) - 1)
        return np.where(self.links[at] == links, self.connection[at], -1)


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """What each connection carries; the two columns are the directions a → b and b → a of the connection.

    Parameters
    ----------
    load : (m, 2) load of the busiest channel [B/s]
    limit : (m, 2) what that channel can achieve [B/s]
    used : (m, 2) utilisation of the busiest channel, NaN where nothing is known
    heat : (m, 2) class of utilisation, −1 where nothing is known
    assumed : (m,) whether the capacity is assumed
    bottleneck : (m,) whether the connection binds
    box_limits : (n,) whether a part that a box shows is one of those that limit
    box_bottleneck : (n,) how many equal parts a box represents that bind by themselves, 0 for none
    failed, box_failed : (m,), (n,) whether a connection or box has no capacity left at the instant shown
    failed_words, box_failed_words : words of their marks by number, where they are others than "failed"
    on_route : (m,) or None: what the highlighted route uses
    box_used : (n,) utilisation of the busiest connection at a box, NaN
    box_busy, box_fill : (n,) or None: share of what a box shows that computes, and of its memory that is taken; NaN
        where there is none
    known
        True if there is any load to show.
    """

    load: Float
    limit: Float
    used: Float
    heat: Int
    assumed: Bool
    bottleneck: Bool
    box_bottleneck: Int
    box_limits: Bool
    failed: Bool
    box_failed: Bool
    on_route: Bool | None
    box_on_route: Bool | None
    box_used: Float
    known: bool = False
    title: str = ""
    #: what limits, in the words of the mark on it
    mark: str = ""
    failed_words: Mapping[int, str] = field(default_factory=dict[int, str])
    box_failed_words: Mapping[int, str] = field(default_factory=dict[int, str])
    box_busy: Float | None = None
    box_fill: Float | None = None


def connection_map(geometry: Geometry) -> ConnectionMap:
    """Which connection shows each link of the elaborated design."""
    try:
        net = elaborate(geometry.design)
        box = boxes_of_parts(geometry)
        return ConnectionMap(net, *links_on_connections(geometry, box), box)
    except DocumentError:
        nowhere = np.empty(0, dtype=np.int64)
        return ConnectionMap(None, nowhere, nowhere, np.empty(0, dtype=bool), nowhere)


def nothing(geometry: Geometry) -> Loads:
    """The state of a picture nothing is known about."""
    m, n = geometry.n_connections, len(geometry)
    unknown = np.full((m, 2), np.nan)
    assumed = geometry.connection_status == STATUSES.index(Status.ASSUMED)
    return Loads(
        load=unknown,
        limit=unknown,
        used=unknown,
        heat=np.full((m, 2), -1, dtype=np.int64),
        assumed=assumed,
        bottleneck=np.zeros(m, dtype=bool),
        box_bottleneck=np.zeros(n, dtype=np.int64),
        box_limits=np.zeros(n, dtype=bool),
        failed=np.zeros(m, dtype=bool),
        box_failed=np.zeros(n, dtype=bool),
        on_route=None,
        box_on_route=None,
        box_used=np.full(n, np.nan),
    )


def loads_of(geometry: Geometry, load: Float, utilisation: Float, binding: Iterable[Bottleneck] = ()) -> Loads:
    """The loads on the connections of a picture, and what holds back the workload.

    Parameters
    ----------
    load, utilisation : (2 · n_links,) per channel, 2 · link from a to b and 2 · link + 1 back [B/s], [1]
    """
    found, binding = connection_map(geometry), tuple(binding)
    loads = with_loads(nothing(geometry), geometry, found, ChannelState(load, utilisation))
    ids = [b.id for b in binding if b.what == "channel"]
    parts = [(b.id, b.equal) for b in binding if b.what in ("part", "compute")]
    return with_binding(loads, found, link_numbers(found, ids), ids, parts)


def with_loads(loads: Loads, geometry: Geometry, found: ConnectionMap, channels: ChannelState | None) -> Loads:
    """The state with loads put on the connections; a connection shows the busiest channel of each direction."""
    links = found.links
    if channels is None or channels.n_channels != 2 * found.n_links or not len(links):
        # of another design: nothing is known until the answer for this one is there
        return loads
    load, limit, used = (np.full((geometry.n_connections, 2), np.nan) for _ in range(3))
    for direction in (0, 1):
        channel = 2 * links + (found.turned ^ bool(direction))
        connection, stated = _class_numbers(found.connection, channel, channels.classes)
        _busiest(connection, channels.load[stated], channels.utilization[stated], load, limit, used, direction)
    heat = np.where(np.isnan(used), -1, np.searchsorted(STEPS, np.nan_to_num(used), side="right"))
    most = np.fmax(used[:, 0], used[:, 1])
    box = np.full(len(geometry), -1.0)
    np.maximum.at(box, geometry.connection_a, np.nan_to_num(most, nan=-1.0))
    np.maximum.at(box, geometry.connection_b, np.nan_to_num(most, nan=-1.0))
    _raise_containers(geometry, box)
    return replace(
        loads,
        load=load,
        limit=limit,
        used=used,
        heat=heat,
        box_used=np.where(box < 0, np.nan, box),
        known=bool((heat >= 0).any()),
        title=channels.title,
        box_busy=_of_boxes(geometry, found, channels.activity, "busy"),
        box_fill=_of_boxes(geometry, found, channels.activity, "fill"),
    )


def _class_numbers(connection: Int, channel: Int, classes: Partition[Numbers] | None) -> tuple[Int, Int]:
    """Connections, and the numbers that describe their channels: of those of one class, once.

    Parameters
    ----------
    connection, channel : (k,) channels, and the connection that shows each
    """
    if classes is None:
        return connection, channel
    n = len(classes)
    key, size = connection * n + classes.of[channel], (int(connection.max()) + 1) * n
    if size <= _MARKED_LIMIT * len(key):
        met = np.zeros(size, dtype=bool)
        met[key] = True
        distinct = np.flatnonzero(met)
    else:
        distinct = np.unique(key)
    shown, stated = np.divmod(distinct, n)
    return shown, stated


def _of_boxes(
    geometry: Geometry, found: ConnectionMap, activity: Activity | None, what: Literal["busy", "fill"]
) -> Float | None:
    """Means over the parts that each box shows; None where nothing is known of any."""
    if activity is None:
        return None
    parts, share = activity.parts, getattr(activity, what)
    known = ~np.isnan(share)
    boxes = found.box[parts[known]]
    here = boxes >= 0
    if not here.any():
        return None
    count = np.bincount(boxes[here], minlength=len(geometry))
    total = np.bincount(boxes[here], share[known][here], len(geometry))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _busiest(
    connection: Int, load: Float, utilization: Float, out: Float, limit: Float, used: Float, direction: int
) -> None:
    share = np.nan_to_num(utilization, nan=-1.0)
    order = np.lexsort((load, share, connection))
    last = np.ones(len(order), dtype=bool)
    last[:-1] = connection[order][1:] != connection[order][:-1]
    top = order[last]
    at = connection[top]
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


def with_binding(
    loads: Loads,
    found: ConnectionMap,
    numbers: Mapping[str, int],
    ids: Iterable[str],
    parts: Iterable[tuple[str, int]] = (),
) -> Loads:
    """The state with the connections of some channels and the boxes of some parts marked as binding.

    `parts` are paths, each with how many equal parts it represents.
    """
    bottleneck = np.zeros(len(loads.bottleneck), dtype=bool)
    connections = connections_of_channels(found, numbers, ids)
    bottleneck[connections] = True
    boxes = np.zeros(len(loads.box_bottleneck), dtype=np.int64)
    # a link inside a closed card has no connection: the card describes it
    boxes[_cards_around(found, numbers)] = 1
    for path, equal in parts:
        box = box_of_path(found, path)
        if box >= 0:
            boxes[box] = max(boxes[box], equal)
    return replace(loads, bottleneck=bottleneck, box_bottleneck=boxes)


def with_failed(
    loads: Loads,
    found: ConnectionMap,
    numbers: Mapping[str, int],
    paths: Iterable[str],
    words: Mapping[str, str] | None = None,
) -> Loads:
    """The state with failed links and parts marked; what has failed limits nothing.

    Parameters
    ----------
    numbers
        Number of the link of each path that is one.
    words
        Words of the marks by path; the links of a part with words of its own are not marked.
    """
    words = words or {}
    failed, boxes = loads.failed.copy(), loads.box_failed.copy()
    failed_words: dict[int, str] = {}
    box_words: dict[int, str] = {}
    for path in paths:
        if path in numbers:
            at = connections_of_channels(found, numbers, (path,))
            failed[at] = True
            if path in words:
                failed_words.update(dict.fromkeys(at.tolist(), words[path]))
            continue
        box = box_of_path(found, path)
        if box >= 0 and path in words:
            boxes[box] = True
            box_words[box] = words[path]
        elif box >= 0 and found.net is not None:
            boxes[box] = True
            part = found.net.index_of(path)
            at = found.connections_of(np.flatnonzero((found.net.link_a == part) | (found.net.link_b == part)))
            failed[at[at >= 0]] = True
    bottleneck, box_bottleneck = loads.bottleneck & ~failed, np.where(boxes, 0, loads.box_bottleneck)
    return replace(
        loads,
        failed=failed,
        box_failed=boxes,
        bottleneck=bottleneck,
        box_bottleneck=box_bottleneck,
        failed_words=failed_words,
        box_failed_words=box_words,
    )


def with_limits(loads: Loads, geometry: Geometry, mark: str) -> Loads:
    """The state with all equal parts marked where one represents several that limit, and the words of the mark."""
    limits = loads.box_bottleneck > 0
    for box in np.flatnonzero(loads.box_bottleneck > 1).tolist():
        limits[_equal_boxes(geometry, box, int(loads.box_bottleneck[box]))] = True
    return replace(loads, box_limits=limits, mark=mark)


def _equal_boxes(geometry: Geometry, box: int, count: int) -> list[int]:
    """Boxes of the parts of one type, if they are as many as are equal; else the one box."""
    thing = geometry.thing(box)
    if not isinstance(thing, Part):
        return [box]
    same = np.flatnonzero(geometry.kind == geometry.kind[box])
    if len(same) > _MOST_EQUAL:
        return [box]
    found = [k for k in same.tolist() if getattr(geometry.thing(k), "type", None) == thing.type]
    return found if int(geometry.replicas[found].sum()) == count or len(found) == count else [box]


def _cards_around(found: ConnectionMap, numbers: Mapping[str, int]) -> Int:
    """The boxes that hold links, given by their numbers, which no connection shows. : (k,)"""
    if found.net is None or not numbers:
        return np.empty(0, dtype=np.int64)
    links = np.array(list(numbers.values()), dtype=np.int64)
    links = links[found.connections_of(links) < 0]
    a, b = found.box[found.net.link_a[links]], found.box[found.net.link_b[links]]
    return np.unique(a[(a >= 0) & (a == b)])


def box_of_path(found: ConnectionMap, path: str) -> int:
    """Number of the box that shows a part; −1 for none."""
    try:
        return int(found.box[found.net.index_of(path)]) if found.net is not None else -1
    except DocumentError:
        return -1


def with_route(
    loads: Loads, geometry: Geometry, found: ConnectionMap, numbers: Mapping[str, int], ids: Iterable[str]
) -> Loads:
    """The state with a route lit; without ids nothing is."""
    ids = tuple(ids)
    if not ids:
        return replace(loads, on_route=None, box_on_route=None)
    connections = connections_of_channels(found, numbers, ids)
    lit = np.zeros(geometry.n_connections, dtype=bool)
    lit[connections] = True
    boxes = np.zeros(len(geometry), dtype=bool)
    boxes[geometry.connection_a[connections]] = True
    boxes[geometry.connection_b[connections]] = True
    return replace(loads, on_route=lit, box_on_route=boxes)


def connections_of_channels(found: ConnectionMap, numbers: Mapping[str, int], ids: Iterable[str]) -> Int:
    """Numbers of the connections that show channels, given by ids such as ``up:ab``. : (k,)"""
    links = [numbers[path] for path in (channel.rpartition(":")[0] or channel for channel in ids) if path in numbers]
    if not links:
        return np.empty(0, dtype=np.int64)
    connections = found.connections_of(np.array(links, dtype=np.int64))
    return np.unique(connections[connections >= 0])


def link_numbers(found: ConnectionMap, ids: Iterable[str]) -> dict[str, int]:
    """Number of the link of each channel id that exists; walks the groups of a path, never all links."""
    if found.net is None:
        return {}
    known: dict[str, int] = {}
    for channel in ids:
        path = channel.rpartition(":")[0] or channel
        if path not in known:
            number = link_number(found.net, path)
            if number is not None:
                known[path] = number
    return known
