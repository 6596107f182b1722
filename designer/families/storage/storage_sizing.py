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
from designer.engine.network.capacities import NETWORK, band_of
from designer.engine.question import Question
from designer.engine.results import Bottleneck, ChannelLoads, WorkloadResult
from designer.engine.routes import route
from designer.engine.routes.legs import Legs
from designer.engine.routes.selection import resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.engine.transfers.limits import counted_by_hand
from designer.errors import AnalysisError
from designer.formulas.storage.client_rate import client_of, socket_rates
from designer.formulas.storage.storage_capacity import (
    PER_SOCKET,
    Client,
    FeedWorkload,
    Hosts,
    Pattern,
    storage_capacity,
    utilization,
)
from designer.formulas.storage.storage_servers import ServerRate
from designer.sources import Constant, Estimate, Status
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds, format_quantity
from designer.workload.program.tasks import Move

Int = npt.NDArray[np.int64]


def _rule(value: float, unit: str = "1") -> Constant:
    return Constant(value, value, value, "mlperf-storage-rules", Status.SECONDARY, unit)


#: a step of 7 samples on an emulated B200: 6.33 GB/s at full utilisation
_B200: Final = Constant(
    0.1621,
    0.1620,
    0.1622,
    "mlperf-storage-v3",
    Status.DERIVED,
    "s",
    "rate over accelerators and utilisation of 5 runs",
)
#: batch, computing time [s], bytes of a sample [B] and how samples lie in files
_WORK: Final = {
    ("unet3d", "h100"): (_rule(7), _rule(0.323, "s"), _rule(146600628, "B"), Pattern.LARGE),
    ("unet3d", "b200"): (_rule(7), _B200, _rule(146600628, "B"), Pattern.LARGE),
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


def answer(network: Network, settings: Mapping[str, Any], question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """The most accelerators the drawn storage feeds.

    Raises
    ------
    AnalysisError
        If no computing time of the benchmark on the emulated accelerator is known.
    """
    place = question.place
    known = _WORK.get((settings["benchmark"], settings["emulated"]))
    if known is None:
        raise AnalysisError(
            f"no computing time of {settings['benchmark']} on {settings['emulated']} is known",
            place=f"{place}.emulated",
            remedy="use h100 or a100, or unet3d",
        )
    batch, compute, sample, pattern = known
    threshold = settings["threshold"] or _KEPT[settings["benchmark"]].value
    work = FeedWorkload(int(batch.value), Seconds(compute.value), Bytes(sample.value), pattern)
    source = resolve(network, settings["source"], f"{place}.source")
    readers = resolve(network, settings["hosts"], f"{place}.hosts")
    islands = np.unique(network.island[readers])
    reads = evaluate_transfer(network, Move(settings["source"], settings["hosts"]), place)
    local = bool(np.isin(network.island[source], islands).all())
    client = _client(network, settings["client"], source, local)
    nominal = _nominal(network, source, readers, islands, local, place)
    processors, threads = _processors(network, int(islands[0]))
    socket = _socket(network, client, source, max(1, processors))
    hosts = Hosts(len(islands), BytesPerSecond(nominal), client, max(1, processors), threads, socket)
    media = sum(number(network, int(s), "read_bandwidth") or math.inf for s in source.tolist())
    nominal_servers = BytesPerSecond(media) if not local and math.isfinite(media) else None
    servers = None if local or nominal_servers is not None else _servers(network, source)
    found = storage_capacity(work, hosts, Ratio(threshold), nominal_servers, servers)
    rates = _over_links(network, reads) if local else reads.rate
    routed = min(float(found.high), float(rates.sum()) / (threshold * work.demand))
    most = min(found.accelerators, math.floor(routed))
    sources = tuple(sorted({"fit-storage", "mlperf-storage-rules", *reads.sources}))
    rate = found.rate
    shorter = found.low / max(1, found.accelerators)
    longer = max(1, found.high) / max(1, found.accelerators)
    top = min(found.high, math.ceil(routed))
    low, high = min(found.low, most), max(most, top)
    each = len(islands)
    asked = int(settings["accelerators"]) or most
    path = min(rate, float(rates.sum()))
    metrics = _metrics(work, threshold, (most, low, high), asked, each, client, (rate, shorter, longer), path, sources)
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


def _processors(network: Network, island: int) -> tuple[int, int]:
    """Processors of a host, and the threads they have together; 0 threads where a count of cores is unknown."""
    here = network.island == island
    processors = np.flatnonzero(here & network.has(Capability.COMPUTE)).tolist()
    cores = [number(network, processor, "cores") for processor in processors]
    # two threads a core, as servers come
    return len(processors), 2 * round(sum(c for c in cores if c)) if all(cores) else 0


def _metrics(
    work: FeedWorkload,
    threshold: float,
    accelerators: tuple[float, float, float],
    asked: int,
    each: int,
    client: str,
    rates: tuple[float, float, float],
    path: float,
    sources: tuple[str, ...],
) -> dict[str, Estimate]:
    """What the storage feeds, how busy `asked` accelerators are, and the rates [B/s]; `path` limits the rate."""
    (most, low, high), (rate, shorter, longer), need = accelerators, rates, work.demand
    busy = [
        float(utilization(work, max(1, asked), BytesPerSecond(max(1.0, path * factor))))
        for factor in (1.0, shorter, longer)
    ]

    def metric(value: float, low: float, high: float, note: str, unit: str = "1") -> Estimate:
        return Estimate(value, low, high, unit, sources, note)

    return {
        "accelerators": metric(most, low, high, f"{client}, {each} hosts"),
        "accelerators_per_server": metric(most / each, low / each, high / each, "on each host"),
        # a path that may keep more of them busy may keep these busy all the time
        "gpu_utilization": metric(
            busy[0], min(threshold, *busy), 1.0 if asked <= high else max(busy), f"of {asked} accelerators"
        ),
        "delivered_rate": metric(
            asked * need * busy[0],
            asked * need * min(busy) * (1 - _STEADY),
            asked * need * min(1.0, max(busy) * (1 + _STEADY)),
            f"to {asked} accelerators",
            "B/s",
        ),
        "rate": metric(rate, rate * shorter, rate * longer, "what the path delivers", "B/s"),
        "data_rate_per_gpu": metric(need, need, need, "what an accelerator asks for", "B/s"),
    }


_BINDING: Final = {
    "hosts": "what one host's client gets",
    "servers": "the storage servers",
    "step overhead": "overhead of a step",
    "processor threads": "reader processes of the hosts",
}


#: a run at a number of accelerators that the path keeps busy repeats within this
_STEADY: Final = Constant(0.04, 0.02, 0.06, "mlperf-storage-v3", Status.DERIVED, "1", "five runs: 0.2 to 4 %").value


def _servers(network: Network, source: Int) -> ServerRate | None:
    """What the servers of storage systems deliver, by what is known of them; None where nothing is."""
    facts = [network.part_resources[d] for d in network.net.part_def[source].tolist()]
    if not facts or any(one is None for one in facts):
        return None
    ends = [(one.capacity, *(one.capacity * end for end in one.read_band)) for one in facts if one is not None]
    value, low, high = (sum(column) for column in zip(*ends, strict=True))
    return ServerRate(value, low, high, facts[0].label if facts[0] is not None else "")


def _over_links(network: Network, reads: TransferAnswer) -> npt.NDArray[np.float64]:
    """What links alone let through: the page cache and reading ahead give more than a drive's data sheet [B/s]."""
    capacity = np.array(reads.incidence.capacity, dtype=np.float64)
    capacity[network.n_link_resources : network.n_resources] = UNLIMITED.value
    return solve(replace(reads.incidence, capacity=capacity)).rate


def _client(network: Network, asked: str, source: Int, local: bool) -> Client:
    if asked != "auto":
        return Client(asked)
    return Client.LOCAL if local else client_of(_said(network, source, "protocol"))


def _socket(network: Network, client: Client, source: Int, sockets: int) -> Constant | None:
    """What a socket reads through a client in the kernel: of the rate of a client that is given, or by its release."""
    if client not in PER_SOCKET:
        return None
    part = network.net.part(int(source[0]))
    given = band_of(network.design, part, "client_read_bandwidth")
    if given is not None and not counted_by_hand(part):
        value, low, high = (end / sockets for end in given)
        return Constant(value, low, high, "fit-storage", Status.ASSUMED, "B/s", "as the design says of a client")
    release = _said(network, source, "client_release")
    found = socket_rates(client, release) if release else None
    return found[0] if found is not None else None


def _said(network: Network, source: Int, name: str) -> str:
    quantity = network.design.quantity(network.net.part(int(source[0])), name)
    return str(quantity.value) if quantity is not None else ""


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
