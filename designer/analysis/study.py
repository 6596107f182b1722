"""The one entry point: run workloads on a design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from designer.analysis.collectives import CollectiveAnswer, evaluate_collective
from designer.analysis.network import Network, build_network
from designer.analysis.results import Analysis, ChannelLoads, ChannelRow, Rows, WorkloadResult
from designer.analysis.transfers import TransferAnswer, evaluate_transfer
from designer.catalog.parttype import Capability
from designer.design.document import Design, WorkloadSpec
from designer.errors import AnalysisError, Cancelled
from designer.findings import Finding, Severity
from designer.sources import Estimate, Status
from designer.workload.kind import lower, workload_kinds
from designer.workload.operations import Collective, Operation, Transfer

#: designs with more channels list only the loaded ones, busiest first, up to this many
MAX_CHANNELS: Final = 20_000

Progress = Callable[[float, str], None]


def analyze(
    design: Design,
    workloads: Sequence[str] | None = None,
    *,
    file: str | None = None,
    curves: bool = True,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Analysis:
    """Run workloads of a design: routes, fair rates, estimates, what binds and what comes next.

    Parameters
    ----------
    workloads
        Ids of workloads of the design; all of them by default.
    curves
        Whether to compute sweeps for plots as well.
    progress, cancelled
        Called between steps.

    Raises
    ------
    AnalysisError
        If a workload is unknown, its settings are wrong or nothing can be routed.
    Cancelled
        If `cancelled` says so.
    """
    chosen = _chosen(design, workloads)
    network = build_network(design)
    results: list[WorkloadResult] = []
    loads: dict[str, ChannelLoads] = {}
    for i, spec in enumerate(chosen):
        if cancelled is not None and cancelled():
            raise Cancelled("stopped")
        if progress is not None:
            progress(i / len(chosen), spec.title or spec.id)
        result, load = run_workload(network, spec, curves)
        results.append(result)
        if load is not None:
            loads[spec.id] = load
    if progress is not None:
        progress(1.0, "done")
    main = design.default_workload if design.default_workload in loads else next(iter(loads), "")
    shown = loads.get(main)
    rows = Rows(lambda: channel_rows(network, shown))
    return Analysis(design.name, file, tuple(results), rows, Rows(lambda: _findings(network, rows)), loads)


def _chosen(design: Design, workloads: Sequence[str] | None) -> list[WorkloadSpec]:
    if workloads is None:
        return list(design.workloads.values())
    missing = [w for w in workloads if w not in design.workloads]
    if missing:
        known = ", ".join(design.workloads) or "none"
        raise AnalysisError(
            f"the design {design.name!r} has no workload {missing[0]!r}", remedy=f"its workloads: {known}"
        )
    return [design.workloads[w] for w in workloads]


def run_workload(
    network: Network, spec: WorkloadSpec, curves: bool = True
) -> tuple[WorkloadResult, ChannelLoads | None]:
    """One workload on a network.

    Raises
    ------
    AnalysisError
        If its settings are wrong or nothing can be routed.
    """
    place = f"workloads.{spec.id}"
    program = lower(spec.kind, spec.settings, place)
    kind = workload_kinds()[spec.kind]
    title = spec.title or kind.title
    if len(program.operations) != 1:
        raise AnalysisError(f"{kind.title} needs an evaluation of its own", place=place)
    return _single(network, spec.id, kind.reports, title, program.operations[0], place, curves)


def _single(
    network: Network, key: str, reports: str, title: str, operation: Operation, place: str, curves: bool
) -> tuple[WorkloadResult, ChannelLoads | None]:
    if isinstance(operation, Transfer):
        answer = evaluate_transfer(network, operation, place)
        metrics = _transfer_metrics(network, operation, answer)
        result = WorkloadResult(
            key,
            reports,
            title,
            metrics,
            answer.binding,
            answer.next,
            answer.flows,
            answer.traffic.n_flows,
            answer.findings,
        )
        return result, answer.loads
    if isinstance(operation, Collective):
        done = evaluate_collective(network, operation, place, curves)
        drawn = {"size-sweep": done.curves} if done.curves else {}
        return WorkloadResult(
            key, reports, title, _collective_metrics(done), done.binding, done.next, done.flows, done.n_flows, (), drawn
        ), done.loads
    raise AnalysisError(f"{title} has nothing to run", place=place)


def _transfer_metrics(network: Network, operation: Transfer, answer: TransferAnswer) -> Mapping[str, Estimate]:
    def rate(value: float, low: float, high: float) -> Estimate:
        return Estimate(value, low, high, "B/s", answer.sources)

    found = {"rate": rate(float(answer.rate.sum()), float(answer.low.sum()), float(answer.high.sum()))}
    accelerates = network.has(Capability.ACCELERATE)
    ends = answer.traffic.target if accelerates[answer.traffic.target].any() else answer.traffic.source
    if accelerates[ends].any():
        worst = int(np.argmin(answer.rate))
        found["data_rate_per_gpu"] = rate(
            float(answer.rate[worst]), float(answer.low[worst]), float(answer.high[worst])
        )
    if operation.size > 0 and answer.rate.min() > 0:
        times = [operation.size / float(r.min()) for r in (answer.rate, answer.high, answer.low)]
        found["transfer_time"] = Estimate(times[0], times[1], times[2], "s", answer.sources)
    return found


def _collective_metrics(answer: CollectiveAnswer) -> Mapping[str, Estimate]:
    time = answer.time
    ratio = time.algorithm_bandwidth / time.bus_bandwidth if time.bus_bandwidth else 1.0
    note = f"{time.algorithm}, {time.protocol}"
    return {
        "communication_time": Estimate(time.time, time.low, time.high, "s", answer.sources, note),
        "bus_bandwidth": Estimate(time.bus_bandwidth, time.bus_low, time.bus_high, "B/s", answer.sources, note),
        "algorithm_bandwidth": Estimate(
            time.algorithm_bandwidth, time.bus_low * ratio, time.bus_high * ratio, "B/s", answer.sources, note
        ),
    }


def channel_rows(network: Network, loads: ChannelLoads | None) -> list[ChannelRow]:
    """Channels for tables: all of a small design, of a large one the loaded ones, busiest first."""
    n = 2 * network.net.n_links
    if n <= MAX_CHANNELS:
        chosen = range(n)
    elif loads is None:
        chosen = range(MAX_CHANNELS)
    else:
        busy = np.flatnonzero(loads.load > 0)
        chosen = busy[np.argsort(-loads.utilization[busy], kind="stable")][:MAX_CHANNELS].tolist()
    rows: list[ChannelRow] = []
    rates = network.rate.tolist()
    for channel in chosen:
        a, b = network.ends(channel)
        link = channel >> 1
        rows.append(
            ChannelRow(
                network.channel_id(channel), network.net.path(a), network.net.path(b), network.net.link(link).kind,
                rates[link], float(loads.load[channel]) if loads else 0.0,
                float(loads.utilization[channel]) if loads else 0.0, str(network.quantity_status(link)),
            )
        )  # fmt: skip
    return rows


def _findings(network: Network, rows: Sequence[ChannelRow]) -> list[Finding]:
    """What a reader of the numbers should know."""
    unsure = sum(1 for row in rows if row.load > 0 and row.status in (Status.ASSUMED, Status.UNVERIFIED))
    found: list[Finding] = []
    if unsure:
        text = f"{unsure} of the loaded channels rest on assumed or unverified capacities"
        where = tuple(row.id for row in rows if row.load > 0 and row.status in (Status.ASSUMED, Status.UNVERIFIED))[:50]
        found.append(Finding("DATA-UNSURE", Severity.INFO, text, where, "give the real speeds of these links"))
    if 2 * network.net.n_links > MAX_CHANNELS:
        found.append(Finding("CHANNELS-CUT", Severity.INFO, f"only the {len(rows)} busiest channels are listed"))
    text = "steady rates: queueing, incast and congestion control of networks are not modelled"
    if len(network.parts_of_kind("switch")):
        found.append(Finding("FLOW-STEADY", Severity.INFO, text))
    return found
