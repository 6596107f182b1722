"""Inference in batches: instances on the devices of a group, which are sent samples and compute batches of them.

Inference in batches as a process on the clock: instances that gather samples, are sent them, and compute.

Each instance forms its next batch while the one before is worked on, so that it is there when that ends.
Scenarios in which a query waits for the answer before it send and compute by turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Final

import numpy as np

from designer.engine.clock.records import Readings
from designer.engine.costs.move import flows_of
from designer.engine.costs.pricing import CostKind, Expansion, Priced, Prices, Settled, alone, on_engines
from designer.engine.network import Network
from designer.engine.transfers import evaluate_transfer
from designer.errors import AnalysisError
from designer.families.serving.batch_work import gaps_of, widths_of
from designer.families.serving.batches import SOURCES, Placed, answered_in_batches, place_instances
from designer.families.serving.engine_state import TURN
from designer.families.serving.inference import ONE_BY_ONE, Inference
from designer.families.serving.readings import percentiles
from designer.families.serving.records import Counts, ServingRun
from designer.families.serving.request_log import RequestLog, until_end
from designer.families.serving.tasks import Infer
from designer.sources import Estimate
from designer.workload.program.process import Item
from designer.workload.program.tasks import Mark, Move, Task

_SENT, _COMPUTED = "sent", "computes"
WAITS: Final = Mark("next sample")


class SampleLog(RequestLog):
    """What became of samples: those answered a second are samples, not requests."""

    @cached_property
    def readings(self) -> Readings:
        """Percentiles of the time to an answer, and samples a second."""
        found = percentiles(self.run, self.first, arriving=self.arriving)
        values = dict(found.values)
        if "requests_per_second" in values:
            values["samples_per_second"] = values.pop("requests_per_second")
        return self._seen_by_client(Readings(values, found.errors))


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """What one instance asks the clock for.

    Parameters
    ----------
    compute, send
        A second of computing, and sending one sample; None where none is sent.
    pace
        How long sending one takes alone [s].
    """

    compute: Task
    send: Task | None
    pace: float = 0.0

    @property
    def all(self) -> tuple[Task, ...]:
        """All of them."""
        return (self.compute,) if self.send is None else (self.compute, self.send)


@dataclass(eq=False, slots=True)
class _Queue:
    """Samples of one instance, in order.

    Attributes
    ----------
    at, done
        When each came and was answered [s].
    taken
        How many are in batches so far.
    sent, computing
        Batches that are there and wait for the instance, and the one it works on: first sample and how many.
    sending
        True while a batch is gathered or sent.
    """

    more: Iterator[float]
    at: list[float] = field(default_factory=list[float])
    done: list[float] = field(default_factory=list[float])
    taken: int = 0
    sent: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    computing: tuple[int, int] | None = None
    sending: bool = False
    last: bool = False

    def upto(self, count: int) -> bool:
        """Draw samples until there are so many; False where there are no more."""
        while len(self.at) < count and not self.last:
            moment = next(self.more, None)
            if moment is None:
                self.last = True
            else:
                self.at.append(moment)
        return len(self.at) >= count


class Batches:
    """Instances of a model that answers samples; a process of the clock.

    Parameters
    ----------
    time
        Computing time of a batch of so many samples alone [s].
    late
        By how much a batch of so many is answered later than its links together bring it [s].
    """

    def __init__(
        self,
        asked: Inference,
        instances: Sequence[Instance],
        time: Callable[[int], float],
        largest: int,
        late: Callable[[int], float] = lambda _: 0.0,
    ) -> None:
        self.asked, self._instances, self._time, self._largest = asked, tuple(instances), time, largest
        self._late = late
        self._turned = asked.scenario in ONE_BY_ONE
        self._queues: list[_Queue] = []
        #: kept for the clock; instances in batches are in no machine
        self.set: Sequence[tuple[float, int, float]] = ()
        self.leg: Estimate | None = None
        self.stops: Callable[[Sequence[int]], float] = lambda _: float("inf")

    @property
    def tasks(self) -> Sequence[Task]:
        """Computing and sending of all instances."""
        return [WAITS, *(task for one in self._instances for task in one.all)]

    def start(self, now: float) -> Iterable[Item]:
        """The first batch of every instance."""
        count = len(self._instances)
        self._queues = [_Queue(gaps_of(self.asked, count, k, now)) for k in range(count)]
        return [item for k in range(count) for item in self._gather(k, now)]

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """The next stretch of a batch, and the next batch."""
        word, which = item.step.split()[-1], int(item.step.split()[1]) - 1
        queue = self._queues[which]
        if word == _SENT:
            queue.sent.append((queue.taken - item.number, item.number))
            queue.sending = False
            return self._compute(which, now)
        assert queue.computing is not None
        first, size = queue.computing
        queue.done[first : first + size] = [now if self._turned else now + self._late(size)] * size
        queue.computing = None
        found = self._compute(which, now)
        return found if queue.sending or queue.computing else [*found, *self._gather(which, now)]

    def waits_for(self) -> str:
        """Nothing: instances without samples are done."""
        return ""

    def _gather(self, which: int, now: float, free: float = 0.0) -> list[Item]:
        """The next batch of an instance: all that have come when it is full, or when its first has waited enough.

        Parameters
        ----------
        free
            When the instance is ready for it, as it is alone [s].
        """
        queue, asked = self._queues[which], self.asked
        first = queue.taken
        if queue.sending or not queue.upto(first + 1):
            return []
        if self._turned:
            size, begin = self._largest, now + self._late(self._largest)
            queue.upto(first + size)
            queue.at[first : first + size] = [now] * size
        else:
            full = queue.at[first + self._largest - 1] if queue.upto(first + self._largest) else float("inf")
            begin = max(now, free, min(full, queue.at[first] + asked.delay))
            size = 1
            while size < self._largest and queue.upto(first + size + 1) and queue.at[first + size] <= begin:
                size += 1
        queue.taken, queue.sending = first + size, True
        queue.done += [float("nan")] * size
        send = self._instances[which].send
        name, wait = f"instance {which + 1} {_SENT}", max(0.0, begin - now)
        return [Item(WAITS if send is None else send, name, size, 1.0 if send is None else float(size), wait)]

    def _compute(self, which: int, now: float) -> list[Item]:
        """Work on what is there, if nothing is worked on; another batch is gathered meanwhile."""
        queue = self._queues[which]
        if queue.computing is not None or not queue.sent:
            return []
        queue.computing = queue.sent.pop(0)
        size = queue.computing[1]
        one, time = self._instances[which], self._time(size)
        computes = Item(one.compute, f"instance {which + 1} {_COMPUTED}", size, time)
        if self._turned:
            return [computes]
        # the next one is sent so that it is there when this one ends, and holds all that has come by then
        return [computes, *self._gather(which, now, now + max(0.0, time - size * one.pace))]

    def log(self, end: float) -> RequestLog:
        """What has become of all samples until a time [s]."""
        found = SampleLog(arriving=not self._turned)
        for queue in self._queues:
            sent = np.array(queue.at)
            done = np.concatenate([queue.done, np.full(len(sent) - len(queue.done), np.nan)])
            ones = np.ones(len(sent), dtype=np.int64)
            counts = Counts(0, 0, 0, 0, 0, 0, 0, 0)
            run = ServingRun(
                sent, done, done, ones, ones, end, np.zeros((0, len(TURN))), counts, np.full(len(sent), np.nan)
            )
            asked = int(np.searchsorted(sent, end, side="right"))
            found.parts.append((until_end(run, asked, end), 0))
        return found


def price(prices: Prices, task: Infer, place: str) -> Expansion:
    """The instances of a model.

    Raises
    ------
    AnalysisError
        If the model does not fit, or what holds its samples cannot be reached.
    """
    placed = place_instances(prices.network, task.asked, place)
    pace = placed.cut.each / placed.path.rates[0] if placed.path is not None else 0.0
    sends = [_sample_transfer(prices, placed, part, place) for part in placed.parts.tolist()]
    instances = [
        Instance(_computes(prices, placed, part, f"{place} {k}"), send, pace)
        for k in range(placed.cut.each)
        for part, send in zip(placed.parts.tolist(), sends, strict=True)
    ]
    held = dict.fromkeys(placed.parts.tolist(), placed.work.weights * placed.cut.each)

    leg = placed.leg

    def make() -> Batches:
        made = Batches(task.asked, instances, placed.timed, placed.typical, placed.late)
        made.leg = leg.time if leg is not None else None
        return made

    settle = partial(_settle, prices.network, task.asked, place)
    return Expansion(make, tuple(make().tasks), placed.findings, held, settle=settle)


def _settle(
    network: Network, asked: Inference, place: str, explained: bool, cancelled: Callable[[], bool] | None
) -> Settled:
    """Instances that have all to themselves need no clock: the queue of one is their run."""
    found = answered_in_batches(network, asked, place, cancelled=cancelled)
    return Settled(found.metrics, found.binding, found.next, found.findings)


def _computes(prices: Prices, placed: Placed, part: int, name: str) -> Priced:
    """A second of computing on a device, or on the part of it that an instance has."""
    cut, turns = placed.cut, dict[int, float]()
    if cut.turns > 1:
        engine, turns = -1, {prices.table.turns(part): 1.0}
    elif cut.each > 1:
        engine = prices.table.engine([part], name)
    else:
        engines, taken = on_engines(prices, [part], None)
        engine, turns = int(engines[0]), {resource: 1.0 for _, resource in taken}
    _, low, high = widths_of(placed.work)(placed.typical)
    return Priced(alone(1.0, uses=turns, engine=engine, low=low, high=high, group="inference", sources=SOURCES))


def _sample_transfer(prices: Prices, placed: Placed, part: int, place: str) -> Task | None:
    """One sample brought to a device; None where nothing is sent."""
    path, asked = placed.path, placed.asked
    if path is None:
        return None
    source = asked.origin or asked.input.source.strip() or ("storage" if asked.input.dataset.strip() else "memory")
    target = prices.network.net.path(part)
    answer = evaluate_transfer(prices.network, Move(source, target, pairing="nearest"), place)
    alive = answer.rate > 0
    if not alive.any():
        raise AnalysisError("samples cannot reach it", place=place, remedy=f"link {source} and {target}")
    share = answer.rate[alive] / float(answer.rate[alive].sum())
    return Priced(flows_of(prices, answer, np.asarray(path.size * share), f"samples:{source}"))


COST = CostKind(Infer, price)
