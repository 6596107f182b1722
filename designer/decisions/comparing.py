"""Two designs side by side: parts, links, metrics, findings, and why each number moved.

A number is explained by what bound it before and after, and apportioned over the edits that lead from one design to the
other: each group of changes is made in turn, in the order parts, links, sizes, policy, workloads, and its step of the
number is what it is asked to have done. Groups that act together are so credited in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from designer.analysis.study import analyze
from designer.design.diff import diff
from designer.design.document import Design
from designer.design.integrity import examine
from designer.design.query import count_kinds, count_links
from designer.engine.results import Bottleneck, WorkloadResult
from designer.errors import Cancelled, DesignerError
from designer.findings import Finding
from designer.rules.runner import check
from designer.units import format_si

#: a number that moves by less than this is the same
_NOTICE: Final = 1e-6
#: what is exchanged in turn between two designs, in words
_STEPS: Final = (
    ("parts and their values", ("parts", "part_types", "sources")),
    ("groups", ("groups",)),
    ("links", ("links", "wirings")),
    ("policy", ("policy",)),
    ("virtual machines", ("vms",)),
    ("workloads", ("workloads", "default_workload")),
)


@dataclass(frozen=True, slots=True)
class Moved:
    """A metric in both designs.

    Parameters
    ----------
    why
        What bound it before and after, in words; empty where it did not move.
    shares
        What each group of changes did to it, in its unit, in the order made.
    """

    workload: str
    name: str
    unit: str
    before: float
    after: float
    why: str = ""
    shares: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def change(self) -> float | None:
        """Change as a share of what it was; None where that is zero."""
        return self.after / self.before - 1 if self.before else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two designs; counts as (before, after).

    Parameters
    ----------
    changes, folded
        What was edited, a line each, and a line for all things that changed in the same way.
    """

    parts: Mapping[str, tuple[int, int]]
    links: Mapping[str, tuple[int, int]]
    metrics: tuple[Moved, ...]
    changes: tuple[str, ...]
    gone: tuple[Finding, ...]
    new: tuple[Finding, ...]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()


def compare(a: Design, b: Design, most_changes: int = 200, cancelled: Callable[[], bool] = lambda: False) -> Comparison:
    """What differs from one design to another.

    Raises
    ------
    DesignerError
        If a workload of one of them cannot be run, or the work was cancelled.
    """
    first, second = _results(a, cancelled), _results(b, cancelled)
    both = [w for w in first if w in second]
    steps = dict(_steps(a, b, both, cancelled))
    metrics: list[Moved] = []
    for workload in both:
        one, other = first[workload], second[workload]
        metrics += [_explain_move(workload, name, one, other, steps) for name in one.metrics if name in other.metrics]
    found, now = _findings(a), _findings(b)
    differences = diff(a, b)
    return Comparison(
        _counts(a, b, count_kinds),
        _counts(a, b, count_links),
        tuple(metrics),
        tuple(differences.lines(most_changes)),
        tuple(f for key, f in found.items() if key not in now),
        tuple(f for key, f in now.items() if key not in found),
        tuple(w for w in first if w not in second),
        tuple(w for w in second if w not in first),
        tuple(differences.folded(most_changes)),
    )


def _results(design: Design, cancelled: Callable[[], bool]) -> dict[str, WorkloadResult]:
    return {w.id: w for w in analyze(design, curves=False, cancelled=cancelled).workloads} if design.workloads else {}


def _findings(design: Design) -> dict[tuple[str, str], Finding]:
    return {(f.key, f.text): f for f in check(design).findings}


def _counts(a: Design, b: Design, count: Callable[[Design], Mapping[str, int]]) -> dict[str, tuple[int, int]]:
    first, second = count(a), count(b)
    return {kind: (first.get(kind, 0), second.get(kind, 0)) for kind in sorted(first.keys() | second.keys())}


def _steps(
    a: Design, b: Design, workloads: list[str], cancelled: Callable[[], bool]
) -> Iterator[tuple[str, dict[str, WorkloadResult]]]:
    """What workloads do after each group of changes; groups that cannot be made alone are made with the next."""
    at = a
    waiting: list[str] = []
    for words, fields in _STEPS:
        changed: dict[str, Any] = {name: getattr(b, name) for name in fields if getattr(at, name) != getattr(b, name)}
        if not changed and not waiting:
            continue
        waiting += [words] if changed else []
        at = at.model_copy(update=changed)
        try:
            if any(problem.refuses for problem in examine(at)):
                continue
            known = [w for w in workloads if w in at.workloads]
            again = analyze(at, known, curves=False, cancelled=cancelled).workloads if known else ()
            results = {w.id: w for w in again}
        except Cancelled:
            raise
        except DesignerError:
            # half of a change alone is no design: it is credited with the half that completes it
            continue
        yield " and ".join(waiting), results
        waiting = []


def _explain_move(
    workload: str,
    name: str,
    one: WorkloadResult,
    other: WorkloadResult,
    steps: Mapping[str, Mapping[str, WorkloadResult]],
) -> Moved:
    before, after, unit = one.metrics[name].value, other.metrics[name].value, one.metrics[name].unit
    if abs(after - before) <= _NOTICE * max(abs(before), abs(after)):
        return Moved(workload, name, unit, before, after)
    shares: dict[str, float] = {}
    at = before
    for words, results in steps.items():
        found = results[workload].metrics.get(name) if workload in results else None
        if found is not None and abs(found.value - at) > _NOTICE * max(abs(before), abs(after)):
            shares[words] = found.value - at
            at = found.value
    return Moved(workload, name, unit, before, after, _binding_change(one.binding, other.binding), shares)


def _binding_change(before: tuple[Bottleneck, ...], after: tuple[Bottleneck, ...]) -> str:
    if not before or not after:
        return ""
    known, found = ({(b.what, b.id): b.label for b in some} for some in (before, after))
    first = next(iter(known))
    new = next((label for key, label in found.items() if key not in known), "")
    if first in found:
        return f"{found[first]} still limits it, now with {new}" if new else f"{found[first]} still limits it"
    return f"bottleneck moved from {known[first]} to {new or after[0].label}"


def explained(moved: Moved) -> str:
    """Why a metric moved, in one line."""
    if not moved.why and not moved.shares:
        return ""
    head = f"{text}: " if (text := change_text(moved)) else ""
    return f"{head}{'; '.join([t for t in (moved.why, shares_text(moved)) if t])}"


def change_text(moved: Moved) -> str:
    """Change as a share of what it was: +38 %, or −0.3 % where whole per cents would hide it."""
    change = moved.change
    if change is None:
        return ""
    return f"{change:+.0%}" if abs(change) >= 0.005 else f"{100 * change:+.1g}%"


def shares_text(moved: Moved) -> str:
    """What each group of changes did to a metric."""
    return ", ".join(
        f"{words} {'+' if share > 0 else '−'}{format_si(abs(share), moved.unit)}"
        for words, share in moved.shares.items()
    )
