"""Feeding accelerators: storage, network, host memory, decoding and the copy to the accelerator, solved as one.

Each reader is one flow counted in stored bytes. Its way takes it from storage to the host memory nearest to the
accelerator and, swollen by decoding, on to the accelerator; cores, workers and random reads are limits it meets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.accelerators import number
from designer.engine.account import Account, Ends, account
from designer.engine.account.bottlenecks import Limit
from designer.engine.account.expression import Sum, Time
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.frame import STRUCTURES_LIMIT, size_of
from designer.engine.network.partition import classes_of
from designer.engine.routes.legs import Legs
from designer.engine.routes.protocols import KERNEL_BAND, cores_of_islands, ends_in_host, host_cost
from designer.engine.routes.selection import Traffic, frozen, pair_parts, pair_up, resolve, tiers_key
from designer.engine.routes.staging import near_memory, refusing, staged
from designer.engine.routes.structure import Structure, digest, structure_of
from designer.engine.transfers import TransferAnswer, evaluate_legs
from designer.engine.transfers.flow_rates import FlowRates
from designer.engine.transfers.limits import NO_LIMITS, FlowLimits, request_limits
from designer.errors import AnalysisError
from designer.families.training.tasks import TrainStep
from designer.formulas.storage.loaders import ACCELERATOR_DECODES, LOADERS, slowest_batch
from designer.formulas.storage.read_rate import FILE_SHARE
from designer.memo import Store, memo
from designer.sources import Constant, Estimate, Status
from designer.units import Ratio
from designer.workload.jobs import InputPath
from designer.workload.kind import listed, program_of
from designer.workload.program.tasks import Move

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: core time of handing a batch to an accelerator, whatever its size: the loader's queue, pinning, calls of the copies
HAND_OVER_COST: Final = Constant(300e-6, 100e-6, 1e-3, "assumed-training", Status.ASSUMED, "s", "a batch")
#: what workers do whose rate is given: samples a second as measured, from reading to the finished picture
LOADING: Final = "loading and decoding"
#: a dataset whose files hold fewer samples than this each is read at random
SHARD_SAMPLES: Final = Constant(10.0, 2.0, 100.0, "assumed-training", Status.ASSUMED, "1", "samples a file")


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples as they travel.

    Parameters
    ----------
    stored, decoded
        Bytes of one, as stored and as accelerators get it [B].
    epoch
        How many an epoch has.
    random
        True if files are visited at random.
    batch
        Samples handed to an accelerator at once; 0 where that is not known.
    spread
        Standard deviation of the size of one over its mean [1].
    """

    stored: float
    decoded: float
    epoch: float
    random: bool
    batch: float = 0.0
    spread: float = 0.0

    def loaded(self, batch: float, readers: int, path: InputPath) -> float:
        """Bytes of the largest of the batches that readers load at once [B]."""
        if not self.spread:
            return batch * self.stored
        return batch * self.stored * slowest_batch(Ratio(self.spread), batch * (1 + path.prefetch), readers)


@dataclass(frozen=True, slots=True, eq=False)
class Feed:
    """What readers get.

    Parameters
    ----------
    rate
        Stored bytes per second of the slowest reader [B/s].
    parts, rows : the readers, and their rows in the rates of the answer
    stages
        Resources of each stage, by their rows there.
    cores
        Processor cores that receiving the data and handing it on takes at that rate, all hosts together.
    """

    rate: float
    parts: Int
    rows: Int
    stages: Mapping[str, Int]
    cores: float
    answer: TransferAnswer

    def time(self, size: float, overlapped: bool, rates: FlowRates | None = None) -> Time:
        """Time in which a reader has so much [B], stage after stage where they do not overlap.

        Parameters
        ----------
        rates
            Those of the answer by other names of resources.
        """
        rates = rates or self.answer.rates
        if overlapped:
            return rates.time(size, latency=False, flows=self.rows)
        return Sum(tuple(rates.stage(size, rows) for rows in self.stages.values()))

    def account(self, size: float, overlapped: bool, *, explained: bool = True) -> Account:
        """The account of that time."""
        return account(self.time(size, overlapped), self.bands(overlapped), explained=explained)

    def bands(self, overlapped: bool) -> Mapping[str, Ends]:
        """Bands of what the time rests on."""
        return self.answer.rates.joint_bands if overlapped else self.answer.rates.all_bands

    def stage_rates(self) -> Mapping[str, float]:
        """What each stage alone gives the slowest reader [B/s]."""
        return {name: 1 / self.answer.rates.stage(1.0, rows).seconds for name, rows in self.stages.items()}

    def slowest(self, path: InputPath) -> str:
        """The slowest stage in words."""
        rates = self.stage_rates()
        name = min(rates, key=lambda stage: rates[stage])
        return LOADING if name == "decode" and path.decode_rate > 0 and path.decode == "cpu" else name

    def receiving(self, sources: tuple[str, ...], note: str, pace: float = 1.0) -> Estimate:
        """Processor cores that receiving takes, at a share of the rate that samples could come at [1]."""
        return Estimate.relative(self.cores * pace, 0.5, 2.0, "1", sources, note)


def feed(
    network: Network,
    readers: Int,
    path: InputPath,
    samples: Samples,
    place: str,
    demand: float = np.inf,
) -> Feed:
    """Rates at which readers get their samples, all at once.

    Parameters
    ----------
    readers
        Accelerators (or processors) that read, each for itself.
    demand
        Most each asks for, in stored bytes [B/s].

    Raises
    ------
    AnalysisError
        If the source names nothing or cannot reach the readers.
    """
    return _build_feed(network, np.asarray(readers, dtype=np.int64).tobytes(), path, samples, place, demand)


#: feeds kept with a network
FEEDS_LIMIT: Final = 16


#: bytes of what they describe every flow
FEED_BYTES_LIMIT: Final = 32_000_000


def _size(found: Feed) -> int:
    return 2 * size_of(found.answer) + size_of(found.answer.traffic) + size_of(found.answer.traffic.legs)


@memo(most=NETWORKS_LIMIT, each=FEEDS_LIMIT, size=_size, budget=FEED_BYTES_LIMIT)
def _build_feed(network: Network, numbers: bytes, path: InputPath, samples: Samples, place: str, demand: float) -> Feed:
    readers = np.frombuffer(numbers, dtype=np.int64)
    source = resolve(network, path.source, f"{place}.source")
    stores = network.has(Capability.STORE) | network.has(Capability.MEMORY)
    source = source[stores[source]]
    if not len(source):
        raise AnalysisError(
            f"{path.source!r} keeps no data", place=f"{place}.source", remedy="choose storage, drives or memory"
        )
    direct = _direct(network, path) and not ends_in_host(network)[source].any() and not refusing(network)[readers].any()
    through = path.decode == "cpu" or not direct
    asked = digest(source, readers) + repr((path, replace(samples, batch=0.0), through)).encode() + tiers_key(network)
    known = _read(structure_of(network))
    reading = known.get(asked)
    if reading is None:
        traffic, arrive = _reader_legs(network, source, readers, path, samples, through, place)
        reading = frozen(traffic), arrive
        known.keep(asked, reading, traffic.legs.size() + 2 * traffic.n_flows + len(readers))
    traffic, arrive = reading
    n = len(readers)
    if path.workers < 1:
        raise AnalysisError("no worker loads data", place=f"{place}.workers", remedy="use 1 worker or more")
    if path.queue_depth < 1:
        raise AnalysisError(
            "a worker without a request", place=f"{place}.queue_depth", remedy="use a queue depth of 1 or more"
        )
    if path.cached > 1:
        raise AnalysisError(
            f"a page cache that serves {path.cached:.0%} of reads", place=f"{place}.cached", remedy="give 0 to 100 %"
        )
    receiving = _receiving_cost(network, readers, traffic)
    limits = _limits(network, traffic, arrive, receiving, path, samples)
    moved = np.zeros(n, dtype=bool)
    moved[traffic.legs.flow] = moved[limits.flow] = True
    if not moved.all() and np.isinf(demand):
        where = network.net.path(int(readers[~moved][0]))
        raise AnalysisError(
            f"{where} reads only what is in host memory, and none is drawn on its way",
            place=f"{place}.source",
            remedy="draw the memory of its host, or let it read from storage",
        )
    others, wants = _background(network, path.background, place)
    everything = traffic if others is None else _join_traffic(traffic, others)
    asks = np.concatenate([np.full(n, demand), wants])
    answer = evaluate_legs(network, everything, asks, limits, place, marks=(np.arange(len(asks)) >= n).astype(np.int64))
    stages = _stages(network, answer, n)
    worst = int(np.argmin(answer.rate[:n]))
    rate = float(answer.rate[worst])
    if rate <= 0:
        where = network.net.path(int(readers[worst]))
        raise AnalysisError(
            f"no sample reaches {where}", place=f"{place}.source", remedy="join it to what it reads from"
        )
    cores = float((receiving + _handing_cost(samples)).sum()) * rate
    return Feed(rate, readers, np.flatnonzero(answer.problem.flow < n), stages, cores, answer)


#: numbers of the legs of readers kept for each structure: 16 MB
_READ_LIMIT: Final = 2_000_000


@memo(most=STRUCTURES_LIMIT)
def _read(_structure: Structure) -> Store[tuple[Traffic, Int]]:
    """The legs of readers, and where each first receives its data: the same from edit to edit."""
    return Store(_READ_LIMIT)


def _direct(network: Network, path: InputPath) -> bool:
    return network.design.policy.gpudirect if path.gpudirect == "policy" else path.gpudirect == "on"


def _reader_legs(
    network: Network, source: Int, readers: Int, path: InputPath, samples: Samples, through: bool, place: str
) -> tuple[Traffic, Int]:
    """The legs of all readers, and the part where each first receives its data."""
    accelerates = network.has(Capability.ACCELERATE)
    memory = network.has(Capability.MEMORY)
    arrive = near_memory(network, readers) if through else readers.copy()
    arrive = np.where(accelerates[readers] | memory[arrive], arrive, readers)
    near = near_memory(network, readers)
    held = np.full(len(readers), min(1.0, path.cached))
    if memory[source].all():
        # samples lie in the memory that is named: next to the reader, or in another one
        held = np.isin(near, source).astype(np.float64)
        if path.decode != "cpu":
            arrive = np.where(held > 0, arrive, readers)
    missed = 1 - held
    if not missed.any():
        flows = np.arange(len(readers))
        reading = Legs(flows[:0], flows[:0], flows[:0], np.empty(0))
    else:
        # Paired by reader, then sent to the memory nearest to it.
        asked = Move(path.source, "", pairing="auto" if len(source) > 1 else "all")
        paired = pair_parts(network, source, readers, asked, f"{place}.source").legs
        to = arrive[paired.flow]
        keep = (paired.source != to) & (missed[paired.flow] > 0)
        flow = paired.flow[keep]
        reading = Legs(flow, paired.source[keep], to[keep], paired.share[keep] * missed[flow])
    rows = np.flatnonzero(arrive != readers)
    swollen = samples.decoded / samples.stored if path.decode == "cpu" else 1.0
    copying = Legs(rows, arrive[rows], readers[rows], np.full(len(rows), swollen))
    # what host memory holds already comes from there even where the rest is placed directly
    rows = np.flatnonzero((arrive == readers) & (near != readers) & (held > 0))
    holding = Legs(rows, near[rows], readers[rows], held[rows])
    legs = Legs(
        *(
            np.concatenate([getattr(part, f) for part in (reading, copying, holding)])
            for f in ("flow", "source", "target", "share")
        )
    )
    # what comes from host memory alone is copied as anything else from there
    lead = np.where((missed <= 0) & (near != readers), near, source[0])
    lead[reading.flow] = reading.source
    return Traffic(legs, lead, readers), arrive


def _limits(
    network: Network, traffic: Traffic, arrive: Int, receiving: Float, path: InputPath, samples: Samples
) -> FlowLimits:
    """What readers meet of drives read at random, of workers, and of the cores of their servers."""
    n = len(receiving)
    reading = Move(path.source, "", request=path.io_size, depth=path.queue_depth, threads=path.workers)
    found = [request_limits(network, traffic.legs, reading)]
    if samples.random:
        found.append(_media(network, traffic.legs, min(samples.stored, path.io_size or samples.stored)))
    cost = _decode_cost(path, samples)
    if cost > 0:
        # Every accelerator has as many workers: where there are very many, one limit is stated for all.
        together = n if n > READERS_LIMIT else 1
        does = LOADING if path.decode_rate > 0 else "decoding"
        label = f"{path.workers} workers for each accelerator, {does}"
        limit = Limit("workers", label, path.workers * together / cost, band=_decode_band(path, samples))
        nodes = np.zeros(n // together, dtype=np.int64)
        found.append(FlowLimits((limit,), nodes, np.arange(n), np.arange(n) // together, np.ones(n)))
    if path.decode == "gpu" and samples.decoded > samples.stored and (path.loader == "dali" or path.decode_rate > 0):
        found.append(_accelerators_decode(path, samples, n))
    usage = cost + receiving
    moved = usage > 0
    moved[traffic.legs.flow] = True
    usage += np.where(moved, _handing_cost(samples), 0.0)
    island = network.island[arrive]
    order = np.argsort(island, kind="stable")
    starts = np.flatnonzero(np.diff(island[order], prepend=-1))
    if not len(starts):
        return FlowLimits.joined(found)
    # of a server: its cores, and the most that any reader of it takes
    cores = cores_of_islands(network)[island[order[starts]]].astype(np.float64)
    base = np.maximum.reduceat(usage[order], starts)
    label = "processor cores decoding and receiving" if cost else "processor cores receiving"
    # what is measured is as sure as any limit; both costs are at one end of their bands at once
    low, high = _decode_band(path, samples) or (1.0, 1.0)
    bands = [
        np.maximum.reduceat((cost / of_decode + (usage - cost) / of_kernel)[order], starts)
        for of_decode, of_kernel in zip((low, high), KERNEL_BAND, strict=True)
    ]
    size = np.diff(starts, append=n)
    here = (cores > 0) & (base > 0)
    node = np.repeat(np.cumsum(here) - 1, size)
    rows = np.flatnonzero(np.repeat(here, size))
    cores, base, low, high = (column[here] for column in (cores, base, *bands))
    # servers of as many cores have one limit each, of the same capacity
    classes = classes_of(*(column.view(np.int64) for column in (cores, base, low, high)))
    limits: list[Limit] = []
    for capacity, *ends in np.stack([cores / base, base / low, base / high], axis=1)[classes.first].tolist():
        limits.append(Limit("cores", label, capacity, band=(ends[0], ends[1]) if ends != [1.0, 1.0] else None))
    node, flow = node[rows], order[rows]
    found.append(FlowLimits(tuple(limits), classes.of, flow, node, usage[flow] / base[node]))
    return FlowLimits.joined(found)


#: more readers than this share one limit of workers
READERS_LIMIT: Final = 64


def _accelerators_decode(path: InputPath, samples: Samples, readers: int) -> FlowLimits:
    """What accelerators decode of pictures, each for itself."""
    rate = ACCELERATOR_DECODES
    band = None if path.decode_rate > 0 else (rate.low / rate.value, rate.high / rate.value)
    limit = Limit("decoders", "accelerators decoding", (path.decode_rate or rate.value) * samples.stored, band=band)
    numbers = np.arange(readers)
    return FlowLimits((limit,), np.zeros(readers, dtype=np.int64), numbers, numbers, np.ones(readers))


def _on_cores(path: InputPath, samples: Samples) -> Constant | None:
    """Bytes that a core puts out of samples as they are stored [B/s]; None where that takes no time."""
    loader = LOADERS[path.loader]
    if path.decode == "gpu":
        return None
    if path.decode == "none":
        return loader.cropped
    return loader.decoded if samples.decoded > samples.stored or loader.pages else None


def _decode_cost(path: InputPath, samples: Samples) -> float:
    """Core seconds per stored byte."""
    if path.decode == "cpu" and path.decode_rate > 0:
        return 1 / (path.decode_rate * samples.stored)
    rate = _on_cores(path, samples)
    return 0.0 if rate is None else samples.decoded / rate.value / samples.stored


def _handing_cost(samples: Samples) -> float:
    """Core seconds per stored byte of handing batches to accelerators: the smaller batches are, the more."""
    return HAND_OVER_COST.value / (samples.batch * samples.stored) if samples.batch > 0 else 0.0


def _decode_band(path: InputPath, samples: Samples) -> tuple[float, float] | None:
    """The band of what decoding cores do [1]; None where their rate is given."""
    rate = _on_cores(path, samples)
    if path.decode_rate > 0 or rate is None:
        return None
    return rate.low / rate.value, rate.high / rate.value


def _receiving_cost(network: Network, readers: Int, traffic: Traffic) -> Float:
    """Core seconds per stored byte each reader's host spends on receiving it."""
    found = np.zeros(len(readers))
    legs = traffic.legs
    np.add.at(found, legs.flow, legs.share * host_cost(network, legs))
    return found


def _media(network: Network, legs: Legs, size: float) -> FlowLimits:
    """What random reads of one size leave of every drive: operations, and the share a file system passes on."""
    if not len(legs):
        return NO_LIMITS
    net, limits = network.net, list[Limit]()
    flows: list[Int] = []
    usages: list[Float] = []
    order = np.argsort(legs.source, kind="stable")
    drives, starts = np.unique(legs.source[order], return_index=True)
    rates: dict[int, float] = {}
    for drive, path, rows in zip(drives.tolist(), net.paths(drives), np.split(order, starts[1:]), strict=True):
        definition = int(net.part_def[drive])
        if definition not in rates:
            operations = number(network, drive, "random_read_rate") or 0.0
            bandwidth = number(network, drive, "read_bandwidth") or np.inf
            rates[definition] = min(bandwidth, operations * size) * FILE_SHARE.value
        if not rates[definition]:
            continue
        limits.append(Limit(f"media:{path}", f"{net.part(drive).label} (random reads)", rates[definition]))
        flows.append(legs.flow[rows])
        usages.append(legs.share[rows])
    return FlowLimits.each(limits, flows, usages)


def background_transfer(network: Network, ids: str, place: str) -> TransferAnswer | None:
    """The background workloads alone; None where there are none.

    Raises
    ------
    AnalysisError
        If an id names no transfer of the design, or it cannot be routed.
    """
    traffic, wants = _background(network, ids, place)
    return None if traffic is None else evaluate_legs(network, traffic, wants, NO_LIMITS, place)


def streams(network: Network, ids: str, place: str) -> dict[str, Move]:
    """Transfers of the design that run at the same time, without end, by their ids.

    Raises
    ------
    AnalysisError
        If an id names no transfer of the design.
    """
    found: dict[str, Move] = {}
    for name in listed(ids):
        spec = network.design.workloads.get(name)
        program = program_of(spec.kind, spec.settings, f"workloads.{name}") if spec is not None else None
        step = program.first(TrainStep) if program is not None else None
        if step is not None and step.run.retrain_every > 0:
            continue  # what it takes for a part of the time is counted when the step is known
        move = program.first(Move) if program is not None and spec is not None and spec.kind == "transfer" else None
        if move is None:
            known = ", ".join(w.id for w in network.design.workloads.values() if w.kind == "transfer") or "none"
            raise AnalysisError(
                f"{name!r} is no transfer workload of this design",
                place=f"{place}.background",
                remedy=f"its transfers: {known}; or a training with a cadence; another job is a transfer with a demand",
            )
        found[name] = replace(move, size=np.inf)
    return found


def _background(network: Network, ids: str, place: str) -> tuple[Traffic | None, Float]:
    """Flows of other workloads of the design that run at the same time, and what each asks for."""
    joined: Traffic | None = None
    wants: list[Float] = []
    for name, move in streams(network, ids, place).items():
        traffic = pair_up(network, move, f"workloads.{name}")
        traffic = replace(traffic, legs=staged(network, traffic.legs))
        joined = traffic if joined is None else _join_traffic(joined, traffic)
        wants.append(np.full(traffic.n_flows, move.demand if move.demand > 0 else np.inf))
    return joined, np.concatenate([np.empty(0), *wants])


def _join_traffic(one: Traffic, other: Traffic) -> Traffic:
    moved = replace(other.legs, flow=other.legs.flow + one.n_flows)
    names = ("flow", "source", "target", "share")
    legs = Legs(*(np.concatenate([getattr(one.legs, n), getattr(moved, n)]) for n in names))
    return Traffic(legs, np.concatenate([one.source, other.source]), np.concatenate([one.target, other.target]))


def _stages(network: Network, answer: TransferAnswer, n: int) -> Mapping[str, Int]:
    """Resources that the first `n` flows meet at each stage, by their rows; stages without a limit are left out."""
    incidence = answer.problem.incidence
    flow = np.repeat(answer.problem.flow, np.diff(incidence.ptr))
    rows = np.unique(incidence.resource[flow < n]).astype(np.int64)
    resource = answer.problem.number_of(rows)
    links, n_resources = network.n_link_resources, network.n_resources
    on_link, beyond = resource < links, resource >= n_resources
    in_part = ~on_link & ~beyond
    stores = network.has(Capability.STORE)[network.parts_inside(resource[in_part])]
    wide = network.domain[network.links_of(resource[on_link])] == NETWORK
    found = {"read": [rows[in_part][stores]], "network": [rows[on_link][wide]], "decode": list[Int]()}
    found["copy"] = [rows[in_part][~stores], rows[on_link][~wide]]
    for row in rows[beyond].tolist():
        limit = answer.problem.limits[int(answer.problem.number_of(np.array([row]))[0]) - n_resources]
        found[_STAGE.get(limit.id.partition(":")[0], "read")].append(np.array([row]))
    each = {name: np.sort(np.concatenate([rows[:0], *mine])) for name, mine in found.items()}
    return {name: mine for name, mine in each.items() if len(mine)}


_STAGE: Final = {"client": "read", "media": "read", "cores": "decode", "workers": "decode", "decoders": "decode"}
