"""Answers about designs of which something is not known: said with the answer, and its band holds both readings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from designer.design.gaps import SPEED, Gap, find_gaps
from designer.engine.machines.guest_network import partitioned_network
from designer.engine.network import NETWORKS_LIMIT, Network, build_network
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.errors import DesignerError
from designer.findings import Finding, Severity
from designer.memo import memo
from designer.sources import Estimate

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
        if gap.links and not _loaded(gap, loads):
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
            metrics |= {name: _both(metrics[name], others[name], gap.kind) for name in shared}
        stated.append(_finding(gap, factor))
    return replace(result, metrics=metrics, findings=(*stated, *result.findings)) if stated else result


@memo(most=NETWORKS_LIMIT)
def _gaps(network: Network) -> tuple[Gap, ...]:
    return find_gaps(network.design)


def _loaded(gap: Gap, loads: ChannelLoads | None) -> bool:
    if loads is None:
        return True
    links = np.fromiter(gap.links, dtype=np.int64)
    return bool((loads.at(np.concatenate([2 * links, 2 * links + 1]))[0] > 0).any())


def _factor(one: Estimate, other: Estimate) -> float:
    """How many times an answer differs between two readings, at least 1."""
    if min(one.value, other.value) <= 0:
        return 1.0 if one.value == other.value else np.inf
    return max(one.value / other.value, other.value / one.value)


def _both(one: Estimate, other: Estimate, kind: str) -> Estimate:
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
