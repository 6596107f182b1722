"""draw.io diagrams: the same boxes and connections as on the canvas, at the same places."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from designer.design.document import Design, Link, Part
from designer.design.geometry import lay_out
from designer.errors import ExchangeError
from designer.interchange.exporting import ExportOptions, write_design
from designer.interchange.templates import open_design


def diagram(design: Design, tmp_path: Path, options: ExportOptions | None = None) -> ET.Element:
    write_design(design, None, tmp_path / "x.drawio", options)
    return ET.parse(tmp_path / "x.drawio").getroot()


def number(element: ET.Element, name: str) -> float:
    return float(element.get(name, "0"))


@pytest.mark.parametrize("template", ["hgx-h100-8", "su-h100-32", "vsphere-cluster-4"])
def test_every_box_stands_where_the_canvas_has_it(template: str, tmp_path: Path) -> None:
    """Cells count from the corner of their container, so their places add up to those of the canvas."""
    design = open_design(template)
    geometry = lay_out(design)
    found = {o.get("id"): o for o in diagram(design, tmp_path).iter("object")}
    boxes = {k: o for k, o in found.items() if k is not None and k.startswith("box")}
    links = [o for k, o in found.items() if k is not None and k.startswith("link")]
    assert len(boxes) == len(geometry)
    assert len(links) == geometry.n_connections
    assert sum(int(o.get("count", "0")) for o in links) == geometry.connection_count.sum()
    for box in range(len(geometry)):
        x = y = 0.0
        at = f"box{box}"
        while at != "1":
            cell = boxes[at].find("mxCell")
            assert cell is not None
            place = cell.find("mxGeometry")
            assert place is not None
            x, y, at = x + number(place, "x"), y + number(place, "y"), cell.get("parent", "1")
        assert (x, y) == pytest.approx(tuple(geometry.rect[box, :2]))


def test_ends_of_links_are_cells_of_the_diagram(tmp_path: Path) -> None:
    root = diagram(open_design("dgx-a100"), tmp_path)
    ids = {o.get("id") for o in root.iter("object")}
    edges = [c for c in root.iter("mxCell") if c.get("edge")]
    assert edges
    assert all(c.get("source") in ids and c.get("target") in ids for c in edges)


def test_only_what_is_chosen_is_written(tmp_path: Path) -> None:
    design = open_design("hgx-h100-8")
    root = diagram(design, tmp_path, ExportOptions(chosen=frozenset({"gpu0", "psw0"})))
    assert {o.get("path") for o in root.iter("object") if o.get("path")} == {"gpu0", "psw0"}
    assert len([c for c in root.iter("mxCell") if c.get("edge")]) == 1
    with pytest.raises(ExchangeError, match="nothing of what is chosen"):
        diagram(design, tmp_path, ExportOptions(chosen=frozenset({"nothing"})))


def test_hostile_names_are_text(tmp_path: Path) -> None:
    """Labels of draw.io are HTML: markup of a name has to come out as the name."""
    names = ("<script>alert(1)</script>", "<img src=x onerror=y>", "a\u0000b\nc", "\u202egnirts", "x" * 9999)
    parts = [Part(id=f"s{i}", kind="switch", name=name) for i, name in enumerate(names)]
    links = [Link(id=f"l{i}", a=f"s{i}", b=f"s{i + 1}", kind="ethernet") for i in range(len(names) - 1)]
    design = Design(name="x", title=names[0], parts={p.id: p for p in parts}, links={x.id: x for x in links})
    labels = [o.get("label", "") for o in diagram(design, tmp_path).iter("object")]
    assert labels[0].startswith("&lt;script&gt;alert(1)&lt;/script&gt;")
    assert not any("<script" in label or "<img" in label or "\u202e" in label for label in labels)
    assert max(map(len, labels)) < 400
