"""Verdicts as reports write them."""

from __future__ import annotations

from collections.abc import Sequence

from designer.present.targets import Verdict, judge
from designer.report.document import Span

__all__ = ["Verdict", "judge", "worst", "written"]

#: the style each verdict is written in
_STYLE = {Verdict.MET: "ok", Verdict.LIKELY: "ok", Verdict.UNLIKELY: "warn", Verdict.NOT_MET: "alarm"}


def written(verdict: Verdict) -> Span:
    """Sign and word."""
    return Span(str(verdict), _STYLE[verdict], sign=str(verdict))


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The worst of some verdicts."""
    order = list(Verdict)
    return max(verdicts, key=order.index)
