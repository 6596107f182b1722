"""Cold start over the drawn path: weights from storage to every server, from its memory to its devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from designer.engine.network import Network
from designer.engine.results import Bottleneck
from designer.engine.routes.selection import buffers, resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer, refuse_lost
from designer.errors import AnalysisError
from designer.families.serving.deployment import Deployment, Serving
from designer.families.serving.formulas.start import (
    ONE_READER,
    START,
    START_EAGER,
    cold_start,
    rolling_update,
    seeded_rate,
)
from designer.families.serving.placement import Placement
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.units import Bytes, BytesPerSecond, Seconds, format_quantity
from designer.workload.program.tasks import Move


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


def update_engines(
    placements: Sequence[Placement], asked: Serving, most: float, place: str
) -> tuple[Estimate, Estimate]:
    """A rolling update: its time [s], and the requests that are answered at all meanwhile [1/s].

    Of a split deployment both kinds of engines are updated, one kind after the other; either holds up the whole.

    Raises
    ------
    AnalysisError
        As `start_engines`.
    """
    times: list[Estimate] = []
    left: list[float] = []
    notes: list[str] = []
    for placement in placements:
        replicas = len(placement.replicas)
        some = replace(placement, replicas=placement.replicas[: min(asked.update, replicas)])
        start = start_engines([some], asked.storage, asked.readers, place, peers=asked.peers).time
        time, kept = rolling_update(replicas, asked.update, Seconds(start.value))
        factor = time / start.value
        note = f"{min(asked.update, replicas)} of {replicas} at once"
        times.append(Estimate(time, start.low * factor, start.high * factor, "s", start.sources, note))
        left.append(most * kept)
        notes.append(note)
    sources = tuple(dict.fromkeys(source for time in times for source in time.sources))
    stated, rate = ", then ".join(notes), min(left)
    return (
        Estimate(
            sum(t.value for t in times), sum(t.low for t in times), sum(t.high for t in times), "s", sources, stated
        ),
        Estimate.exact(rate, "1/s", sources, stated),
    )


def engine_start(deployment: Deployment) -> float:
    """What an engine takes to start once its weights are there [s]."""
    return (START if deployment.graph else START_EAGER).value


def start_engines(
    placements: Sequence[Placement], storage: str, readers: int, place: str, *, peers: bool = False
) -> Start:
    """All replicas of all placements start at once from a storage; with `peers` one server reads it and hands it on.

    Raises
    ------
    AnalysisError
        If nothing holds the weights, or there is no way.
    """
    ways = loading_ways(placements, storage, readers, place, peers=peers)
    network = placements[0].network
    read = evaluate_transfer(network, Move(storage, ",".join(ways.readers)), place)
    handed: TransferAnswer | None = None
    if len(ways.readers) < len(ways.hosts):
        handed = evaluate_transfer(network, Move(ways.hosts[0], ways.hosts[1]), place)
    parts = ",".join(ways.devices)
    copy = evaluate_transfer(network, Move(",".join(ways.hosts), parts, pairing="nearest"), place)
    for answer in (read, copy, *([handed] if handed is not None else [])):
        refuse_lost(network, answer, "weights", place)
    graph = any(placement.deployment.graph for placement in placements)

    def time(end: str) -> float:
        side = {"value": "rate", "low": "high", "high": "low"}[end]
        from_storage, to_device = (BytesPerSecond(float(getattr(one, side).min())) for one in (read, copy))
        if handed is not None:
            first = BytesPerSecond(min(from_storage, readers * ONE_READER.value))
            from_storage = seeded_rate(first, BytesPerSecond(float(getattr(handed, side).min())), len(ways.hosts))
        return cold_start(ways.stored, from_storage, readers, ways.held, to_device, graph=graph, end=end)

    slowest = float(read.rate.min())
    limited = readers * ONE_READER.value < slowest
    servers = f"{len(ways.hosts)} servers" if len(ways.hosts) > 1 else "one server"
    each = "each of " if len(ways.hosts) > 1 else ""
    note = (
        f"{format_quantity(ways.stored, 'size')} to {each}{servers} at "
        f"{format_quantity(min(slowest, readers * ONE_READER.value), 'rate')}"
    )
    found: list[Finding] = []
    bottlenecks = tuple(
        replace(b, why=f"cold start: {b.why}", gain_if_doubled=None, gain_together=None, phase="cold start")
        for b in read.binding
    )
    if limited:
        pace = format_quantity(ONE_READER.value, "rate")
        counted = f"{readers} readers of {pace} each" if readers > 1 else f"one reader of {pace}"
        why = f"cold start: {counted}, the path gives {format_quantity(slowest, 'rate')}"
        bottlenecks = (Bottleneck("limit", "readers", "readers at once", why, phase="cold start"),)
        remedy = f"read with {int(slowest / ONE_READER.value) + 1} readers"
        found.append(Finding("SERVE-READERS", Severity.INFO, why, (), remedy))
    if peers and len(ways.hosts) == 1:
        text = "peers changes nothing: all replicas start in one server"
        found.append(Finding("SERVE-UNUSED", Severity.INFO, text, (), "leave it out"))
    sources = ("model-streamer", "assumed-serving", *read.sources)
    estimate = Estimate(time("value"), time("low"), time("high"), "s", tuple(dict.fromkeys(sources)), note)
    return Start(estimate, read, bottlenecks, (*read.findings, *found))


@dataclass(frozen=True, slots=True)
class Ways:
    """Which way weights come in a cold start.

    Parameters
    ----------
    hosts
        Memories of all servers that start engines.
    readers
        Those of them that read the storage; the others have the weights from them.
    devices
        All that weights are copied to.
    stored, held
        Bytes that the server with most of them reads, and that the fullest device holds [B].
    """

    hosts: tuple[str, ...]
    readers: tuple[str, ...]
    devices: tuple[str, ...]
    stored: Bytes
    held: Bytes


def loading_ways(
    placements: Sequence[Placement], storage: str, readers: int, place: str, *, peers: bool = False
) -> Ways:
    """Which way weights come to the devices of some placements, and how much of them.

    Raises
    ------
    AnalysisError
        If nothing is named to read from, or nobody reads.
    """
    if not storage.strip():
        raise AnalysisError("a cold start from nowhere", place=f"{place}.storage", remedy="say what holds the weights")
    if readers < 1:
        raise AnalysisError("no reader", place=f"{place}.readers", remedy="use 1 reader or more")
    network = placements[0].network
    resolve(network, storage, f"{place}.storage")
    devices = np.unique(np.concatenate([placement.replicas.ravel() for placement in placements]))
    hosts = hosts_of(network, devices)
    # a server reads the files once: its devices share what lies in its memory
    stored = max(
        placement.weights
        * min(placement.split.devices, int(np.unique(network.island[mine], return_counts=True)[1].max()))
        for placement in placements
        for mine in [np.unique(placement.replicas)]
    )
    return Ways(
        tuple(hosts),
        tuple(hosts[:1] if peers and len(hosts) > 1 else hosts),
        tuple(network.net.path(int(p)) for p in devices.tolist()),
        Bytes(stored),
        Bytes(max(placement.weights for placement in placements)),
    )


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
