"""The best of many designs that can be bought: a search over choices that looks at no more of them than it has to.

A question states the choices, how good each measure can be at best once the first of them are made, and what comes out
when all are. Choices are made one after the other, cheapest first. Two kinds of branches are left unopened:

- the best a branch can reach breaks a limit already: all designs in it break it;
- a design that was worked out is at least as good in every measure as the best the branch can reach, and better in
  one: it is then at least as good as every design in the branch, and better in one of its measures.

Both follow from the best of a branch being no worse than any design in it, and from nothing else. So what remains is
what looking at every single design would leave, which the tests hold the search against.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from designer.decisions.search import Space, explore
from designer.progress import UNWATCHED, Watch
from designer.sources import Estimate

Settings = tuple[str, ...]

#: a search of more designs than this is a mistake of its choices
SPACE_LIMIT: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to choose: its values from what is cheapest to what is most."""

    name: str
    title: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """What designs are compared by.

    Parameters
    ----------
    more
        True if more of it is better.
    counts
        False for what only has to keep a limit: a design is no worse for less of it.
    estimated
        True if the best of a branch rests on estimates: a limit that it breaks may hold at the ends of their bands.
    """

    name: str
    title: str
    unit: str
    more: bool = False
    counts: bool = True
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """The most of a measure that is allowed, or the least where more is better."""

    measure: str
    amount: float


@dataclass(frozen=True, slots=True)
class Worth:
    """What comes out of a design: its measures with bands, or why there is none; `notes` are for people."""

    values: Mapping[str, Estimate] = field(default_factory=dict[str, Estimate])
    refused: str = ""
    notes: tuple[str, ...] = ()


class Question(Protocol):
    """What is searched."""

    def following(self, chosen: Settings) -> Choice | None:
        """What is to be chosen next; None once all is."""
        ...

    @property
    def measures(self) -> Sequence[Measure]:
        """What designs are compared by."""
        ...

    def best(self, chosen: Settings) -> Mapping[str, float] | str:
        """The best each measure can be in any design that begins with these choices; a text where there is none.

        A measure that is left out may be anything. Never worse than what comes out of any of these designs; asked again
        later it may come closer to that.
        """
        ...

    def worth(self, settings: Settings) -> Worth:
        """What comes out of one design."""
        ...


@dataclass(frozen=True, slots=True)
class Point:
    """A design that was worked out."""

    settings: Settings
    worth: Worth


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a design, or all `count` that begin with the same choices, are not among the best.

    Parameters
    ----------
    why
        A ``limit`` is broken, it is ``dominated`` by a better one, or ``refused``: it cannot be, or does not run.
    by
        How far the limit is broken, in the unit of the measure; at least so far where nothing was worked out.
    winner
        The better design.
    certain
        True if it holds wherever in their bands the values lie.
    worked_out
        False if it follows from the best that it could be.
    """

    settings: Settings
    count: int
    why: Literal["limit", "dominated", "refused"]
    measure: str = ""
    by: float = 0.0
    winner: Settings = ()
    certain: bool = False
    worked_out: bool = True
    text: str = ""
    worth: Worth = Worth()


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Parameters
    ----------
    front
        Designs within all limits that no other is better than.
    space, worked_out
        How many designs there are, and how many of them were worked out.
    """

    front: tuple[Point, ...]
    lost: tuple[Lost, ...]
    space: int
    worked_out: int


@dataclass(frozen=True, slots=True)
class Nearest:
    """What would be possible if one limit were lifted.

    Parameters
    ----------
    value
        The best that measure can be while all other limits hold.
    by
        How far beyond the limit that is, and as a share of the limit.
    """

    limit: Limit
    point: Point
    value: float
    by: float
    share: float


class Search:
    """A search; what was worked out is kept, so that one with other limits need not do it again.

    Parameters
    ----------
    sure
        True if limits have to hold at the far end of the bands.
    known
        What was worked out before.
    shown
        Called with each design that is worked out, to keep it.
    """

    def __init__(
        self,
        question: Question,
        limits: Sequence[Limit],
        *,
        sure: bool = False,
        known: Mapping[Settings, Worth] | None = None,
        stated: Callable[[Settings, Worth], None] | None = None,
        watch: Watch = UNWATCHED,
    ) -> None:
        self.question, self.limits, self.sure = question, tuple(limits), sure
        self.known: dict[Settings, Worth] = dict(known or {})
        self._stated, self._watch = stated, watch
        self._measures = {m.name: m for m in question.measures}
        self._counts: dict[Settings, int] = {}

    @property
    def space(self) -> int:
        """How many designs there are."""
        return self._count(())

    def _count(self, chosen: Settings) -> int:
        found = self._counts.get(chosen)
        if found is None:
            branches = self._branches(chosen)
            found = 1 if branches is None else sum(map(self._count, branches))
            if branches is not None:
                self._counts[chosen] = found
        return found

    def run(self) -> Found:
        """The designs no other is better than, and why the others lost.

        Raises
        ------
        Cancelled
            If it is reported so; what was worked out is in `known`.
        """
        compared = [m for m in self._measures.values() if m.counts]
        return self._run(compared, self.limits)

    def nearest(self) -> tuple[Nearest, ...]:
        """For each limit that alone is in the way: the best that is possible without it, nearest first."""
        found: list[Nearest] = []
        for limit in self.limits:
            measure = self._measures[limit.measure]
            others = [one for one in self.limits if one is not limit]
            front = self._run([replace(measure, counts=True)], others).front
            if front:
                value = self._value_for_limit(measure, front[0].worth)
                by = abs(value - limit.amount)
                found.append(Nearest(limit, front[0], value, by, by / limit.amount if limit.amount else math.inf))
        return tuple(sorted(found, key=lambda one: one.share))

    def alone(self, name: str) -> Point | None:
        """The design that is best in one measure when nothing else is asked for; None where none runs."""
        front = self._run([replace(self._measures[name], counts=True)], []).front
        return front[0] if front else None

    # ---- the search itself

    def _run(self, compared: Sequence[Measure], limits: Sequence[Limit]) -> Found:
        front: list[Point] = []
        lost: list[Lost] = []
        worked_out = done = 0
        space = self.space

        def report(count: int) -> None:
            nonlocal done
            done += count
            text = f"{done:,} of {space:,} designs settled, {worked_out:,} worked out, {len(front):,} kept"
            self._watch.report(done / space, text)

        def closed(chosen: Settings) -> bool:
            count = self._count(chosen)
            gone = self._prune_reason(chosen, count, compared, limits, front)
            if gone is not None:
                lost.append(gone)
                report(count)
            return gone is not None

        choices = Space((), self._branches, lambda chosen: (self._order(chosen, compared), chosen))
        for chosen in explore(choices, closed=closed, watch=self._watch):
            worked_out += 1
            self._judge(Point(chosen, self._evaluate(chosen)), compared, limits, front, lost)
            report(1)
        front.sort(key=lambda p: (*self._vector(p.worth, compared), p.settings))
        winners = {point.settings for point in front}
        over = {one.settings: one.winner for one in lost if one.why == "dominated"}
        return Found(tuple(front), tuple(_final(one, over, winners) for one in lost), space, worked_out)

    def _branches(self, chosen: Settings) -> list[Settings] | None:
        choice = self.question.following(chosen)
        return None if choice is None else [(*chosen, value) for value in choice.values]

    def _evaluate(self, settings: Settings) -> Worth:
        found = self.known.get(settings)
        if found is None:
            found = self.known[settings] = self.question.worth(settings)
            if self._stated is not None:
                self._stated(settings, found)
        return found

    def _order(self, chosen: Settings, compared: Sequence[Measure]) -> tuple[float, ...]:
        best = self.question.best(chosen)
        if isinstance(best, str):
            return ()
        return tuple(_as_minimised(m, best[m.name]) if m.name in best else -math.inf for m in compared)

    def _prune_reason(
        self,
        chosen: Settings,
        count: int,
        compared: Sequence[Measure],
        limits: Sequence[Limit],
        front: Sequence[Point],
    ) -> Lost | None:
        """Why no design that begins so can be among the best; None where one may be."""
        if chosen in self.known:
            return None
        best = self.question.best(chosen)
        if isinstance(best, str):
            return Lost(chosen, count, "refused", text=best, worked_out=False)
        for limit in limits:
            measure = self._measures[limit.measure]
            if measure.name in best and _as_minimised(measure, best[measure.name]) > _as_minimised(
                measure, limit.amount
            ):
                by = abs(best[measure.name] - limit.amount)
                return Lost(chosen, count, "limit", measure.name, by, certain=not measure.estimated, worked_out=False)
        if any(m.name not in best for m in compared):
            return None
        reach = [_as_minimised(m, best[m.name]) for m in compared]
        for point in front:
            if _beats(self._vector(point.worth, compared), reach):
                return Lost(chosen, count, "dominated", winner=point.settings, worked_out=False)
        return None

    def _judge(
        self,
        point: Point,
        compared: Sequence[Measure],
        limits: Sequence[Limit],
        front: list[Point],
        lost: list[Lost],
    ) -> None:
        worth = point.worth
        if worth.refused:
            lost.append(Lost(point.settings, 1, "refused", text=worth.refused, worth=worth))
            return
        for limit in limits:
            measure = self._measures[limit.measure]
            value = self._value_for_limit(measure, worth)
            if _as_minimised(measure, value) > _as_minimised(measure, limit.amount):
                certain = _as_minimised(measure, _better_end(measure, worth)) > _as_minimised(measure, limit.amount)
                by = abs(value - limit.amount)
                lost.append(Lost(point.settings, 1, "limit", measure.name, by, certain=certain, worth=worth))
                return
        own = self._vector(worth, compared)
        for other in front:
            if _beats(self._vector(other.worth, compared), own):
                lost.append(self._domination_certainty(point, other, compared))
                return
        beaten = [other for other in front if _beats(own, self._vector(other.worth, compared))]
        for other in beaten:
            front.remove(other)
            lost.append(self._domination_certainty(other, point, compared))
        front.append(point)

    def _domination_certainty(self, loser: Point, winner: Point, compared: Sequence[Measure]) -> Lost:
        """How sure it is: certain if it is better or equal wherever both lie in their bands."""
        certain = all(
            _as_minimised(m, _worse_end(m, winner.worth)) <= _as_minimised(m, _better_end(m, loser.worth))
            for m in compared
        )
        return Lost(loser.settings, 1, "dominated", winner=winner.settings, certain=certain, worth=loser.worth)

    def _vector(self, worth: Worth, compared: Sequence[Measure]) -> list[float]:
        return [_as_minimised(m, worth.values[m.name].value) for m in compared]

    def _value_for_limit(self, measure: Measure, worth: Worth) -> float:
        """The value that limits are held against: the far end of the band where they have to be sure."""
        return _worse_end(measure, worth) if self.sure else worth.values[measure.name].value


def _worse_end(measure: Measure, worth: Worth) -> float:
    """The worse end of a band."""
    estimate = worth.values[measure.name]
    return estimate.low if measure.more else estimate.high


def _better_end(measure: Measure, worth: Worth) -> float:
    """The better end of a band."""
    estimate = worth.values[measure.name]
    return estimate.high if measure.more else estimate.low


def _as_minimised(measure: Measure, value: float) -> float:
    """The value so that less of it is better."""
    return -value if measure.more else value


def _beats(one: Sequence[float], other: Sequence[float]) -> bool:
    """True if one is nowhere worse and somewhere better."""
    return all(a <= b for a, b in zip(one, other, strict=True)) and any(a < b for a, b in zip(one, other, strict=True))


def _final(one: Lost, over: Mapping[Settings, Settings], winners: Iterable[Settings]) -> Lost:
    """With the winner that is in the end: what beats a winner beats what that one beat."""
    winner = one.winner
    while winner and winner not in winners and winner in over:
        winner = over[winner]
    return one if winner == one.winner else replace(one, winner=winner)
