"""What each single failure costs: every link, NIC, switch, GPU, storage system, host and feed taken away in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.network import Network, build_network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.study import run_workload
from designer.analysis.vms.placement import place_vms
from designer.analysis.worth import share_of, worth_of
from designer.catalog.parttype import Capability
from designer.checks.runner import State, promises_of, run
from designer.checks.world import World
from designer.decisions.failures import FEED, Failure, failures, feed_of, lost_parts
from designer.decisions.failures_network import Damage, damage, deleted, idle, remains
from designer.design.document import Design, WorkloadSpec
from designer.errors import AnalysisError, DesignerError, NothingNamed
from designer.findings import Severity
from designer.memo import forget
from designer.progress import UNWATCHED, Cancel, Progress, Watch
from designer.units import format_quantity
from designer.workload.kind import workload_kinds

Int = npt.NDArray[np.int64]

#: losses below this share are rounding
_SAME: Final = 1e-9
#: accelerators, NICs and hosts that look alike differ by their place among the ranks: so many of each class are tried
_PROBES: Final = 2
#: objects that each function keeps answers about between failures of a large design
_KEPT_LIMIT: Final = 1
#: of designs of more parts what holds them back after a failure is not told
EXPLAINED_LIMIT: Final = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """What failures that are alike cost.

    Parameters
    ----------
    kind
        Kind of what fails: a kind of part, ``link`` or ``feed``.
    path
        The one that stands for all; of several that were tried the one that costs most.
    members : (n,) numbers of parts or of links
    share
        What is left of the throughput, 1 for all of it, 0 where the workload cannot run.
    gpus_lost, gpus_stranded
        Accelerators that fail, and those that stand but can no longer be used.
    machines
        Virtual machines that cannot be started again.
    limits
        Promises and limits that held and no longer do.
    binds
        What holds the workload back then, or why it cannot run.
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

    @property
    def count(self) -> int:
        """How many failures are alike."""
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
    if name not in design.workloads:
        known = ", ".join(design.workloads) or "none: add one, for example with --workload-file"
        text = f"the design {design.name!r} has no workload {name!r}" if name else "the design has no workload"
        raise AnalysisError(text, place="--workload", remedy=f"its workloads: {known}")
    return design.workloads[name]


@dataclass(frozen=True, slots=True, eq=False)
class After:
    """What a failure leaves; of the network it leaves only what is told, since many failures are kept in mind.

    Parameters
    ----------
    result
        The workload, its rows left out; None where it cannot run, and `why`.
    stranded
        Accelerators that stand and are of no use.
    accelerators
        How many the workload still has to choose from.
    refused
        Machines that have no place.
    broken
        Promises and limits that do not hold.
    """

    result: WorkloadResult | None
    stranded: Int
    why: str
    accelerators: int
    refused: frozenset[str]
    broken: frozenset[str]


#: what people call the parts that a selector of a workload names
_CALLED: Final[Mapping[str, str]] = {
    "gpus": "all GPUs",
    "accelerators": "all accelerators",
    "nics": "all NICs",
    "cpus": "all processors",
    "dpus": "all DPUs",
    "memory": "all memory",
    "storage": "all storage",
    "storage_systems": "all storage systems",
    "drives": "all drives",
    "servers": "all servers",
}


def _why(error: AnalysisError) -> str:
    """Why a workload that ran before a failure cannot run after it."""
    if not isinstance(error, NothingNamed):
        return error.text
    taken = _CALLED.get(error.selector, f"every part that {error.selector!r} names")
    return f"the failure takes {taken} of the workload"


class Survivor:
    """A design and its workload, asked again and again what is left without some of it."""

    def __init__(self, design: Design, spec: WorkloadSpec, watch: Watch = UNWATCHED, *, promised: bool = True) -> None:
        self.design, self.spec, self._watch = design, spec, watch
        self.network = build_network(design)
        self.whole, self.loads = run_workload(self.network, spec, False, None, watch.cancelled)
        #: true for a large design: what holds it back after a failure is not told
        self.brief = self.network.net.n_parts > EXPLAINED_LIMIT
        self.metric = worth_of(self.whole)
        self._asked = _where_its_data_is(self.network, spec)
        self._promised = promised and bool(design.assertions)
        self._known: dict[tuple[object, bytes], After] = {}

    def answer(self, network: Network) -> tuple[WorkloadResult, ChannelLoads | None]:
        """The workload on a network."""
        self._watch.check()
        try:
            return run_workload(network, self._asked, False, None, self._watch.cancelled, explained=not self.brief)
        except AnalysisError:
            if self.spec.kind != "serving" or not self._asked.settings.get("replicas"):
                raise
        # fewer replicas than asked for are left: as many as there is room for
        fewer = self._asked.model_copy(update={"settings": {**self._asked.settings, "replicas": 0}})
        return run_workload(network, fewer, False, None, self._watch.cancelled, explained=not self.brief)

    @cached_property
    def _broken(self) -> frozenset[str]:
        return self._limits(self.network, self.whole)

    @cached_property
    def _refused_before(self) -> frozenset[str]:
        return frozenset(place_vms(self.network).refused) if self.design.vms else frozenset()

    def after(self, parts: Int, links: Sequence[int] = ()) -> After:
        """What is left without parts and links; what leaves the same behind is worked out once."""
        found = damage(self.network, parts, links)
        if not self.design.vms and idle(self.network, found, self.loads):
            return self._left(self.network, self.whole, found.stranded)
        key = (found.key, found.deleted.tobytes() if self.design.vms else b"")
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._after(found)
            if self.brief:
                # what is known of a large network that a failure left is of no use to the next failure
                forget(_KEPT_LIMIT)
        return replace(known, stranded=found.stranded)

    def _after(self, found: Damage) -> After:
        after = self._network(found)
        try:
            return self._left(after, self.answer(after)[0], found.stranded)
        except AnalysisError as error:
            why = _why(error)
        cut = np.setdiff1d(found.stranded, found.parts)
        if len(cut):
            # what is cut off is no longer asked to take part
            try:
                after = remains(self.network, np.union1d(found.parts, cut), found.links)
                return self._left(after, self.answer(after)[0], found.stranded)
            except AnalysisError as error:
                why = _why(error)
        return self._left(after, None, found.stranded, why)

    def _left(self, network: Network, result: WorkloadResult | None, stranded: Int, why: str = "") -> After:
        """What is kept in mind of an answer."""
        same = network is self.network
        broken: frozenset[str] = frozenset()
        if result is not None:
            broken = self._broken if same else self._limits(network, result)
            # rows are read from the network, which would stay with them
            result = replace(result, flows=(), curves={}, tables={})
        refused = frozenset(place_vms(network).refused) if self.design.vms and not same else self._refused_before
        return After(result, stranded, why, int(network.has(Capability.ACCELERATE).sum()), refused, broken)

    def _network(self, found: Damage) -> Network:
        if self.design.vms and len(found.deleted) and not found.links:
            parent, gone = self.network.net.parent, set(found.deleted.tolist())
            outer = [p for p in found.deleted.tolist() if int(parent[p]) not in gone]
            try:
                return deleted(self.network, [self.network.net.path(p) for p in outer])
            except DesignerError:
                pass
        return found.after or remains(self.network, found.parts, found.links)

    def loss(self, failure: Failure) -> Loss:
        """What a failure costs, by the first of its class."""
        parts = lost_parts(self.network, failure)
        links = [failure.first] if failure.of_link else []
        path = self.network.net.link_path(failure.first) if failure.of_link else self.network.net.path(failure.first)
        told = [] if failure.kind != FEED else self._feed(failure.first)
        gpus = int(self.network.has(Capability.ACCELERATE)[parts].sum())
        left = self.after(parts, links)
        result, cut, why = left.result, left.stranded, left.why
        machines = sorted(left.refused - self._refused_before)
        share, value, binds, n_cut = 0.0, 0.0, why, len(cut)
        if result is None:
            n_cut = max(left.accelerators, n_cut)
        else:
            # that no way leads to what is cut off is told by its number
            untold = frozenset({"FLOW-NO-WAY"} if len(cut) else ())
            told += sorted(left.broken - self._broken - untold)
            binds = ", ".join(b.label for b in result.binding[:1])
            share = share_of(self.whole, result)
            share = 1.0 if abs(share - 1) < _SAME else share
            value = result.metrics[self.metric].value if self.metric in result.metrics else 0.0
        return Loss(failure.kind, path, failure.members, share, gpus, n_cut, tuple(machines), tuple(told), binds, value)

    def _feed(self, rack: int) -> list[str]:
        feed = feed_of(self.network, rack)
        if feed is None or feed.draw <= feed.limit:
            return []
        draw, limit = format_quantity(feed.draw, "power"), format_quantity(feed.limit, "power")
        return [f"one feed would carry {draw} and can give {limit}"]

    def _limits(self, network: Network, result: WorkloadResult) -> frozenset[str]:
        """Promises of the design that do not hold, and errors the workload tells."""
        found = {f.code for f in result.findings if f.severity is Severity.ERROR}
        if self._promised:
            world = World(self.design, cancelled=self._watch.cancelled)
            world.network = network
            world.take(result)
            # promises about failures are about the whole design
            asked = [p for p in promises_of(self.design) if "survives" not in p.text]
            found |= {r.promise.text for r in run(world, asked) if r.state is State.BROKEN}
        return frozenset(found)


def _where_its_data_is(network: Network, spec: WorkloadSpec) -> WorkloadSpec:
    """The workload with its data where the whole design holds it.

    ``storage`` stands for drives where there are no storage systems; drives do not hold what a lost system held.
    A model that is served has been loaded before anything fails.
    """
    if spec.kind == "serving":
        return spec.model_copy(update={"settings": {**spec.settings, "storage": "", "cold": False}})
    if not network.parts_of_kind("storage").size:
        return spec
    held = dict(spec.settings)
    for setting in workload_kinds()[spec.kind].settings:
        value = held.get(setting.name, setting.default)
        if setting.dimension == "selector" and isinstance(value, str):
            pieces = [piece.strip() for piece in value.split(",")]
            if "storage" in pieces:
                held[setting.name] = ", ".join("storage_systems" if p == "storage" else p for p in pieces)
    return spec.model_copy(update={"settings": held})


def survive(
    design: Design,
    workload: str | None = None,
    *,
    alike: bool = True,
    pairs: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> Survey:
    """Every single failure of a design and what it costs a workload, worst first.

    Parameters
    ----------
    alike
        True to work out one failure of each class of those that nothing tells apart; false for each by itself. Where
        virtual machines stand, each is worked out by itself: what stands on a part tells it apart.
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
    every = failures(survivor.network, survivor.loads, alike=alike and not design.vms)
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
    )


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
        result = survivor.after(parts, links).result
        share = 0.0 if result is None else share_of(survivor.whole, result)
        found.append(Pair((names[0], names[1]), share))
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
