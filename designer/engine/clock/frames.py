"""A run as frames: loads, what binds and what is left at any instant, without going through the run again.

Loads change at instants only. Between two of some instants that are kept with all their loads there are a bounded
number of changes, so that a frame costs the same however long the run was. Means over the time of a frame come from
areas kept next to the loads: played fast, a frame shows what was carried in its time and not what chance hit on.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.accelerators import memory_of
from designer.engine.clock.interruptions import Interruption, interruptions
from designer.engine.clock.run import Run
from designer.engine.results import Bottleneck
from designer.memo import memo

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: numbers that may be kept for a run, of loads and of areas each: 32 MB
_KEPT_LIMIT: Final = 4_000_000
#: changes that are gone through for a frame, at least
_CHANGES_LIMIT: Final = 256
#: a load below this part of its peak is the rounding of a sum
_NOTHING_TOLERANCE: Final = 1e-9
#: equivalent resources are named up to this many; they all look the same
EQUAL_LIMIT: Final = 64


@dataclass(frozen=True, slots=True)
class Held:
    """What holds tasks back at an instant.

    Parameters
    ----------
    bottleneck
        One of the resources, in words.
    equal
        Ids of all resources like it, as many as can be determined.
    tasks
        Those that wait for it, by their place in ``Run.tasks``.
    """

    bottleneck: Bottleneck
    equal: tuple[str, ...]
    tasks: tuple[int, ...]


class Frames:
    """Loads of a run at any instant.

    Parameters
    ----------
    run
        The run that is looked at.

    Attributes
    ----------
    resources : (k,) resources that carry anything, one of each sort
    times : (m,) instants at which a load changes [s]
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        found = run.intervals
        self.resources, column = np.unique(found.resource, return_inverse=True)
        open_ended = ~np.isfinite(found.end)
        when = np.concatenate([found.begin, found.end[~open_ended]])
        change = np.concatenate([found.value, -found.value[~open_ended]])
        which = np.concatenate([column, column[~open_ended]])
        order = np.argsort(when, kind="stable")
        self._when, self._change, self._which = when[order], change[order], which[order]
        self.times = np.unique(self._when)
        k = len(self.resources)
        self._step = max(_CHANGES_LIMIT, math.ceil(len(when) * max(k, 1) / _KEPT_LIMIT))
        self._keep(k)
        n = len(run.represents)
        self._capacity = run.table.capacity.of(self.resources)
        slots = {e: s for e, s in run.table.slots.items() if e < n}
        self._engine = np.array([int(r) in slots for r in self.resources], dtype=bool)
        for at in np.flatnonzero(self._engine):
            self._capacity[at] = slots[int(self.resources[at])]
        equal = run.multiplicity
        #: how many resources each represents
        self.equal = np.maximum(equal[self.resources], 1)
        for row, resource in enumerate(self.resources.tolist()):
            self.equal[row] = run.more.get(resource, self.equal[row])
        self._map_channels(n)

    def _keep(self, k: int) -> None:
        """Loads and areas at every so many changes."""
        starts = np.arange(0, len(self._when), self._step)
        self._starts = starts
        self._at = np.concatenate([[0.0], self._when[starts[1:]]]) if len(starts) else np.zeros(1)
        load, area = np.zeros(k), np.zeros(k)
        loads, areas, before = [load.copy()], [area.copy()], 0.0
        peak = np.zeros(k)
        for first, last in itertools.pairwise(starts):
            when, change, which = self._when[first:last], self._change[first:last], self._which[first:last]
            at = float(self._when[last])
            area = area + load * (at - before) + np.bincount(which, change * (at - when), k)
            load = load + np.bincount(which, change, k)
            peak = np.maximum(peak, np.abs(load))
            load[np.abs(load) <= _NOTHING_TOLERANCE * peak] = 0.0
            loads.append(load.copy())
            areas.append(area.copy())
            before = at
        self._loads, self._areas = np.array(loads), np.array(areas)

    def _map_channels(self, n: int) -> None:
        network = self.run.table.network
        column = np.full(n, len(self.resources), dtype=np.int64)
        column[self.resources] = np.arange(len(self.resources))
        self._column = column[self.run.represents]
        links = np.arange(network.net.n_links)
        first, cables = network.first_resource[links], network.cables[links]
        back = first + np.where(network.full[links], cables, 0)
        start = np.stack([first, back], axis=1).ravel()
        count = np.repeat(cables, 2)
        #: resources of the channels one after the other, and where those of each begin
        self._begin = np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.int64) if len(count) else start
        within = np.arange(int(count.sum())) - np.repeat(self._begin, count)
        self._of_channel = self._column[np.repeat(start, count) + within]
        # with a link that shares its capacity both directions show all of it

    @property
    def end(self) -> float:
        """The end of the run [s]."""
        return self.run.end

    @cached_property
    def interruptions(self) -> tuple[Interruption, ...]:
        """What held programs up, in order of time."""
        return interruptions(self.run)

    def _block(self, time: float) -> tuple[int, slice]:
        """The last instant kept before a time, and the changes since."""
        kept = max(0, int(np.searchsorted(self._at, time, side="right")) - 1)
        first = int(self._starts[kept]) if len(self._starts) else 0
        last = int(np.searchsorted(self._when, time, side="right"))
        return kept, slice(first, max(first, last))

    def at(self, time: float) -> Float:
        """Loads just after a time. : (k,)"""
        kept, rows = self._block(time)
        load = self._loads[kept] + np.bincount(self._which[rows], self._change[rows], len(self.resources))
        load[np.abs(load) <= _NOTHING_TOLERANCE * self._peak] = 0.0
        return load

    @cached_property
    def _peak(self) -> Float:
        most = np.abs(self._loads).max(axis=0, initial=0.0)
        np.maximum.at(most, self._which, np.abs(self._change))
        return most

    def _cumulative_areas(self, time: float) -> Float:
        """Areas from the start to a time. : (k,)"""
        kept, rows = self._block(time)
        begin = self._at[kept]
        more = self._change[rows] * (time - self._when[rows])
        return (
            self._areas[kept]
            + self._loads[kept] * (time - begin)
            + np.bincount(self._which[rows], more, len(self.resources))
        )

    def mean(self, begin: float, end: float) -> Float:
        """Mean loads between two times; those of the instant where there is nothing between. : (k,)"""
        if end <= begin:
            return self.at(end)
        found = (self._cumulative_areas(end) - self._cumulative_areas(begin)) / (end - begin)
        return np.where(np.abs(found) <= _NOTHING_TOLERANCE * self._peak, 0.0, found)

    def shares(self, load: Float, time: float) -> Float:
        """Loads ÷ capacity at a time [1]; engines by slots. : (k,)"""
        capacity = self._capacity
        if self.run.changes and self.run.changes[0][0] <= time:
            capacity = np.where(self._engine, capacity, self.run.capacity_at(time)[self.resources])
        return np.divide(load, capacity, out=np.zeros(len(load)), where=capacity > 0)

    def channels(self, time: float, span: float = 0.0) -> tuple[Float, Float]:
        """Load [B/s] and utilisation [1] of every channel of the network in the `span` before a time. : (n_channels,)

        A channel of several cables shows the fullest; what they carry is added up.
        """
        load = self.mean(time - span, time) if span > 0 else self.at(time)
        share = np.append(self.shares(load, time), 0.0)
        if not len(self._begin):
            return np.empty(0), np.empty(0)
        amount = np.append(load, 0.0)[self._of_channel]
        return np.add.reduceat(amount, self._begin), np.maximum.reduceat(share[self._of_channel], self._begin)

    def fullest(self, begin: float, end: float, count: int) -> tuple[Float, Int]:
        """The load of whatever carries most of its capacity, in equal intervals, and which that is. : (count,) twice

        Parts that do one thing at a time are left out: they are full whenever anything is done at all.
        """
        shown = np.flatnonzero(~self._engine)
        if not len(shown) or count < 1:
            return np.zeros(max(count, 0)), np.full(max(count, 0), -1)
        edges = np.linspace(begin, max(end, begin), count + 1)
        area = np.stack([self._cumulative_areas(at)[shown] for at in edges.tolist()])
        room = (end - begin) / count * self._capacity[shown]
        gone = np.diff(area, axis=0)
        share = np.divide(gone, room, out=np.zeros_like(gone), where=room > 0)
        top = share.argmax(axis=1)
        return np.clip(share[np.arange(count), top], 0.0, 1.0), self.resources[shown[top]]

    @cached_property
    def engines(self) -> Int:
        """Resources that are parts doing one thing at a time. : (e,)"""
        return self.resources[self._engine]

    def busy(self, time: float, span: float = 0.0) -> float:
        """Share of the parts that compute in this run which are busy [1]; nan if none does."""
        load = self.mean(time - span, time) if span > 0 else self.at(time)
        weight = self.equal[self._engine] * self._capacity[self._engine]
        if not weight.sum():
            return math.nan
        return float((load[self._engine] * self.equal[self._engine]).sum() / weight.sum())

    @cached_property
    def _parts(self) -> tuple[Int, Int]:
        table, n = self.run.table, len(self._column)
        rows = [(part, int(self._column[e])) for e in table.slots if e < n for part in table.parts_of(e)]
        found = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def parts(self, time: float, span: float = 0.0) -> tuple[Int, Float]:
        """Parts that do one thing at a time, and the share of the `span` before a time in which each did. : (p,)"""
        number, column = self._parts
        load = self.mean(time - span, time) if span > 0 else self.at(time)
        return number, np.append(self.shares(load, time), 0.0)[column]

    @cached_property
    def _fills(self) -> list[tuple[Float, list[tuple[float, float]]]]:
        """Of each program the shares of memory it takes of the parts stated by `parts`, and when."""
        network, number = self.run.table.network, self._parts[0]
        found: list[tuple[Float, list[tuple[float, float]]]] = []
        for program, held in self.run.holds.items():
            share = np.full(len(number), np.nan)
            for k, part in enumerate(number.tolist()):
                size = memory_of(network, part) if part in held else 0.0
                if size:
                    share[k] = held[part] / size
            found.append((share, self.run.held_for(program)))
        return found

    def fill(self, time: float) -> Float:
        """Share of the memory of each part stated by `parts` that is taken; NaN where that is not followed. : (p,)"""
        whole = np.full(len(self._parts[0]), np.nan)
        for share, spans in self._fills:
            has = any(begin <= time < end for begin, end in spans)
            taken = share if has else share * 0.0
            whole = np.where(np.isnan(taken), whole, np.where(np.isnan(whole), 0.0, whole) + taken)
        return whole

    def series(self, resource: int, begin: float, end: float, count: int) -> tuple[Float, Float, Float]:
        """Middles of equal intervals [s], mean load and share of capacity of a resource in each. : (count,) each"""
        found = self.run.series(resource, begin, end, count)
        most = self.run.table.slots.get(resource, 0) or self.run.table.capacity[resource]
        return found.time, found.mean, found.mean / most if most > 0 else found.mean

    def resource_of(self, link: int, direction: int) -> int:
        """The first resource of a direction of a link."""
        network = self.run.table.network
        first = int(network.first_resource[link])
        return first + (direction * int(network.cables[link]) if network.full[link] else 0)

    # ---- what holds whom back

    @cached_property
    def _pieces(self) -> tuple[Float, Float, Int, Int, list[tuple[int, ...]]]:
        """Times in which a task is held back by the same: from, to, task, number of what holds it."""
        kinds: dict[tuple[int, ...], int] = {}
        rows: list[tuple[float, float, int, int]] = []
        for work in self.run.works:
            if math.isnan(work.began):
                continue
            end = math.inf if math.isnan(work.ended) else work.ended
            if not work.log:
                held = (work.engine,) if work.engine >= 0 else ()
                rows.append((work.began, end, work.task, kinds.setdefault(held, len(kinds))))
            for k, (at, _, held) in enumerate(work.log):
                then = work.log[k + 1][0] if k + 1 < len(work.log) else end
                # at its own speed: what it runs on is what it waits for
                by = held or ((work.engine,) if work.engine >= 0 else ())
                rows.append((at, then, work.task, kinds.setdefault(by, len(kinds))))
        begin, end, task, kind = (
            (np.array(c) for c in zip(*rows, strict=True))
            if rows
            else (np.empty(0), np.empty(0), np.empty(0), np.empty(0))
        )
        return begin, end, task.astype(np.int64), kind.astype(np.int64), list(kinds)

    def held(self, time: float) -> list[Held]:
        """What holds tasks back just after a time; what holds most of them first."""
        begin, end, task, kind, kinds = self._pieces
        rows = np.flatnonzero((begin <= time) & (time < end))
        tasks: dict[int, dict[int, None]] = {}
        for row in rows.tolist():
            for resource in kinds[kind[row]]:
                tasks.setdefault(int(self.run.represents[resource]), {})[int(task[row])] = None
        found = [Held(self.run.table.bottleneck(r), _equal(self.run, r), tuple(t)) for r, t in tasks.items()]
        return sorted(found, key=lambda h: (h.bottleneck.what == "compute", -len(h.tasks), h.bottleneck.id))

    def running(self, time: float) -> list[int]:
        """Tasks that run just after a time, by their place in ``Run.tasks``."""
        begin, end, task, _, _ = self._pieces
        return list(dict.fromkeys(task[(begin <= time) & (time < end)].tolist()))

    # ---- what is left

    def left(self, program: str) -> tuple[Float, Float]:
        """Bytes that a program has asked to be moved and that are not there yet: times and what is left from each on.

        Between two times what is left changes evenly. Streams without an end have nothing left.
        """
        rows: list[tuple[float, float, float]] = []
        for work in self.run.works:
            if work.unit != "B" or not math.isfinite(work.amount):
                continue
            if self.run.tasks[work.task].program != program:
                continue
            rows.append((work.ready, work.amount * work.equal, 0.0))
            for k, (at, rate, _) in enumerate(work.log):
                last = self.run.end if math.isnan(work.ended) else work.ended
                then = work.log[k + 1][0] if k + 1 < len(work.log) else last
                rows += [(at, 0.0, -rate * work.equal), (then, 0.0, rate * work.equal)]
        if not rows:
            return np.empty(0), np.empty(0)
        when, jump, slope = (np.array(c) for c in zip(*sorted(rows), strict=True))
        times = np.unique(when)
        at = np.searchsorted(times, when)
        jumps, slopes = np.bincount(at, jump), np.cumsum(np.bincount(at, slope))
        drained = np.concatenate([[0.0], np.cumsum(slopes[:-1] * np.diff(times))])
        left = np.cumsum(jumps) + drained
        # a jump is drawn upright: the value before it and the value after
        doubled = np.repeat(times, 2)
        values = np.stack([left - jumps, left], axis=1).ravel()
        values[np.abs(values) <= _NOTHING_TOLERANCE * np.abs(values).max(initial=0.0)] = 0.0
        return doubled, np.maximum(values, 0.0)


#: resources whose ids are kept of a run
_IDS_LIMIT: Final = 4096


@memo(most=2, each=_IDS_LIMIT)
def _equal(run: Run, resource: int) -> tuple[str, ...]:
    """Ids of the resources that are like one."""
    same = np.flatnonzero(run.represents == run.represents[resource])[:EQUAL_LIMIT]
    return tuple(dict.fromkeys(run.table.id(k) for k in same.tolist()))
