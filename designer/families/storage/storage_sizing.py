"""Storage sizing: the largest number of accelerators above a utilisation threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.accelerators import number
from designer.engine.flows import solve
from designer.engine.network import Network
from designer.engine.network.capacities import NETWORK
from designer.engine.question import Question
from designer.engine.results import Bottleneck, ChannelLoads, WorkloadResult
from designer.engine.routes import route
from designer.engine.routes.legs import Legs
from designer.engine.routes.selection import resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.errors import AnalysisError
from designer.formulas.storage.storage_capacity import Client, FeedWorkload, Hosts, Pattern, storage_capacity
from designer.sources import Constant, Estimate, Status
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds, format_quantity
from designer.workload.program.tasks import Move

Int = npt.NDArray[np.int64]


def _rule(value: float, unit: str = "1") -> Constant:
    return Constant(value, value, value, "mlperf-storage-rules", Status.SECONDARY, unit)


#: batch, computing time [s], bytes of a sample [B] and how samples lie in files
_WORK: Final = {
    ("unet3d", "h100"): (_rule(7), _rule(0.323, "s"), _rule(146600628, "B"), Pattern.LARGE),
    ("unet3d", "a100"): (_rule(7), _rule(0.636, "s"), _rule(146600628, "B"), Pattern.LARGE),
    ("resnet50", "h100"): (_rule(400), _rule(0.224, "s"), _rule(114660.07, "B"), Pattern.RECORDS),
    ("resnet50", "a100"): (_rule(400), _rule(0.435, "s"), _rule(114660.07, "B"), Pattern.RECORDS),
    ("cosmoflow", "h100"): (_rule(1), _rule(0.0035, "s"), _rule(2828486, "B"), Pattern.SMALL),
    ("cosmoflow", "a100"): (_rule(1), _rule(0.00551, "s"), _rule(2828486, "B"), Pattern.SMALL),
}
#: utilisation that a valid run keeps
_KEPT: Final = {"unet3d": _rule(0.9), "resnet50": _rule(0.9), "cosmoflow": _rule(0.7)}
#: more than any link carries
UNLIMITED: Final = Constant(1e30, 1e30, 1e30, "mlperf-storage-rules", Status.ASSUMED, "B/s")
_PROTOCOLS: Final = (
    ("lustre", Client.LUSTRE),
    ("nfs", Client.NFS),
    ("nvme", Client.BLOCK),
    ("parallel", Client.PARALLEL),
)


def answer(network: Network, settings: Mapping[str, Any], question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """The most accelerators the drawn storage feeds."""
    place = question.place
    batch, compute, sample, pattern = _WORK[settings["benchmark"], settings["emulated"]]
    threshold = settings["threshold"] or _KEPT[settings["benchmark"]].value
    work = FeedWorkload(int(batch.value), Seconds(compute.value), Bytes(sample.value), pattern)
    source = resolve(network, settings["source"], f"{place}.source")
    readers = resolve(network, settings["hosts"], f"{place}.hosts")
    islands = np.unique(network.island[readers])
    reads = evaluate_transfer(network, Move(settings["source"], settings["hosts"]), place)
    local = bool(np.isin(network.island[source], islands).all())
    client = _client(network, settings["client"], source, local)
    nominal = _nominal(network, source, readers, islands, local, place)
    here = network.island == islands[0]
    processors = np.flatnonzero(here & network.has(Capability.COMPUTE)).tolist()
    cores = [number(network, processor, "cores") for processor in processors]
    # two threads a core, as servers come
    threads = 2 * round(sum(c for c in cores if c)) if all(cores) else 0
    hosts = Hosts(len(islands), BytesPerSecond(nominal), client, max(1, len(processors)), threads)
    media = sum(number(network, int(s), "read_bandwidth") or math.inf for s in source.tolist())
    servers = BytesPerSecond(media) if not local and math.isfinite(media) else None
    found = storage_capacity(work, hosts, Ratio(threshold), servers)
    rates = _over_links(network, reads) if local else reads.rate
    routed = min(float(found.high), float(rates.sum()) / (threshold * work.demand))
    most = min(found.accelerators, math.floor(routed))
    sources = tuple(sorted({"fit-storage", "mlperf-storage-rules", *reads.sources}))
    need, rate = work.demand, found.rate
    shorter = found.low / max(1, found.accelerators)
    longer = max(1, found.high) / max(1, found.accelerators)
    top = min(found.high, math.ceil(routed))
    low, high = min(found.low, most), max(most, top)
    each = len(islands)

    def metric(value: float, low: float, high: float, note: str, unit: str = "1") -> Estimate:
        return Estimate(value, low, high, unit, sources, note)

    metrics = {
        "accelerators": metric(most, low, high, f"{client}, {each} hosts"),
        "accelerators_per_server": metric(most / each, low / each, high / each, "on each host"),
        "gpu_utilization": metric(found.utilization, min(threshold, found.utilization), 1.0, "at that number"),
        "rate": metric(rate, rate * shorter, rate * longer, "what the path delivers", "B/s"),
        "data_rate_per_gpu": metric(need, need, need, "what an accelerator asks for", "B/s"),
    }
    if most < found.accelerators:
        binding, after = reads.binding, reads.next
    else:
        why = f"{format_quantity(found.rate, 'rate')} for {format_quantity(work.demand, 'rate')} each"
        binding, after = (Bottleneck("limit", found.binding, _BINDING[found.binding], why),), reads.binding
    result = question.result(
        metrics,
        binding,
        after,
        reads.flows,
        reads.traffic.n_flows,
        reads.findings,
    )
    return result, reads.loads


_BINDING: Final = {
    "hosts": "what one host's client gets",
    "servers": "the storage servers",
    "step overhead": "overhead of a step",
    "processor threads": "reader processes of the hosts",
}


def _over_links(network: Network, reads: TransferAnswer) -> npt.NDArray[np.float64]:
    """What links alone let through: the page cache and reading ahead give more than a drive's data sheet [B/s]."""
    capacity = np.array(reads.incidence.capacity, dtype=np.float64)
    capacity[network.n_link_resources : network.n_resources] = UNLIMITED.value
    return solve(replace(reads.incidence, capacity=capacity)).rate


def _client(network: Network, asked: str, source: Int, local: bool) -> Client:
    if asked != "auto":
        return Client(asked)
    if local:
        return Client.LOCAL
    quantity = network.design.quantity(network.net.part(int(source[0])), "protocol")
    text = str(quantity.value).lower() if quantity is not None else ""
    return next((client for word, client in _PROTOCOLS if word in text), Client.PARALLEL)


def _nominal(network: Network, source: Int, readers: Int, islands: Int, local: bool, place: str) -> float:
    """Raw rate of the drives of one host, or of the cables its NICs read over [B/s]."""
    first = int(islands[0])
    if local:
        mine = source[network.island[source] == first]
        return float(sum(number(network, int(d), "read_bandwidth") or 0.0 for d in mine.tolist()))
    here = readers[network.island[readers] == first]
    routes = route(network, Legs.of(np.repeat(source, len(here)), np.tile(here, len(source))))
    link = np.unique(routes.channel >> 1)
    net = network.net
    mine = (network.domain[link] == NETWORK) & (
        (network.island[net.link_a[link]] == first) | (network.island[net.link_b[link]] == first)
    )
    if not mine.any():
        raise AnalysisError("the hosts cannot reach the storage", place=place, remedy="join both to one network")
    return float(network.rate[link[mine]].sum())
