"""Cold start over the drawn path: weights from storage to every server, from its memory to its devices."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from designer.analysis.network import Network
from designer.analysis.results import Bottleneck
from designer.analysis.selection import buffers
from designer.analysis.serving.placement import Placement
from designer.analysis.transfers import TransferAnswer, evaluate_transfer
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.serving.cold_start import ONE_READER, cold_start
from designer.formulas.serving.seeding import rolling_update, seeded_rate
from designer.sources import Estimate
from designer.units import Bytes, BytesPerSecond, Seconds, format_quantity
from designer.workload.operations import Transfer
from designer.workload.serving import Serving


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


def update_engines(placement: Placement, asked: Serving, most: float, place: str) -> tuple[Estimate, Estimate]:
    """A rolling update: its time [s], and the requests that are answered at all meanwhile [1/s].

    Raises
    ------
    AnalysisError
        As `start_engines`.
    """
    replicas = len(placement.replicas)
    some = replace(placement, replicas=placement.replicas[: min(asked.update, replicas)])
    start = start_engines(some, asked.storage, asked.readers, place, peers=asked.peers).time
    time, kept = rolling_update(replicas, asked.update, Seconds(start.value))
    factor = time / start.value
    note = f"{min(asked.update, replicas)} of {replicas} at once"
    sources = start.sources
    left = most * kept
    return (
        Estimate(time, start.low * factor, start.high * factor, "s", sources, note),
        Estimate.exact(left, "1/s", sources, note),
    )


def start_engines(placement: Placement, storage: str, readers: int, place: str, *, peers: bool = False) -> Start:
    """All replicas start at once from a storage; with `peers` one server reads it and hands the weights on.

    Raises
    ------
    AnalysisError
        If nothing holds the weights, or there is no way.
    """
    if readers < 1:
        raise AnalysisError("no reader", place=f"{place}.readers", remedy="use 1 reader or more")
    network = placement.network
    devices = placement.replicas.ravel()
    hosts = hosts_of(network, devices)
    read = evaluate_transfer(network, Transfer("weights", storage, ",".join(hosts)), place)
    handed: TransferAnswer | None = None
    if peers and len(hosts) > 1:
        read = evaluate_transfer(network, Transfer("weights", storage, hosts[0]), place)
        handed = evaluate_transfer(network, Transfer("seed", hosts[0], hosts[1]), place)
    parts = ",".join(network.net.path(int(p)) for p in np.unique(devices).tolist())
    copy = evaluate_transfer(network, Transfer("copy", ",".join(hosts), parts, "nearest"), place, explained=False)
    local = np.unique(network.island[devices], return_counts=True)[1]
    # a server reads the files once: its devices share what lies in its memory
    stored = Bytes(placement.weights * min(placement.split.devices, int(local.max())))
    graph = placement.deployment.graph

    def time(end: str) -> float:
        side = {"value": "rate", "low": "high", "high": "low"}[end]
        from_storage, to_device = (BytesPerSecond(float(getattr(one, side).min())) for one in (read, copy))
        if handed is not None:
            first = BytesPerSecond(min(from_storage, readers * ONE_READER.value))
            from_storage = seeded_rate(first, BytesPerSecond(float(getattr(handed, side).min())), len(hosts))
        held = Bytes(placement.weights)
        return cold_start(stored, from_storage, readers, held, to_device, graph=graph, end=end)

    slowest = float(read.rate.min())
    limited = readers * ONE_READER.value < slowest
    note = (
        f"{format_quantity(stored, 'size')} to each of {len(hosts)} servers at "
        f"{format_quantity(min(slowest, readers * ONE_READER.value), 'rate')}"
    )
    found: list[Finding] = []
    bottlenecks = tuple(
        replace(b, why=f"cold start: {b.why}", gain_if_doubled=None, gain_together=None) for b in read.binding
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


def hosts_of(network: Network, devices: np.ndarray) -> list[str]:
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
