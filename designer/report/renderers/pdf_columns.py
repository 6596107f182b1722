"""Widths of the columns of a table on paper."""

from __future__ import annotations

import re
from typing import Final

from designer.drawing.fonts import text_width
from designer.report.document import Table, plain
from designer.report.drawing.elements import Picture

#: points of one unit of drawings: the text area is 174 mm and 658 units wide
WIDTH: Final = 493.2
UNIT: Final = WIDTH / 658.0


def column_widths(block: Table, width: float, size: float) -> list[float]:
    """Widths of columns: what their texts ask for, shrunk where they ask for too much.

    Long words of rows are broken before words of headings are.
    """
    asked: list[float] = []
    least: list[float] = []
    headed: list[float] = []
    for k, head in enumerate(block.heads):
        longest, word = _text_widths(head.title, size * 0.92, True)
        heading = word + 2
        longest = max(min(longest, 62.0) if head.align == "right" else longest, heading)
        for row in block.rows[:200]:
            if row.style == "group" or k >= len(row.cells):
                continue
            cell = row.cells[k]
            if isinstance(cell, Picture):
                longest, word = max(longest, min(cell.width, 110.0) * UNIT), max(word, 40.0)
                continue
            whole, piece = _text_widths(plain(cell), size, any(s.style in ("strong", "alarm") for s in cell))
            signed = 15.0 if any(s.sign for s in cell) else 0.0
            whole, piece = whole + signed, piece + signed
            longest = max(longest, whole)
            word = max(word, min(piece, 130.0))
        gap = 9.5 if k < len(block.heads) - 1 else 0.5
        if head.align == "right":
            word = min(longest, 110.0)
        asked.append(min(longest, 330.0) + gap)
        least.append(max(min(word + 2, longest), heading) + gap)
        headed.append(heading + gap)
    total = sum(asked)
    if total <= width:
        # what is left goes to columns of text
        texts = [k for k, h in enumerate(block.heads) if h.align != "right"] or list(range(len(asked)))
        more = (width - total) / len(texts)
        return [a + (more if k in texts else 0.0) for k, a in enumerate(asked)]
    for wide, narrow in ((asked, least), (least, headed)):
        slack = [max(0.0, a - b) for a, b in zip(wide, narrow, strict=True)]
        over, room = sum(wide) - width, sum(slack)
        if 0 < over <= room:
            return [a - over * s / room for a, s in zip(wide, slack, strict=True)]
    return [a * width / sum(headed) for a in headed]


def _text_widths(text: str, size: float, bold: bool) -> tuple[float, float]:
    """Width of a whole text and of its longest word."""
    text = text[:300]
    return text_width(text, size, bold), max((text_width(w, size, bold) for w in re.split(r"[ \n]", text)), default=0.0)
