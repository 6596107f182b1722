"""Designs of one report next to each other: which is better at what, and whether the bands distinguish them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from designer.engine.results import WorkloadResult
from designer.report.subject import Subject, gain_of, main_metric
from designer.report.wording import counted, sentence, times

#: gains below this are stated as none
SAME: Final = 1.02


class Difference(StrEnum):
    """How a figure differs from that of the first design."""

    SAME = "the same"
    BETTER = "better"
    WORSE = "worse"
    PERHAPS_BETTER = "better, bands overlap"
    PERHAPS_WORSE = "worse, bands overlap"


@dataclass(frozen=True, slots=True)
class Pairing:
    """A workload that the first design and another both have.

    Parameters
    ----------
    gain
        How many times better the other is by the main metric.
    """

    title: str
    metric: str
    first: WorkloadResult
    other: WorkloadResult
    gain: float
    difference: Difference


def pairings(first: Subject, other: Subject) -> list[Pairing]:
    """Workloads both designs have, by id, in the order of the first."""
    known = {w.id: w for w in other.results}
    found: list[Pairing] = []
    for w in first.results:
        after = known.get(w.id)
        metric = main_metric(w)
        if after is None or after.kind != w.kind or metric not in w.metrics or metric not in after.metrics:
            continue
        gain = gain_of(w, after)
        found.append(Pairing(w.title, metric, w, after, gain, _difference(w, after, metric, gain)))
    return found


def _difference(before: WorkloadResult, after: WorkloadResult, metric: str, gain: float) -> Difference:
    if 1 / SAME < gain < SAME:
        return Difference.SAME
    one, two = before.metrics[metric], after.metrics[metric]
    apart = two.low > one.high or two.high < one.low
    if gain > 1:
        return Difference.BETTER if apart else Difference.PERHAPS_BETTER
    return Difference.WORSE if apart else Difference.PERHAPS_WORSE


def answer(subjects: Sequence[Subject]) -> str:
    """Which design to prefer, in a sentence."""
    first, *others = subjects
    stated = [(other, pairings(first, other)) for other in others]
    if not any(pairs for _, pairs in stated):
        return "The designs have no workload in common"
    if len(stated) > 1:
        return _of_many(first, stated)
    other, pairs = stated[0]
    up = sorted((p for p in pairs if p.gain >= SAME), key=lambda p: -p.gain)
    down = sorted((p for p in pairs if p.gain <= 1 / SAME), key=lambda p: p.gain)
    if not up and not down:
        none = f"none of {counted(len(pairs), 'workload')} differs by more than 2%"
        return f"The designs give the same answers: {none}"
    if up and down:
        return (
            f"Design {other.letter} is {times(up[0].gain)} as good as design {first.letter} at {up[0].title}, and"
            f" {times(down[0].gain)} at {down[0].title}"
        )
    better, worse, best = (other, first, up[0]) if up else (first, other, down[0])
    gain = best.gain if up else 1 / best.gain
    same = len(pairs) - len(up) - len(down)
    rest = f"; {counted(same, 'other stays', 'others stay')} the same" if same else ""
    more = len(up or down) - 1
    also = f" and better at {counted(more, 'other')}" if more else ""
    return f"Design {better.letter} is {times(gain)} as good as design {worse.letter} at {best.title}{also}{rest}"


def _of_many(first: Subject, stated: Sequence[tuple[Subject, list[Pairing]]]) -> str:
    """Which design is best most often; of designs within rounding the first counts."""
    best: dict[str, tuple[float, str]] = {}
    for other, pairs in stated:
        for pair in pairs:
            held = best.setdefault(pair.first.id, (1.0, first.letter))
            if pair.gain >= held[0] * SAME:
                best[pair.first.id] = (pair.gain, other.letter)
    letters = [letter for _, letter in best.values()]
    most = max(dict.fromkeys(letters), key=letters.count)
    return sentence(f"design {most} is best at {letters.count(most)} of {counted(len(letters), 'workload')}")
