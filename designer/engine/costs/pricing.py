"""Prices: each task is priced once on a drawing, by the file it names."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.engine.account import evaluated
from designer.engine.account.expression import Scenario, Sum, Time, seconds
from designer.engine.costs.resources import ResourceTable
from designer.engine.machines.guest import Guest
from designer.engine.network import Network
from designer.engine.results import Bottleneck
from designer.engine.routes.folding import Fold
from designer.engine.transfers.flow_rates import LATENCY, FlowRates
from designer.errors import AnalysisError
from designer.findings import Finding
from designer.memo import memo
from designer.sources import Estimate
from designer.workload.program.process import Process
from designer.workload.program.tasks import Task

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Uses:
    """What a work takes of resources per unit: ascending numbers, and how much of each. : (n,) both"""

    resource: Int
    amount: Float

    @staticmethod
    def of(entries: Mapping[int, float]) -> Uses:
        """Those of a mapping."""
        resource = np.array(sorted(entries), dtype=np.int64)
        return Uses(resource, np.array([entries[r] for r in resource.tolist()], dtype=np.float64))

    def scaled(self, by: float) -> Uses:
        """So many times as much of each."""
        return Uses(self.resource, self.amount * by)

    def plus(self, other: Uses) -> Uses:
        """Both together."""
        resource, back = np.unique(np.concatenate([self.resource, other.resource]), return_inverse=True)
        amount = np.bincount(back, np.concatenate([self.amount, other.amount]), len(resource))
        return Uses(resource, amount.astype(np.float64))

    def with_all(self, resources: Iterable[int]) -> Uses:
        """With a unit of each of some resources as well."""
        return self.plus(Uses.of(dict.fromkeys(resources, 1.0)))


@dataclass(frozen=True, slots=True, eq=False)
class Rests:
    """What the usages of works rest on.

    Parameters
    ----------
    names
        Of the estimates.
    estimate, floor : (nnz,) which of them each entry rests on, −1 for none, and the least it takes
    """

    names: tuple[str, ...]
    estimate: Int
    floor: Float

    def scaled(self, usage: Float, slower: Scenario) -> Float:
        """Usages where estimates take so many times as long; the same array where nothing differs. : (nnz,)"""
        for code, name in enumerate(self.names):
            by = slower.get(name, 1.0)
            if by != 1:
                usage = np.where(self.estimate == code, np.maximum(usage * by, self.floor), usage)
        return usage

    def met_on(self, resource: Int, full: Collection[int]) -> set[str]:
        """Names of the estimates of entries on some resources. : resource (nnz,)"""
        codes = np.unique(self.estimate[np.isin(resource, list(full))]) if full else self.estimate[:0]
        return {self.names[code] for code in codes.tolist() if code >= 0}


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """Works of a cost that each represent all of a class.

    Parameters
    ----------
    many : (n_works,) how many works each represents
    fold
        Which flows, channels and parts are equivalent.
    limits
        How many limits each limit represents, by its number.
    expand
        Every work for itself: where the entries of each begin, resources, usages, the class of each work, and what
        usages rest on.
    """

    many: Int
    fold: Fold
    limits: Mapping[int, int]
    expand: Callable[[], tuple[Int, Int, Float, Int, Rests]]


def pace(group: str) -> Bottleneck:
    """What tasks of a group of costs wait for where no resource holds them back and their terms are not known."""
    name = group or "pace"
    return Bottleneck("limit", name, name.replace(":", " on "), "goes at its own pace")


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """A task as works that begin together; it ends with the last of them. No work at all takes no time.

    Parameters
    ----------
    ptr, resource, usage
        Entries of work k: ``ptr[k]:ptr[k + 1]``, usage of each resource per unit.
    amount : (n,) units of each; inf goes on for ever
    cap : (n,) most units per second
    weight : (n,) level is rate / weight
    latency : (n,) before it takes anything [s]
    engine : (n,) resource it holds as a whole, −1 for none
    low, high
        80 % band of the time, relative [1].
    group
        The estimate the band belongs to: tasks of one group are off together.
    unit
        Of the amounts.
    holds
        Memory that is taken for as long as the program runs, by part [B].
    speeds
        Machines that run at another share of their speed from when it begins [1].
    folded
        What each work represents, where it is one of each class: its usage is then what all of the class take together
        of a resource that represents its equals. None where every work is stated.
    time
        What a unit spends its time on where nothing else holds it back; None where only a run shows it.
    after : (n,) from its last unit until that is there [s]; None for no time
    rates
        Rates of the flows, where works are flows that share resources.
    rests
        What usages rest on; None where they are exact.
    """

    ptr: Int
    resource: Int
    usage: Float
    amount: Float
    cap: Float
    weight: Float
    latency: Float
    engine: Int
    low: float = 1.0
    high: float = 1.0
    group: str = ""
    unit: str = "s"
    sources: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    holds: Mapping[int, float] = field(default_factory=dict[int, float])
    speeds: tuple[tuple[str, float], ...] = ()
    folded: Folded | None = None
    time: Time | None = None
    after: Float | None = None
    rates: FlowRates | None = None
    rests: Rests | None = None

    def longer(self, slower: Scenario) -> tuple[float, float]:
        """How many times its amounts and latencies are, where resources and estimates take so many times as long."""
        if self.time is None:
            waits = slower.get(LATENCY, 1.0) * (
                slower.get(self.rates.latencies, 1.0) if self.rates is not None else 1.0
            )
            return slower.get(self.group, 1.0) * slower.get(pace(self.group), 1.0), waits
        if self.unit == "B":
            return 1.0, 1.0
        ratio = self._ratio(slower)
        return ratio, ratio

    def _ratio(self, slower: Scenario) -> float:
        assert self.time is not None
        return float(evaluated(self.time, [slower])[0]) / float(seconds(self.time))

    def slowed(self, slower: Scenario) -> Cost:
        """The cost with the usages and caps it has where estimates take so many times as long."""
        rests, folded, found = self.rests, self.folded, self
        if rests is not None and any(slower.get(name, 1.0) != 1 for name in rests.names):
            found = replace(found, usage=rests.scaled(self.usage, slower))
            if folded is not None:

                def expand() -> tuple[Int, Int, Float, Int, Rests]:
                    ptr, resource, usage, of, each = folded.expand()
                    return ptr, resource, each.scaled(usage, slower), of, each

                found = replace(found, folded=replace(folded, expand=expand))
        if self.time is not None and self.unit == "B" and slower:
            found = replace(found, cap=self.cap / self._ratio(slower))
        return found

    def alone(self, times: float, *, latency: bool = True) -> Time | None:
        """The time of so many units where nothing else runs; None where only a run shows it.

        Parameters
        ----------
        latency
            False to leave out the time until the first byte of flows is there.
        """
        if self.time is not None:
            return self.time if times == 1.0 else Sum((self.time,), times)
        if self.rates is None or len(self.rates.rate) != self.n_works:
            return None
        amount = float(self.amount[0]) * times if self.n_works else 0.0
        latency = latency and self.after is not None
        return self.rates.time(amount, latency=latency, size=self.group)

    @property
    def extent(self) -> int:
        """Parts and links of the network behind its classes; see ``designer.memo``."""
        return self.folded.fold.extent if self.folded is not None else 0

    @property
    def n_works(self) -> int:
        """How many works it is."""
        return len(self.amount)


#: costs of which every work is kept, as well as one of each class
_EXPANDED_LIMIT: Final = 8


@memo(most=_EXPANDED_LIMIT)
def every_work(cost: Cost) -> Cost:
    """The same cost with every work for itself."""
    if cost.folded is None:
        return cost
    ptr, resource, usage, of, rests = cost.folded.expand()
    columns = {name: getattr(cost, name)[of] for name in ("amount", "cap", "weight", "latency", "engine")}
    after = cost.after[of] if cost.after is not None else None
    return replace(cost, ptr=ptr, resource=resource, usage=usage, folded=None, after=after, rests=rests, **columns)


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """What a task that runs alone comes to, where its own process settles that without the clock."""

    metrics: Mapping[str, Estimate]
    binding: tuple[Bottleneck, ...]
    next: tuple[Bottleneck, ...]
    findings: tuple[Finding, ...]


#: settles a task that runs alone, given whether its bands and gains are asked for and whether it was cancelled
Settling = Callable[[bool, Callable[[], bool] | None], Settled]


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """A task that is made of others: the process that runs for it, made again each time; it ends when that does.

    Parameters
    ----------
    tasks
        All it may ask for.
    holds, time
        As of `Cost`.
    under
        The process where resources and estimates take so many times as long; None where it decides the same.
    settle
        What it comes to when it runs alone; None where only a run shows it.
    """

    make: Callable[[], Process]
    tasks: tuple[Task, ...]
    findings: tuple[Finding, ...] = ()
    holds: Mapping[int, float] = field(default_factory=dict[int, float])
    time: Time | None = None
    under: Callable[[Scenario], Process] | None = None
    settle: Settling | None = None


Price = Cost | Expansion


@dataclass(frozen=True, slots=True, eq=False)
class Priced(Task):
    """A task with what it costs."""

    cost: Price


@dataclass(frozen=True, slots=True)
class CostKind:
    """How one kind of task is priced.

    Parameters
    ----------
    unit
        The task whose price is known for all sizes, and how many times it this one is.
    lighter_alone
        True if `Prices.times_alone` leaves out what the task takes.
    """

    task: type[Task]
    price: Callable[[Prices, Any, str], Price]
    unit: Callable[[Any], tuple[Task, float]] | None = None
    lighter_alone: bool = False


@dataclass(eq=False)
class Prices:
    """Prices on one network, kept.

    Parameters
    ----------
    running
        Machines whose work runs on the same clock: they are as busy as that makes them, and not in addition.
    in_turns
        Parts on which a model answers and other work computes: all that does takes turns, far shorter than any step.
    times_alone
        True where only the times of tasks that run alone are asked for: costs may leave out what they take.

    Attributes
    ----------
    classes
        Which works of costs are equivalent, as a clock has found, and those costs as it takes them; by the costs.
    """

    network: Network
    running: frozenset[str] = frozenset()
    in_turns: frozenset[int] = frozenset()
    times_alone: bool = False
    table: ResourceTable = field(init=False)
    known: dict[Task, Price] = field(default_factory=dict[Task, Price])
    classes: dict[Hashable, tuple[list[Cost], object]] = field(
        default_factory=dict[Hashable, tuple[list[Cost], object]]
    )

    #: prices on what failures leave, by the parts and links that are gone
    left: dict[tuple[tuple[int, ...], tuple[int, ...]], Prices] = field(
        default_factory=lambda: dict[tuple[tuple[int, ...], tuple[int, ...]], Prices]()
    )

    def __post_init__(self) -> None:
        self.table = ResourceTable(self.network)

    def lighter(self, tasks: Sequence[Task]) -> Prices:
        """Prices for the times of a program alone: a task next to no other shares nothing, whatever it takes."""
        one = tasks[0] if len(tasks) == 1 and not self.known else None
        if one is None or isinstance(one, Priced) or not kind_of(one).lighter_alone:
            return self
        return replace(self, times_alone=True, known={}, classes={}, left={})

    def unit(self, task: Task) -> tuple[Task, float]:
        """The task that is priced for this one, and how many times it this one is."""
        if isinstance(task, Priced):
            return task, 1.0
        kind = kind_of(task)
        return kind.unit(task) if kind.unit is not None else (task, 1.0)

    def price(self, task: Task, place: str) -> Price:
        """What a task takes, that of its unit.

        Raises
        ------
        AnalysisError
            If it cannot be done on this drawing.
        """
        if isinstance(task, Priced):
            return task.cost
        found = self.known.get(task)
        if found is None:
            try:
                found = self.known[task] = kind_of(task).price(self, task, place)
            except AnalysisError as error:
                raise error.at(place=place) from None
        return found


def kind_of(task: Task) -> CostKind:
    """How a task is priced, from the file it names."""
    module = importlib.import_module(task.priced_by)
    every: Sequence[CostKind] = getattr(module, "COSTS", None) or (module.COST,)
    found = next((one for one in every if one.task is type(task)), None)
    assert found is not None, f"{module.__name__} holds no COST of {type(task).__name__}"
    return found


def on_engines(prices: Prices, parts: Sequence[int], guest: Guest | None) -> tuple[Int, list[tuple[int, int]]]:
    """Engines that computing holds on each part, −1 for none, and what it takes of turns: row and resource."""
    if guest is None and not prices.in_turns:
        return prices.table.engines(parts), []
    engines = np.full(len(parts), -1)
    turns: list[tuple[int, int]] = []
    for row, part in enumerate(parts):
        queue = guest.engine(part) if guest is not None else ""
        if queue is None or (queue == "" and part in prices.in_turns):
            turns.append((row, prices.table.turns(part)))
        else:
            engines[row] = prices.table.engine([part], queue)
    return engines, turns


def nothing() -> Cost:
    """The cost of what takes nothing."""
    none, empty = np.empty(0, dtype=np.int64), np.empty(0)
    return Cost(np.zeros(1, dtype=np.int64), none, empty, empty, empty, empty, empty, none)


def alone(
    seconds: float,
    *,
    latency: float = 0.0,
    uses: Uses | Mapping[int, float] | None = None,
    weight: float = 1.0,
    engine: int = -1,
    low: float = 1.0,
    high: float = 1.0,
    group: str = "",
    sources: tuple[str, ...] = (),
    time: Time | None = None,
) -> Cost:
    """One work that takes `seconds` where nothing holds it back; `uses` per second of it."""
    given = uses if isinstance(uses, Uses) else Uses.of(uses or {})
    taken = given.amount > 0
    return Cost(
        np.array([0, int(taken.sum())]),
        given.resource[taken],
        given.amount[taken],
        np.array([seconds]),
        np.ones(1),
        np.array([weight]),
        np.array([latency]),
        np.array([engine]),
        low,
        high,
        group,
        "s",
        sources,
        time=time,
    )
