"""Why two measured machines differ: the part of the difference that each cause explains, and the rest.

The measured ratio of two logs is the predicted ratio of their two machines times a rest. The predicted ratio is split
over causes by hybrids: from one machine to the other the number of ranks, the rates and the numbers of links are
exchanged one after another, forwards and backwards and from either side. Of these four orders those count that separate
most causes. What the smallest messages of a log show of the time that any call takes is a cause of its own where it
is more than the estimate. A cause's factor is their mean, its band their range, so that all factors multiply to the
predicted ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from designer.analysis.study import analyze
from designer.catalog.parttype import Capability, Domain, link_kinds, part_kinds
from designer.decisions.measured_logs import FROM_GPU, TO_GPU, TRAINED, Log
from designer.design.document import Block, Design, LinkValues, WorkloadSpec, with_changes
from designer.design.elaborate import Netlist, elaborate
from designer.design.rates import raw_rate
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError, DesignerError, ExchangeError
from designer.formulas.collectives import CollectiveKind
from designer.formulas.collectives.collective_time import bus_factor
from designer.plain_text import counted
from designer.workload.nccl_tests import COLLECTIVES


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause with what each machine has, and by which factor it changes the rate, with its range over the orders."""

    name: str
    a: str
    b: str
    factor: float
    low: float
    high: float

    def share(self, ratio: float) -> float:
        """Its share of a measured ratio, in logarithms; 0 where there is no difference."""
        return math.log(self.factor) / math.log(ratio) if abs(math.log(ratio)) > 1e-9 else 0.0


@dataclass(frozen=True, slots=True)
class Explained:
    """The difference at one message size.

    Parameters
    ----------
    size
        Message sizes of the two logs [B].
    measured, predicted
        Rates of the two machines [B/s, of trainings 1/s]; the estimate is no faster than the least time of a call in
        the log allows.
    rest
        Measured ratio over predicted ratio; `low` to `high` is what the bands of both estimates allow for.
    """

    size: tuple[int, int]
    measured: tuple[float, float]
    predicted: tuple[float, float]
    causes: tuple[Cause, ...]
    rest: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """Measured rate of the second over that of the first."""
        return self.measured[1] / self.measured[0]

    @property
    def is_within(self) -> bool:
        """Whether the rest is no more than the uncertainty of the estimates."""
        return self.low <= self.rest <= self.high


@dataclass(frozen=True, slots=True)
class Difference:
    """What two logs measured and why they differ, at up to three sizes, the largest first."""

    a: Log
    b: Log
    sizes: tuple[Explained, ...]
    how: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Machine:
    """A design with the ranks of its log, and what of it is exchanged."""

    design: Design
    net: Netlist
    ranks: int
    #: links at an accelerator or NIC: number and rate of one [B/s], by domain
    links: Mapping[Domain, tuple[float, float]]
    launch: str
    #: the training that its log is of
    training: WorkloadSpec | None = None


_LAUNCHES: Final = {"eager": "a process for each GPU", "graph": "CUDA graph", "one-process": "one thread for all GPUs"}
#: domains of links with their words for one link's rate and for the number of links
_DOMAINS: Final = (
    (Domain.ACCELERATOR, "Rate of a link between GPUs", "Links between GPUs, at each"),
    (Domain.HOST, "Rate of a GPU's PCIe or C2C link", ""),
    (Domain.NETWORK, "Rate of a NIC's port", "NIC ports for each GPU"),
)


def explain(a: Log, b: Log, designs: tuple[Design, Design], names: tuple[str, str] = ("A", "B")) -> Difference:
    """The causes of the difference between two logs on two machines.

    Parameters
    ----------
    designs
        The machine of each log.

    Raises
    ------
    ExchangeError
        If the logs measured different things, or more ranks than a machine has accelerators.
    AnalysisError
        If a machine cannot do what its log measured.
    """
    if a.what != b.what:
        raise ExchangeError(
            f"{names[0]} measured {a.what}, {names[1]} {b.what}", remedy="give two logs of one collective or direction"
        )
    machines = (_machine(a, designs[0], names[0]), _machine(b, designs[1], names[1]))
    common = sorted(set(a.points) & set(b.points), reverse=True)
    if common:
        chosen = dict.fromkeys((common[0], common[len(common) // 2], common[-1]))
        pairs = [(size, size) for size in chosen]
    else:
        pairs = [(max(a.points), max(b.points))]
    found: list[Explained] = []
    how = ("", "")
    for pair in pairs:
        one, how_of = _explained(a, b, machines, pair)
        found.append(one)
        how = how if any(how) else how_of
    return Difference(a, b, tuple(found), how)


def _machine(log: Log, design: Design, name: str) -> _Machine:
    net = elaborate(design)
    kinds = part_kinds()
    defs = [kinds.get(p.kind) for p in net.part_defs]
    is_gpu = np.array([k is not None and Capability.ACCELERATE in k.capabilities for k in defs])[net.part_def]
    count = int(is_gpu.sum())
    if not count:
        raise ExchangeError(
            "the machine has no accelerators", file=name, remedy="give the topology of the log's machine"
        )
    if log.ranks > count:
        raise ExchangeError(
            f"the log has {log.ranks} ranks, its machine {count} accelerators",
            file=name,
            remedy="give the topology of all machines of the log",
        )
    is_nic = np.array([p.kind in ("nic", "dpu") for p in net.part_defs])[net.part_def]
    links: dict[Domain, tuple[float, float]] = {}
    known = link_kinds()
    for domain, _, _ in _DOMAINS:
        ends = is_nic if domain is Domain.NETWORK else is_gpu
        number = total = 0.0
        for k, definition in enumerate(net.link_defs):
            kind = known.get(definition.kind)
            if kind is None or kind.domain is not domain:
                continue
            own = np.flatnonzero(net.link_def == k)
            at = int(ends[net.link_a[own]].sum() + ends[net.link_b[own]].sum()) * definition.count
            number += at
            total += at * raw_rate(definition)[0]
        if number:
            links[domain] = (number / count, total / number)
    training = _training_of(design, name) if log.what in TRAINED else None
    return _Machine(design, net, log.ranks or count, links, log.launch, training)


def _training_of(design: Design, name: str) -> WorkloadSpec:
    """The training of a design: the one that is shown first, else the only one."""
    trainings = [one for one in design.workloads.values() if one.kind == "training"]
    first = [one for one in trainings if one.id == design.default_workload] or trainings
    if not trainings or (len(first) > 1):
        raise ExchangeError(
            f"its design has {counted(len(trainings), 'training')}",
            file=name,
            remedy="give a design whose default workload is the training of the log",
        )
    return first[0]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of a hybrid: ranks, message [B], and what the library is set to."""

    ranks: int
    size: int
    launch: str
    algorithm: str = "auto"
    protocol: str = "auto"
    training: WorkloadSpec | None = None


def _spec(log: Log, machine: _Machine, asked: _Asked) -> WorkloadSpec:
    if asked.training is not None:
        return asked.training
    if log.what in COLLECTIVES.values():
        settings: dict[str, Any] = {"collective": log.what, "group": _group(machine, asked.ranks)}
        settings |= {"size": f"{asked.size} B", "launch": asked.launch}
        settings |= {"algorithm": asked.algorithm, "protocol": asked.protocol}
        return WorkloadSpec(id="explain", kind="collective", settings=settings)
    gpu = _group(machine, 1)
    ends = {TO_GPU: ("memory", gpu), FROM_GPU: (gpu, "memory")}.get(log.what, ("drives", "memory"))
    return WorkloadSpec(id="explain", kind="transfer", settings={"from": ends[0], "to": ends[1]})


def _group(machine: _Machine, ranks: int) -> str:
    kinds, net = part_kinds(), machine.net
    chosen = [
        k is not None and Capability.ACCELERATE in k.capabilities for k in (kinds.get(p.kind) for p in net.part_defs)
    ]
    gpus = np.flatnonzero(np.array(chosen)[net.part_def])
    return "gpus" if ranks >= len(gpus) else ", ".join(net.path(int(g)) for g in gpus[:ranks])


def _run(log: Log, machine: _Machine, design: Design, asked: _Asked) -> WorkloadResult:
    workloads = [_spec(log, machine, asked)]
    only = with_changes(design, workloads=workloads, default_workload="", assertions=[])
    return analyze(only, curves=False).workloads[0]


def _rate(log: Log, result: WorkloadResult) -> tuple[float, float, float]:
    for name in (TRAINED[log.what],) if log.what in TRAINED else ("bus_bandwidth", "data_rate_per_gpu", "rate"):
        if name in result.metrics:
            found = result.metrics[name]
            return found.value, found.low, found.high
    raise AnalysisError("the machine has no rate for what the log measured", remedy="choose another log")


@dataclass(frozen=True, slots=True)
class _Swap:
    """What one hybrid takes over from the other machine."""

    name: str
    a: str
    b: str
    of: str = ""
    domain: Domain | None = None
    factor: float = 1.0


def _swaps(log: Log, one: _Machine, other: _Machine, sizes: tuple[int, int]) -> list[_Swap]:
    found: list[_Swap] = []
    if sizes[0] != sizes[1]:
        found.append(_Swap("Message size", f"{sizes[0]:,} B", f"{sizes[1]:,} B", "size"))
    if log.what in COLLECTIVES.values() and one.launch != other.launch:
        found.append(_Swap("Launch of the kernels", _LAUNCHES[one.launch], _LAUNCHES[other.launch], "launch"))
    if log.what in COLLECTIVES.values() and one.ranks != other.ranks:
        found.append(_Swap("Ranks", str(one.ranks), str(other.ranks), "ranks"))
    if one.training is not None and other.training is not None:
        changed = _settings(one.training, other.training)
        if changed:
            found.append(_Swap("Settings of the training", *changed, "training"))
    for domain, rate, number in _DOMAINS:
        if domain not in one.links or domain not in other.links:
            continue
        (n, r), (m, s) = one.links[domain], other.links[domain]
        if abs(math.log(s / r)) > 1e-6:
            found.append(_Swap(rate, f"{r / 1e9:.3g} GB/s", f"{s / 1e9:.3g} GB/s", domain=domain, factor=s / r))
        if number and abs(math.log(m / n)) > 1e-6:
            found.append(_Swap(number, f"{n:.3g}", f"{m:.3g}", domain=domain, factor=m / n))
    return found


def _settings(a: WorkloadSpec, b: WorkloadSpec) -> tuple[str, str] | None:
    """What two trainings are set to where they differ, the first few; None where they do not."""
    names = [name for name in sorted({*a.settings, *b.settings}) if a.settings.get(name) != b.settings.get(name)]
    if not names:
        return None
    words = [", ".join(f"{name} {one.settings.get(name, 'as usual')}" for name in names[:3]) for one in (a, b)]
    return words[0], words[1]


def _explained(
    a: Log, b: Log, machines: tuple[_Machine, _Machine], sizes: tuple[int, int]
) -> tuple[Explained, tuple[str, str]]:
    one, other = machines
    first, second = (
        _run(a, one, one.design, _Asked(one.ranks, sizes[0], one.launch, training=one.training)),
        _run(b, other, other.design, _Asked(other.ranks, sizes[1], other.launch, training=other.training)),
    )
    p, q = _rate(a, first), _rate(a, second)
    swaps = _swaps(a, one, other, sizes)
    chains: list[dict[str, float]] = []
    for order in (swaps, swaps[::-1]):
        chains.append(_chain(a, one, other, order, sizes, (first, second)))
        back = [_Swap(s.name, s.b, s.a, s.of, s.domain, 1 / s.factor) for s in order]
        reverse = _chain(a, other, one, back, (sizes[1], sizes[0]), (second, first))
        chains.append({name: -step for name, step in reverse.items()})
    most = max(map(len, chains))
    chains = [chain for chain in chains if len(chain) == most]
    calls = (_calls(a, one.ranks), _calls(b, other.ranks))
    waiting = _waiting(calls, (p[0], q[0]), sizes)
    p, q = calls[0].held(p, sizes[0]), calls[1].held(q, sizes[1])
    words = {s.name: (s.a, s.b) for s in swaps} | {_ALGORITHM: (_how(first), _how(second))}
    words |= {_REST_OF_MODEL: (_kinds(one), _kinds(other))}
    causes: list[Cause] = []
    for name, (x, y) in words.items():
        steps = [chain[name] for chain in chains if name in chain]
        mean = sum(steps) / len(chains)
        if steps and (abs(mean) > 1e-4 or max(map(abs, steps)) > 1e-3):
            causes.append(Cause(name, x, y, math.exp(mean), math.exp(min(steps)), math.exp(max(steps))))
    causes += waiting
    measured = (a.points[sizes[0]], b.points[sizes[1]])
    rest = measured[1] / measured[0] * p[0] / q[0]
    spread = [math.hypot(math.log(q[0] / q[k]), math.log(p[3 - k] / p[0])) for k in (1, 2)]
    found = Explained(
        sizes,
        measured,
        (p[0], q[0]),
        tuple(sorted(causes, key=lambda c: -abs(math.log(c.factor)))),
        rest,
        math.exp(-spread[0]),
        math.exp(spread[1]),
    )
    return found, (_how(first), _how(second))


@dataclass(frozen=True, slots=True)
class _Calls:
    """How long calls of a log take at least: by the line through its two smallest sizes, and by the smallest [s].

    Notes
    -----
    Where calls follow each other, what starts them sets their pace and hides the first bytes, so an empty message
    takes no less than the line says.
    """

    factor: float = 1.0
    least: float = 0.0
    first: float = 0.0

    def held(self, rates: tuple[float, float, float], size: int) -> tuple[float, float, float]:
        """Estimated rates [B/s], none faster than the least time lets it be."""
        if self.slower(rates[0], size) == 1:
            return rates
        most = self.factor * size
        return most / self.least, min(rates[1], most / self.first), most / self.least

    def slower(self, rate: float, size: int, least: float = 0.0) -> float:
        """How many times as long the least time is as a size takes at a rate, no less than 1."""
        return max(1.0, (least or self.least) * rate / (self.factor * size)) if size else 1.0


def _calls(log: Log, ranks: int) -> _Calls:
    sizes = sorted(log.points)[:2]
    if log.what not in COLLECTIVES.values() or len(sizes) < 2:
        return _Calls()
    factor = bus_factor(CollectiveKind(log.what), ranks)
    first, second = (factor * size / log.points[size] for size in sizes)
    return _Calls(factor, max(0.0, first - (second - first) * sizes[0] / (sizes[1] - sizes[0])), first)


def _waiting(calls: tuple[_Calls, _Calls], rates: tuple[float, float], sizes: tuple[int, int]) -> list[Cause]:
    """What the least time of a call does to a rate where it is more than the estimate."""
    one, other = calls
    slower = one.slower(rates[0], sizes[0]), other.slower(rates[1], sizes[1])
    if max(slower) < 1 + 1e-3:
        return []
    most = one.slower(rates[0], sizes[0], one.first), other.slower(rates[1], sizes[1], other.first)
    low, value, high = sorted((slower[0] / most[1], slower[0] / slower[1], most[0] / slower[1]))
    a, b = (f"{calls.least * 1e6:.3g} µs" for calls in (one, other))
    return [Cause("Least time of a call, by its log", a, b, value, low, high)]


_ALGORITHM: Final = "Algorithm of the library"
_REST_OF_MODEL: Final = "Kind of GPU and paths"
#: settings that force what the library chose
_FORCED: Final = {
    **{name: name for name in ("ring", "tree", "direct")},
    "nvls": "in-switch",
    "nvls-tree": "in-switch",
    "sharp": "in-network",
    "pat": "tree",
}


def _kinds(machine: _Machine) -> str:
    kinds, net = part_kinds(), machine.net
    names = dict.fromkeys(
        found.title
        for p in net.part_defs
        if (k := kinds.get(p.kind)) is not None
        and Capability.ACCELERATE in k.capabilities
        and (found := machine.design.type_of(p)) is not None
    )
    words = ", ".join(list(names)[:2]) or "kind not stated"
    return f"{_gpus(machine)} × {words}" if machine.training is not None else words


def _how(result: WorkloadResult) -> str:
    for name in ("bus_bandwidth", "communication_time"):
        if name in result.metrics and "step_time" not in result.metrics:
            return result.metrics[name].note
    return ""


def _chain(
    log: Log,
    start: _Machine,
    end: _Machine,
    swaps: Sequence[_Swap],
    sizes: tuple[int, int],
    results: tuple[WorkloadResult, WorkloadResult],
) -> dict[str, float]:
    """Logarithm of the step of each exchange, from one machine towards the other; the last step leads to the other."""
    found: dict[str, float] = {}
    design, at, after = start.design, _rate(log, results[0])[0], _rate(log, results[1])[0]
    asked = _Asked(start.ranks, sizes[0], start.launch, training=start.training)
    last = _Asked(end.ranks, sizes[1], end.launch, training=end.training)
    for swap in swaps:
        if swap.of == "ranks" and end.ranks > _gpus(start):
            # fewer accelerators are drawn: the step is part of what is left
            continue
        if swap.of:
            asked = replace(asked, **{swap.of: getattr(last, swap.of)})
        elif swap.domain is not None:
            design = _scaled(design, swap.domain, swap.factor)
        try:
            value = _rate(log, _run(log, start, design, asked))[0]
        except DesignerError:
            continue
        found[swap.name] = found.get(swap.name, 0.0) + math.log(value / at)
        at = value
    used, wanted = (_chosen(result) for result in results)
    if used != wanted and used and wanted:
        # forced on the machine at the end; where that cannot do it, on the hybrid
        forced = _forced(log, end, end.design, replace(last, **used))
        if forced is not None:
            found[_ALGORITHM] = math.log(after / forced)
            after = forced
        elif (forced := _forced(log, start, design, replace(asked, **wanted))) is not None:
            found[_ALGORITHM] = math.log(forced / at)
            at = forced
    found[_REST_OF_MODEL] = math.log(after / at)
    return found


def _chosen(result: WorkloadResult) -> dict[str, str]:
    """Settings that force what the library chose; empty where none does."""
    algorithm, _, protocol = _how(result).partition(", ")
    return {"algorithm": _FORCED[algorithm], "protocol": protocol} if algorithm in _FORCED else {}


def _forced(log: Log, machine: _Machine, design: Design, asked: _Asked) -> float | None:
    """Rate with an algorithm and a protocol; None where the machine cannot do it."""
    try:
        return _rate(log, _run(log, machine, design, asked))[0]
    except DesignerError:
        return None


def _gpus(machine: _Machine) -> int:
    kinds = part_kinds()
    accelerates = [
        (k := kinds.get(p.kind)) is not None and Capability.ACCELERATE in k.capabilities for p in machine.net.part_defs
    ]
    return int(np.array(accelerates)[machine.net.part_def].sum())


def _scaled(design: Design, domain: Domain, factor: float) -> Design:
    """The design with the rate of every link of a domain multiplied."""
    known = link_kinds()

    def link(one: LinkValues) -> LinkValues:
        kind = known.get(one.kind)
        if kind is None or kind.domain is not domain:
            return one
        return with_changes(one, bandwidth_per_direction=f"{raw_rate(one)[0] * factor / 1e9:.9g} GB/s")

    return _everywhere(design, link)


def _everywhere(block: Block, change: Callable[[Any], Any]) -> Any:
    def all_of(items: Iterable[Any]) -> list[Any]:
        return [change(item) for item in items]

    groups = [
        with_changes(
            g,
            content=_everywhere(g.content, change),
            exceptions={k: _everywhere(x, change) for k, x in g.exceptions.items()},
        )
        for g in block.groups.values()
    ]
    return with_changes(
        block, links=all_of(block.links.values()), wirings=all_of(block.wirings.values()), groups=groups
    )
