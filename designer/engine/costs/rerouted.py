"""A task on what a failure left: priced on the network without what failed, stated by the resources of the whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from designer.engine.costs.pricing import Cost, CostKind, Expansion, Price, Priced, Prices, every_work, kind_of
from designer.engine.network import Network
from designer.engine.routes.damage import remains
from designer.workload.program.process import Item, Process, Restart
from designer.workload.program.tasks import Rerouted, Task

Int = npt.NDArray[np.int64]


def price(prices: Prices, task: Rerouted, place: str) -> Price:
    """What the task takes on what is left.

    Raises
    ------
    AnalysisError
        If it cannot be done there.
    """
    left = prices_left(prices, task.parts, task.links)
    found = left.price(task.task, place)
    numbers = _numbers(prices.network, left.network)
    if isinstance(found, Cost):
        return _renumber_resources(found, numbers)
    whole: Expansion = found
    return replace(
        whole,
        make=lambda: _Elsewhere(whole.make(), task),
        tasks=tuple(replace(task, task=inner) for inner in whole.tasks),
    )


def prices_left(prices: Prices, parts: tuple[int, ...], links: tuple[int, ...]) -> Prices:
    """Prices on the network without parts and links, kept; limits and engines have the numbers of the whole."""
    found = prices.left.get((parts, links))
    if found is None:
        network = remains(prices.network, np.array(parts, dtype=np.int64), links)
        found = prices.left[parts, links] = Prices(network, prices.running, prices.in_turns)
        found.table = prices.table
    return found


def _numbers(whole: Network, left: Network) -> Int:
    """Number in the whole of each resource of what is left. : (n_resources,)"""
    found = np.zeros(left.n_resources, dtype=np.int64)
    for link in range(left.net.n_links):
        cables = int(left.cables[link])
        sides = range(2 if left.full[link] else 1)
        for side in sides:
            at, to = int(left.first_resource[link]), int(whole.first_resource[link])
            begin = to + side * int(whole.cables[link])
            found[at + side * cables : at + (side + 1) * cables] = begin + np.arange(cables)
    inside = np.flatnonzero(left.part_resource >= 0)
    found[left.part_resource[inside]] = whole.part_resource[inside]
    return found


def _renumber_resources(cost: Cost, numbers: Int) -> Cost:
    """The cost with each work for itself, by the resources of the whole."""
    each = every_work(cost)

    def whole(resource: Int) -> Int:
        inner = resource < len(numbers)
        return np.where(inner, numbers[np.where(inner, resource, 0)], resource)

    return replace(each, resource=whole(each.resource))


@dataclass(eq=False)
class _Elsewhere:
    """A process whose tasks are done on what is left."""

    process: Process
    on: Rerouted

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Those of the process, there."""
        return tuple(replace(self.on, task=task) for task in self.process.tasks)

    def start(self, now: float) -> Iterable[Item]:
        """What begins at once."""
        return self._relocate_items(self.process.start(now))

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """What follows."""
        assert isinstance(item.task, Rerouted)
        return self._relocate_items(self.process.finished(replace(item, task=item.task.task), now))

    def waits_for(self) -> str:
        """What the process waits for."""
        return self.process.waits_for()

    def _relocate_items(self, items: Iterable[Item]) -> Iterable[Item]:
        there = (replace(item, task=replace(self.on, task=item.task)) for item in items)
        return Restart(there) if isinstance(items, Restart) else list(there)


def unit(task: Rerouted) -> tuple[Task, float]:
    """The unit of the task, there."""
    if isinstance(task.task, Priced):
        return task, 1.0
    kind: CostKind = kind_of(task.task)
    if kind.unit is None:
        return task, 1.0
    inner: tuple[Task, Any] = kind.unit(task.task)
    return replace(task, task=inner[0]), inner[1]


COST = CostKind(Rerouted, price, unit)
