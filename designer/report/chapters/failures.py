"""Failures: what each single one costs each workload, worst first."""

from __future__ import annotations

from designer.analysis.study.survival import EXPLAINED_LIMIT
from designer.decisions.failures_survey import Survey, survive
from designer.errors import AnalysisError
from designer.pages.survive import page_of_failures
from designer.report.chapter import ChapterKind, strong, text
from designer.report.document import Block, Chapter, Head, Row, Table, rich
from designer.report.pages import table_of
from designer.report.subject import Context, Subject
from designer.report.wording import continued

#: rows of the worst failures of a workload, and of each further one
_MOST, _FEW = 12, 5


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing runs, or the design is so large that a report should not wait for it."""
    if subject.network.net.n_parts > EXPLAINED_LIMIT or not subject.design.workloads:
        return None
    surveys: list[Survey] = []
    for workload in subject.design.workloads:
        try:
            surveys.append(survive(subject.design, workload))
        except AnalysisError:
            # it does not run without a failure either, which its own findings say
            continue
    if not surveys:
        return None
    surveys.sort(key=_badness, reverse=True)
    titles = {w.id: w.title for w in subject.results}
    pages = [(titles.get(s.workload, s.workload), page_of_failures(s, subject.design)) for s in surveys]
    blocks: list[Block] = []
    if len(pages) > 1:
        rows = tuple(Row((strong(name), text(page.headline))) for name, page in pages)
        blocks.append(Table("Each workload", (Head("Workload"), Head("What single failures cost")), rows))
    for n, (name, page) in enumerate(pages):
        if page.table is not None and page.table.rows:
            blocks.append(table_of(page.table, name, _FEW if n else _MOST))
    name, first = pages[0]
    return Chapter(
        context.key("failures", subject),
        "Failures",
        f"{name}: {continued(first.headline).removesuffix('.')}",
        "What does each single failure cost?",
        tuple(blocks),
        rich(
            "Every server, switch, GPU, NIC, store, drive and one link of every bundle is taken away in turn and each"
            " workload is analysed again. Failures that cost the same are counted together."
        ),
        context.lettered(subject),
    )


def _badness(survey: Survey) -> tuple[bool, float]:
    """Whether a failure stops the workload, and the most that one costs it."""
    return survey.fatal > 0, max((loss.lost for loss in survey.losses), default=0.0)


CHAPTER = ChapterKind("failures", "Failures", 145, of_design=build)
