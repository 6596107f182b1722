"""The network of a design that something was taken out of: parts and links keep their numbers and paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.design.components import connected
from designer.design.document import Part, with_changes
from designer.design.elaborate import Netlist
from designer.design.joining import Selection
from designer.design.shapes import Shape
from designer.engine.network import NETWORKS_LIMIT, Network, network_of
from designer.engine.network.capacities import HOST
from designer.engine.results import ChannelLoads
from designer.memo import memo

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: kinds of parts that fail by themselves, in the order in which they are listed
KINDS: Final = ("server", "switch", "nvswitch", "pcie_switch", "gpu", "nic", "dpu", "storage", "drive")
#: kinds whose loss no neighbour takes with it
_ALONE: Final = frozenset({"server", "switch", "storage"})
#: shares this near are the same, relative
_SAME_TOLERANCE: Final = 1e-9
#: replaces a failed part: it offers nothing and passes nothing on
_NOTHING: Final = Part(id="lost", kind="lost")


@dataclass(frozen=True, slots=True, eq=False)
class Remains(Netlist):
    """A netlist of which some parts are gone: selectors no longer choose them.

    Parameters
    ----------
    dead : (n_parts,)
    """

    dead: Bool

    def select(self, path: str) -> Selection:
        """The parts a path chooses that are still there."""
        chosen = Netlist.select(self, path)
        index = np.where((chosen.index >= 0) & self.dead[chosen.index], -1, chosen.index)
        return Selection(index, chosen.last)


def contents_of(network: Network, parts: list[int]) -> Int:
    """Some parts and all they contain, by their numbers, ascending."""
    chosen = np.zeros(network.net.n_parts, dtype=bool)
    chosen[parts] = True
    parent = network.net.parent
    inside = np.flatnonzero(parent >= 0)
    while True:
        grown = inside[chosen[parent[inside]] & ~chosen[inside]]
        if not len(grown):
            return np.flatnonzero(chosen)
        chosen[grown] = True


def remains(network: Network, parts: Sequence[int] | Int, links: Sequence[int] = ()) -> Network:
    """The network without some parts, and with one link less in some bundles, all by their numbers.

    Raises
    ------
    AnalysisError
        If a NIC has no bandwidth.
    """
    net = network.net
    dead = np.zeros(net.n_parts, dtype=bool)
    dead[np.asarray(parts, dtype=np.int64)] = True
    part_defs, part_def = net.part_defs, net.part_def
    if dead.any():
        part_defs, part_def = (*part_defs, _NOTHING), np.where(dead, len(part_defs), part_def)
    link_defs, link_def = list(net.link_defs), net.link_def.copy()
    cut = dead[net.link_a] | dead[net.link_b]
    for number, times in zip(*np.unique(np.asarray(links, dtype=np.int64), return_counts=True), strict=True):
        definition = net.link(int(number))
        if definition.count <= times:
            cut[number] = True
        else:
            link_def[number] = len(link_defs)
            link_defs.append(with_changes(definition, count=definition.count - int(times)))
    # a link that leads from a part back to it carries nothing; where one of its ends is gone it stays with that
    end = np.where(dead[net.link_a] | ~dead[net.link_b], net.link_a, net.link_b)
    link_a, link_b = np.where(cut, end, net.link_a), np.where(cut, end, net.link_b)
    values: dict[str, Any] = {f.name: getattr(net, f.name) for f in fields(net) if f.name != "dead"}
    values |= {
        "part_defs": part_defs,
        "link_defs": tuple(link_defs),
        "shape": Shape(net.block),
        "changed": replace(net.arrays, part_def=part_def, link_def=link_def, link_a=link_a, link_b=link_b),
    }
    return network_of(network.design, Remains(**values, dead=dead))


@dataclass(frozen=True, slots=True, eq=False)
class Damage:
    """What a failure takes away in the end.

    Parameters
    ----------
    parts
        What fails, what no host sees any more, and what then leads nowhere; ascending.
    links
        Links that fail, one of each bundle each time it is named.
    stranded
        Accelerators that work but can no longer be used.
    deleted
        What fails and what no host sees any more, without what leads nowhere.
    after
        The network without these parts and links; None where nothing is lost.
    """

    parts: Int
    links: tuple[int, ...]
    stranded: Int
    deleted: Int
    after: Network | None = None

    def contains(self, other: Damage) -> bool:
        """True if all that is gone with `other` is gone with this as well."""
        if not np.isin(other.parts, self.parts).all():
            return False
        left = [k for k in other.links if not self._takes(k)]
        return all(left.count(k) <= self.links.count(k) for k in set(left))

    def _takes(self, link: int) -> bool:
        net = self.after.net if self.after is not None else None
        return net is not None and bool(net.link_a[link] == net.link_b[link])

    @property
    def key(self) -> tuple[bytes, tuple[int, ...]]:
        """Equal for what leaves the same behind."""
        return self.parts.tobytes(), self.links


def damage(network: Network, parts: Int, links: Sequence[int] = ()) -> Damage:
    """What the loss of parts and links takes away in the end.

    Notes
    -----
    A device whose last way up to a processor is gone is no longer seen by any machine, wherever else it is joined: a
    NIC below a dead PCIe switch still hangs on the network and is of no use. A switch or NIC left with one link passes
    nothing on; without it nothing changes.
    """
    net = network.net
    dead = np.zeros(net.n_parts, dtype=bool)
    dead[parts] = True
    cut = np.zeros(net.n_links, dtype=bool)
    for number, times in zip(*np.unique(np.asarray(links, dtype=np.int64), return_counts=True), strict=True):
        cut[number] = net.link(int(number)).count <= times
    gone = dead.copy()
    alive = ~(cut | dead[net.link_a] | dead[net.link_b]) & (net.link_a != net.link_b)
    gone |= _unseen(network, alive) & ~dead
    off = np.flatnonzero(gone)
    passing = _is_transit(network)
    while True:
        alive &= ~(gone[net.link_a] | gone[net.link_b])
        ends = np.bincount(net.link_a[alive], minlength=net.n_parts)
        ends += np.bincount(net.link_b[alive], minlength=net.n_parts)
        leads_nowhere = passing & (ends <= 1) & ~gone & (_degree(network) > 1)
        if not leads_nowhere.any():
            break
        gone |= leads_nowhere
    accelerates = network.has(Capability.ACCELERATE)
    hidden = np.flatnonzero(gone & ~dead & accelerates)
    left = tuple(sorted(k for k in links if not (gone[net.link_a[k]] or gone[net.link_b[k]])))
    kept = np.flatnonzero(gone)
    if not len(kept) and not cut.any():
        return Damage(kept, left, hidden, off)
    after = remains(network, kept, left)
    return Damage(kept, left, np.union1d(hidden, stranded(network, after)), off, after)


def best_way(
    network: Network,
    parts: Int,
    links: Sequence[int],
    share: Callable[[Damage], float],
    known: dict[object, tuple[float, Damage, str]],
) -> tuple[float, Damage, str]:
    """How a workload goes on without parts and links: on all that still works, or with more left out if that is better.

    A job whose server lost one NIC may run without that server, or without the switch behind the NIC. So the loss of
    more never costs less than the loss of a part of it.

    Parameters
    ----------
    share
        Of the throughput that a damage leaves.
    known
        Answers so far, by damage.

    Returns
    -------
    tuple of float, Damage, str
        The share that is left, what is gone then, and the path of what is left out in addition; empty for nothing.
    """
    own = damage(network, parts, links)
    key = (own.key, own.deleted.tobytes())
    found = known.get(key)
    if found is None:
        # known before anything larger is tried: two parts may each be larger than the other
        found = known[key] = share(own), own, ""
        for part in _larger(network, own, parts, links) if found[0] < 1 else ():
            more = best_way(network, contents_of(network, [part]), (), share, known)
            if more[0] > found[0] * (1 + _SAME_TOLERANCE):
                found = more[0], more[1], more[2] or network.net.path(part)
        known[key] = found
    return found


def _larger(network: Network, found: Damage, parts: Int, links: Sequence[int]) -> list[int]:
    """Parts whose loss takes all of a failure with it: what it is in, and what it is joined to."""
    net = network.net
    own = set(parts.tolist())
    near = {int(end[k]) for k in links for end in (net.link_a, net.link_b)}
    outer = [p for p in own if int(net.parent[p]) not in own]
    if len(outer) == 1 and net.part(outer[0]).kind not in _ALONE:
        for one, other in ((net.link_a, net.link_b), (net.link_b, net.link_a)):
            near |= set(other[one == outer[0]].tolist())
    for part in [*near, *outer]:
        above = int(net.parent[part])
        while above >= 0:
            near.add(above)
            above = int(net.parent[above])
    able = [p for p in sorted(near - own) if net.part(p).kind in KINDS]
    return [p for p in able if damage(network, contents_of(network, [p])).contains(found)]


def idle(network: Network, found: Damage, loads: ChannelLoads | None) -> bool:
    """True if nothing passes what is lost, and none of it does anything but pass traffic on: nothing changes."""
    if loads is None or not _is_transit(network)[found.parts].all():
        return False
    net = network.net
    touched = np.zeros(net.n_parts, dtype=bool)
    touched[found.parts] = True
    links = touched[net.link_a] | touched[net.link_b]
    links[list(found.links)] = True
    lost = np.flatnonzero(links)
    return not (loads.at(np.concatenate([2 * lost, 2 * lost + 1]))[0] > 0).any()


def _unseen(network: Network, alive: Bool) -> Bool:
    """Parts that had a way up to a processor over host links and have none. : (n_parts,)"""
    net = network.net
    inner = alive & (network.domain == HOST)
    count, label = connected(net.n_parts, net.link_a[inner], net.link_b[inner])
    seen = np.zeros(count, dtype=bool)
    seen[label[network.has(Capability.COMPUTE)]] = True
    return _reaches_compute(network) & ~seen[label]


@memo(most=NETWORKS_LIMIT)
def _reaches_compute(network: Network) -> Bool:
    net = network.net
    inner = (network.domain == HOST) & (net.link_a != net.link_b)
    count, label = connected(net.n_parts, net.link_a[inner], net.link_b[inner])
    seen = np.zeros(count, dtype=bool)
    seen[label[network.has(Capability.COMPUTE)]] = True
    return seen[label]


@memo(most=NETWORKS_LIMIT)
def _degree(network: Network) -> Int:
    net = network.net
    ends = np.bincount(net.link_a, minlength=net.n_parts)
    return ends + np.bincount(net.link_b, minlength=net.n_parts)


@memo(most=NETWORKS_LIMIT)
def _is_transit(network: Network) -> Bool:
    """Parts that do nothing but pass traffic on. : (n_parts,)"""
    only = [k.capabilities <= {Capability.SWITCH, Capability.ATTACH} and bool(k.capabilities) for k in network.kinds]
    return np.array(only, dtype=bool)[network.net.part_def]


def stranded(before: Network, after: Network) -> Int:
    """Numbers of the accelerators that work but are cut off from the rest of those they worked with.

    Notes
    -----
    An accelerator counts as joined where a host is: through parts that pass traffic on, not through its peers, which
    lend no way to memory or storage. Of what hung together before the failure the larger rest goes on.
    """
    gpus = np.flatnonzero(before.has(Capability.ACCELERATE))
    alive = after.has(Capability.ACCELERATE)[gpus]
    old, new = _hosted_whole(before), _host_components(after, gpus)
    found = np.zeros(len(gpus), dtype=bool)
    for label in np.unique(old[old >= 0]).tolist():
        mine = alive & (old == label)
        rest = new[mine & (new >= 0)]
        largest = int(np.bincount(rest).argmax()) if len(rest) else -1
        found |= mine & ((new != largest) | (new < 0))
    return gpus[found]


@memo(most=NETWORKS_LIMIT)
def _hosted_whole(network: Network) -> Int:
    return _host_components(network, np.flatnonzero(network.has(Capability.ACCELERATE)))


def _host_components(network: Network, gpus: Int) -> Int:
    """What each accelerator hangs together with, −1 where no host is near. : (n_gpus,)"""
    net = network.net
    accelerates = network.has(Capability.ACCELERATE)
    a, b = net.link_a, net.link_b
    plain = ~accelerates[a] & ~accelerates[b] & (a != b)
    count, label = connected(net.n_parts, a[plain], b[plain])
    hosts = np.zeros(count, dtype=bool)
    hosts[label[network.has(Capability.COMPUTE) | network.has(Capability.MEMORY)]] = True
    if not hosts.any():
        hosts[:] = True
    joined = np.full(net.n_parts, -1, dtype=np.int64)
    for one, other in ((a, b), (b, a)):
        ends = accelerates[one] & ~accelerates[other] & (one != other)
        ends &= hosts[label[other]]
        np.maximum.at(joined, one[ends], label[other][ends])
    return joined[gpus]
