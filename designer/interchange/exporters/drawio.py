"""The drawing as a draw.io (diagrams.net) file: boxes in their containers, connections with count, kind and rate.

Every cell carries what it is as data (kind, type, path, count, rate), which draw.io shows under
*Edit data* and searches. A hidden cell carries the design itself, so that a diagram comes back with what was changed in
it: see the importer.
Sources: jgraph/drawio documentation, mxGraph XML format and custom properties.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from html import escape
from pathlib import Path
from typing import Final

import numpy as np

from designer import atomic
from designer.catalog.parttype import link_kinds
from designer.design.document import Annotation, Design, Part
from designer.design.geometry import lay_out
from designer.design.scene_geometry import Geometry
from designer.drawing.theme import Palette, palette
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.foreign.embedded import pack
from designer.interchange.network_view import one_line
from designer.units import format_quantity

#: more cells than this draw.io does not open in reasonable time
_MOST: Final = 20_000
_BOX: Final = "rounded=1;arcSize=6;html=1;whiteSpace=wrap;fontSize=11;"
_CONTAINER: Final = "swimlane;startSize=24;rounded=1;arcSize=4;html=1;collapsible=1;fontSize=12;horizontal=1;"
_EDGE: Final = "endArrow=none;html=1;edgeStyle=orthogonalEdgeStyle;rounded=1;fontSize=9;"


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the drawing as it is shown, groups open or closed.

    Raises
    ------
    ExchangeError
        If the design holds nothing that this format can say.
    """
    geometry = lay_out(design, options.opened)
    if len(geometry) + geometry.n_connections > _MOST:
        raise ExchangeError(
            f"the drawing shows {len(geometry) + geometry.n_connections:,} boxes and connections",
            remedy=f"close groups: draw.io is written up to {_MOST:,}",
        )
    root = ET.Element("mxfile", host="designer", type="device")
    page = ET.SubElement(root, "diagram", id="drawing", name=_one_line_text(design.title or design.name)[:60])
    model = ET.SubElement(page, "mxGraphModel", grid="1", gridSize="8", page="0", tooltips="1", connect="1")
    cells = ET.SubElement(model, "root")
    ET.SubElement(cells, "mxCell", id="0")
    ET.SubElement(cells, "mxCell", {"id": "1", "parent": "0"})
    colours = palette(options.theme)
    kept = _selected_boxes(geometry, options.chosen)
    for box in np.flatnonzero(kept).tolist():
        _box(cells, geometry, box, colours, kept)
    for number in range(geometry.n_connections):
        if kept[geometry.connection_a[number]] and kept[geometry.connection_b[number]]:
            _connection(cells, geometry, number, colours)
    _document(cells, design, geometry, kept)
    ET.indent(root)
    return atomic.write(path, ET.tostring(root, encoding="utf-8") + b"\n")


def _document(
    cells: ET.Element, design: Design, geometry: Geometry, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> None:
    """The design and what was drawn of it, in a cell nobody sees."""
    boxes = {
        f"box{box}": [geometry.blocks[int(geometry.block[box])], *geometry.refs[box]]
        for box in np.flatnonzero(kept).tolist()
    }
    links: dict[str, object] = {}
    for number in range(geometry.n_connections):
        if kept[geometry.connection_a[number]] and kept[geometry.connection_b[number]]:
            within, bundled = geometry.connection_links(number)
            links[f"link{number}"] = [within, [[link.what, link.id] for link in bundled]]
    seen = {o.get("id", ""): _editable_state(o) for o in cells.iter("object")}
    stated = {
        "design": design.model_dump(mode="json", exclude_defaults=True),
        "boxes": {key: [*where, *seen[key]] for key, where in boxes.items()},
        "links": links,
    }
    texts = {f"document{number}": text for number, text in enumerate(pack(stated))}
    wrapped = ET.SubElement(cells, "object", {"id": "designer", "label": "", **texts})
    cell = ET.SubElement(wrapped, "mxCell", {"style": "text;", "vertex": "1", "visible": "0", "parent": "1"})
    ET.SubElement(cell, "mxGeometry", {"width": "8", "height": "8", "as": "geometry"})


def _editable_state(wrapped: ET.Element) -> list[str]:
    """What people may change of a box: its label, its container and its place."""
    cell = wrapped[0]
    place = cell[0]
    return [wrapped.get("label", ""), cell.get("parent", ""), place.get("x", ""), place.get("y", "")]


def _selected_boxes(geometry: Geometry, chosen: frozenset[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which boxes are written: all, or those chosen with what they hold."""
    kept = np.full(len(geometry), not chosen)
    for box in range(len(geometry)):
        if geometry.refs[box].id in chosen and not geometry.blocks[int(geometry.block[box])]:
            kept[box : int(geometry.last[box])] = True
    if not kept.any():
        raise ExchangeError("nothing of what is chosen is in the design", place="--only")
    return kept


def _box(
    cells: ET.Element,
    geometry: Geometry,
    box: int,
    colours: Palette,
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> None:
    above = int(geometry.parent[box])
    held = above >= 0 and bool(kept[above])
    x, y, width, height = geometry.rect[box].tolist()
    if held:
        x, y = x - float(geometry.rect[above, 0]), y - float(geometry.rect[above, 1])
    thing = geometry.thing(box)
    kind = geometry.kinds[int(geometry.kind[box])]
    label = _one_line_text(geometry.label(box))
    detail = _one_line_text(geometry.detail(box))
    data = {"id": f"box{box}", "label": escape(label), "kind": kind}
    if isinstance(thing, Part):
        data |= {"path": geometry.refs[box].id, "type": thing.type} if thing.type else {"path": geometry.refs[box].id}
    if geometry.is_group[box]:
        data["replicas"] = str(int(geometry.replicas[box]))
        data["label"] = f"{escape(label)} × {int(geometry.replicas[box]):,}"
    open_box = bool(geometry.is_container[box])
    if detail and not open_box:
        data["label"] += f"<br><font style='font-size: 9px'>{escape(detail)}</font>"
    colour = colours.kind(kind)
    note = isinstance(thing, Annotation)
    style = (
        f"{_CONTAINER}strokeColor={colour};fillColor={colour};swimlaneFillColor=none;fontColor=#ffffff;"
        if open_box
        else f"{_BOX}strokeColor={colour};fillColor={'none' if note else colours.surface['card']};"
        f"fontColor={colours.surface['text']};"
    )
    wrapped = ET.SubElement(cells, "object", data)
    home = {"vertex": "1", "parent": f"box{above}" if held else "1"}
    cell = ET.SubElement(wrapped, "mxCell", {"style": style, **home})
    place = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{width:g}", "height": f"{height:g}", "as": "geometry"}
    ET.SubElement(cell, "mxGeometry", place)


def _connection(cells: ET.Element, geometry: Geometry, number: int, colours: Palette) -> None:
    kind = geometry.connection_kinds[int(geometry.connection_kind[number])]
    count = int(geometry.connection_count[number])
    rate = format_quantity(float(geometry.connection_capacity[number]), "rate")
    title = link_kinds()[kind].title if kind in link_kinds() else kind
    data = {
        "id": f"link{number}",
        "label": f"{count} ×" if count > 1 else "",
        "kind": kind,
        "count": str(count),
        "capacity": rate,
        "tooltip": f"{count} × {title}, {rate} per direction",
    }
    style = f"{_EDGE}strokeColor={colours.link(kind)};strokeWidth={1 + min(4, count).bit_length() / 2:g};"
    wrapped = ET.SubElement(cells, "object", data)
    ends = {
        "source": f"box{int(geometry.connection_a[number])}",
        "target": f"box{int(geometry.connection_b[number])}",
    }
    cell = ET.SubElement(wrapped, "mxCell", {"style": style, "edge": "1", "parent": "1", **ends})
    ET.SubElement(cell, "mxGeometry", {"relative": "1", "as": "geometry"})


def _one_line_text(text: str) -> str:
    """`text` in one line of what XML and people can read."""
    return one_line("".join(c for c in text if c not in "\ufffe\uffff")).encode("utf-8", "replace").decode()


EXPORTER = Exporter("drawio", ".drawio", "draw.io diagram", write)
