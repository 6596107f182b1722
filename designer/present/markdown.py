"""Pages as Markdown: for notebooks, assistants and files."""

from __future__ import annotations

from designer.present.blocks import Change, Page, Table


def to_markdown(page: Page, *, details: bool = False) -> str:
    """A page as Markdown.

    Parameters
    ----------
    details
        True to add every table of the details.
    """
    lines = [f"# {_escape(page.subject)}", "", f"**{_escape(page.headline)}**", ""]
    if page.figures:
        lines += ["| Figure | Value | 80% band | |", "| --- | ---: | ---: | --- |"]
        for f in page.figures:
            stated = " ".join(text for text in (f.target or f.note, f"**{f.verdict}**" if f.verdict else "") if text)
            lines.append(_row((f.title, f.text, f.band, stated)))
        lines.append("")
    for title, stated in page.summary:
        lines.append(f"- **{_escape(title)}**: {_escape(stated)}")
    if page.table is not None:
        lines += _table(page.table)
    if page.where:
        lines += [f"## {page.where_title}", ""]
        for stack in page.where:
            shares = ", ".join(f"{s.title} {s.text} ({s.share:.0%})" for s in stack.shares)
            lines.append(f"- {_escape(stack.title)}, {stack.total}: {_escape(shares)}")
        lines.append("")
    if page.limits:
        lines += ["## What limits it", "", "| | What | How many | Twice as fast |", "| --- | --- | --- | ---: |"]
        lines += [_row((one.when, one.title, one.detail, one.gain)) for one in page.limits]
        lines.append("")
    if page.changes:
        lines += [f"## {page.changes_title}", "", *(_change(change) for change in page.changes), ""]
    lines += [f"> {_escape(remark)}" for remark in page.remarks]
    if details:
        for detail in page.details:
            if isinstance(detail, Table):
                lines += ["", *_table(detail)]
    return "\n".join(lines).strip() + "\n"


def _change(change: Change) -> str:
    outcome = ", ".join(text for text in (change.detail, change.gain, change.price) if text)
    stated = f"- {_escape(f'{change.title}: {outcome}' if outcome else change.title)}"
    return f"{stated} (`{' '.join(('designer', *change.command))}`)" if change.command else stated


def _table(table: Table) -> list[str]:
    heads = [column.title for column in table.columns]
    rules = ["---:" if column.number else "---" for column in table.columns]
    title = [f"## {_escape(table.title)}", ""] if table.title else []
    return [*title, _row(heads), _row(rules), *(_row(row) for row in table.rows), ""]


def _row(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(_escape(cell) for cell in cells)} |"


def _escape(text: str) -> str:
    """Text in one line in which nothing is read as markup of tables or as HTML."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
