"""What notebooks display of designs, results and reports: HTML with every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from designer.analysis.simulation import Simulation
from designer.design.document import Design
from designer.engine.results import Analysis, Bottleneck
from designer.plain_text import in_one_line
from designer.present import numbers
from designer.present.words import counted_by, metric_title
from designer.report.document import Report
from designer.report.renderers.html import to_html
from designer.report.renderers.viewer import framed, view
from designer.sources import Estimate

#: height of a report [CSS px]
_REPORT: Final = 720
#: longest text of a cell
_LONGEST: Final = 200


def html_of(thing: object) -> str:
    """Return a design, an analysis, a simulation or a report as HTML.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if isinstance(thing, Design):
        shown = view(thing)
        return framed(shown.page, shown.height, "allow-scripts")
    if isinstance(thing, Analysis):
        return _analysis(thing)
    if isinstance(thing, Simulation):
        return _simulation(thing)
    if isinstance(thing, Report):
        return framed(to_html(thing), _REPORT)
    raise TypeError(f"{type(thing).__name__} has no HTML")


def _analysis(analysis: Analysis) -> str:
    pieces: list[str] = []
    for workload in analysis.workloads:
        rows = ((metric_title(n, workload.kind), *_texts(n, m)) for n, m in workload.metrics.items())
        pieces.append(_table(workload.title or workload.id, ("Figure", "Value", "80% band"), rows))
        pieces.append(_limits((("now", workload.binding), ("next", workload.next))))
    return f"<div>{''.join(pieces)}</div>"


def _simulation(found: Simulation) -> str:
    pieces: list[str] = []
    for workload, metrics in found.metrics.items():
        alone = found.alone.get(workload, {})
        rows = (
            (metric_title(n), *_texts(n, m), numbers.shown(alone[n], m.unit, counted_by(n)) if n in alone else "")
            for n, m in metrics.items()
        )
        heads = ("Figure", "Value", "80% band", "Alone")
        pieces.append(_table(found.titles.get(workload) or workload, heads, rows))
        binding = found.binding.get(workload)
        if binding is not None:
            pieces.append(_limits((("alone", binding.alone), ("together", binding.together))))
    return f"<div>{''.join(pieces)}</div>"


def _texts(name: str, estimate: Estimate) -> tuple[str, str]:
    what = counted_by(name)
    return numbers.shown(estimate.value, estimate.unit, what), numbers.band(estimate, what)


def _limits(several: Iterable[tuple[str, Sequence[Bottleneck]]]) -> str:
    rows = [
        (when, one.label, f"{one.equal:,}", numbers.gain(one.gain) if one.gain is not None else "")
        for when, limits in several
        for one in limits
    ]
    return _table("What limits it", ("", "What", "How many", "Twice as fast"), rows) if rows else ""


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first two columns of text are aligned to the left by the notebook's own style."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{_cell(title)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    return escape(in_one_line(text, _LONGEST))
