"""What each single failure costs: every link, NIC, switch, GPU, storage system, host and feed taken away in turn.

After a failure a workload goes on in the best way that is left. It may use all that still works, or leave out more than
failed: a job whose server lost one NIC runs without that rail everywhere, or without that server, where that is faster.
So the loss of more never costs less than the loss of a part of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.study.survival import Survival
from designer.catalog.parttype import Capability
from designer.checks.runner import State, promises_of, run
from designer.checks.world import World
from designer.design.document import Design, LinkValues, Part, WorkloadSpec
from designer.design.ids import find_workload
from designer.engine.network import Network, build_network
from designer.engine.network.hashing import mix, rounded
from designer.engine.network.partition import by_value, refined
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.engine.routes.damage import KINDS, contents_of, damage, idle
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.training.tasks import TrainStep
from designer.formulas.failures import PARTS, REPAIR, outage, time_between_failures
from designer.progress import UNWATCHED, Cancel, Progress, Watch
from designer.rules.context import Context
from designer.sources import Estimate
from designer.units import Seconds, format_quantity
from designer.workload.kind import program_of, workload_kinds
from designer.workload.program.tasks import Collective

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


Int = npt.NDArray[np.int64]

#: accelerators, NICs and hosts that look the same differ by their place among the ranks: so many of each class are
#: tried
_PROBES: Final = 2
_HOUR: Final = 3600.0
#: [s]
_YEAR: Final = 8766 * _HOUR
_FREE: Final = Estimate.exact(0.0, "h")
_NEVER: Final = Estimate.exact(float("inf"), "s")


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """What failures that are equivalent cost.

    Parameters
    ----------
    kind
        Kind of what fails: a kind of part, ``link`` or ``feed``.
    path
        The one that represents all; of several that were tried the one that costs most.
    members : (n,) numbers of parts or of links
    share
        What is left of the throughput, 1 for all of it, 0 where the workload cannot run.
    gpus_lost, gpus_stranded
        Accelerators that fail, and those that work but can no longer be used.
    machines
        Virtual machines that cannot be started again.
    limits
        Promises and limits that held and no longer do.
    binds
        What holds the workload back then, or why it cannot run.
    leaves_out
        What is left out in addition, since the workload is faster without it: ``servers[0]/server``. Empty for nothing.
    gpu_hours
        What one such failure costs until it is repaired: all accelerators wait until the workload goes on, then the
        share that is lost does nothing [GPU-hours].
    """

    kind: str
    path: str
    members: Int
    share: float
    gpus_lost: int
    gpus_stranded: int
    machines: tuple[str, ...]
    limits: tuple[str, ...]
    binds: str
    value: float
    leaves_out: str = ""
    gpu_hours: Estimate = _FREE

    @property
    def count(self) -> int:
        """How many failures are equivalent."""
        return len(self.members)

    @property
    def lost(self) -> float:
        """Share of the throughput that is lost."""
        return max(0.0, 1.0 - self.share)

    @property
    def stops(self) -> bool:
        """True if the workload cannot run."""
        return self.share == 0.0

    @property
    def badness(self) -> tuple[float, int, int, int]:
        """What failures are ordered by: throughput, then accelerators, machines and limits."""
        return (self.lost, self.gpus_stranded + self.gpus_lost, len(self.machines), len(self.limits))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two failures at once, drawn at random."""

    paths: tuple[str, str]
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """All single failures of a design, worst first, and some double ones.

    Parameters
    ----------
    metric
        What throughput is measured by; `value` without a failure in `unit`.
    failures
        How many there are; `classes` of them differ.
    """

    design: str
    workload: str
    metric: str
    unit: str
    value: float
    losses: tuple[Loss, ...]
    pairs: tuple[Pair, ...]
    failures: int
    seed: int
    gpus: int = 0
    between: Estimate = _NEVER

    @property
    def gpu_hours_per_year(self) -> Estimate:
        """What all single failures cost in a year, each as often as parts of its kind fail [GPU-hours]."""
        total = [0.0, 0.0, 0.0]
        for loss in self.losses:
            often = PARTS[loss.kind]
            cost = loss.gpu_hours
            # what fails most often is at the low end of the time between failures
            for k, (hours, time) in enumerate(
                ((cost.value, often.value), (cost.low, often.high), (cost.high, often.low))
            ):
                total[k] += loss.count * hours * _YEAR / time
        value, low, high = (min(x, self.gpus * _YEAR / _HOUR) for x in total)
        sources = tuple(sorted({s for x in self.losses for s in (*x.gpu_hours.sources, PARTS[x.kind].source)}))
        return Estimate(value, low, high, "h", sources)

    @property
    def harmless(self) -> int:
        """How many failures cost nothing."""
        return sum(x.count for x in self.losses if x.badness == (0.0, 0, 0, 0))

    @property
    def fatal(self) -> int:
        """How many failures stop the workload."""
        return sum(x.count for x in self.losses if x.stops)


def workload_of(design: Design, asked: str | None = None) -> WorkloadSpec:
    """The workload meant: the one asked for, else the design's default, else its first.

    Raises
    ------
    AnalysisError
        If there is none.
    """
    name = asked or design.default_workload or next(iter(design.workloads), "")
    if not name:
        remedy = "add one, for example with --workload-file"
        raise AnalysisError("the design has no workload", place="--workload", remedy=remedy)
    return find_workload(design, name, "--workload")


def outage_of(spec: WorkloadSpec, whole: WorkloadResult) -> Estimate:
    """From a failure until a workload goes on [s]; of a training with what was done since its last checkpoint."""
    program = program_of(spec.kind, spec.settings, f"workloads.{spec.id}")
    step = program.first(TrainStep) if program is not None else None
    if step is None:
        return outage(program is not None and program.first(Collective) is not None)
    found = outage(True, Seconds(step.run.cold_start))
    again = whole.metrics["step_time"].value * step.run.checkpoint_every
    # a failure comes anywhere between two checkpoints: half of it is done again in the mean
    return replace(found, value=found.value + again / 2, low=found.low, high=found.high + again)


class Survivor(Survival):
    """A design and its workload, asked again and again what is left without some of it, promises and all."""

    def __init__(self, design: Design, spec: WorkloadSpec, watch: Watch = UNWATCHED, *, promised: bool = True) -> None:
        super().__init__(build_network(design), spec, watch.cancelled)
        self._promised = promised and bool(design.assertions)
        self.gpus = int(self.network.has(Capability.ACCELERATE).sum())
        self.outage = outage_of(spec, self.whole)

    def loss(self, failure: Failure) -> Loss:
        """What a failure costs, by the first of its class."""
        parts = lost_parts(self.network, failure)
        links = [failure.first] if failure.of_link else []
        path = self.network.net.link_path(failure.first) if failure.of_link else self.network.net.path(failure.first)
        stated = [] if failure.kind != FEED else self._feed_overload(failure.first)
        gpus = int(self.network.has(Capability.ACCELERATE)[parts].sum())
        own, way = self.after(parts, links), self.best(parts, links)
        left = way.after
        result, cut, why = left.result, own.stranded, left.why
        machines = sorted(left.refused - self._refused_before)
        share, value, binds, n_cut = 0.0, 0.0, why, len(cut)
        if result is None:
            n_cut = max(left.accelerators, n_cut)
        else:
            # that no way leads to what is cut off is stated by its number
            untold = frozenset({"FLOW-NO-WAY"} if len(cut) else ())
            stated += sorted(left.broken - self._broken_before - untold)
            binds = ", ".join(b.label for b in result.binding[:1])
            share = way.share
            value = result.metrics[self.metric].value if self.metric in result.metrics else 0.0
        return Loss(
            failure.kind,
            path,
            failure.members,
            share,
            gpus,
            n_cut,
            tuple(machines),
            tuple(stated),
            binds,
            value,
            way.leaves_out,
            self._cost(parts, links, share, gpus + n_cut),
        )

    def _cost(self, parts: Int, links: Sequence[int], share: float, gone: int) -> Estimate:
        """What a failure costs until it is repaired [GPU-hours]."""
        if share == 1.0 and not gone and idle(self.network, damage(self.network, parts, links), self.loads):
            return _FREE
        repair = self.outage
        # accelerators that are gone do nothing, however much the rest gets done
        still = max(1.0 - share, gone / self.gpus if self.gpus else 0.0)

        def hours(waits: float, repaired: float) -> float:
            waits = min(waits, repaired)
            return self.gpus * (waits + still * (repaired - waits)) / _HOUR

        sources = tuple(sorted({*repair.sources, REPAIR.source}))
        value, low, high = (
            hours(getattr(repair, end), float(getattr(REPAIR, end))) for end in ("value", "low", "high")
        )
        return Estimate(value, low, high, "h", sources)

    def _feed_overload(self, rack: int) -> list[str]:
        feed = feed_of(self.network, rack)
        if feed is None or feed.draw <= feed.limit:
            return []
        draw, limit = format_quantity(feed.draw, "power"), format_quantity(feed.limit, "power")
        return [f"one feed would carry {draw} and can give {limit}"]

    def _limits(self, network: Network, result: WorkloadResult) -> frozenset[str]:
        """Promises of the design that do not hold, and errors the workload reports."""
        found = super()._limits(network, result)
        if not self._promised:
            return found
        world = World(network.design, cancelled=self._cancelled)
        world.network = network
        world.take(result)
        # promises about failures are about the whole design
        asked = [p for p in promises_of(network.design) if "survives" not in p.text]
        return found | {r.promise.text for r in run(world, asked) if r.state is State.BROKEN}


def survive(
    design: Design,
    workload: str | None = None,
    *,
    equal: bool = True,
    pairs: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> Survey:
    """Every single failure of a design and what it costs a workload, worst first.

    Parameters
    ----------
    equal
        True to work out one failure of each class of those that nothing distinguishes; false for each by itself. Where
        virtual machines are, each is worked out by itself: what is on a part distinguishes it.
    pairs
        So many double failures, drawn at random with a seed.

    Raises
    ------
    AnalysisError
        If there is no such workload, or it cannot run on the whole design.
    Cancelled
        If `cancelled` says so.
    """
    spec = workload_of(design, workload)
    watch = Watch(progress, cancelled)
    survivor = Survivor(design, spec, watch)
    named = _named_parts(survivor.network, spec)
    every = failures(survivor.network, survivor.loads, named, equal=equal and not design.vms)
    found: list[Loss] = []
    for k, failure in enumerate(every):
        watch.report(k / max(len(every), 1), f"{failure.kind} {k + 1} of {len(every)}")
        found.append(max((survivor.loss(one) for one in _probes(failure, survivor.brief)), key=lambda x: x.badness))
    found.sort(key=lambda x: tuple(-b for b in x.badness))
    doubles = _pairs(survivor, every, found, pairs, seed) if pairs else ()
    watch.report(1.0, "done")
    whole = survivor.whole.metrics[survivor.metric]
    return Survey(
        design.name,
        spec.id,
        survivor.metric,
        whole.unit,
        whole.value,
        tuple(found),
        doubles,
        sum(len(f.members) for f in every),
        seed,
        survivor.gpus,
        time_between_failures(_counts(every)),
    )


def _named_parts(network: Network, spec: WorkloadSpec) -> list[npt.NDArray[np.int64]]:
    """Return the numbers of the parts that each selector among the settings names."""
    found: list[npt.NDArray[np.int64]] = []
    for setting in workload_kinds()[spec.kind].settings:
        value = spec.settings.get(setting.name, setting.default)
        if setting.dimension == "selector" and isinstance(value, str) and value:
            # one that the workload does not use may name nothing
            with suppress(AnalysisError):
                found.append(resolve(network, value, setting.name))
    return found


def _counts(every: Sequence[Failure]) -> Mapping[str, int]:
    """How many of each kind may fail."""
    found: Counter[str] = Counter()
    for failure in every:
        found[failure.kind] += len(failure.members)
    return found


def _probes(failure: Failure, brief: bool) -> list[Failure]:
    """The failures of a class that are worked out: the place among the ranks counts for what computes or sends.

    `brief` is true for large designs, of whose NICs one of each class is tried.
    """
    n = len(failure.members)
    if failure.kind not in (("gpu", "server") if brief else ("gpu", "nic", "server")) or n < 2:
        return [failure]
    picks = np.unique(np.linspace(0, n - 1, _PROBES).astype(np.int64))
    return [replace(failure, members=np.roll(failure.members, -int(k))) for k in picks]


def _pairs(
    survivor: Survivor, every: Sequence[Failure], singles: Sequence[Loss], wanted: int, seed: int
) -> tuple[Pair, ...]:
    """Double failures drawn at random from all, worst first."""
    net, draw = survivor.network.net, np.random.default_rng(seed)
    sizes = np.array([len(f.members) for f in every])
    ends = np.cumsum(sizes)
    found: list[Pair] = []
    for _ in range(wanted if sizes.sum() > 1 else 0):
        chosen = draw.choice(int(sizes.sum()), 2, replace=False)
        rows: list[Failure] = []
        for k in chosen.tolist():
            at = int(np.searchsorted(ends, k, side="right"))
            rows.append(replace(every[at], members=every[at].members[k - int(ends[at] - sizes[at]) :][:1]))
        names = [net.link_path(f.first) if f.of_link else net.path(f.first) for f in rows]
        parts = np.unique(np.concatenate([lost_parts(survivor.network, f) for f in rows]))
        links = [f.first for f in rows if f.of_link]
        alone = [survivor.best(lost_parts(survivor.network, f), [f.first] if f.of_link else []) for f in rows]
        share = survivor.share(survivor.after(parts, links))
        outer = [net.index_of(way.leaves_out) for way in alone if way.leaves_out]
        if outer and share < 1:
            # what is left out after each of them alone is left out together
            more = np.union1d(parts, contents_of(survivor.network, outer))
            share = max(share, survivor.share(survivor.after(more, links)))
        # both at once leave no more than the worse of them alone
        found.append(Pair((names[0], names[1]), min(share, *(way.share for way in alone))))
    return tuple(sorted(found, key=lambda pair: pair.share))


def heat(survey: Survey, network: Network) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """Share of the throughput lost with each part, and with each link, by their numbers."""
    parts: dict[int, float] = {}
    links: dict[int, float] = {}
    for loss in survey.losses:
        into = links if loss.kind == "link" else parts
        for number in loss.members.tolist():
            into[number] = max(into.get(number, 0.0), loss.lost)
    return parts, links
