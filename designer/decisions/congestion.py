"""A workload over draws of the hash: how fast it is with flows on one path each, against flows split evenly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec, with_changes
from designer.engine.network import Network, build_network
from designer.engine.question import Question
from designer.engine.results import Bottleneck, Column, Curve, Table, WorkloadResult
from designer.errors import AnalysisError, Cancelled
from designer.sources import Constant, Estimate, Status
from designer.workload.kind import kind_of

#: what a workload is compared by, the first that its answer has
_COMPARED: Final = ("communication_time", "step_time", "rate")
_SLOWEST: Final = "data_rate_per_gpu"
DRAWS_LIMIT: Final = 10_000
PIECES_LIMIT: Final = 64
#: flows beyond this are not looked through for receivers
_FLOWS_LIMIT: Final = 200_000
#: share of the link of a receiver that many senders get together
INCAST: Final = {
    "lossless": Constant(1.0, 0.9, 1.0, "dcqcn-2015", Status.UNVERIFIED, "1"),
    "tcp": Constant(0.9, 0.3, 1.0, "tcp-incast-2008", Status.UNVERIFIED, "1"),
}
#: draws that reach so much lose nothing
_EVEN: Final = 0.999
#: ends of the 80 % band among draws
_LOW, _HIGH = 0.1, 0.9


def answer(network: Network, settings: Mapping[str, Any], question: Question) -> tuple[WorkloadResult, None]:
    """Run a workload with flows split evenly, then hashed in many ways.

    Raises
    ------
    AnalysisError
        If there is no such workload, or nothing of it can be compared.
    """
    spec = _workload(network, settings["workload"].strip(), question.place)
    draws, pieces = settings["draws"], settings["flows"]
    if not 1 <= draws <= DRAWS_LIMIT:
        raise AnalysisError(f"{draws:,} draws", place=f"{question.place}.draws", remedy=f"1 to {DRAWS_LIMIT:,}")
    if not 1 <= pieces <= PIECES_LIMIT:
        raise AnalysisError(f"{pieces} queue pairs", place=f"{question.place}.flows", remedy=f"1 to {PIECES_LIMIT}")
    even = _run(network, spec, {"ecmp": "split"}, banded=True)
    main = next((name for name in _COMPARED if name in even.metrics), "")
    if not main:
        text = f"{spec.id} has neither a time nor a rate to compare"
        raise AnalysisError(text, place=f"{question.place}.workload", remedy="name a transfer or a collective")
    shares: list[float] = []
    slowest: list[float] = []
    for draw in range(draws):
        if question.cancelled is not None and question.cancelled():
            raise Cancelled("stopped")
        if question.progress is not None:
            question.progress(draw / draws, f"draw {draw + 1} of {draws}")
        policy = {"ecmp": "hash", "hash_seed": draw, "hash_flows": pieces}
        found = _run(network, spec, policy, banded=False).metrics
        shares.append(_share(even.metrics[main], found[main]))
        if _SLOWEST in even.metrics and _SLOWEST in found:
            slowest.append(_share(even.metrics[_SLOWEST], found[_SLOWEST]))
    degree = _incast(network, even)
    incast = INCAST[settings["transport"]] if degree > 1 else Constant(1.0, 1.0, 1.0, "counted-serving", Status.PRIMARY)
    metrics = {"hashed_share": _spread(shares), "worst_draw": Estimate.exact(min(shares), "1")}
    if slowest:
        metrics["slowest_flow_share"] = _spread(slowest)
    metrics["incast_degree"] = Estimate.exact(degree, "1")
    sources = (incast.source,) if degree > 1 else ()
    metrics["incast_share"] = Estimate(incast.value, incast.low, incast.high, "1", sources)
    metrics[main] = _widen_band(even.metrics[main], metrics["hashed_share"].low * incast.low, sources)
    words = f"{draws} draws of the hash, {pieces} queue pairs of a flow"
    collided = (Bottleneck("limit", "hash", "the hash of flows", words),)
    binding = collided if metrics["hashed_share"].low < _EVEN else even.binding
    result = question.result(
        metrics,
        binding,
        () if binding is even.binding else even.binding,
        (),
        0,
        (),
        {"congestion-draws": (_distribution(shares),)} if question.curves else {},
        {"draws": _table(shares, slowest)},
    )
    return result, None


def _workload(network: Network, name: str, place: str) -> WorkloadSpec:
    spec = network.design.workloads.get(name)
    if spec is None:
        known = ", ".join(network.design.workloads) or "none"
        raise AnalysisError(f"there is no workload {name!r}", place=f"{place}.workload", remedy=f"workloads: {known}")
    if kind_of(spec.kind, name).search:
        text = f"{name} is itself a search"
        raise AnalysisError(text, place=f"{place}.workload", remedy="name a transfer, a collective or a training")
    return spec


def _run(network: Network, spec: WorkloadSpec, policy: Mapping[str, object], *, banded: bool) -> WorkloadResult:
    design = network.design
    drawn = build_network(with_changes(design, policy=with_changes(design.policy, **policy)))
    return run_workload(drawn, spec, curves=False, explained=banded, banded=banded)[0]


def _share(even: Estimate, hashed: Estimate) -> float:
    """Speed relative to an even split [1]."""
    slow, fast = (even.value, hashed.value) if even.unit == "s" else (hashed.value, even.value)
    return slow / fast if fast > 0 else 0.0


def _spread(shares: Sequence[float]) -> Estimate:
    median, low, high = np.quantile(shares, [0.5, _LOW, _HIGH]).tolist()
    return Estimate(median, low, high, "1", ("mptcp-2011",), "over draws of the hash")


def _widen_band(even: Estimate, share: float, sources: tuple[str, ...]) -> Estimate:
    """The value of an even split, in a band that reaches down to a share of its speed."""
    kept = tuple(sorted({*even.sources, *sources}))
    if share <= 0:
        return replace(even, sources=kept)
    if even.unit == "s":
        return replace(even, high=max(even.high, even.value / share), sources=kept)
    return replace(even, low=min(even.low, even.value * share), sources=kept)


def _incast(network: Network, even: WorkloadResult) -> int:
    """The most servers that send to one server at the same time; 1 where flows are too many to look through."""
    if not 0 < even.n_flows <= _FLOWS_LIMIT:
        return 1
    senders: dict[int, set[int]] = {}
    for flow in even.flows:
        ends = [int(network.island[network.net.index_of(path)]) for path in (flow.source, flow.target)]
        if ends[0] != ends[1]:
            senders.setdefault(ends[1], set()).add(ends[0])
    return max((len(one) for one in senders.values()), default=1)


def _distribution(shares: Sequence[float]) -> Curve:
    x = sorted(shares)
    return Curve("draws", tuple(x), tuple((k + 1) / len(x) for k in range(len(x))))


def _table(shares: Sequence[float], slowest: Sequence[float]) -> Table:
    columns = (Column("seed"), Column("speed", "1"), Column("slowest flow", "1"))
    rows = tuple((float(k), share, slowest[k] if slowest else None) for k, share in enumerate(shares))
    return Table("Draws of the hash", columns, rows)
