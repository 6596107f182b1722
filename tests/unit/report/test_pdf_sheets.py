"""Drawings too large for a page, on sheets of their own."""

from __future__ import annotations

import pytest

import designer
from designer.design.geometry import lay_out
from designer.report.assembly import compose_report
from designer.report.design_picture import design_picture
from designer.report.drawing.compose import Options
from designer.report.drawing.elements import Label, Panel, Picture
from designer.report.renderers import pdf
from designer.report.renderers.pdf import to_pdf
from designer.report.renderers.pdf_blocks import shown_scale
from designer.report.renderers.pdf_columns import WIDTH
from designer.report.renderers.pdf_sheets import UPRIGHT, Sheet, holds, legend_of, place_of, sheets_of
from designer.report.settings import Chosen, Settings


def picture_of(template: str) -> Picture:
    return design_picture(lay_out(designer.open_design(template)), Options(legend=True), None, {})


def sheets(picture: Picture) -> list[Sheet]:
    return sheets_of(picture, shown_scale(picture, WIDTH))


@pytest.mark.parametrize(
    ("template", "columns", "rows"), [("aws-p4d", 1, 2), ("hgx-h100-8", 2, 1), ("dgx2", 2, 2), ("h100-4-2p-epyc", 1, 1)]
)
def test_sheets_hold_a_whole_drawing_at_a_size_that_is_read(template: str, columns: int, rows: int) -> None:
    picture = picture_of(template)
    found = sheets(picture)
    assert [(s.column, s.row) for s in found] == [(c, r) for r in range(rows) for c in range(columns)]
    for sheet in found:
        assert sheet.width * sheet.scale <= sheet.area[0] * (1 + 1e-9)
        assert sheet.height * sheet.scale <= sheet.area[1] * (1 + 1e-9)
        assert 12 * sheet.scale >= 7.19
    assert min(s.x for s in found) == picture.x
    assert max(s.x + s.width for s in found) == pytest.approx(picture.x + picture.width)
    assert min(s.y for s in found) == picture.y
    assert max(s.y + s.height for s in found) == pytest.approx(picture.y + picture.height)
    boxes = [e for e in picture.elements if isinstance(e, Panel) and 60 < e.width < 400 and e.height > 30]
    whole = [b for b in boxes if any(_holds(s, b) for s in found)]
    assert len(boxes) >= 10
    assert len(whole) >= 0.95 * len(boxes)


def _holds(sheet: Sheet, box: Panel) -> bool:
    across = sheet.x <= box.x and box.x + box.width <= sheet.x + sheet.width
    return across and sheet.y <= box.y and box.y + box.height <= sheet.y + sheet.height


def test_what_is_read_where_it_stands_has_no_sheets() -> None:
    chart = Picture((Label(0, 10, "a", 10, "ink"), Panel(0, 0, 650, 300)), 0, 0, 658, 300, "paper")
    assert sheets(chart) == []
    assert sheets(picture_of("serving-mig-farm")) == []


def test_what_would_fill_a_wall_has_none() -> None:
    wall = Picture(tuple(Label(n * 90.0, 10, "gpu", 12, "ink") for n in range(500)), 0, 0, 45_000, 800, "paper")
    assert sheets(wall) == []


def test_sheets_are_called_by_their_place() -> None:
    found = sheets(picture_of("dgx2"))
    assert [place_of(s) for s in found] == ["upper left", "upper right", "lower left", "lower right"]
    upright = sheets(picture_of("hgx-h100-8"))
    assert [(place_of(s), s.area) for s in upright] == [("left", UPRIGHT), ("right", UPRIGHT)]


def test_sheets_are_pages_at_the_end() -> None:
    drawing = Settings(chosen=Chosen(chapters=("drawing",)))
    across = to_pdf(compose_report([designer.open_design("dgx2")], drawing))
    assert across.count(b"841.8898 595.2756") + across.count(b"841.89 595.28") == 4
    upright = to_pdf(compose_report([designer.open_design("hgx-h100-8")], drawing))
    assert upright.count(b"841.8898 595.2756") + upright.count(b"841.89 595.28") == 0


def test_the_legend_of_a_drawing_is_taken_out_whole() -> None:
    picture = picture_of("dgx2")
    legend = legend_of(picture)
    assert legend is not None
    assert "1 GB/s" in " ".join(e.text for e in legend.elements if isinstance(e, Label)).replace("\u00a0", " ")
    assert not any(e.text == "GPU 0" for e in legend.elements if isinstance(e, Label))
    assert [holds(s, legend) for s in sheets(picture)].count(True) <= 1
    bare = design_picture(lay_out(designer.open_design("dgx2")), Options(legend=False), None, {})
    assert legend_of(bare) is None


def test_sheets_without_the_legend_repeat_it(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Picture] = []
    monkeypatch.setattr(pdf, "draw_legend", lambda page, legend, most, width: drawn.append(legend))
    to_pdf(compose_report([designer.open_design("dgx2")], Settings(chosen=Chosen(chapters=("drawing",)))))
    picture = picture_of("dgx2")
    legend = legend_of(picture)
    assert legend is not None
    bare = [sheet for sheet in sheets(picture) if not holds(sheet, legend)]
    assert len(bare) == 3
    # pages are made once more after their numbers are known
    assert drawn
    assert len(drawn) % len(bare) == 0
