"""The time of a step of an engine as an expression over what takes it: devices, launches, the engine, drawn links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from designer.engine.account.bottlenecks import Resources, arithmetic, described, memory_bandwidth
from designer.engine.account.expression import Least, Longest, Resource, Roofline, Sum, Term, Time
from designer.engine.results import Bottleneck
from designer.families.collective.communicator import Communicator
from designer.families.collective.times import LAUNCH, STEPS, expression, moving
from designer.families.serving.formulas._terms import Terms
from designer.families.serving.formulas.expert_exchange import START
from designer.families.serving.formulas.joining import (
    EXCHANGES,
    HOPS,
    gridded_joins,
    near_enough,
    sending_rates,
)
from designer.families.serving.formulas.small_all_reduce import EAGER, small_all_reduce
from designer.families.serving.formulas.step_time import Joining, Joins, StepTime
from designer.families.serving.placement import Placement
from designer.formulas.collectives import Bound
from designer.units import Bytes, BytesPerSecond, format_quantity


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


def _least(*parts: Spelled | float) -> Spelled:
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
    least = staticmethod(_least)

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
