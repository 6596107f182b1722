"""Paths through a network of switches: all shortest ones, split over equal next hops or hashed to one.

Distances come from a breadth-first search for all targets at once, 64 targets to a machine word. Works on any
fabric: rails, leaf/spine, fat trees, rings, and after failures. Equal-cost multipath is hop by hop and counts cables,
so splitting over next hops is not the same as splitting over paths when their numbers differ.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.network.hashing import draw

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint64]

#: no fabric has a longer shortest path; the search ends earlier when nothing new is reached
HOPS_LIMIT: Final = 64
#: looking for requests that are equivalent costs more than it saves among so few
SMALL_LIMIT: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class SwitchGraph:
    """Switches and the channels between them.

    Parameters
    ----------
    start : (n_switches + 1,) first step of each switch
    to, channel : (n_steps,) neighbour and channel of each step
    cables : (n_steps,) how many cables the channel bundles
    key : (n_steps,) ``switch * n_switches + to``, ascending
    single
        True if no two channels join the same switches.
    """

    n_switches: int
    start: Int
    to: Int
    channel: Int
    cables: Int
    key: Int
    single: bool

    @staticmethod
    def of(n_switches: int, source: Int, target: Int, channel: Int, cables: Int) -> SwitchGraph:
        """The graph of the given directed steps."""
        key = source * n_switches + target
        order = np.argsort(key, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n_switches))])
        key = key[order]
        single = bool((key[1:] != key[:-1]).all())
        return SwitchGraph(n_switches, start, target[order], channel[order], cables[order], key, single)


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """The switches at one distance from each target.

    Parameters
    ----------
    bits : (n_words, n_switches) targets in the bits of words
    table : (64 · n_words, n_switches) the same, a row for each target
    count : (64 · n_words,) how many switches are near each target
    """

    bits: Bits
    table: npt.NDArray[np.bool_]
    count: Int

    def has(self, switch: Int, target: Int) -> npt.NDArray[np.bool_]:
        """True if each switch is near its target."""
        return _has(self.bits, switch, target)

    def size(self, target: Int) -> Int:
        """How many switches are near each target."""
        return self.count[target]

    def switches(self, target: Int) -> tuple[Int, Int]:
        """The switches near each of some targets, and which of these each is near, in their order."""
        distinct, which = np.unique(target, return_inverse=True)
        row, switch = np.nonzero(self.table[distinct])
        start = np.searchsorted(row, np.arange(len(distinct)))
        entry, owner = _ranges(start[which], start[which] + self.count[target])
        return switch[entry], owner


def _has(bits: Bits, switch: Int, target: Int) -> npt.NDArray[np.bool_]:
    word = bits[target >> 6, switch]
    return (word >> (target & 63).astype(np.uint64)) & np.uint64(1) != 0


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """Which switch is how far from which target.

    Parameters
    ----------
    levels : per distance k, (n_words, n_switches) bits of the targets that are exactly k steps away
    """

    levels: tuple[Bits, ...]
    _near: dict[int, Near] = field(default_factory=dict[int, Near], repr=False)
    _kinds: dict[int, Int] = field(default_factory=dict[int, Int], repr=False)

    def near(self, k: int) -> Near:
        """The switches at exactly `k` steps from each target."""
        if k not in self._near:
            bits = self.levels[k]
            bytewise = bits.view(np.uint8) if sys.byteorder == "little" else bits.byteswap().view(np.uint8)
            # turned while eight targets are one byte
            turned = np.ascontiguousarray(bytewise.reshape(*bits.shape, 8).transpose(0, 2, 1))
            table = np.unpackbits(turned, axis=1, bitorder="little").view(np.bool_).reshape(-1, bits.shape[1])
            self._near[k] = Near(bits, table, np.count_nonzero(table, axis=1))
        return self._near[k]

    def kinds(self, k: int) -> Int:
        """A number for each target: the same for those that have the same switches at `k` steps. : (n_targets,)"""
        if k not in self._kinds:
            rows = np.packbits(self.near(k).table, axis=1)
            # a row as one value of so many bytes: sorted as a whole, equal only where all of it is
            whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1])))
            self._kinds[k] = np.unique(whole, return_inverse=True)[1].ravel().astype(np.int64)
        return self._kinds[k]

    def of(self, switch: Int, target: Int) -> Int:
        """Distance of pairs [steps], −1 where there is no path."""
        found = np.full(len(switch), -1, dtype=np.int64)
        for k in range(len(self.levels)):
            found[_has(self.levels[k], switch, target)] = k
        return found


def measure(graph: SwitchGraph, targets: Sequence[Sequence[int]]) -> Distances:
    """Distances of all switches to all targets; a target is a set of switches, any of which will do."""
    words = max((len(targets) + 63) // 64, 1)
    first = np.zeros((words, graph.n_switches), dtype=np.uint64)
    for t, switches in enumerate(targets):
        for switch in switches:
            first[t >> 6, switch] |= np.uint64(1) << np.uint64(t & 63)
    joined = np.flatnonzero(np.diff(graph.start) > 0)
    starts = graph.start[joined]
    levels = [first]
    # word by word: the fronts of 64 targets stay in the cache
    for word in range(words):
        front, k = first[word], 1
        seen = front.copy()
        while front.any() and k < HOPS_LIMIT and len(joined):
            reached = np.bitwise_or.reduceat(front[graph.to], starts)
            front = np.zeros_like(seen)
            front[joined] = reached & ~seen[joined]
            seen |= front
            if front.any():
                if k == len(levels):
                    levels.append(np.zeros_like(first))
                levels[k][word] = front
            k += 1
    return Distances(tuple(levels))


@dataclass(frozen=True, slots=True, eq=False)
class FabricPaths:
    """Channels that each request takes, with shares.

    Parameters
    ----------
    request, channel : (nnz,) which request uses which channel
    share : (nnz,) share of its traffic
    last_request, last_switch, last_share
        Where the traffic of each request arrives.
    """

    request: Int
    channel: Int
    share: Float
    last_request: Int
    last_switch: Int
    last_share: Float


def split_paths(
    graph: SwitchGraph, distances: Distances, request: Int, switch: Int, target: Int, share: Float
) -> FabricPaths:
    """Paths with traffic split over all shortest next hops, in proportion to cables.

    Parameters
    ----------
    request, switch, target, share : (n,) traffic that starts: whose, where, to which target, what part of it
    """
    return _walk(graph, distances, request, switch, target, share, None)


def hashed_paths(
    graph: SwitchGraph, distances: Distances, labels: Int, switch: Int, target: Int, seed: int
) -> FabricPaths:
    """Paths on which each request takes one next hop at every switch, chosen by a hash of its label and the switch.

    Parameters
    ----------
    labels : (n,) what switches see of each request, as they see addresses and ports
    """
    request = np.arange(len(labels))
    return _walk(graph, distances, request, switch, target, np.ones(len(request)), (labels, seed))


def _walk(
    graph: SwitchGraph,
    distances: Distances,
    request: Int,
    switch: Int,
    target: Int,
    share: Float,
    hashed: tuple[Int, int] | None,
) -> FabricPaths:
    out: list[tuple[Int, Int, Float]] = []
    done: list[tuple[Int, Int, Float]] = []
    left = distances.of(switch, target)
    going = left >= 0
    while True:
        request, switch, target, share, left = request[going], switch[going], target[going], share[going], left[going]
        there = left == 0
        done.append((request[there], switch[there], share[there]))
        if there.any():
            going = ~there
            continue
        if not len(request):
            break
        first, which = _equal(graph, distances, switch, target, left)
        step, owner = _next_steps(graph, distances, switch[first], target[first], left[first])
        cables = graph.cables[step]
        total = np.bincount(owner, cables, len(first)).astype(np.float64)
        head = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(first)))])
        if hashed is None:
            fan = np.diff(head)[which]
            entry, source = _ranges(head[which], head[which] + fan)
            chosen = step[entry]
            part = share[source] * graph.cables[chosen] / total[which][source]
        else:
            source = np.arange(len(request))
            labels, seed = hashed
            chosen = step[_pick(labels[request], switch, which, cables, head, total, seed)]
            part = share
        out.append((request[source], graph.channel[chosen], part))
        request, target, left = request[source], target[source], left[source] - 1
        switch, share = graph.to[chosen], part
        if hashed is None:
            request, switch, target, share, left = _merge(request, switch, target, share, left)
        going = np.ones(len(request), dtype=bool)
    return FabricPaths(*_concatenate(out), *_concatenate(done))


def _equal(graph: SwitchGraph, distances: Distances, switch: Int, target: Int, left: Int) -> tuple[Int, Int]:
    """First request of each pair of switch and kind of target, and the pair of each request.

    Where to go next depends on which switches are one step nearer: the same for all leaves below the same spines.
    """
    if len(switch) <= SMALL_LIMIT:
        every = np.arange(len(switch))
        return every, every
    kind = np.zeros(len(switch), dtype=np.int64)
    known = 0
    for k in np.flatnonzero(np.bincount(left)).tolist():
        rows, kinds = np.flatnonzero(left == k), distances.kinds(k - 1)
        kind[rows] = known + kinds[target[rows]]
        known += int(kinds.max()) + 1
    _, first, which = np.unique(kind * graph.n_switches + switch, return_index=True, return_inverse=True)
    return first, which


def _next_steps(graph: SwitchGraph, distances: Distances, switch: Int, target: Int, left: Int) -> tuple[Int, Int]:
    """Steps that lead one closer, and which of the given pairs each belongs to, in the order of the pairs."""
    pieces: list[tuple[Int, Int, Int]] = []
    fan = np.zeros(len(switch), dtype=np.int64)
    degree = graph.start[switch + 1] - graph.start[switch]
    for k in np.flatnonzero(np.bincount(left)):
        rows = np.flatnonzero(left == k)
        near = distances.near(int(k) - 1)
        # Coming down from a core with hundreds of ports, the few switches next to the target are the shorter list.
        back = degree[rows] > 2 * near.size(target[rows])
        for chosen, find in ((rows[~back], _forward), (rows[back], _backward)):
            if len(chosen):
                step, owner = find(graph, near, switch[chosen], target[chosen])
                fan[chosen] = np.bincount(owner, minlength=len(chosen))
                pieces.append((chosen, step, owner))
    owners = np.repeat(np.arange(len(switch)), fan)
    if len(pieces) == 1:
        return pieces[0][1], owners
    head = np.cumsum(fan) - fan
    steps = np.empty(len(owners), dtype=np.int64)
    for chosen, step, _ in pieces:
        steps[_ranges(head[chosen], head[chosen] + fan[chosen])[0]] = step
    return steps, owners


def _forward(graph: SwitchGraph, near: Near, switch: Int, target: Int) -> tuple[Int, Int]:
    """Of all steps out of each switch, those that end near its target."""
    step, owner = _ranges(graph.start[switch], graph.start[switch + 1])
    good = near.has(graph.to[step], target[owner])
    return step[good], owner[good]


def _backward(graph: SwitchGraph, near: Near, switch: Int, target: Int) -> tuple[Int, Int]:
    """Of all switches near each target, the steps that lead there."""
    reached, owner = near.switches(target)
    wanted = switch[owner] * graph.n_switches + reached
    low = np.searchsorted(graph.key, wanted)
    if graph.single:
        found = np.flatnonzero(graph.key[np.minimum(low, len(graph.key) - 1)] == wanted)
        return low[found], owner[found]
    step, which = _ranges(low, np.searchsorted(graph.key, wanted, side="right"))
    return step, owner[which]


def _ranges(low: Int, high: Int) -> tuple[Int, Int]:
    """All numbers of the ranges low to high − 1, and which range each is from."""
    size = high - low
    owner = np.repeat(np.arange(len(low)), size)
    return np.arange(len(owner)) - np.repeat(np.cumsum(size) - size - low, size), owner


def _pick(label: Int, switch: Int, which: Int, cables: Int, head: Int, total: Float, seed: int) -> Int:
    """One of the steps of each request's pair, by a hash, each cable equally likely."""
    chance = draw(seed, label, switch)
    if cables.min() == cables.max():
        return head[which] + (chance * np.diff(head)[which]).astype(np.int64)
    upto = np.cumsum(cables)
    before = np.concatenate([[0], upto])[head[:-1]]
    return np.searchsorted(upto, before[which] + chance * total[which], side="right").astype(np.int64)


def _merge(request: Int, switch: Int, target: Int, share: Float, left: Int) -> tuple[Int, Int, Int, Float, Int]:
    """Traffic of one request that meets again at a switch becomes one."""
    if not len(request):
        return request, switch, target, share, left
    key = request * (int(switch.max()) + 1) + switch
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    share, kept = np.add.reduceat(share[order], first), order[first]
    return request[kept], switch[kept], target[kept], share, left[kept]


def _concatenate(pieces: list[tuple[Int, Int, Float]]) -> tuple[Int, Int, Float]:
    if not pieces:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    a, b, c = zip(*pieces, strict=True)
    return np.concatenate(a), np.concatenate(b), np.concatenate(c)
