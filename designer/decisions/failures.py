"""What can fail in a design, and which failures are equivalent.

A failure takes one part away with all it contains, or one link of a bundle, or one of the two feeds of a rack. Failures
are equivalent when nothing distinguishes them: equal parts or links, joined in the same way to equivalent neighbours,
carrying the same load.
One of a class is then worked out for all of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.document import LinkValues, Part
from designer.engine.network import Network
from designer.engine.network.hashing import mix, rounded
from designer.engine.network.partition import by_value, refined
from designer.engine.results import ChannelLoads
from designer.engine.routes.damage import KINDS, contents_of
from designer.rules.context import Context

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

LINK: Final = "link"
FEED: Final = "feed"
#: binary digits of a load that count: what differs by rounding is equal
_DIGITS: Final = 20
#: label of the pair of a part and what contains it
_CONTAINED: Final = 3
#: attributes that name a place rather than state what a part or link does
_PLACES: Final = frozenset({"numa", "socket", "vendor_name", "module", "slot", "address", "bus_id", "serial", "uuid"})


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """Failures that are equivalent; the first represents all.

    Parameters
    ----------
    kind
        Kind of part, ``link`` or ``feed``.
    members : (n,) numbers of the parts, or of the links, that fail in this way
    """

    kind: str
    members: Int

    @property
    def first(self) -> int:
        """The one that represents all."""
        return int(self.members[0])

    @property
    def of_link(self) -> bool:
        """True if a link fails."""
        return self.kind == LINK


def failures(
    network: Network, loads: ChannelLoads | None = None, named: Sequence[Int] = (), *, equal: bool = True
) -> tuple[Failure, ...]:
    """All single failures of a design, by classes of those that are equivalent; each by itself where `equal` is false.

    Parameters
    ----------
    loads
        What the channels carry in the workload it is asked about: what carries more is not like what carries less.
    named
        Numbers of the parts that each setting of the workload names: who takes part differs from who does not.
    """
    if equal:
        part_class, link_class = classes(network, loads, named)
    else:
        part_class, link_class = np.arange(network.net.n_parts), np.arange(network.net.n_links)
    found: list[Failure] = []
    for kind in KINDS:
        found += _split(kind, network.parts_of_kind(kind), part_class)
    found += _split(LINK, np.flatnonzero(network.net.link_a != network.net.link_b), link_class)
    fed = [rack for rack in network.parts_of_kind("rack").tolist() if feed_of(network, rack) is not None]
    return (*found, *_split(FEED, np.array(fed, dtype=np.int64), part_class))


def _split(kind: str, members: Int, of: Int) -> list[Failure]:
    """Members by class, in the order of the first of each."""
    return [Failure(kind, members[rows]) for rows in by_value(of[members]).groups()]


def classes(network: Network, loads: ChannelLoads | None, named: Sequence[Int] = ()) -> tuple[Int, Int]:
    """Class of every part and of every link: the coarsest that distinguishes what is joined differently."""
    net = network.net
    parts = numbers([part_text(p) for p in net.part_defs])[net.part_def]
    for numbers_named in named:
        parts = 2 * parts
        parts[numbers_named] += 1
    links = numbers([link_text(d) for d in net.link_defs])[net.link_def]
    label = mix(links)
    if loads is not None:
        label = mix(links, *(rounded(loads.load[way::2], _DIGITS) for way in (0, 1)))
    inside = np.flatnonzero(net.parent >= 0)
    contained = np.full(len(inside), _CONTAINED, dtype=np.uint64)
    colour = refined(mix(parts), [(net.link_a, net.link_b, label), (inside, net.parent[inside], contained)])
    ends = np.sort(np.stack([colour[net.link_a], colour[net.link_b]]), axis=0).view(np.int64)
    return by_value(colour).of, by_value(mix(label.view(np.int64), *ends)).of


def numbers(texts: list[str]) -> Int:
    """A number for each text, the same for equal ones."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)


def part_text(part: Part) -> str:
    """What distinguishes a part from others, wherever it is."""
    values = {name: quantity.model_dump_json() for name, quantity in part.overrides.items()}
    return json.dumps([part.kind, part.type, values, _distinguishing(part.attributes)], sort_keys=True)


def link_text(values: LinkValues) -> str:
    """What distinguishes a link from others wherever it is."""
    stated: Mapping[str, object] = {
        name: getattr(values, name)
        for name in ("kind", "count", "bandwidth_per_direction", "generation", "lanes", "status")
    }
    texts = {name: str(value) for name, value in stated.items()}
    return json.dumps([texts, _distinguishing(values.attributes)], sort_keys=True)


def _distinguishing(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if name not in _PLACES}


@dataclass(frozen=True, slots=True)
class Feed:
    """A rack that two feeds supply: what one of them can give, and what the rack draws at most [W]."""

    limit: float
    draw: float


def feed_of(network: Network, rack: int) -> Feed | None:
    """What one of the two feeds of a rack carries when the other is lost; None where the rack does not say."""
    context, net = Context(network.design), network.net
    limit = context.number(net.part(rack), "power_capacity")
    if limit is None:
        return None
    inside = [p for p in contents_of(network, [rack]).tolist() if p != rack]
    return Feed(limit, sum(context.number(net.part(p), "power_max") or 0.0 for p in inside))


def lost_parts(network: Network, failure: Failure) -> Int:
    """Numbers of the parts a failure takes away."""
    if failure.of_link:
        return np.empty(0, dtype=np.int64)
    if failure.kind == FEED:
        feed = feed_of(network, failure.first)
        # the other feed carries the rack alone; one that is too weak trips, and all in the rack is dark
        dark = feed is not None and feed.draw > feed.limit
        return contents_of(network, [failure.first]) if dark else np.empty(0, dtype=np.int64)
    return contents_of(network, [failure.first])
