"""A deployment placed on a drawing: replicas on devices, what joins them over the drawn links, and what fits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.machines.guest import Guest, Work
from designer.engine.machines.guest_network import network_for
from designer.engine.machines.guests import guest_of
from designer.engine.network import Network
from designer.engine.network.partition import by_value
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError, CatalogError, raised_as
from designer.families.collective.communicator import Communicator, make_concurrent
from designer.families.collective.evaluation import role_findings
from designer.families.serving.deployment import Deployment
from designer.families.serving.devices import Slice, device_of, in_machine, slice_of, with_kernels
from designer.families.serving.drafting import Beside, Drafted, curve_of, draft_steps, drafter_of
from designer.families.serving.drafting import stated as drafter_stated
from designer.families.serving.engines import Chosen, calibrated, release, scheduling_on
from designer.families.serving.fit import Fit
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._number_format import NumberFormat, number_format
from designer.families.serving.formulas._release import Release, Scheduling
from designer.families.serving.formulas.experts import ExpertSetup
from designer.families.serving.formulas.joining import joins_over
from designer.families.serving.formulas.step_time import Split, StepTime
from designer.families.serving.formulas.time_slicing import time_slicing
from designer.families.serving.images import seeing_time, seen
from designer.families.training.preparation import named_model
from designer.findings import Finding, Severity
from designer.formulas.collectives import CollectiveSituation
from designer.memo import Interned
from designer.units import Bytes, Ratio, Seconds
from designer.workload.published_formats import PublishedFormat
from designer.workload.shape import TransformerShape

Int = npt.NDArray[np.int64]

#: format of weights where neither a setting nor the model says one
_UNSAID: Final = "bf16"


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """A deployment on a drawing.

    Parameters
    ----------
    replicas : (n_replicas, devices) parts
    capacity, capacity_band
        Tokens whose keys and values fit in one replica, and the ends of that.
    weights
        Bytes on the fullest device [B].
    group
        What joins the devices of a replica, all replicas at once; None for one device.
    peers
        What joins those that share attention heads, where a replica has several such groups; None where it is `group`.
    cut
        What of a device each replica has.
    fetch
        A request's mean wait for keys and values from beyond the GPU [s].
    """

    network: Network
    deployment: Deployment
    shape: TransformerShape
    device: Device
    split: Split
    chosen: Chosen
    scheduling: Scheduling
    replicas: Int
    steps: StepTime
    capacity: int
    capacity_band: tuple[int, int]
    weights: float
    group: Communicator | None
    place: str
    findings: tuple[Finding, ...]
    curve: tuple[float, ...] = ()
    #: step times of a model that drafts; None for a layer after those of the model, or where nothing drafts
    draft_steps: StepTime | None = None
    guest: Guest | None = None
    cut: Slice | None = None
    fetch: float = 0.0
    beside: Beside = field(default_factory=lambda: Beside(ExpertSetup()))
    peers: Communicator | None = None

    @property
    def accelerators(self) -> int:
        """Devices taken."""
        return len(np.unique(self.replicas))

    @property
    def each_holds(self) -> int:
        """Tokens whose keys and values fit in one group of attention: no request has more."""
        return self.capacity // self.split.data

    @property
    def each(self) -> int:
        """Replicas on one device where they have parts of it."""
        return self.cut.each if self.cut is not None else 1

    def slowed(self, busy: float) -> float:
        """How much longer steps take than on a device of its own [1].

        Parameters
        ----------
        busy
            Share of time in which those that take turns on the device have work.
        """
        cut = self.cut
        return time_slicing(cut.turns, Ratio(busy), Seconds(cut.turn)) if cut is not None and cut.turns > 1 else 1.0

    @property
    def timed(self) -> StepTime | Drafted:
        """Where step times come from: with drafts, per token."""
        asked = self.deployment
        return Drafted(self.steps, asked.drafts, self.curve, self.draft_steps) if asked.drafts else self.steps

    @property
    def cache_format(self) -> NumberFormat:
        """Of keys and values."""
        return number_format(self.deployment.cache)

    @property
    def release(self) -> Release:
        """The engine's release."""
        return self.chosen.release

    def roomier(self) -> Placement:
        """The same with twice the memory on each device."""
        return self._with(replace(self.device, memory=Bytes(2 * self.device.memory)), self.scheduling)

    def with_share(self, share: float) -> Placement:
        """The same whose engine takes another share of the memory [1]."""
        return self._with(self.device, replace(self.scheduling, memory_share=share))

    def _with(self, device: Device, how: Scheduling) -> Placement:
        fit = Fit(self.shape, device, how, self.steps.weights, self.cache_format, self.beside)
        found = fit.capacities(self.split)
        return replace(self, scheduling=how, capacity=found[0], capacity_band=found[1:])


def place_deployment(network: Network, asked: Deployment, place: str, running: Collection[str] = ()) -> Placement:
    """A deployment on the parts of its group.

    Parameters
    ----------
    running
        Machines whose own work runs on the same clock, so that they are not taken to be busy in addition.

    Raises
    ------
    AnalysisError
        If the model is unknown or no transformer, does not fit, or widths do not divide it or the group.
    """
    named = named_model(asked.model, f"{place}.model")
    shape = named.shape
    if not isinstance(shape, TransformerShape) or not shape.causal:
        raise AnalysisError(
            f"{shape.name} gives no tokens", place=f"{place}.model", remedy="serve a transformer that decodes"
        )
    if not asked.group.strip():
        raise AnalysisError("no accelerators are named", place=f"{place}.group", remedy="name some, for example gpus")
    parts = resolve(network, asked.group, f"{place}.group")
    network, device, guest, found = _devices(network, asked, parts, place, running)
    with raised_as(AnalysisError, f"{place}.engine", of=CatalogError):
        chosen = calibrated(release(asked.engine, asked.release), asked.calibration, asked.model)
    device = with_kernels(device, chosen.release.engine)
    asked, stated_of_weights = _published_format(asked, shape.name, named.published)
    weights, cache = number_format(asked.weights), number_format(asked.cache)
    device.runs_as(weights)
    _check_adapters(asked, shape, place)
    cut = slice_of(network, int(parts[0]), device, asked.part, f"{place}.part")
    device = cut.device
    how = _scheduling_of(chosen.release, asked, device, place)
    if asked.part:
        asked, parts = _place_on_slices(asked, cut, parts, place)
    setup = Beside(setup_of(asked), drafter_of(asked, shape, weights, place))
    fit = Fit(shape, device, how, weights, cache, setup)
    split = fit.split_for(network, asked, parts, place)
    replicas = _replicas(asked, parts, network.island[parts], split, place)
    group = _group(network, replicas, f"{place}.group")
    several = 1 < split.tensor < split.devices
    peers = _group(network, replicas.reshape(-1, split.tensor), f"{place}.group") if several else None
    chosen = chosen.seeing(seeing_time(asked, shape, device, split.tensor))
    steps = _steps(shape, device, split, weights, cache, chosen.release, _joining_of(group, peers, split), asked)
    fit = fit.with_states(split)
    how, capacities = fit.how, fit.capacities(split)
    if not capacities[0]:
        raise AnalysisError(
            f"a block of {how.block:,} tokens is more than there is room for in a replica",
            place=f"{place}.block",
            remedy="use blocks as engines have them, 1 to 128 tokens",
        )
    stated = [*named.findings(), *found, *stated_of_weights]
    stated += [*_findings_of(asked, chosen, replicas, len(parts)), *_without_experts(asked, shape, weights)]
    stated += seen(asked, shape, device, split.tensor)
    if setup.drafter is not None:
        sizes = setup.drafter.held(split.tensor, split.data), setup.token(split, cache)
        stated.append(drafter_stated(setup.drafter, asked.draft_model, *sizes))
    if group is not None:
        stated += role_findings(group)
    return Placement(
        network,
        asked,
        shape,
        device,
        split,
        chosen,
        how,
        replicas,
        steps,
        capacities[0],
        (capacities[1], capacities[2]),
        fit.held(split),
        group,
        place,
        tuple(stated),
        curve_of(asked, place),
        draft_steps(setup.drafter, steps, _joining_of(group, peers, split), cache, asked),
        guest,
        cut,
        peers=peers,
        beside=setup,
    )


def _devices(
    network: Network, asked: Deployment, parts: Int, place: str, running: Collection[str]
) -> tuple[Network, Device, Guest | None, list[Finding]]:
    """The devices of a deployment as it sees them, in a machine if one is named, with the network from there."""
    device, findings = device_of(network, parts, f"{place}.group")
    guest, stated_of_it = guest_of(network, parts, asked.machines, Work.SERVING, place, running)
    if guest is not None and asked.part:
        raise AnalysisError(
            f"both say what a replica has of a GPU: {asked.part} and what it runs in",
            place=f"{place}.part",
            remedy="leave the part empty where machines or an instance are named, or name no machines",
        )
    if guest is not None:
        device = in_machine(device, guest)
        network = network_for(network, guest)
    return network, device, guest, [*findings, *stated_of_it]


def _check_adapters(asked: Deployment, shape: TransformerShape, place: str) -> None:
    if asked.adapters > shape.hidden:
        raise AnalysisError(
            f"adapters of rank {asked.adapters:,} for a model {shape.hidden:,} wide",
            place=f"{place}.adapters",
            remedy="give the rank of the adapters, mostly 8 to 256",
        )


def _without_experts(asked: Deployment, shape: TransformerShape, weights: NumberFormat) -> list[Finding]:
    """Settings for experts of a model that has none."""
    found: list[Finding] = []
    if shape.experts:
        return found
    if weights.dense:
        text = f"{weights.name} is a format of experts: {shape.name} has none, its weights stay {weights.dense}"
        found.append(Finding("SERVE-FORMAT", Severity.WARNING, text, (), "choose another format of weights"))
    if asked.expert > 1:
        text = f"{shape.name} has no experts to share: its expert width of {asked.expert} changes nothing"
        found.append(Finding("SERVE-EXPERTS", Severity.INFO, text, (), "set the expert width to 1"))
    return found


def _published_format(asked: Deployment, name: str, published: PublishedFormat) -> tuple[Deployment, list[Finding]]:
    """Weights as asked; where nothing is asked, as engines load the checkpoint: in the format it is stored in."""
    if asked.weights:
        return asked, []
    asked = replace(asked, weights=published.name or _UNSAID, published=True)
    if published.name:
        text = f"{name} is served in {published.name}, as it is published: {published.said}"
        stated = Finding("SERVE-PUBLISHED", Severity.INFO, text, (), "set the weights to serve it in another format")
    elif published.said:
        text = f"{name} is served in {_UNSAID}: what it is published in is not known, {published.said}"
        stated = Finding(
            "SERVE-PUBLISHED", Severity.WARNING, text, (), "set the weights to the format of the checkpoint"
        )
    else:
        return asked, []
    return asked, [stated]


def _place_on_slices(asked: Deployment, cut: Slice, parts: Int, place: str) -> tuple[Deployment, Int]:
    """A replica on every slice: slices of one device are no peers of each other."""
    if max(asked.tensor, asked.data, asked.pipeline) > 1:
        raise AnalysisError(
            "a replica on a part of a GPU has no other device", place=f"{place}.part", remedy="use widths of 1"
        )
    # one on every device before a second on any
    return replace(asked, tensor=1, data=1, pipeline=1), np.tile(parts, cut.each)


def _scheduling_of(chosen: Release, asked: Deployment, device: Device, place: str) -> Scheduling:
    how = scheduling_on(chosen, device.memory, device.architecture)
    # groups of attention have a scheduler each
    groups = max(1, asked.data)
    if asked.budget:
        how = replace(how, budget=asked.budget)
    elif how.budget_divided:
        how = replace(how, budget=max(1, how.budget // groups))
    if asked.slots:
        how = replace(how, slots=asked.slots)
    if asked.block:
        how = replace(how, block=asked.block)
    if asked.stream_interval:
        how = replace(how, stream_interval=asked.stream_interval)
    if asked.memory_share:
        if asked.memory_share > 1:
            raise AnalysisError(
                f"a share of {asked.memory_share:g} of memory", place=f"{place}.memory_share", remedy="give 0 to 1"
            )
        how = replace(how, memory_share=asked.memory_share)
    return how.of(groups)


def setup_of(asked: Deployment) -> ExpertSetup:
    """How experts are chosen, copied and overlapped; of one group of attention nothing is sent that could overlap."""
    wide = asked.data > 1 and asked.expert > 1
    return ExpertSetup(asked.redundant if asked.expert > 1 else 0, Ratio(asked.skew), asked.overlap and wide)


def _replicas(asked: Deployment, parts: Int, island: Int, split: Split, place: str) -> Int:
    """Replicas on devices: inside a server as long as one has room, across servers only where that many are asked."""
    most = len(parts) // split.devices
    parts, inside = _servers_first(parts, island, split.devices)
    count = asked.replicas or inside or most
    if count > most:
        raise AnalysisError(
            f"{count} replicas of {split.devices} need {count * split.devices} accelerators, {asked.group!r} has "
            f"{len(parts)}",
            place=f"{place}.replicas",
            remedy=f"ask for {most} at most, or 0 for as many as fit",
        )
    return parts[: count * split.devices].reshape(count, split.devices)


def _servers_first(parts: Int, island: Int, devices: int) -> tuple[Int, int]:
    """Parts server by server, those that make whole replicas first, and how many replicas those make."""
    servers = by_value(island)
    order, size = np.argsort(servers.of, kind="stable"), servers.many
    place = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    whole = place < np.repeat(size // devices * devices, size)
    return parts[np.r_[order[whole], order[~whole]]], int(whole.sum()) // devices


def _findings_of(asked: Deployment, chosen: Chosen, replicas: Int, count: int) -> list[Finding]:
    found: list[Finding] = []
    if not chosen.exact:
        named = f"release {asked.release}" if asked.release else "the release"
        near = chosen.release.id != asked.engine
        taken = f"{chosen.release.title} is" if near else "what its releases have in common is"
        text = f"{named} of {asked.engine} is not known: {taken} taken, in a wide band"
        found.append(Finding("SERVE-RELEASE", Severity.WARNING, text, (), "give a release that was measured"))
    if not asked.graph:
        text = "without captured graphs joining the devices is slower, and so are all kernels, by what is not known"
        found.append(Finding("SERVE-EAGER", Severity.WARNING, text, (), "take times per token for the least there are"))
    if replicas.size < count:
        text = f"{count - replicas.size} of {count} accelerators of the group are left idle"
        found.append(Finding("SERVE-IDLE", Severity.INFO, text, (), "set replicas to 0, or choose other widths"))
    return found


def _group(network: Network, replicas: Int, place: str) -> Communicator | None:
    """What joins the devices of a replica while all replicas work: the shape of group that is slowest."""
    if replicas.shape[1] < 2:
        return None
    shapes = make_concurrent(network, replicas, place)
    size = float(2**20)
    return max(shapes, key=lambda one: one.time("all-reduce", size).time)


#: step times of what was asked last: another load on the same devices, formats and links finds them worked out
_STEPS_LIMIT: Final = 24
_STEPS: Final = Interned[StepTime](_STEPS_LIMIT)


def _steps(
    shape: TransformerShape,
    device: Device,
    split: Split,
    weights: NumberFormat,
    cache: NumberFormat,
    of: Release,
    joined: Sequence[CollectiveSituation],
    asked: Deployment,
) -> StepTime:
    """Step times, the same object for all drawings in which they are the same."""
    setup = setup_of(asked)
    key = (shape, device, split, weights, cache, of.overheads, asked.adapters, asked.graph, tuple(joined), setup)

    def make() -> StepTime:
        joins = joins_over(joined, split, asked.graph)
        return StepTime(shape, device, split, weights, cache, of.overheads, joins, asked.adapters, setup=setup)

    return _STEPS(key, make)


def _joining_of(
    group: Communicator | None, peers: Communicator | None, split: Split
) -> tuple[CollectiveSituation, ...]:
    """How those that share heads are joined, how all are, and how they are where all send to all, if they do."""
    if group is None:
        return ()
    found = ((peers or group).situation, group.situation)
    return (*found, group.exchanging().situation) if split.sends_tokens else found


def changed(placement: Placement, asked: Deployment) -> Placement | None:
    """The same replicas with another engine, formats or scheduler; None where that does not fit or cannot run.

    Widths, group and what joins the devices stay as they are, so this is quick.
    """
    try:
        chosen = calibrated(release(asked.engine, asked.release), asked.calibration, asked.model)
        how = _scheduling_of(chosen.release, asked, placement.device, placement.place)
        weights, cache = number_format(asked.weights), number_format(asked.cache)
        placement.device.runs_as(weights)
    except (AnalysisError, CatalogError):
        return None
    shape, split = placement.shape, placement.split
    device = with_kernels(placement.device, chosen.release.engine)
    try:
        setup = Beside(setup_of(asked), drafter_of(asked, shape, weights, placement.place))
        curve = curve_of(asked, placement.place)
    except AnalysisError:
        return None
    fit = Fit(shape, device, how, weights, cache, setup).with_states(split)
    capacities = fit.capacities(split)
    if capacities[0] <= 0:
        return None
    joins = placement.steps.joins
    own = setup.setup
    chosen = chosen.seeing(seeing_time(asked, shape, device, split.tensor))
    steps = StepTime(shape, device, split, weights, cache, chosen.release.overheads, joins, asked.adapters, setup=own)
    return replace(
        placement,
        deployment=asked,
        chosen=chosen,
        scheduling=fit.how,
        steps=steps,
        capacity=capacities[0],
        capacity_band=(capacities[1], capacities[2]),
        weights=fit.held(split),
        curve=curve,
        draft_steps=draft_steps(
            setup.drafter, steps, _joining_of(placement.group, placement.peers, split), cache, asked
        ),
        beside=setup,
    )
