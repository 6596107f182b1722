"""A job made ready: model, accelerator, layout, batch and ranks, checked against each other and the drawing."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import permutations, product
from pathlib import Path
from typing import Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from designer.engine.accelerators import accelerator_of
from designer.engine.machines.guest import Guest, Work
from designer.engine.machines.guest_network import network_for
from designer.engine.machines.guests import guest_of
from designer.engine.network import Network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError, DesignerError, raised_as
from designer.families.training.feeding import SHARD_SAMPLES, Samples
from designer.families.training.formulas.convolutional_memory import convolutional_memory, require_batch
from designer.families.training.formulas.step_composition import (
    NO_INPUT,
    InputStage,
    StepEstimate,
    StepFrame,
    compose_step,
    spread_of,
    widen_step,
)
from designer.families.training.formulas.training_step import estimate_step, transformer_trainer
from designer.families.training.formulas.transformer_memory import transformer_memory
from designer.families.training.formulas.transformer_step import TransformerStep
from designer.families.training.routed_costs import Ranks, ranks_of
from designer.findings import Finding, Severity
from designer.formulas.accelerator import RATES, Accelerator
from designer.formulas.calibration import generation_key
from designer.formulas.communication import CommunicationCosts, NoCommunication
from designer.formulas.compute.convolutional_forward import ForwardRates, forward_spread, forward_time, forward_work
from designer.formulas.layout import COMMON, Layout, Recompute, Schedule, Sharding, check_layout
from designer.formulas.precision import Precision, precision
from designer.formulas.shapes import is_transformer
from designer.formulas.software import UNKNOWN, Software, check_format, releases, software, with_optimizer
from designer.formulas.storage.loaders import FLOAT_VALUE, LOADERS
from designer.units import Bytes, Flop, FlopPerSecond, Ratio, Seconds
from designer.workload.datasets import Dataset, dataset_of
from designer.workload.huggingface import parse_config, read_config
from designer.workload.jobs import InputPath, Job
from designer.workload.models import find_model, model
from designer.workload.published_formats import UNSAID, PublishedFormat
from designer.workload.shape import ConvolutionalShape, ModelShape, RecommendationShape, TransformerShape

Int = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPlan:
    """A job that fits together; steps are estimated from it again and again."""

    job: Job
    shape: ModelShape
    accelerator: Accelerator
    precision: Precision
    software: Software
    layout: Layout
    global_batch: int
    ranks: Ranks
    place: str
    findings: tuple[Finding, ...]
    guest: Guest | None = None
    #: what the program is instead, where its release is unknown
    releases: tuple[Software, ...] = ()

    @property
    def is_transformer(self) -> bool:
        """True if samples are made of tokens."""
        return is_transformer(self.shape)

    @property
    def local_batch(self) -> float:
        """Samples of a data-parallel rank in a step."""
        return self.global_batch / self.layout.data

    @property
    def handed(self) -> float:
        """Samples that a data-parallel rank is handed at once."""
        return min(self.local_batch, float(self.layout.micro_batch))

    @property
    def unit(self) -> int:
        """Accelerators of one replica."""
        return self.layout.ranks // self.layout.data

    def readers(self) -> Int:
        """The accelerators that read samples: the first of every replica."""
        # jobs of the same kind next to this one have the ranks that follow
        parts = self.ranks.parts[: self.layout.ranks].reshape(self.layout.pipeline, self.layout.data, -1)
        return parts[0, :, 0]

    def with_data(self, data: int) -> TrainingPlan:
        """The same job on that many replicas, as many samples each."""
        layout = replace(self.layout, data=data, expert=math.gcd(self.layout.expert, data * self.layout.context))
        batch = max(data, round(self.local_batch * data))
        return replace(self, layout=layout, global_batch=batch, ranks=self.ranks.first(layout.ranks))

    def without_releases(self) -> TrainingPlan:
        """The same job where nobody asks for the band: steps of other releases of its program are not estimated."""
        return replace(self, releases=()) if self.releases else self

    def estimate(
        self,
        costs: CommunicationCosts,
        stage: InputStage = NO_INPUT,
        *,
        must_fit: bool = False,
        accelerator: Accelerator | None = None,
        faster: float = 1.0,
    ) -> StepEstimate:
        """The step; `faster` divides a computing time that was measured."""
        step = self._estimate(costs, stage, must_fit, accelerator, faster)
        if self.releases:
            others = [replace(self, software=one, releases=()) for one in self.releases]
            times = [one._estimate(costs, stage, False, accelerator, faster).step_time for one in others]
            step = widen_step(step, times)
        return step if self.guest is None else _less_sure(step, self.guest)

    def _estimate(
        self,
        costs: CommunicationCosts,
        stage: InputStage,
        must_fit: bool,
        accelerator: Accelerator | None,
        faster: float,
    ) -> StepEstimate:
        part = accelerator or self.accelerator
        measured = Seconds(self.job.measured_compute / faster) if self.job.measured_compute > 0 else None
        if self.job.forward_only and not self.is_transformer:
            step = self._forward(part, stage, must_fit)
        else:
            step = estimate_step(
                self.shape,
                self.precision,
                self.layout,
                self.global_batch,
                part,
                costs,
                self.software,
                sequence=self.job.sequence,
                input_stage=stage,
                frozen=self.job.adapters,
                must_fit=must_fit,
                measured=measured,
            )
            if not self.is_transformer:
                return step
        if measured is not None:
            parts = {name: value for name, value in step.parts.items() if name.endswith("communication")}
            return compose_step({**parts, "compute": measured}, self._frame(step, part), spread_of(()), stage)
        return step

    def _forward(self, part: Accelerator, stage: InputStage, must_fit: bool) -> StepEstimate:
        shape = cast("ConvolutionalShape", self.shape)
        if self.layout.ranks != self.layout.data:
            raise AnalysisError(
                f"{shape.name} runs data-parallel only", place=self.place, remedy="set every other degree to 1"
            )
        if must_fit:
            require_batch(shape, self.local_batch, part, self.precision)
        name = self.precision.name
        generation = part.generation
        rates = ForwardRates(part.peak(name), part.memory_bandwidth, part.runs_as(name), generation, part.is_card)
        work = forward_work(shape, rates, Bytes(self.precision.matrix_bytes.value))
        compute = forward_time(work, self.local_batch, rates)
        frame = StepFrame(
            self.layout,
            self.global_batch,
            self.global_batch,
            Flop(shape.flop_forward * self.global_batch),
            FlopPerSecond(self.layout.ranks * part.peak(self.precision.name)),
            Ratio(0.0),
            convolutional_memory(shape, self.local_batch, part, self.precision),
            # its constants are those of inference: runs of training say nothing of them
            seen=False,
        )
        spread = spread_of(forward_spread(work, self.local_batch, rates))
        return compose_step({"compute": compute}, frame, spread, stage)

    def _frame(self, step: StepEstimate, part: Accelerator) -> StepFrame:
        tokens = round(step.tokens_per_second * step.step_time)
        peak = FlopPerSecond(self.layout.ranks * part.peak(self.precision.name))
        return StepFrame(
            self.layout,
            self.global_batch,
            tokens,
            step.model_flop,
            peak,
            Ratio(self.software.straggler.value),
            step.memory,
        )

    def trainer(self) -> TransformerStep:
        """The estimator of many layouts.

        Raises
        ------
        AnalysisError
            If the model is no transformer.
        """
        if not isinstance(self.shape, TransformerShape):
            raise AnalysisError(
                f"{self.shape.name} has one layout: data-parallel",
                place=f"{self.place}.model",
                remedy="choose a transformer",
            )
        return transformer_trainer(
            self.shape,
            self.accelerator,
            self.precision,
            self.software,
            self.job.sequence,
            frozen=self.job.adapters,
        )


def _less_sure(step: StepEstimate, guest: Guest) -> StepEstimate:
    """The step with a band that holds what is not known of the share a machine has."""
    computing = step.compute + step.recompute + step.optimizer
    shorter, longer = guest.longer
    whole = step.step_time
    # while other machines leave a NIC alone, all of it is there for what groups exchange
    spared = step.communication * (1 - guest.narrowest.value) if guest.narrowest is not None else 0.0
    low = whole - math.hypot(whole - step.low, computing * (1 - shorter), spared)
    high = whole + math.hypot(step.high - whole, computing * (longer - 1))
    return replace(step, low=Seconds(max(0.0, low)), high=Seconds(high))


class NamedModel(NamedTuple):
    """A model that a text names.

    Parameters
    ----------
    shape
        Its dimensions.
    published
        The number format of its checkpoint.
    assumptions
        What its configuration does not say and was taken for granted, in words.
    """

    shape: ModelShape
    published: PublishedFormat = UNSAID
    assumptions: tuple[str, ...] = ()

    def findings(self) -> tuple[Finding, ...]:
        """One that says what was taken for granted; none where all was said."""
        if not self.assumptions:
            return ()
        text = f"{self.shape.name}: {'; '.join(self.assumptions)}"
        remedy = "compare it with what is published of the model, or give a configuration that says it"
        return (Finding("MODEL-ASSUMED", Severity.WARNING, text, (), remedy),)


def shape_of(text: str, place: str) -> ModelShape:
    """The model a text names: an id, a ``config.json``, or its content.

    Raises
    ------
    AnalysisError
        If there is no such model, or the configuration describes none.
    """
    return named_model(text, place).shape


def named_model(text: str, place: str) -> NamedModel:
    """The model a text names, what its checkpoint is published in, and what was taken for granted.

    Raises
    ------
    AnalysisError
        As :func:`shape_of`.
    """
    try:
        if text.lstrip().startswith("{"):
            config = parse_config(text)
        elif text.endswith(".json"):
            config = read_config(Path(text))
        else:
            entry = find_model(text)
            return NamedModel(model(text)) if entry is None else NamedModel(entry.shape, entry.published)
        return NamedModel(config.shape, config.published, config.assumptions)
    except DesignerError as error:
        at = f"{place}, {error.place}" if error.place else place
        raise AnalysisError(error.text, file=error.file, place=at, remedy=error.remedy) from None


def prepare(network: Network, job: Job, place: str, running: Collection[str] = ()) -> TrainingPlan:
    """The plan of a job; `running` machines have work of their own on the same clock.

    Raises
    ------
    AnalysisError
        If the model is unknown, degrees do not divide the group or batch, or a part cannot compute.
    """
    named = named_model(job.model, f"{place}.model")
    shape = named.shape
    if not job.group.strip():
        raise AnalysisError("no accelerators are named", place=f"{place}.group", remedy="name some, for example gpus")
    parts = resolve(network, job.group, f"{place}.group")
    guest, stated = guest_of(network, parts, job.machines, Work.TRAINING, place, running)
    drawn, network = network, network_for(network, guest)
    layout = _layout(job, len(parts), place)
    if isinstance(shape, TransformerShape) and (shape.state_layers or shape.idle_layers or shape.bare_layers):
        raise AnalysisError(
            f"{shape.name} has layers without attention or without a feed-forward part, whose training is not modelled",
            place=f"{place}.model",
            remedy="serve it, or train a transformer of the same size",
        )
    if job.forward_only and isinstance(shape, TransformerShape | RecommendationShape):
        raise AnalysisError(
            "a forward pass alone is estimated for convolutional networks",
            place=f"{place}.forward_only",
            remedy="use an inference workload for transformers",
        )
    if job.micro_batch < 1:
        raise AnalysisError("a microbatch of no samples", place=f"{place}.micro_batch", remedy="use 1 or more")
    batch = job.global_batch or job.micro_batch * layout.data
    ranks = ranks_of(network, parts[: layout.ranks], place)

    def programs_of(accelerator: Accelerator) -> tuple[Software, ...]:
        key = generation_key(accelerator.generation)
        with raised_as(AnalysisError, f"{place}.release"):
            check_format(job.precision, job.release)
            found = software(job.software, job.release, key)
        others = () if job.release.strip() else releases(job.software, key)
        return tuple(with_optimizer(one, job.optimizer) for one in (found, *others))

    def planned(accelerator: Accelerator) -> TrainingPlan:
        program, *others = programs_of(accelerator)
        return TrainingPlan(
            job,
            shape,
            accelerator if guest is None else _share_of(accelerator, guest),
            precision(job.precision),
            program,
            layout,
            batch,
            ranks,
            place,
            (),
            guest,
            tuple(others),
        )

    accelerator, mixed = accelerator_of(
        drawn, parts, f"{place}.group", lambda one: planned(one).without_releases().estimate(ALONE).step_time
    )
    plan = planned(accelerator)
    about = _findings_about(job, plan.accelerator, layout, len(parts))
    if isinstance(shape, TransformerShape) and _AUTO in (job.sharding, job.recompute):
        chosen = _least_that_fits(plan, shape)
        about += [_chosen_finding(job, chosen)] if chosen != layout else []
        plan = replace(plan, layout=chosen)
    plan = replace(plan, findings=(*named.findings(), *mixed, *stated, *about))
    return _best_order(plan) if job.placement == "best" else plan


def _share_of(accelerator: Accelerator, guest: Guest) -> Accelerator:
    """What machines have of an accelerator."""
    memory = Bytes(min(accelerator.memory_capacity, guest.memory or math.inf))
    share = accelerator.slice(Ratio(guest.speed.value), Ratio(guest.traffic.value), memory)
    return replace(share, name=accelerator.name) if guest.compute.value == guest.bandwidth.value == 1 else share


def _findings_about(job: Job, accelerator: Accelerator, layout: Layout, count: int) -> list[Finding]:
    """What a job asks for and does not get."""
    found: list[Finding] = []
    runs = accelerator.runs_as(job.precision)
    if runs != RATES.get(job.precision, job.precision):
        text = f"{accelerator.name} has no {job.precision}: it runs as {runs}"
        remedy = f"choose a format it has: {', '.join(sorted(accelerator.flops))}"
        found.append(Finding("TRAIN-PRECISION", Severity.WARNING, text, (), remedy))
    if job.software == UNKNOWN:
        text = "how the training program works is not known: the bands are as wide as programs differ"
        found.append(Finding("TRAIN-PROGRAM", Severity.WARNING, text, (), "choose the program it is most like"))
    if layout.ranks < count:
        text = f"{count - layout.ranks} of {count} accelerators of the group are left idle"
        found.append(Finding("TRAIN-IDLE", Severity.WARNING, text, (), "set data to 0 to use all of them"))
    return found


def _layout(job: Job, count: int, place: str) -> Layout:
    fixed = job.tensor * job.pipeline * job.context
    data = job.data or (count // fixed if fixed > 0 and count % fixed == 0 else 0)
    if fixed < 1 or data < 1:
        raise AnalysisError(
            f"{count} accelerators do not divide by {job.tensor} x {job.pipeline} x {job.context} (tensor, pipeline, "
            "context)",
            place=place,
            remedy="choose degrees of 1 or more whose product divides the group",
        )
    if fixed * data > count:
        raise AnalysisError(
            f"the layout needs {fixed * data} accelerators, {job.group!r} has {count}",
            place=place,
            remedy="use smaller degrees or a larger group",
        )
    return Layout(
        job.tensor,
        job.pipeline,
        data,
        job.context,
        job.expert,
        job.interleave,
        job.micro_batch,
        job.sequence_parallel,
        Sharding.NONE if job.sharding == _AUTO else Sharding(job.sharding),
        Recompute.NONE if job.recompute == _AUTO else Recompute(job.recompute),
        Schedule(job.schedule),
    )


#: how a job leaves a choice to the memory there is
_AUTO: Final = "auto"


def _least_that_fits(plan: TrainingPlan, shape: TransformerShape) -> Layout:
    """The layout with as little recomputation, and then as little sharding, as fits; as it is where nothing does."""
    job, layout = plan.job, plan.layout
    try:
        microbatches = layout.microbatches(plan.global_batch)
    except AnalysisError:
        return layout
    shardings = tuple(Sharding) if job.sharding == _AUTO and layout.data > 1 else (layout.sharding,)
    again = COMMON if job.recompute == _AUTO else (layout.recompute,)
    device, how, program = plan.accelerator, plan.precision, plan.software
    for recompute, sharding in product(again, shardings):
        one = replace(layout, sharding=sharding, recompute=recompute)
        try:
            check_layout(one, shape, job.sequence)
        except AnalysisError:
            continue
        if transformer_memory(shape, one, device, how, program, job.sequence, microbatches, job.adapters).fits:
            return one
    return layout


def _chosen_finding(job: Job, layout: Layout) -> Finding:
    words: list[str] = []
    if job.sharding == _AUTO and layout.sharding is not Sharding.NONE:
        words.append(f"sharding {layout.sharding.value}")
    if job.recompute == _AUTO and layout.recompute is not Recompute.NONE:
        words.append(f"recompute {layout.recompute.value}")
    text = f"{' and '.join(words)}, the least that fits in memory: {layout.describe()}"
    return Finding("TRAIN-CHOSEN", Severity.INFO, text, (), "set sharding and recompute to choose them yourself")


def _best_order(plan: TrainingPlan) -> TrainingPlan:
    """The plan with the best of the rank orders there are to try; as drawn where none is better."""
    parts, network = plan.ranks.parts, plan.ranks.network
    plans = [replace(plan, ranks=ranks_of(network, parts[o], plan.place)) for o in _orders(plan)]
    times = [one.estimate(one.ranks.costs(one.layout)).step_time for one in plans]
    return plans[int(np.argmin(times))]


def _orders(plan: TrainingPlan) -> list[Int]:
    """Rank orders: as drawn, every second of a server first, servers interleaved; then each dimension next to each."""
    island = plan.ranks.network.island[plan.ranks.parts]
    order = np.arange(len(island))
    by_island = np.argsort(island, kind="stable")
    heads = np.searchsorted(island[by_island], island[by_island])
    place = np.empty(len(island), dtype=np.int64)
    place[by_island] = order - heads
    found = [order, np.lexsort((place // 2, place % 2, island)), np.lexsort((island, place))]
    layout = plan.layout
    shape = np.array([layout.pipeline, layout.data, layout.context, layout.tensor])
    for outer_first in permutations(range(len(shape))):
        routed_step = order.reshape(shape[list(outer_first)])
        found.append(routed_step.transpose(np.argsort(outer_first)).ravel())
    distinct = {one.tobytes(): one for one in reversed(found)}
    return list(reversed(distinct.values()))


def samples_of(plan_sequence: int, transformer: bool, path: InputPath, place: str) -> tuple[Samples, Dataset]:
    """How samples of the dataset travel.

    Raises
    ------
    AnalysisError
        If there is no such dataset.
    """
    with raised_as(AnalysisError, f"{place}.dataset"):
        data = dataset_of(path)
    count = float(data.samples)
    if transformer and data.tokens:
        count = max(1.0, data.tokens / max(1, plan_sequence))
    stored, loader = data.size / count, LOADERS[path.loader]
    files = data.files > 0 and data.samples < data.files * SHARD_SAMPLES.value
    random = path.access == "random" or (path.access == "auto" and files and not loader.pages)
    decoded = data.decoded_sample * loader.value_bytes / FLOAT_VALUE.value or stored
    return Samples(stored, decoded, count, random, spread=path.sample_spread), data


#: no traffic at all: one accelerator, or a perfect network
ALONE = NoCommunication()
