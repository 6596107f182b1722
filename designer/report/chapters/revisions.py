"""Revisions: what changed since the previous one, and why each figure moved."""

from __future__ import annotations

from designer.decisions.comparing import change_text
from designer.design.document import Design
from designer.design.naming import in_names
from designer.present.answer import figure_text
from designer.present.words import plain
from designer.report.chapter import ChapterKind, metric_title, muted, strong, text
from designer.report.document import Align, Block, Chapter, Follows, Head, Row, Table, rich
from designer.report.subject import Context, written_date
from designer.report.tables.revisions import MOST, Since, moved, why
from designer.report.wording import NBSP, counted
from designer.workload.metrics import times_better

_R = Align.RIGHT


def build(context: Context) -> Chapter | None:
    """The chapter; None where no revision is recorded and no previous design is given."""
    chosen, since = context.settings.chosen, context.since
    if since is None and not chosen.revisions:
        return None
    rows = [
        Row(
            (
                strong(r.revision),
                text(written_date(r.date) if r.date else ""),
                text(r.author),
                text(r.text),
            )
        )
        for r in chosen.revisions
    ]
    if since is not None:
        own = f"{counted(len(since.found.changes), 'change')} since {since.file or since.design.name}"
        rows.append(
            Row((strong(chosen.revision or "this"), text(written_date(context.date)), text(chosen.author), text(own)))
        )
    heads = (Head("Revision"), Head("Date"), Head("Author"), Head("What changed"))
    blocks: list[Block] = [Table("Revisions", heads, tuple(rows))]
    title = counted(len(rows), "revision")
    if since is not None:
        blocks += _changes(since, context.subjects[0].design)
        title = _title(since)
    return Chapter(
        "revisions",
        "Revisions",
        title,
        "What changed, and why did each figure move?",
        tuple(blocks),
        rich(
            "A figure is apportioned over the groups of edits, made in turn in the order of the design: parts,"
            " groups, links, policy, machines, workloads."
        ),
    )


def _title(since: Since) -> str:
    found = moved(since.found)
    changes = counted(len(since.found.changes), "change")
    if not found:
        return f"{changes}, no figure moved"
    return f"{changes}, {counted(len(found), 'figure moved', 'figures moved')}"


def _changes(since: Since, now: Design) -> list[Block]:
    found = moved(since.found)
    blocks: list[Block] = []
    lines = since.found.folded or since.found.changes
    if lines:
        blocks.append(Table("What was edited", (Head("Change"),), tuple(Row((text(line),)) for line in lines[:MOST])))
    if found:
        titles = {w.id: w.title or w.id for w in since.design.workloads.values()}
        kinds = {w.id: w.kind for w in since.design.workloads.values()}
        rows = []
        for m in found[:MOST]:
            better = times_better(m.name, m.before, m.after, kinds.get(m.workload, ""))
            rows.append(
                Row(
                    (
                        strong(titles.get(m.workload, m.workload)),
                        muted(metric_title(m.name)),
                        text(figure_text(m.name, m.before, m.unit).replace(" ", NBSP)),
                        text(figure_text(m.name, m.after, m.unit).replace(" ", NBSP)),
                        text(change_text(m), "ok" if better > 1 else "alarm" if better < 1 else ""),
                        text(plain(in_names(since.design, in_names(now, why(m))))),
                    )
                )
            )
        heads = (
            Head("Workload"),
            Head("Figure"),
            Head("Before", _R),
            Head("After", _R),
            Head("Change", _R),
            Head("Why"),
        )
        blocks.append(Table("Figures that moved", heads, tuple(rows)))
    follows = [
        rich(f"{len(items) - MOST:,} {what} more are in designer compare.")
        for items, what in ((lines, "changes"), (found, "figures"))
        if len(items) > MOST
    ]
    new, gone = since.found.new, since.found.gone
    if new or gone:
        follows.append(rich(f"{counted(len(new), 'finding is', 'findings are')} new, {len(gone):,} gone."))
    if follows:
        blocks.append(Follows(tuple(follows)))
    return blocks


CHAPTER = ChapterKind("revisions", "Revisions", 3, of_report=build)
