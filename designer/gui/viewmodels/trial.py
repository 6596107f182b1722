"""A what-if next to the original: the numbers that count, now and in the trial, and what would bind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from designer.design.document import Design
from designer.engine.results import WorkloadResult
from designer.gui.viewmodels import flow
from designer.present.answer import figure_text
from designer.present.limits import short_of
from designer.present.words import metric_title
from designer.workload.metrics import is_same, tone_of

_MOST: Final = 3
_MISSING: Final = "–"
#: a change beyond this is stated as a factor
_MANIFOLD: Final = 9.95


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One number in both designs; ``tone`` is ``good`` or ``bad`` where it changes."""

    title: str
    now: str
    trial: str
    change: str = ""
    tone: str = ""


def rows(
    now: WorkloadResult | None, trial: WorkloadResult | None, design: Design | None = None
) -> tuple[TrialRow, ...]:
    """The numbers of both that one asks for first, and what binds, called as in `design`.

    A latency that only one of them has is stated as missing in the other: there more is asked than can be answered.
    """
    if now is None or trial is None:
        return ()
    both = {**trial.metrics, **now.metrics}
    names = flow.ordered(replace(now, metrics=both))[:_MOST]

    def value(of: WorkloadResult, name: str) -> float | None:
        return of.metrics[name].value if name in of.metrics else None

    found = [_row(name, value(now, name), value(trial, name), both[name].unit, now.kind) for name in names]
    return (*found, TrialRow("Limited by", _bottleneck(now, design), _bottleneck(trial, design)))


def _row(name: str, now: float | None, trial: float | None, unit: str, kind: str) -> TrialRow:
    change = tone = ""
    if now is None or trial is None:
        change, tone = ("no longer shown", "bad") if trial is None else ("shown again", "good")
    elif now and not is_same(now, trial):
        share = trial / now - 1
        change = f"{share * 100:+.3g}%".replace("-", "−") if abs(share) < _MANIFOLD else f"{trial / now:.3g}×"
        tone = tone_of(name, now, trial, kind)
    title = metric_title(name, kind)
    was, is_now = (_MISSING if value is None else figure_text(name, value, unit) for value in (now, trial))
    return TrialRow(title, was, is_now, change, tone)


def _bottleneck(result: WorkloadResult, design: Design | None) -> str:
    return (short_of(result.binding, design) if design is not None else "") or "–"


def verdict(found: tuple[TrialRow, ...]) -> str:
    """What the trial comes to, in one sentence."""
    if not found:
        return ""
    first = found[0]
    if not first.change:
        return f"{first.title} stays at {first.now}."
    return f"{first.title}: {first.now} now, {first.trial} in the trial ({first.change})."
