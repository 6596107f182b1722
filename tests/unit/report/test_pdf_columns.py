"""Columns of tables on paper: they take the width there is, and break no word of a heading while others can give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from designer.drawing.fonts import text_width
from designer.report.document import Align, Head, Row, Span, Table
from designer.report.renderers.pdf_columns import WIDTH, column_widths

SIZE = 8.0
words = st.text("abcdefgh", min_size=1, max_size=12)
texts = st.lists(st.text("abcdefgh./-", min_size=1, max_size=60), min_size=1, max_size=12).map(" ".join)
heads = st.lists(st.tuples(words, st.sampled_from(list(Align))), min_size=1, max_size=9)


@given(heads=heads, data=st.data())
def test_headings_keep_their_words(heads: list[tuple[str, Align]], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(texts, min_size=len(heads), max_size=len(heads)), max_size=4))
    table = Table("", tuple(Head(*h) for h in heads), tuple(Row(tuple((Span(c),) for c in row)) for row in rows))
    widths = column_widths(table, WIDTH, SIZE)
    asked = [text_width(title, SIZE * 0.92, True) for title, _ in heads]
    if sum(asked) + 12 * len(asked) > WIDTH:
        return
    assert sum(widths) <= WIDTH + 1e-6
    for k, (width, word) in enumerate(zip(widths, asked, strict=True)):
        assert width - (9 if k < len(widths) - 1 else 0) >= word
