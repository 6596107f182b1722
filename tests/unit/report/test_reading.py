"""Whether the report is read where it is placed: sizes of texts on paper and screen, and what may not cover them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import designer
from designer.drawing.fonts import text_width
from designer.report.assembly import compose_report
from designer.report.charts.elevation import elevation
from designer.report.charts.hops import Hop, hops
from designer.report.document import Block
from designer.report.drawing.elements import Label, Picture, Stroke
from designer.report.renderers import html
from designer.report.renderers.html import reading_width, to_html
from designer.report.renderers.markdown import to_markdown
from designer.report.renderers.pdf_blocks import shown_scale
from designer.report.renderers.pdf_columns import WIDTH
from designer.report.settings import Chosen, Settings
from designer.report.tables.racks import Placed, Rack

_SINGLE = 7.0


def test_names_of_single_units_have_seven_points_on_paper() -> None:
    units = [Placed(n, n, 1.0, f"Leaf switch {n}", "switch", 1000.0, True) for n in (1, 2, 4)]
    picture = elevation([(Rack("Rack 1", 48.0, 40e3, units), 1)])
    scale = shown_scale(picture, WIDTH)
    names = [e for e in picture.elements if isinstance(e, Label) and e.text.startswith("Leaf")]
    assert len(names) == 3
    assert min(e.size for e in picture.elements if isinstance(e, Label)) * scale >= _SINGLE


def test_a_name_without_room_keeps_its_end() -> None:
    racks = [Rack(f"Rack {n}", 48.0, 40e3, []) for n in range(4)]
    racks[0].units.append(Placed(0, 1, 1.0, "Scalable units 2 · Storage leaf 3", "switch", 1000.0, True))
    racks[1].units += [
        Placed(n, n, 1.0, f"Scalable units 2 · Storage leaf {n}", "switch", 1000.0, True) for n in range(1, 7)
    ]
    texts = [e.text for e in elevation([(rack, 1) for rack in racks]).elements if isinstance(e, Label)]
    assert "Storage leaf 3" in texts
    assert "6 × Storage leaf" in texts
    whole = [e.text for e in elevation([(racks[0], 1)]).elements if isinstance(e, Label)]
    assert "Scalable units 2 · Storage leaf 3" in whole


def test_a_large_drawing_can_be_shown_so_that_its_names_are_read() -> None:
    page = to_html(compose_report([designer.open_design("dgx2")], Settings(chosen=Chosen(chapters=("drawing",)))))
    wide = re.search(r"--reading: (\d+)px", page)
    assert wide is not None
    assert page.count('class="reading"') == 1
    frame = re.search(r'class="reading".*?viewBox="\S+ \S+ (\S+) ', page, re.DOTALL)
    assert frame is not None
    smallest = 11
    assert float(wide[1]) / float(frame[1]) * smallest >= 9


def test_charts_stay_as_they_are() -> None:
    chart = Picture((Label(0, 10, "a", 10, "ink"),), 0, 0, 658, 300, "paper")
    assert reading_width(chart) == 0
    assert reading_width(Picture((Label(0, 10, "a", 10, "ink"),), 0, 0, 2000, 300, "paper")) == 2100


def test_the_line_of_the_load_goes_through_no_value() -> None:
    picture = hops([Hop("a", "", 26.8e9, 26.8e9, 26.8e9, state="binds"), Hop("b", "", 13.7e9, 15.8e9, 3e9)])
    down = next(e.points[0][0] for e in picture.elements if isinstance(e, Stroke) and e.width == 1.6)
    values = [e for e in picture.elements if isinstance(e, Label) and e.text == "13.7\u00a0GB/s"]
    assert values
    assert all(not e.x < down < e.x + text_width(e.text, e.size, e.bold) for e in values)


def test_a_page_draws_every_kind_of_block() -> None:
    template = Path(html.__file__).with_name("page.html.jinja").read_text("utf-8")
    assert {kind.__name__ for kind in get_args(Block)} == set(re.findall(r'k == "(\w+)"', template))


def test_every_link_within_a_markdown_report_leads_somewhere() -> None:
    report = compose_report([designer.open_design("hgx-h100-8")], Settings())
    # what is side by side in columns is on the page as well
    assert all(title in to_html(report) for title in ("What limits it", "What to buy first", "Bus bandwidth over"))
    text = to_markdown(report)
    links = set(re.findall(r"\]\(<?#([\w-]+)>?\)", text))
    assert "source-1" in links
    assert links <= set(re.findall(r'<a id="([\w-]+)"></a>', text))
    assert "Drawing: Drawing" not in text
