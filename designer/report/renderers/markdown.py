"""Reports as Markdown: titles, texts and tables; drawings are described in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from designer.plain_text import harmless, shortened
from designer.report.document import (
    Block,
    Cell,
    Drawing,
    Follows,
    Inline,
    Items,
    KeyFigures,
    Paragraph,
    Report,
    SideBySide,
    Span,
    Table,
    Text,
)
from designer.report.drawing.elements import Picture

#: what Markdown or the HTML in it would obey
_OBEYED = re.compile(r"([\\`*_{}\[\]<>#|~!$&])")
_LONGEST = 600


def to_markdown(report: Report) -> str:
    """The report as one Markdown text."""
    lines = [f"# {_text(report.title)}", ""]
    if report.subtitle:
        lines += [_text(report.subtitle), ""]
    lines += [f"- **{_text(name)}**: {_text(value)}" for name, value in report.facts]
    lines += ["", f"## {_text(report.summary.title)}", ""]
    if report.summary.deck:
        lines += [_inline(report.summary.deck), ""]
    for block in report.summary.blocks:
        lines += _block(block)
    lines += ["## Contents", ""]
    lines += [f"{n}. [{_text(c.topic)}](#{c.key}): {_text(c.title)}" for n, c in report.numbered()]
    lines.append("")
    for n, chapter in report.numbered():
        about = f" · {_text(chapter.about)}" if chapter.about else ""
        lines += [
            f'<a id="{chapter.key}"></a>',
            "",
            f"## {n} {_text(chapter.topic)}{about}",
            "",
            f"**{_text(chapter.title)}**",
            "",
        ]
        if chapter.deck:
            lines += [_inline(chapter.deck), ""]
        for block in chapter.blocks:
            lines += _block(block)
    if report.foot:
        lines += ["---", "", _text(report.foot)]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    plain = (
        shortened(" ".join(harmless(text).split(" ")), _LONGEST)
        .replace("\n", " ")
        .replace("\r", " ")
        .replace("\t", " ")
    )
    return _OBEYED.sub(r"\\\1", plain)


def _inline(text: Inline) -> str:
    spans: Text = (Span(text),) if isinstance(text, str) else (text,) if isinstance(text, Span) else text
    return "".join(_span(span) for span in spans).strip()


def _span(span: Span) -> str:
    if span.style == "code":
        return f"`{harmless(span.text).replace('`', ' ')}`"
    body = _text(span.text)
    inner = body.strip()
    if span.style in ("strong", "alarm", "ok", "warn") and inner:
        body = body.replace(inner, f"**{inner}**", 1)
    if span.style == "source":
        return f"[{body}]({span.link})" if span.link.startswith("#") else body
    if span.link.startswith(("#", "https://", "http://")):
        return f"[{body}](<{span.link.replace('>', '%3E').replace('<', '%3C')}>)"
    return body


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Paragraph):
        if block.title:
            yield from (f"### {_text(block.title)}", "")
        yield from (_inline(block.text), "")
    elif isinstance(block, Drawing):
        yield from (f"*{_text(block.stated or block.title)}: drawn in the HTML and PDF report.*", "")
    elif isinstance(block, KeyFigures):
        yield from ("| Figure | Value | Band | |", "| --- | ---: | ---: | --- |")
        for f in block.figures:
            yield f"| {_text(f.label)} | {_text(f.value)} {_text(f.unit)} | {_text(f.band)} | {_inline(f.verdict)} |"
        yield ""
    elif isinstance(block, Items):
        yield from (f"### {_text(block.title)}", "") if block.title else ()
        for item in block.items:
            yield f"- **{_inline(item.head).replace('**', '')}** {_inline(item.text)}"
        yield ""
    elif isinstance(block, Follows):
        yield from ("**What follows**", "")
        for text in block.text:
            yield from (_inline(text), "")
    else:
        assert isinstance(block, SideBySide)
        for inner in (*block.left, *block.right):
            yield from _block(inner)


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield from (f"### {_text(table.title)}{' (' + _text(table.aside) + ')' if table.aside else ''}", "")
    kept = [
        k
        for k in range(len(table.heads))
        if not all(_empty(r.cells[k]) for r in table.rows if len(r.cells) > k and r.style != "group")
    ]
    yield "| " + " | ".join(_text(table.heads[k].title) or " " for k in kept) + " |"
    yield "|" + "|".join(" ---: " if table.heads[k].align == "right" else " --- " for k in kept) + "|"
    for row in table.rows:
        if row.style == "group":
            yield "| **" + _cell(row.cells[0]).replace("**", "") + "** |" + " |" * (len(kept) - 1)
            continue
        anchor = f'<a id="{row.key}"></a>' if row.key else ""
        yield f"| {anchor}" + " | ".join(_cell(row.cells[k]) for k in kept) + " |"
    yield ""
    if table.note:
        yield from (_inline(table.note), "")


def _empty(cell: Cell) -> bool:
    return isinstance(cell, Picture)


def _cell(cell: Cell) -> str:
    return "" if isinstance(cell, Picture) else _inline(cell)
