"""The one entry point: run workloads on a design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from designer.design.document import Design, WorkloadSpec
from designer.design.gaps import SPEED, Gap, find_gaps
from designer.design.ids import find_workload
from designer.engine.machines.guest_network import partitioned_network
from designer.engine.machines.placement import place_vms
from designer.engine.network import NETWORKS_LIMIT, Network, build_network
from designer.engine.question import Question, ask
from designer.engine.results import Analysis, ChannelLoads, Rows, WorkloadResult
from designer.engine.routes.channel_rows import CHANNELS_LIMIT, ChannelRows
from designer.errors import DesignerError
from designer.findings import Finding, Severity
from designer.memo import memo
from designer.plain_text import counted
from designer.progress import Cancel, Progress, Watch
from designer.sources import Estimate, Status
from designer.workload.kind import kind_of

#: a finding names at most so many places
_PLACES_LIMIT: Final = 50


def analyze(
    design: Design,
    workloads: Sequence[str] | None = None,
    *,
    file: str | None = None,
    curves: bool = True,
    shown: str = "",
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> Analysis:
    """Run workloads of a design: routes, fair rates, estimates, what binds and what comes next.

    Parameters
    ----------
    workloads
        Ids of workloads of the design, or one id; all of them by default.
    curves
        True to compute sweeps for plots as well.
    shown
        The workload whose loads the rows of channels tell; else the design's default, else the first.
    progress, cancelled
        Called between steps.

    Raises
    ------
    AnalysisError
        If a workload is unknown, its settings are wrong or nothing can be routed.
    Cancelled
        If `cancelled` says so.
    """
    chosen = _selected_workloads(design, workloads)
    network, watch = partitioned_network(build_network(design)), Watch(progress, cancelled)
    results: list[WorkloadResult] = []
    loads: dict[str, ChannelLoads] = {}
    for i, spec in enumerate(chosen):
        watch.step(i / len(chosen), spec.title or spec.id)
        result, load = run_workload(network, spec, curves, watch.part(i, len(chosen)).progress, cancelled)
        results.append(result)
        if load is not None:
            loads[spec.id] = load
    watch.report(1.0, "done")
    main = next((w for w in (shown, design.default_workload) if w in loads), next(iter(loads), ""))
    stated = loads.get(main)
    rows = ChannelRows(network, stated)
    return Analysis(design.name, file, tuple(results), rows, Rows(lambda: _findings(network, stated, rows)), loads)


def _selected_workloads(design: Design, workloads: Sequence[str] | None) -> list[WorkloadSpec]:
    if workloads is None:
        return list(design.workloads.values())
    if isinstance(workloads, str):
        # one id is a sequence of its letters: what is meant is clear
        workloads = [workloads]
    return [find_workload(design, name) for name in workloads]


def run_workload(
    network: Network,
    spec: WorkloadSpec,
    curves: bool = True,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
    *,
    explained: bool = True,
    banded: bool = True,
) -> tuple[WorkloadResult, ChannelLoads | None]:
    """One workload on a network.

    Parameters
    ----------
    explained
        False where only its metrics are wanted: what binds is left out, and so is what is not known of the design.
    banded
        False where only values are wanted: bands, and the metrics that only bands need, may be left out.

    Raises
    ------
    AnalysisError
        If its settings are wrong or nothing can be routed.
    """
    network = partitioned_network(network)
    place = f"workloads.{spec.id}"
    kind = kind_of(spec.kind, place)
    title = spec.title or kind.title
    question = Question(spec.id, kind.reports, title, place, curves, progress, cancelled, explained, banded)
    short = Question(spec.id, kind.reports, title, place, False, None, cancelled, False)
    calm = spec
    if any(spec.settings.get(key) for key in ("background", "beside")):
        from designer.analysis.study.neighbours import retraining_names, undisturbed, with_neighbours

        names = retraining_names(network, spec)
        calm = undisturbed(spec, names)
        result, loads = with_neighbours(
            network, spec, names, ask(network, calm, question), lambda other: ask(network, other, short)[0], cancelled
        )
    else:
        result, loads = ask(network, spec, question)
    if not (explained and banded):
        return result, loads
    again = replace(short, explained=True)
    return with_gaps(network, result, loads, lambda other: ask(other, calm, again)[0]), loads


def _findings(network: Network, loads: ChannelLoads | None, rows: ChannelRows) -> list[Finding]:
    """What a reader of the numbers should know; asked after every edit, so it makes no rows."""
    numbers = rows.number
    guessed = np.array([f.status in (Status.ASSUMED, Status.UNVERIFIED) for f in network.link_facts], dtype=bool)
    unsure = numbers[:0]
    if loads is not None and guessed.any():
        unsure = numbers[(rows.load > 0) & guessed[network.net.link_def[numbers >> 1]]]
    found: list[Finding] = []
    if len(unsure):
        links = len(np.unique(unsure >> 1))
        text = f"{counted(links, 'link')} with traffic {'use' if links > 1 else 'uses'} assumed or unverified rates"
        where = tuple(network.channel_ids(unsure[:_PLACES_LIMIT]))
        found.append(Finding("DATA-UNSURE", Severity.INFO, text, where, "give the real speeds of these links"))
    if 2 * network.net.n_links > CHANNELS_LIMIT:
        found.append(Finding("CHANNELS-CUT", Severity.INFO, f"only the {len(numbers)} busiest channels are listed"))
    text = "steady rates: queueing, incast and congestion control of networks are not modelled"
    if len(network.parts_of_kind("switch")):
        found.append(Finding("FLOW-STEADY", Severity.INFO, text))
    if network.design.vms:
        found += place_vms(network).findings
    return found


# Answers about designs of which something is not known: said with the answer, and its band holds both readings.

#: answers this close are the same in both readings
_SAME_TOLERANCE: Final = 1e-6


def with_gaps(
    network: Network,
    result: WorkloadResult,
    loads: ChannelLoads | None,
    again: Callable[[Network], WorkloadResult],
) -> WorkloadResult:
    """`result` with findings about what is not known of the design, first in the list, and with bands that hold it.

    Parameters
    ----------
    again
        Works the same question out on another network.
    """
    stated: list[Finding] = []
    metrics = dict(result.metrics)
    for gap in _gaps(network):
        if gap.links and not _carries_load(gap, loads):
            continue
        factor = 1.0
        if gap.other is not None:
            try:
                others = again(partitioned_network(build_network(gap.other))).metrics
            except DesignerError:
                others = {}
            shared = [name for name in metrics if name in others]
            factor = max((_factor(result.metrics[name], others[name]) for name in shared), default=1.0)
            if factor <= 1 + _SAME_TOLERANCE:
                continue
            metrics |= {name: _with_other_reading(metrics[name], others[name], gap.kind) for name in shared}
        stated.append(_finding(gap, factor))
    return replace(result, metrics=metrics, findings=(*stated, *result.findings)) if stated else result


@memo(most=NETWORKS_LIMIT)
def _gaps(network: Network) -> tuple[Gap, ...]:
    return find_gaps(network.design)


def _carries_load(gap: Gap, loads: ChannelLoads | None) -> bool:
    if loads is None:
        return True
    links = np.fromiter(gap.links, dtype=np.int64)
    return bool((loads.at(np.concatenate([2 * links, 2 * links + 1]))[0] > 0).any())


def _factor(one: Estimate, other: Estimate) -> float:
    """How many times an answer differs between two readings, at least 1."""
    if min(one.value, other.value) <= 0:
        return 1.0 if one.value == other.value else np.inf
    return max(one.value / other.value, other.value / one.value)


def _with_other_reading(one: Estimate, other: Estimate, kind: str) -> Estimate:
    """The answer as drawn, with a band that holds the other reading as well."""
    note = _NOTES.get(kind, "")
    notes = [one.note, note] if note not in one.note else [one.note]
    return replace(
        one,
        low=min(one.low, other.low),
        high=max(one.high, other.high),
        sources=tuple(dict.fromkeys((*one.sources, *other.sources))),
        note="; ".join(n for n in notes if n),
    )


_NOTES: Final = {
    "nvlink": "NVLinks not in the file",
    "xgmi": "xGMI links not in the file",
    "idle": "link speed read while idle",
    "virtual": "link speed of a virtual machine",
}


_CODES: Final = {
    "nvlink": "GAP-NVLINK",
    "xgmi": "GAP-XGMI",
    "idle": "GAP-IDLE",
    "virtual": "GAP-VIRTUAL",
    "contents": "GAP-CONTENTS",
}


def _finding(gap: Gap, factor: float) -> Finding:
    if gap.kind == SPEED:
        return Finding("GAP-SPEED", Severity.INFO, gap.text, gap.where, gap.remedy)
    more = f"; this answer changes up to {factor:.2g} times with it, and its band holds both" if factor > 1 else ""
    return Finding(_CODES[gap.kind], Severity.WARNING, gap.text + more, gap.where, gap.remedy)
