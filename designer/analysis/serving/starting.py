"""Cold start over the drawn path: weights from storage to every server, from its memory to its devices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from designer.analysis.network import Network
from designer.analysis.results import Bottleneck
from designer.analysis.selection import buffers
from designer.analysis.serving.placement import Placement
from designer.analysis.transfers import TransferAnswer, evaluate_transfer
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.serving.cold_start import ONE_READER, cold_start
from designer.sources import Estimate
from designer.units import format_quantity
from designer.workload.operations import Transfer


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """How engines start, all replicas at once.

    Parameters
    ----------
    bottlenecks
        What holds loading up.
    """

    time: Estimate
    read: TransferAnswer
    bottlenecks: tuple[Bottleneck, ...]
    findings: tuple[Finding, ...]


def start_engines(placement: Placement, storage: str, readers: int, place: str) -> Start:
    """All replicas start at once from a storage.

    Raises
    ------
    AnalysisError
        If nothing holds the weights, or there is no way.
    """
    if readers < 1:
        raise AnalysisError("no reader", place=f"{place}.readers", remedy="use 1 reader or more")
    network = placement.network
    devices = placement.replicas.ravel()
    hosts = _memories(network, devices)
    read = evaluate_transfer(network, Transfer("weights", storage, ",".join(hosts)), place)
    parts = ",".join(network.net.path(int(p)) for p in devices.tolist())
    copy = evaluate_transfer(network, Transfer("copy", ",".join(hosts), parts, "nearest"), place, explained=False)
    local = np.unique(network.island[devices], return_counts=True)[1]
    # a server reads the files once: its devices share what lies in its memory
    stored = placement.weights * min(placement.split.devices, int(local.max()))
    graph = placement.deployment.graph

    def time(end: str) -> float:
        side = {"value": "rate", "low": "high", "high": "low"}[end]
        paths = (float(getattr(read, side).min()), float(getattr(copy, side).min()))
        return cold_start(stored, paths[0], readers, placement.weights, paths[1], graph=graph, end=end)

    slowest = float(read.rate.min())
    limited = readers * ONE_READER.value < slowest
    note = (
        f"{format_quantity(stored, 'size')} to each of {len(hosts)} servers at "
        f"{format_quantity(min(slowest, readers * ONE_READER.value), 'rate')}"
    )
    found: list[Finding] = []
    bottlenecks = tuple(
        Bottleneck(b.what, b.id, b.label, f"cold start: {b.why}", None, None, b.alike) for b in read.binding
    )
    if limited:
        each = format_quantity(ONE_READER.value, "rate")
        why = f"cold start: {readers} readers of {each} each, the path gives {format_quantity(slowest, 'rate')}"
        bottlenecks = (Bottleneck("limit", "readers", "readers at once", why),)
        remedy = f"read with {int(slowest / ONE_READER.value) + 1} readers"
        found.append(Finding("SERVE-READERS", Severity.INFO, why, (), remedy))
    sources = ("model-streamer", "assumed-serving", *read.sources)
    estimate = Estimate(time("value"), time("low"), time("high"), "s", tuple(dict.fromkeys(sources)), note)
    return Start(estimate, read, bottlenecks, (*read.findings, *found))


def _memories(network: Network, devices: np.ndarray) -> list[str]:
    """One host memory of every server that has devices; the devices themselves where a server has none."""
    found: list[str] = []
    usable = np.flatnonzero(buffers(network))
    for island in np.unique(network.island[devices]).tolist():
        inside = usable[network.island[usable] == island]
        if len(inside):
            found.append(network.net.path(int(inside[0])))
        else:
            mine = devices[network.island[devices] == island]
            found += [network.net.path(int(p)) for p in mine.tolist()]
    return found
