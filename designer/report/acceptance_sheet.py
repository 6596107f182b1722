"""The sheet of an acceptance as a report: what was tested, what failed with its likely cause, and every result."""

from __future__ import annotations

import datetime

from designer.decisions.acceptance_cluster import STAGES, Cluster, Outcome, Verdict
from designer.present.words import opened
from designer.report.chapter import muted, strong, text
from designer.report.document import Align, Block, Chapter, Head, Items, Report, Row, Table, rich
from designer.report.document import Item as ListItem
from designer.report.subject import written_date
from designer.report.wording import counted
from designer.units import format_si

#: results of one stage on the sheet; the others are counted
_MOST = 400


def acceptance_sheet(cluster: Cluster, verdict: Verdict, date: datetime.date) -> Report:
    """The sheet: a summary by stage, failures, and the results of each stage."""
    failed = verdict.failed
    name = cluster.design.title or cluster.design.name
    total = counted(len(verdict.outcomes), "result")
    title = f"{len(failed):,} of {counted(len(verdict.outcomes), 'result')} below the limit"
    chapters = [_summary(cluster, verdict, title if failed else f"All {total} reach their limits")]
    if failed:
        chapters.append(_failures(failed))
    for stage, (topic, stated, _) in STAGES.items():
        own = [o for o in verdict.outcomes if o.stage == stage]
        if own:
            chapters.append(_results(stage, topic, stated, own))
    facts = (
        ("Nodes", f"{len(cluster.nodes):,}"),
        ("Results", f"{len(verdict.outcomes):,}"),
        ("Design", cluster.design.name),
    )
    return Report(f"Acceptance of {name}", "Test results", facts, tuple(chapters), "", written_date(date))


def _summary(cluster: Cluster, verdict: Verdict, title: str) -> Chapter:
    r = Align.RIGHT
    heads = (Head("Stage"), Head("What is tested"), Head("Results", r), Head("Failed", r), Head("Verdict"))
    rows: list[Row] = []
    for stage, (name, stated, _) in STAGES.items():
        own = [o for o in verdict.outcomes if o.stage == stage]
        bad = sum(not o.passed for o in own)
        word = text("failed", "alarm") if bad else text("passed", "ok") if own else muted("not run")
        rows.append(Row((strong(f"{stage} {name}"), text(stated), text(f"{len(own):,}"), text(f"{bad:,}"), word)))
    blocks: list[Block] = [Table("Stages", heads, tuple(rows))]
    gaps = [*(f"not tested, {place}" for place in verdict.untested), *(f"not read, {file}" for file in verdict.unread)]
    if gaps:
        more = [f"and {len(gaps) - 20:,} more"] if len(gaps) > 20 else []
        blocks.append(Items("Gaps", tuple(ListItem(rich(gap), ()) for gap in [*gaps[:20], *more])))
    return Chapter("summary", "Acceptance", title, "Is the cluster as it was designed?", tuple(blocks))


def _failures(failed: tuple[Outcome, ...]) -> Chapter:
    heads = (
        Head("Where"),
        Head("Test"),
        Head("Measured", Align.RIGHT),
        Head("Limit", Align.RIGHT),
        Head("Likely cause"),
    )
    rows = tuple(
        Row(
            (
                strong(o.place),
                text(o.judged.expected.trial.sort),
                text(format_si(o.judged.measured, o.judged.expected.estimate.unit)),
                text(format_si(o.judged.expected.limit, o.judged.expected.estimate.unit)),
                text(o.cause or "no single fault explains it"),
            )
        )
        for o in failed[:_MOST]
    )
    causes = len({o.cause for o in failed})
    title = f"{counted(len(failed), 'failure')}, {counted(causes, 'likely cause')}"
    return Chapter("failures", "Failures", title, "What is wrong?", (Table("", heads, rows),))


def _results(stage: int, topic: str, stated: str, own: list[Outcome]) -> Chapter:
    """Results of a stage: each failure, and on one row the lowest of equal tests of a node that pass."""
    r = Align.RIGHT
    heads = (
        Head("Where"),
        Head("Test"),
        Head("Results", r),
        Head("Lowest", r),
        Head("Expected", r),
        Head("Limit", r),
        Head("Share", r),
        Head(""),
    )
    same: dict[tuple[str, ...], list[Outcome]] = {}
    for o in sorted(own, key=lambda o: (o.passed, o.judged.share)):
        e = o.judged.expected
        rates = (format_si(e.estimate.value, e.estimate.unit), format_si(e.limit, e.estimate.unit))
        about = "" if o.passed else e.trial.id
        same.setdefault((o.place, e.trial.sort, *rates, about), []).append(o)
    rows = [_row(each, *key[2:4]) for key, each in same.items()]
    note = rich(f"{len(rows) - _MOST:,} more rows pass.") if len(rows) > _MOST else ()
    bad = sum(not o.passed for o in own)
    title = f"{counted(len(own), 'result')}, {f'{bad:,}' if bad else 'none'} below the limit"
    blocks = (Table("", heads, tuple(rows[:_MOST]), note=note, small=True),)
    return Chapter(f"stage-{stage}", f"Stage {stage}, {topic}", title, opened(stated), blocks)


def _row(each: list[Outcome], expected: str, limit: str) -> Row:
    """The lowest of equal tests, which comes first; of a single one the part it is about."""
    lowest = each[0]
    e = lowest.judged.expected
    about = f" {e.trial.parts[0].rpartition('/')[2]}" if len(each) == 1 else ""
    return Row(
        (
            text(lowest.place),
            text(f"{e.trial.sort}{about}"),
            text(f"{len(each):,}"),
            text(format_si(lowest.judged.measured, e.estimate.unit)),
            text(expected),
            text(limit),
            text(f"{lowest.judged.share:.0%}"),
            text("pass", "ok") if lowest.passed else text("fail", "alarm"),
        )
    )
