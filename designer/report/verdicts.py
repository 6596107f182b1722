"""Verdicts: a promise compared with a band, not with a value."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from designer.report.document import Span
from designer.sources import Estimate


class Verdict(StrEnum):
    """What a band says about a target, best first."""

    MET = "met"  #: the whole band is good
    LIKELY = "likely"  #: the value is good, the band crosses the target
    UNLIKELY = "unlikely"  #: the value is bad, the band crosses the target
    NOT_MET = "not met"  #: the whole band is bad

    @property
    def good(self) -> bool:
        """True if the value itself is on the good side."""
        return self in (Verdict.MET, Verdict.LIKELY)


#: the style each verdict is written in
_STYLE = {Verdict.MET: "ok", Verdict.LIKELY: "ok", Verdict.UNLIKELY: "warn", Verdict.NOT_MET: "alarm"}


def judge(found: Estimate, comparison: str, target: float) -> Verdict:
    """The verdict on ``found comparison target``."""
    good = [_holds(v, comparison, target) for v in (found.low, found.value, found.high)]
    if comparison == "==":
        # a band that holds the target may meet it; only a band of nothing but the target does for sure
        inside = found.low <= target <= found.high
        return (
            Verdict.MET if all(good) else Verdict.LIKELY if good[1] else Verdict.UNLIKELY if inside else Verdict.NOT_MET
        )
    if all(good):
        return Verdict.MET
    if not any(good):
        return Verdict.NOT_MET
    return Verdict.LIKELY if good[1] else Verdict.UNLIKELY


def _holds(value: float, comparison: str, target: float) -> bool:
    if comparison == "==":
        return abs(value - target) <= 1e-9 * max(abs(value), abs(target))
    above = value > target if comparison in (">", ">=") else value < target
    return above or ("=" in comparison and value == target)


def written(verdict: Verdict) -> Span:
    """Sign and word."""
    return Span(str(verdict), _STYLE[verdict], sign=str(verdict))


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The worst of some verdicts."""
    order = list(Verdict)
    return max(verdicts, key=order.index)
