"""Split serving on the clock: some engines read prompts, others answer, keys and values are pulled between them.

An engine that reads prompts is looked at after every step, one that answers every few, since it is handed requests.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from designer.engine.clock.interruptions import is_paused, was_paused
from designer.errors import AnalysisError
from designer.families.serving.clocked import (
    ARRIVES,
    ENGINE_START,
    LONGEST_STEP,
    PAUSES,
    SEEDS_APART_LIMIT,
    Handing,
    Loading,
    never_any,
)
from designer.families.serving.deployment import Load
from designer.families.serving.engine_state import Requests
from designer.families.serving.load import FILLING_LIMIT, sent_to_one
from designer.families.serving.placement import Placement
from designer.families.serving.records import Counts, ServingRun, streamed
from designer.families.serving.replica import (
    COMPUTES,
    ONE_STEP,
    SHORT_WINDOW,
    Replica,
    Tasks,
    never,
)
from designer.families.serving.request_log import RequestLog, until_end
from designer.families.serving.split import found_in
from designer.sources import Estimate
from designer.workload.program.process import Item
from designer.workload.program.tasks import Delay, Task

_READS, _ANSWERS = "prompts", "answers"


def _lengths_of(requests: Requests) -> list[tuple[int, int, int]]:
    """Prompt, output and cached tokens of each request."""
    cached = requests.cached or [0] * len(requests.prompt)
    return list(zip(requests.prompt, requests.output, cached, strict=True))


class SplitEngines:
    """Engines for prompts and engines for answers.

    Parameters
    ----------
    tasks
        Of replicas that read, and of those that answer.
    handing
        By replica that reads and replica that answers; request i is read by the i-th and answered by the i-th, going
        round in each.
    """

    def __init__(
        self,
        prompts: Placement,
        answers: Placement,
        load: Load,
        tasks: tuple[Sequence[Tasks], Sequence[Tasks]],
        handing: Mapping[tuple[int, int], Handing],
        loading: Loading | None,
        extra: float,
        *,
        saturated: bool,
    ) -> None:
        self.prompts, self.answers, self.load = prompts, answers, load
        self._tasks = {_READS: tuple(tasks[0]), _ANSWERS: tuple(tasks[1])}
        self._handing, self._loading = handing, loading
        #: bytes of requests that are sent while their prompts are read; those under way, and those only waited for
        self._early: dict[int, float] = {}
        self._under_way: set[int] = set()
        self._moved: set[int] = set()
        self._pending = 0
        self._extra, self._saturated = extra, saturated
        self.replicas: dict[str, list[Replica]] = {_READS: [], _ANSWERS: []}
        #: of every request: tokens, and when it was sent
        self._asked: tuple[list[int], list[int], list[float]] = ([], [], [])
        #: numbers of requests by their place in the book of a replica
        self._ids: dict[str, list[list[int]]] = {_READS: [], _ANSWERS: []}
        self._first = self._chunk = 0
        #: what clients ask for next: prompt, output, and what of the prompt is cached
        self._stock: deque[tuple[int, int, int]] = deque()
        self.set: Sequence[tuple[float, int, float]] = ()
        self.leg: Estimate | None = None
        #: what a day like a log costs; None without prices
        self.costs: Callable[..., Mapping[str, Estimate]] | None = None
        #: when any of some machines may be paused next, at the earliest [s]
        self.stops: Callable[[Sequence[int]], float] = never_any

    @property
    def tasks(self) -> Sequence[Task]:
        """Computing and joining of all replicas, all hand-overs, and what a cold start takes."""
        found: list[Task] = [Delay(1.0), ARRIVES, *(each.move for each in self._handing.values())]
        found += [task for _, task in self._loading.moves] if self._loading is not None else []
        for each in (*self._tasks[_READS], *self._tasks[_ANSWERS]):
            found += each.all
        return found

    def start(self, now: float) -> Iterable[Item]:
        """Weights are loaded, or the first requests are looked at."""
        path = self.prompts.release.overheads.path
        none = Requests([], [], [])
        for side, placement, window, way in (
            (_READS, self.prompts, ONE_STEP.value, path),
            (_ANSWERS, self.answers, SHORT_WINDOW.value, 0.0),
        ):
            count = len(self._tasks[side])
            self.replicas[side] = [Replica(placement, none, window, way, now) for _ in range(count)]
            self._ids[side] = [[] for _ in range(count)]
            for replica, tasks in zip(self.replicas[side], self._tasks[side], strict=True):
                replica.may_pause = bool(tasks.speeds)
                replica.stops = partial(self.stops, tasks.speeds) if tasks.speeds else never
        if self.load.kind == "agents":
            raise AnalysisError(
                "agents of a split deployment are not run with others",
                place=f"{self.answers.place}.load",
                remedy="use clients or a rate",
            )
        sent = sent_to_one(self.load, 1, self.answers.place, found_in(self.prompts))
        self._first = sent.first
        if sent.requests.clients:
            self._stock.extend(_lengths_of(sent.requests))
            for _ in range(sent.requests.clients):
                self._send(now)
        else:
            self._write(sent.requests, now)
        if self._loading is None:
            return self._all_windows(now)
        self._pending = len(self._loading.moves)
        return [Item(task, name) for name, task in self._loading.moves]

    def _all_windows(self, now: float) -> list[Item]:
        return [item for k in range(len(self.replicas[_READS])) for item in self._window(_READS, k, now)]

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """The next window of a replica; a request whose keys and values are there goes to its engine."""
        what = item.step.split()
        if what[0] == "pull":
            if item.step.endswith(PAUSES):
                return [self._pull(int(what[1]) - 1, item.number)]
            if item.number in self._under_way:
                self._moved.add(item.number)
                return []
            return self._hand_over(item.number, now)
        if what[0] == "early":
            self._under_way.discard(item.number)
            if item.number not in self._moved:
                return []
            self._moved.discard(item.number)
            return self._hand_over(item.number, now)
        if what[0] not in self.replicas:
            return self._weights_loaded(item, now)
        side, which = what[0], int(what[1]) - 1
        replica, tasks = self.replicas[side][which], self._tasks[side][which]
        if item.step.endswith(PAUSES):
            return self._window(side, which, now)
        joins = replica.follows(tasks, f"{side} {which + 1}", what[2])
        if joins is not None:
            return [joins]
        if replica.idle:
            return self._window(side, which, max(replica.wake, now))
        stood = was_paused(self.set, tasks.speeds) if tasks.speeds and self.set else ()
        reached = replica.over(now, stood)
        following = self._pulls(which) if side == _READS else self._send_next(which)
        return [*following, *self._window(side, which, reached)]

    def _weights_loaded(self, item: Item, now: float) -> list[Item]:
        assert self._loading is not None
        if item.step == ENGINE_START:
            return self._all_windows(now)
        self._pending -= 1
        return [] if self._pending else [Item(Delay(1.0), ENGINE_START, 0, self._loading.start)]

    def waits_for(self) -> str:
        """Nothing: engines without requests are done."""
        return ""

    def log(self, end: float) -> RequestLog:
        """What has become of all requests until a time [s]."""
        n = len(self._asked[2])
        first, done, taken = np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan)
        runs: list[ServingRun] = []
        for replica, ids in zip(self.replicas[_READS], self._ids[_READS], strict=True):
            taken[ids] = replica.book.taken[: len(ids)]
        for replica, ids in zip(self.replicas[_ANSWERS], self._ids[_ANSWERS], strict=True):
            answered = streamed(replica.book.run(self.answers.capacity), self.answers.scheduling)
            first[ids], done[ids] = answered.first, replica.book.done
            runs.append(answered)
        sent = np.array(self._asked[2])
        counts = runs[0].counts
        run = ServingRun(
            sent,
            first,
            done,
            np.array(self._asked[0], dtype=np.int64),
            np.array(self._asked[1], dtype=np.int64),
            end,
            np.concatenate([one.turns for one in runs]),
            Counts(
                counts.turns,
                counts.steps,
                counts.tokens_in,
                counts.tokens_out,
                counts.preempted,
                counts.refused,
                counts.kv_peak,
                counts.kv_capacity,
            ),
            taken,
            messages=np.concatenate([one.messages for one in runs]),
            stream_interval=runs[0].stream_interval,
        )
        asked = int(np.searchsorted(sent, end, side="right"))
        return RequestLog(
            self._extra,
            self._saturated,
            [(until_end(run, asked, end), min(self._first, asked // FILLING_LIMIT))],
            arriving=self.load.kind != "clients",
            costs=self.costs,
        )

    def _write(self, requests: Requests, offset: float) -> None:
        """More requests, to the replicas that read in turn."""
        count, known = len(self.replicas[_READS]), len(self._asked[2])
        at = [offset + t for t in requests.at]
        prompts, outputs, times = self._asked
        prompts.extend(requests.prompt)
        outputs.extend(requests.output)
        times.extend(at)
        cached = list(requests.cached) or [0] * len(at)
        for k, replica in enumerate(self.replicas[_READS]):
            mine = [i for i in range(len(at)) if (known + i) % count == k]
            replica.book.write(
                Requests(
                    [requests.prompt[i] for i in mine],
                    [1] * len(mine),
                    [at[i] for i in mine],
                    cached=[cached[i] for i in mine],
                )
            )
            self._ids[_READS][k] += [known + i for i in mine]

    def _window(self, side: str, which: int, now: float) -> list[Item]:
        replica, tasks = self.replicas[side][which], self._tasks[side][which]
        if side == _READS and self.load.kind == "rate":
            while self._asked[2][-1] < now + LONGEST_STEP.value:
                self._chunk += 1
                load = replace(self.load, seed=self.load.seed + self._chunk * SEEDS_APART_LIMIT)
                more = sent_to_one(load, 1, self.answers.place, found_in(self.prompts))
                self._write(more.requests, self._asked[2][-1])
        if is_paused(self.set, tasks.speeds):
            # nobody looks what has come: that is done once the machine runs again
            replica.idle = False
            return [Item(tasks.compute, f"{side} {which + 1} {PAUSES}", replica.number, ONE_STEP.value)]
        computes, wake = replica.ahead(now)
        if not replica.idle:
            begun = self._sent_early(which, now) if side == _READS else []
            return [*begun, Item(tasks.compute, f"{side} {which + 1} {COMPUTES}", replica.number, computes)]
        if math.isinf(wake):
            return []
        return [Item(ARRIVES, f"{side} {which + 1} wait", replica.number, wait=max(0.0, wake - now))]

    def _send_next(self, which: int) -> list[Item]:
        """Clients whose requests were answered in the last window send their next ones."""
        if self.load.kind != "clients":
            return []
        book = self.replicas[_ANSWERS][which].book
        ends = sorted(book.done[i] for i in dict.fromkeys(book.touched) if not math.isnan(book.done[i]))
        return [item for end in ends for item in self._send(end)]

    def _send(self, now: float) -> list[Item]:
        """A client sends its next request."""
        if not self._stock:
            self._chunk += 1
            load = replace(self.load, seed=self.load.seed + self._chunk * SEEDS_APART_LIMIT)
            more = sent_to_one(load, 1, self.answers.place, found_in(self.prompts))
            self._stock.extend(_lengths_of(more.requests))
        prompt, output, cached = self._stock.popleft()
        to = len(self._asked[2]) % len(self.replicas[_READS])
        self._write(Requests([prompt], [output], [0.0], cached=[cached]), now)
        replica = self.replicas[_READS][to]
        waits = replica.number > 0 and replica.idle and math.isinf(replica.wake)
        return self._window(_READS, to, now) if waits else []

    def _sent_early(self, which: int, now: float) -> list[Item]:
        """What is sent of prompts while they are read, of those whose reading begins in the step that begins."""
        replica, ids = self.replicas[_READS][which], self._ids[_READS][which]
        book = replica.book
        each = self.prompts.scheduling.budget // self.prompts.split.data
        found: list[Item] = []
        for i in dict.fromkeys(book.touched):
            number, begun = ids[i], book.taken[i]
            if number in self._early or math.isnan(begun):
                continue
            # a prompt that is not read by the end of this step takes more like it
            length = replica.reached - begun
            reading = length if not math.isnan(book.done[i]) else length * math.ceil(book.asked[0][i] / each)
            to = number % len(self.replicas[_ANSWERS])
            handing = self._handing[which, to]
            size = self._early[number] = handing.early(book.asked[0][i], reading)
            if size > 0:
                self._under_way.add(number)
                step = f"early {which + 1} to {to + 1}"
                found.append(Item(handing.move, step, number, size, wait=max(0.0, begun - now)))
        return found

    def _pulls(self, which: int) -> list[Item]:
        """Prompts that were read in the last window are handed over."""
        book, ids = self.replicas[_READS][which].book, self._ids[_READS][which]
        found: list[Item] = []
        for i in dict.fromkeys(book.touched):
            if math.isnan(book.done[i]):
                continue
            number = ids[i]
            found.append(self._pull(which, number))
        return found

    def _pull(self, which: int, number: int) -> Item:
        """A hand-over; while a machine at either end is paused it does not begin."""
        to = number % len(self.replicas[_ANSWERS])
        step = f"pull {which + 1} to {to + 1}"
        for tasks in (self._tasks[_READS][which], self._tasks[_ANSWERS][to]):
            if is_paused(self.set, tasks.speeds):
                return Item(tasks.compute, f"{step} {PAUSES}", number, ONE_STEP.value)
        handing, tokens = self._handing[which, to], self._asked[0][number]
        left = handing.size(tokens) - self._early.pop(number, 0.0)
        return Item(handing.move, step, number, left, wait=handing.extra_wait(tokens))

    def _hand_over(self, number: int, now: float) -> list[Item]:
        to = number % len(self.replicas[_ANSWERS])
        replica = self.replicas[_ANSWERS][to]
        prompt, output = self._asked[0][number], self._asked[1][number]
        replica.book.write(Requests([prompt], [output], [now], cached=[prompt - 1]))
        self._ids[_ANSWERS][to].append(number)
        # an engine with something to wait for looks up by itself
        return self._window(_ANSWERS, to, now) if replica.idle and math.isinf(replica.wake) else []
