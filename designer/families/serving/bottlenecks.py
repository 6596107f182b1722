"""What holds back prompts and what holds back decoding: the accounts of a typical step of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from designer.engine.account import NOTICE_TOLERANCE, account
from designer.engine.account.bottlenecks import Resources, arithmetic, described, first_of, memory_bandwidth, sort_of
from designer.engine.account.expression import Least, Longest, Resource, Roofline, Sum, Term, Time, seconds
from designer.engine.results import Bottleneck, Step
from designer.families.collective.communicator import Communicator
from designer.families.collective.times import LAUNCH, STEPS, expression, moving
from designer.families.serving.answers import ANSWERING, HANDING_OVER, READING, Served, at_once, counted, most_of
from designer.families.serving.formulas._terms import Terms
from designer.families.serving.formulas.experts import START
from designer.families.serving.formulas.joining import (
    EXCHANGES,
    HOPS,
    gridded_joins,
    near_enough,
    sending_rates,
)
from designer.families.serving.formulas.layers import prefill_area
from designer.families.serving.formulas.small_all_reduce import EAGER, small_all_reduce
from designer.families.serving.formulas.step_time import Joining, Joins, StepTime
from designer.families.serving.placement import Placement
from designer.formulas.collectives import Bound
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, format_quantity

#: cached tokens this close to the room for them hold requests back
_FULL_TOLERANCE: Final = 0.97


#: a hand-over that uses this share of its path, or is this share of the first token, is stated
HELD_UP: Final = Constant(0.3, 0.2, 0.5, "assumed-serving", Status.ASSUMED, "1")


@dataclass(frozen=True, slots=True)
class Phase:
    """A typical step: prompts alone, or requests that decode.

    Parameters
    ----------
    tokens
        Of prompts; 0 while decoding.
    requests, context
        That decode, and their cached tokens together.
    """

    name: str
    tokens: int
    requests: int
    context: float

    def time(self, steps: StepTime) -> Any:
        """Its length [s], or the expression of it."""
        if self.tokens:
            return steps.step(self.tokens, prefill_area(self.tokens, 0.0), 1, 0, 0.0)
        return steps.decode(self.requests) + steps.context() * self.context


def phases(served: Served) -> tuple[Phase, ...]:
    """A typical step of prompts and one of decoding."""
    placement, requests = served.placement, served.sent.requests
    prompt = round(float(np.mean(requests.prompt)))
    whole = prompt + float(np.mean(requests.output)) / 2
    if served.runs:
        turns = served.runs[0].turns
        decoding = turns[turns[:, 4] > 0]
        length = decoding[:, 3] * decoding[:, 1]
        running = float((decoding[:, 4] * length).sum() / length.sum()) if len(decoding) else 1.0
    else:
        running = min(placement.scheduling.slots, placement.capacity / whole)
    count = max(1, round(running))
    tokens = max(1, min(prompt, placement.scheduling.budget))
    return Phase("prompts", tokens, 0, 0.0), Phase("decoding", 0, count, count * whole)


def placed_phases(served: Served) -> tuple[tuple[Placement, Phase], ...]:
    """Typical steps with the placement that runs them: of a split deployment prompts have devices of their own."""
    prompts, decoding = phases(served)
    return (served.prompts or served.placement, prompts), (served.placement, decoding)


def bottlenecks(served: Served) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...], tuple[Step, ...]]:
    """What binds each phase, what would next, and where the time of a typical step of each phase goes."""
    now: list[Bottleneck] = list(_full(served))
    then: list[Bottleneck] = []
    now += handing_over(served)
    now += _fetch_bottleneck(served)
    steps: list[Step] = []
    for placement, phase in placed_phases(served):
        binding, after, step = step_account(placement, phase)
        steps.append(step)
        # engines that wait for others hold nothing back
        (now if _held_by(served, phase) else then).extend(binding)
        then += after
    if not served.runs and served.prompts is None:
        # what holds requests back binds where it brings more than what makes steps shorter
        crowded = _room_bottleneck(served)
        best = max((b.gain or 1.0 for b in now), default=1.0)
        now = [*(b for b in crowded if (b.gain or 1.0) >= best), *now]
        then += [b for b in crowded if b not in now]
    return tuple(now), tuple(then), tuple(steps)


def _held_by(served: Served, phase: Phase) -> bool:
    """Whether a phase is what holds requests back, where one alone does: of a split deployment asked for too much."""
    if served.prompts is None or served.runs:
        return True
    return served.short == (READING if phase.tokens else ANSWERING)


def handing_over(served: Served) -> list[Bottleneck]:
    """The path of keys and values, where it holds requests back or is a good part of the first token."""
    pull = served.pull
    if pull is None:
        return []
    share = 1.0
    if served.runs:
        share = pull.moving / float(np.nanmean(served.runs[0].first - served.runs[0].sent))
    others = not served.runs and served.short != HANDING_OVER
    if others or (pull.use < HELD_UP.value and share < HELD_UP.value):
        return []
    why = (
        f"hand-over of keys and values: {format_quantity(pull.moving, 'duration')} of "
        f"{format_quantity(pull.time, 'duration')} are bytes, the path is used to {pull.use:.0%}"
    )
    held = not served.runs and served.short == HANDING_OVER
    return first_of(pull.together.binding, why, min(2.0, served.room) if held else None)


def _fetch_bottleneck(served: Served) -> list[Bottleneck]:
    """The way from beyond the GPU, where it is nearly all in use or a good part of the first token."""
    tier = served.tier
    if tier is None or not served.runs:
        return []
    share = tier.fetch / float(np.nanmean(served.runs[0].first - served.runs[0].sent))
    if tier.use < HELD_UP.value and share < HELD_UP.value:
        return []
    why = (
        f"fetching keys and values: {format_quantity(tier.fetch, 'duration')} of a request, the way is used to "
        f"{tier.use:.0%}"
    )
    return first_of(tier.path.binding, why)


def step_account(placement: Placement, phase: Phase) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...], Step]:
    """What limits a typical step, with the gain of twice as much of it, what would next, and where its time goes."""
    time = phase.time(step_of(placement)).time
    what = f"{phase.name}: step of {format_quantity(float(seconds(time)), 'duration')}"
    name = words(placement, phase.name, what)

    def sort(resource: Resource) -> Hashable:
        return sort_of(placement.network, resource)

    found = account(time, {})
    return *found.bottlenecks(name, sort), Step(phase.name, found.value, found.parts(name, sort))


def _full(served: Served) -> Sequence[Bottleneck]:
    """Limits of the scheduler that hold requests back."""
    placement = served.placement
    if not served.runs:
        return ()
    counts = served.runs[0].counts
    turns = served.runs[0].turns
    waited = bool((turns[:, 6] > 0).any())
    if waited and counts.kv_peak >= _FULL_TOLERANCE * placement.capacity:
        path = placement.network.net.path(int(placement.replicas[0, 0]))
        why = f"room for {placement.capacity:,} tokens in a replica was full while requests waited"
        return (Bottleneck("part", path, f"{placement.device.name} (memory)", why, equal=placement.replicas.size),)
    if waited and float(turns[:, 4].max()) >= placement.scheduling.slots:
        why = f"all {placement.scheduling.slots:,} slots of the engine were taken while requests waited"
        return (Bottleneck("limit", "slots", "requests at once", why),)
    return ()


def _room_bottleneck(served: Served) -> Sequence[Bottleneck]:
    """Of an engine that cannot take its load: room or slots, where twice as many requests at once answer more."""
    placement, requests = served.placement, served.sent.requests
    scheduling, together = placement.scheduling, at_once(placement, requests)
    path = placement.network.net.path(int(placement.replicas[0, 0]))
    if together < scheduling.slots:
        other = placement.roomier()
        why = f"room for {placement.capacity:,} tokens in a replica: {counted(together)} requests at once"
        one = Bottleneck("part", path, f"{placement.device.name} (memory)", why, equal=placement.replicas.size)
    else:
        other = replace(placement, scheduling=replace(scheduling, slots=2 * scheduling.slots))
        one = Bottleneck(
            "limit", "slots", "requests at once", f"all {scheduling.slots:,} slots of the engine are taken"
        )
    gain = most_of(other, requests, served.spread, None)[0] / served.most[0]
    return (replace(one, gain_if_doubled=gain),) if gain >= NOTICE_TOLERANCE else ()


# The time of a step of an engine as an expression over what takes it: devices, launches, the engine, drawn links.


class Spelled:
    """An expression that adds up and is multiplied as a number is; a number next to it is 0."""

    __slots__ = ("time",)

    def __init__(self, time: Time) -> None:
        self.time = time

    def __add__(self, other: Spelled | float) -> Spelled:
        if not isinstance(other, Spelled):
            assert not other, "a time next to an expression has a resource of its own"
            return self
        mine = self.time.parts if isinstance(self.time, Sum) and self.time.times == 1 else (self.time,)
        return Spelled(Sum((*mine, other.time)))

    __radd__ = __add__

    def __sub__(self, other: float) -> Spelled:
        assert not other, "no time is taken off an expression"
        return self

    def __mul__(self, by: float) -> Spelled:
        return Spelled(Sum((self.time,), float(by)))

    __rmul__ = __mul__

    def __truediv__(self, by: float) -> Spelled:
        return self * (1 / by)


def _time(part: Spelled | float) -> Time:
    return part.time if isinstance(part, Spelled) else Term(LAUNCH, part)


def _longest(*parts: Spelled | float) -> Spelled:
    return Spelled(Longest(tuple(_time(part) for part in parts)))


def _minimum(*parts: Spelled | float) -> Spelled:
    return Spelled(Least(tuple(_time(part) for part in parts)))


class ResourceTerms(Terms):
    """Terms of the resources of a placement."""

    def __init__(self, placement: Placement) -> None:
        device, equal = placement.device, placement.replicas.size
        path = placement.network.net.path(int(placement.replicas[0, 0]))
        runs = device.runs_as(placement.steps.weights)
        peak = f"{runs} at {format_quantity(device.flops[runs], 'flops')} peak"
        held = format_quantity(placement.weights, "size")
        reads = f"memory {format_quantity(device.bandwidth, 'rate')}, {held} of weights"
        self._arithmetic = arithmetic(path, device.name, peak, equal)
        self._memory = memory_bandwidth(path, device.name, reads, equal)
        title = placement.chosen.release.title
        self._engine = Bottleneck("limit", "engine", f"{title}, overhead", "the engine's own work in every step")

    longest = staticmethod(_longest)
    least = staticmethod(_minimum)

    def arithmetic(self, seconds: float) -> Spelled:
        return Spelled(Term(self._arithmetic, seconds))

    def memory(self, seconds: float) -> Spelled:
        return Spelled(Term(self._memory, seconds))

    def launches(self, seconds: float) -> Spelled:
        return Spelled(Term(LAUNCH, seconds))

    def engine(self, seconds: float) -> Spelled:
        return Spelled(Term(self._engine, seconds))

    def kernel(self, least: float, compute: float, memory: float, sharpness: float) -> Spelled:
        both = Roofline((Term(self._arithmetic, compute), Term(self._memory, memory)), sharpness)
        return Spelled(Sum((Term(LAUNCH, least), both)))

    def between(self, first: Spelled, then: Spelled, share: float) -> Spelled:
        return first * (1 - share) + then * share if share else first


def step_of(placement: Placement) -> StepTime:
    """Steps of a placement as expressions: what `StepTime` answers is then `Spelled`.

    They hold where no request decodes next to a prompt.
    """
    steps = placement.steps
    terms = ResourceTerms(placement)
    return StepTime(
        steps.shape,
        steps.device,
        steps.split,
        steps.weights,
        placement.cache_format,
        steps.overheads,
        _joins(placement, terms.between),
        steps.adapters,
        terms,
        steps.setup,
    )


def _joins(placement: Placement, between: Callable[[Any, Any, float], Any]) -> Joins:
    """Joining over the drawn links as expressions, as `joins_over` has it in seconds."""
    whole, split = placement.group, placement.split
    if whole is None:
        return Joins()
    heads = placement.peers or whole
    near = near_enough(heads.situation, split)
    # the exchange of all with all is routed only where it is used
    wide = whole.exchanging() if split.sends_tokens else whole
    groups = (heads, whole, wide)

    def one(join: tuple[int, tuple[str, ...]]) -> Joining:
        which, kinds = join

        def time(size: Bytes) -> Spelled:
            return Spelled(Sum(tuple(_collective(groups[which], kind, size) for kind in kinds)))

        return time

    def reduce(size: Bytes) -> Spelled:
        found = _collective(heads, "all-reduce", size)
        if near:
            link = BytesPerSecond(heads.situation.intra_bandwidth)
            begin = small_all_reduce(split.tensor, size, BytesPerSecond(float("inf")))
            moved = small_all_reduce(split.tensor, size, link) - begin
            found = Least((found, Sum((Term(STEPS, begin), moving(heads, Bound.INSIDE, moved)))))
        return Spelled(found if placement.deployment.graph else Sum((found, Term(LAUNCH, EAGER.value))))

    def dispatch(inside: Bytes, far: Bytes) -> Spelled:
        near_rate, far_rate = sending_rates(wide.situation)
        moved = [moving(wide, Bound.INSIDE, inside / near_rate)] if wide.inside is not None else []
        if wide.between is not None:
            moved.append(moving(wide, Bound.BETWEEN, far / far_rate))
        return Spelled(Sum((Term(STEPS, START.value), Longest(tuple(moved)))))

    servers = wide.situation.servers
    return gridded_joins(split, reduce, one(EXCHANGES), one(HOPS), dispatch, servers, between)


def _collective(group: Communicator, kind: str, size: float) -> Time:
    return expression(group, group.time(kind, size))


def words(placement: Placement, phase: str, what: str) -> Callable[[Resource], Bottleneck]:
    """Names of the resources of a step of a phase; `what` describes the step."""
    resources = Resources(placement.network)

    def name(resource: Resource) -> Bottleneck:
        plain = described(resources, resource)
        on_link = plain.what == "channel"
        why = f"joining the devices: {plain.why}" if on_link else plain.why
        return replace(plain, why=f"{what}; {why}" if why else what, phase=phase, both_ways=on_link)

    return name
