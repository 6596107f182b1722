"""Designs for a goal: a load within limits, a training in so many days, a host emptied in minutes.

Families draw designs out of templates, generated fabrics and parts of the catalog. Each is judged by the analysis, the
bill of materials at the reader's own prices, rated power and racks; what remains are those that no other beats.
"""

from __future__ import annotations

from pathlib import Path

from designer.analysis.study import run_workload
from designer.contrib.proposals.goal import Wanted
from designer.contrib.proposals.kept import Kept
from designer.contrib.proposals.pareto import SPACE_LIMIT, Search, Settings, Worth
from designer.contrib.proposals.question import Question
from designer.contrib.proposals.results import Proposal, Proposals
from designer.contrib.proposals.wording import impossible
from designer.design.document import Design
from designer.engine.network import build_network
from designer.errors import FormatError
from designer.findings import Severity
from designer.progress import Cancel, Progress, Watch
from designer.report.tables.power import draws, total
from designer.rules.runner import check


def propose(
    wanted: Wanted,
    *,
    keep: Path | None = None,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> Proposals:
    """The best designs for a goal.

    Parameters
    ----------
    keep
        A file that takes each design as it is worked out; given again, the search goes on from there.

    Raises
    ------
    Cancelled
        If `cancelled` says so; what was worked out is in the file.
    DesignerError
        If the goal or a choice makes no sense, or the file holds something else.
    """
    question = Question(wanted)
    kept = Kept(keep, question) if keep is not None else None
    search = Search(
        question,
        question.limits,
        sure=wanted.sure,
        known=kept.known if kept is not None else None,
        stated=kept.add if kept is not None else None,
        watch=Watch(progress, cancelled),
    )
    if search.space > SPACE_LIMIT:
        raise FormatError(f"{search.space:,} designs", place="--choose", remedy=f"at most {SPACE_LIMIT:,}")
    found = search.run()
    nearest = search.nearest() if not found.front else ()
    why = impossible(question, search, found, nearest) if not found.front else ""
    best = tuple(_proposal(question, point.settings, point.worth) for point in found.front)
    return Proposals(wanted, question.measures, best, found, nearest, why, question.title)


def _proposal(question: Question, settings: Settings, worth: Worth) -> Proposal:
    design = question.design(settings)
    spec = next(iter(design.workloads.values()))
    result, _ = run_workload(build_network(design), spec, False)
    titled, title = question.titled(settings), design.title or design.name
    unrated = tuple(dict.fromkeys(total(draws(design, None))[2]))
    return Proposal(title, settings, titled, design, worth, result.binding, _errors(design), unrated)


def _errors(design: Design) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{f.code}: {f.text}" for f in check(design).findings if f.severity is Severity.ERROR))
