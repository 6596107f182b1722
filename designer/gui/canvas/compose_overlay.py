"""What lies over the picture: selection, hover, guides, ghosts, values, badges, legend. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Domain, link_kinds
from designer.design.address import block_at
from designer.gui.canvas.batches import Batch, Boxes, Glyphs, Label, Labels, Lines, Rects
from designer.gui.canvas.canvas_theme import STEPS, CanvasTheme
from designer.gui.canvas.compose_boxes import faded
from designer.gui.canvas.compose_values import amount
from designer.gui.canvas.levels import Level
from designer.gui.canvas.snapping import Guide
from designer.gui.canvas.stage import Frame, Stage
from designer.gui.canvas.view import Rect
from designer.gui.canvas.ways import pieces, ways
from designer.gui.viewmodels.cables import let_through
from designer.units import format_line_rate, format_quantity

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
#: width of a text: text, height [px], bold
Measure = Callable[[str, int, bool], float]

#: so many badges are shown at once, on so many wires
_MOST_BADGES: Final = 24
_MOST_BOUND: Final = 200
#: so many badges carry their word; of more only the first, the others are dots
_WORDS: Final = 4
#: of so many the one whose word covers least
_CANDIDATES: Final = 6
#: from this height on a card has room for a badge on its upper edge [px]
_HIGH_CARD: Final = 40
#: more selected boxes than this are drawn as plates without an outline of their own
_MOST_OUTLINES: Final = 1500


def outline(rects: Float, width: float, colour: str, gap: float = 0.0) -> Rects:
    """Frames around rectangles. : (n, 4)"""
    x, y = rects[:, 0] - gap - width, rects[:, 1] - gap - width
    w, h = rects[:, 2] + 2 * (gap + width), rects[:, 3] + 2 * (gap + width)
    t = np.full_like(x, width)
    sides = (
        np.stack((x, y, w, t), axis=1),
        np.stack((x, y + h - t, w, t), axis=1),
        np.stack((x, y + t, t, h - 2 * t), axis=1),
        np.stack((x + w - t, y + t, t, h - 2 * t), axis=1),
    )
    return Rects(np.concatenate(sides), colour)


def selection(stage: Stage, frame: Frame, region: Rect, boxes: Int, wires: Int) -> list[Batch]:
    """Outlines of what is selected and in sight."""
    found: list[Batch] = []
    theme = stage.theme
    if len(boxes):
        rect = stage.geometry.rect[boxes]
        x, y, width, height = frame.scene(region, 8 * frame.ratio)
        seen = (rect[:, 0] <= x + width) & (rect[:, 0] + rect[:, 2] >= x)
        seen &= (rect[:, 1] <= y + height) & (rect[:, 1] + rect[:, 3] >= y)
        rects = frame.boxes(rect[seen])
        if len(rects) > _MOST_OUTLINES:
            found.append(Rects(rects, theme.selection + "66"))
        elif len(rects):
            found.append(outline(rects, round(2 * frame.ratio), theme.selection, frame.ratio))
    if len(wires):
        found += wire_glow(stage, frame, wires[:_MOST_OUTLINES], theme.selection)
    return found


def wire_glow(stage: Stage, frame: Frame, wires: Int, colour: str, strength: str = "90") -> list[Batch]:
    """Wires drawn broad and translucent over themselves."""
    geometry = stage.geometry
    route = frame.points(geometry.wire_route[wires])
    lines = [pieces(group.points) for group in ways(wires, route, geometry.wire_shape[wires])]
    found: list[Batch] = []
    if lines:
        found.append(Lines(np.concatenate(lines), colour + strength, 6.0 * frame.ratio, (), False))
    return found


def hover(stage: Stage, frame: Frame, box: int, colour: str | None = None) -> list[Batch]:
    """A thin frame around the box under the pointer."""
    rects = frame.boxes(stage.geometry.rect[box : box + 1])
    return [outline(rects, round(1.5 * frame.ratio), colour or stage.theme.hover, frame.ratio)]


def handles(points: Float, frame: Frame, colour: str, size: float = 9.0) -> list[Batch]:
    """Round handles at points in device pixels. : (k, 2)"""
    extent = int(size * frame.ratio) | 1
    return [Glyphs("ring", np.round(points - extent / 2), extent, colour)]


def side_points(frame: Frame, rect: Float) -> Float:
    """The middles of the four sides of a box in device pixels: left, top, right, bottom. : (4, 2)"""
    x, y, w, h = frame.boxes(rect.reshape(1, 4))[0].tolist()
    return np.array([(x, y + h / 2), (x + w / 2, y), (x + w, y + h / 2), (x + w / 2, y + h)])


def guides(lines: Iterable[Guide], frame: Frame, colour: str) -> list[Batch]:
    """Lines that show what is in line."""
    data = np.array(list(lines), dtype=np.float64).reshape(-1, 2, 2)
    if not len(data):
        return []
    return [Lines(np.round(frame.points(data)).reshape(-1, 4), colour, max(1.0, round(frame.ratio)))]


def band(rect: Rect, frame: Frame, theme: CanvasTheme, touch: bool) -> list[Batch]:
    """The rubber band; dashed where it selects what it touches."""
    rects = frame.boxes(np.array([rect], dtype=np.float64))
    x, y, w, h = rects[0].tolist()
    edge = np.array([[x, y, x + w, y], [x, y + h, x + w, y + h], [x, y, x, y + h], [x + w, y, x + w, y + h]])
    dash = (4.0 * frame.ratio, 3.0 * frame.ratio) if touch else ()
    return [Rects(rects, theme.selection + "22"), Lines(edge, theme.selection, max(1.0, round(frame.ratio)), dash)]


def ghosts(rects: Float, frame: Frame, theme: CanvasTheme, good: bool = True) -> list[Batch]:
    """Places where something would come to stand. : (n, 4) scene units"""
    found = frame.boxes(rects)
    colour = theme.selection if good else theme.bad
    return [Rects(found, colour + "2c"), outline(found, max(1.0, round(frame.ratio)), colour)]


def pill(
    text: str, x: float, y: float, frame: Frame, measure: Measure, fill: str, colour: str, edge: str, bold: bool = False
) -> tuple[Boxes, Label]:
    """A text on a small plate, its middle at a point in device pixels."""
    px = round(11 * frame.ratio)
    wide = round(measure(text, px, bold) + 12 * frame.ratio)
    high = round(px * 1.7)
    left, top = round(x - wide / 2), round(y - high / 2)
    plate = Boxes(np.array([[left, top, wide, high]], dtype=np.float64), fill, edge, 1, int(high // 3))
    return plate, Label(left, top, wide + 2, high, text, px, colour, bold, "center")


def tip(
    text: str, x: float, y: float, frame: Frame, measure: Measure, theme: CanvasTheme, good: bool, region: Rect
) -> list[Batch]:
    """A remark beside the pointer, kept inside the region."""
    px = round(11 * frame.ratio)
    wide = measure(text, px, False) + 12 * frame.ratio
    x = min(max(x + 18 * frame.ratio + wide / 2, region[0] + wide / 2), region[0] + region[2] - wide / 2)
    y = min(y + 26 * frame.ratio, region[1] + region[3] - px * 1.5)
    edge = theme.good if good else theme.bad
    plate, label = pill(text, x, y, frame, measure, theme.pill, theme.pill_text, edge)
    return [plate, Labels((label,))]


def wire_text(stage: Stage, wire: int) -> str:
    """Kind, count and both directions of a wire, for hovering."""
    geometry, live = stage.geometry, stage.live
    kind = geometry.wire_kinds[int(geometry.wire_kind[wire])]
    count = int(geometry.wire_count[wire])
    drawn = link_kinds().get(kind)
    name = f"{drawn.title if drawn else kind.replace('_', ' ')}{f' ×{count}' if count > 1 else ''}"
    capacity = format_quantity(float(geometry.wire_capacity[wire]), "rate")
    if drawn is not None and drawn.domain is Domain.NETWORK:
        capacity = format_line_rate(float(geometry.wire_capacity[wire]))
    card = _card_of(stage, wire)
    if card is not None:
        capacity = f"{format_line_rate(card[0])} ({card[1]}; drawn with {capacity})"
    assumed = " assumed" if live.assumed[wire] else ""
    if not (live.heat[wire] >= 0).any():
        return f"{name}   {capacity} per direction{assumed}"
    there, back = (amount(float(live.load[wire, d]), float(live.limit[wire, d])) for d in (0, 1))
    return f"{name}   → {there}   ← {back}{assumed}"


def _card_of(stage: Stage, wire: int) -> tuple[float, str] | None:
    """The card that lets less through than the one link a wire stands for is drawn with."""
    within, links = stage.geometry.wire_links(wire)
    if len(links) != 1:
        return None
    design = stage.geometry.design
    block = block_at(design, within)
    link = block.links.get(links[0].id)
    return let_through(design, block, link) if link is not None else None


def bound_glow(stage: Stage, frame: Frame) -> list[Batch]:
    """The wires that bind, broad below everything that is written; from afar their marks say enough."""
    bound = np.flatnonzero(stage.live.bound)[:_MOST_BOUND]
    if stage.lifted_wires is not None:
        bound = bound[~stage.lifted_wires[bound]]
    if frame.level is Level.FAR or not len(bound):
        return []
    return wire_glow(stage, frame, bound, faded(stage, stage.theme.bound), "58")


def badges(
    stage: Stage, frame: Frame, region: Rect, measure: Measure, pulse: float = 0.0, named: frozenset[int] = frozenset()
) -> list[Batch]:
    """Marks on what binds: plates with a word on parts and, where they are few, on wires; else dots and one word.

    `named` are wires that always get the word, as far as they are few; `pulse` from 1 down to 0 is a ring that opens
    around each mark.
    """
    theme = stage.theme
    found: list[Batch] = []
    marks = _part_marks(stage, frame, region) + _wire_marks(stage, frame, region, named, measure)
    plates: list[Boxes] = []
    labels: list[Label] = []
    taken: list[tuple[float, float, float, float]] = []
    dots: list[tuple[float, float]] = []
    rings: list[Float] = []
    for px, py, word in marks:
        plate, label = pill(word, px, py, frame, measure, theme.bound, theme.bound_text, theme.bound, True)
        if word and len(plates) < _MOST_BADGES and _free(plate, taken):
            plates.append(plate)
            labels.append(label)
            rings.append(plate.rects)
        elif not word:
            dots.append((px, py))
            rings.append(np.array([[px - 5 * frame.ratio, py - 5 * frame.ratio, *(2 * [10 * frame.ratio])]]))
    if pulse > 0 and rings:
        grow = (1 - pulse) * 22 * frame.ratio
        opened = np.concatenate(rings[:_MOST_BADGES]) + np.array([-grow, -grow, 2 * grow, 2 * grow])
        found.append(outline(np.round(opened), round(3 * frame.ratio), theme.bound + f"{int(255 * pulse):02x}"))
    return found + _dots(dots, frame, theme) + _stacked(plates, labels)


#: where a mark stands [device pixels] and its word, empty for a dot
_Mark = tuple[float, float, str]


def _wire_marks(stage: Stage, frame: Frame, region: Rect, named: frozenset[int], measure: Measure) -> list[_Mark]:
    """A mark on each wire in sight that binds, those with a word first."""
    bound = np.flatnonzero(stage.live.bound)
    if not len(bound):
        return []
    if frame.level is Level.FAR:
        cut = stage.cut(frame.octave)
        merged = np.unique(cut.of_wire[bound])
        lines = cut.lines[merged[merged >= 0]]
        points, wires = frame.points((lines[:, :2] + lines[:, 2:]) / 2), np.full(len(lines), -1)
    else:
        wires = bound[:_MOST_BOUND]
        points = _points(stage, frame, wires)
    seen = _inside(points, region)
    points, wires = points[seen], wires[seen]
    worded = _worded(stage, frame, wires, named, measure)
    shift = 16 * frame.ratio if frame.level is Level.NEAR else 0.0
    marks: list[_Mark] = []
    for k in np.argsort(~worded, kind="stable").tolist():
        px, py = points[k].tolist()
        if worded[k] and wires[k] >= 0 and frame.level is not Level.NEAR:
            px, py = frame.points(np.array(_freest(stage, frame, int(wires[k]), measure)[:2])).tolist()
        marks.append((px, py - shift, "bound" if worded[k] else ""))
    return marks


def _part_marks(stage: Stage, frame: Frame, region: Rect) -> list[_Mark]:
    """A mark on the upper edge of each box in sight whose part binds by itself: a store, a GPU that computes."""
    boxes = np.flatnonzero(stage.live.box_bound)[:_MOST_BOUND]
    if not len(boxes):
        return []
    rects = frame.boxes(stage.geometry.rect[boxes])
    # clear of the text of a low card, on the edge of a high one
    lift = np.where(rects[:, 3] < _HIGH_CARD * frame.ratio, 7 * frame.ratio, 0.0)
    points = np.column_stack((rects[:, 0] + rects[:, 2] / 2, rects[:, 1] - lift))
    seen = _inside(points, region)
    return [
        (x, y, f"bound ×{alike}" if alike > 1 else "bound")
        for (x, y), alike in zip(points[seen].tolist(), stage.live.box_bound[boxes[seen]].tolist(), strict=True)
    ]


def _inside(points: Float, region: Rect) -> npt.NDArray[np.bool_]:
    """Which points lie in a region. : (k,)"""
    x, y, w, h = region
    seen = (points[:, 0] >= x) & (points[:, 0] <= x + w) & (points[:, 1] >= y) & (points[:, 1] <= y + h)
    return np.asarray(seen, dtype=np.bool_)


def _freest(stage: Stage, frame: Frame, wire: int, measure: Measure) -> tuple[float, float, float]:
    """Where the word covers least of any card, and how much."""
    wide = (measure("bound", round(11 * frame.ratio), True) + 12 * frame.ratio) / frame.scale
    return stage.free_point(wire, wide, 19 * frame.ratio / frame.scale, round(4 * np.log2(frame.scale)))


def _worded(stage: Stage, frame: Frame, wires: Int, named: frozenset[int], measure: Measure) -> npt.NDArray[np.bool_]:
    """Which marks carry the word."""
    if len(wires) <= _WORDS:
        return np.ones(len(wires), dtype=bool)
    chosen = np.isin(wires, list(named)) if named else np.zeros(len(wires), dtype=bool)
    if not 0 < chosen.sum() <= _WORDS:
        # the longest has most room around it
        spread = np.ptp(stage.geometry.wire_route[wires], axis=1).sum(axis=1) if wires[0] >= 0 else np.zeros(len(wires))
        chosen[:] = False
        longest: list[int] = np.argsort(-spread, kind="stable")[:_CANDIDATES].tolist()
        if wires[0] >= 0:
            longest.sort(key=lambda k: _freest(stage, frame, int(wires[k]), measure)[2])
        chosen[longest[0]] = True
    return chosen


def _dots(points: list[tuple[float, float]], frame: Frame, theme: CanvasTheme) -> list[Batch]:
    """Small round marks with a rim that stands off from any ground."""
    if not points:
        return []
    size = int(9 * frame.ratio) | 1
    corners = np.round(np.array(points) - size / 2)
    rects = np.column_stack((corners, np.full((len(points), 2), float(size))))
    return [Boxes(rects, theme.bound, theme.background, max(1, round(frame.ratio)), size // 2)]


def _points(stage: Stage, frame: Frame, wires: Int) -> Float:
    """Where on wires values are written, device pixels. : (k, 2)"""
    return frame.points(stage.label_points(wires))


def _free(plate: Boxes, taken: list[tuple[float, float, float, float]]) -> bool:
    x, y, w, h = plate.rects[0].tolist()
    for ox, oy, ow, oh in taken:
        if x < ox + ow + 4 and ox < x + w + 4 and y < oy + oh + 2 and oy < y + h + 2:
            return False
    taken.append((x, y, w, h))
    return True


def _stacked(plates: list[Boxes], labels: list[Label]) -> list[Batch]:
    """Plates of one style as one batch, their texts on top."""
    if not plates:
        return []
    first = plates[0]
    rects = np.concatenate([p.rects for p in plates])
    return [Boxes(rects, first.fill, first.edge, first.edge_width, first.radius), Labels(tuple(labels))]


def legend_marks(stage: Stage) -> tuple[bool, bool]:
    """Whether anything binds, and whether any capacity is assumed: the legend tells what the marks for it mean."""
    bound = bool(stage.live.bound.any()) or bool(stage.live.box_bound.any())
    return bound, bool(stage.live.assumed.any())


def legend(stage: Stage, frame: Frame) -> tuple[list[Batch], int, int]:
    """The scale of utilisation and what the marks mean, and its width and height; says so while results are stale.
    Nothing without loads.
    """
    theme, r = stage.theme, frame.ratio
    if not stage.live.known:
        return [], 0, 0
    px = round(12 * r)
    cell_w, cell_h, pad = round(38 * r), round(9 * r), round(9 * r)
    count = len(theme.heat)
    marks = legend_marks(stage)
    line = round(px * 1.6)
    wide, high = count * cell_w + 2 * pad, cell_h + round(px * 2.9) + pad + any(marks) * line
    plate = Boxes(
        np.array([[0, 0, wide, high]], dtype=np.float64), theme.pill, theme.container_edges[0], 1, round(5 * r)
    )
    found: list[Batch] = [plate]
    text = "Utilisation of the busier direction" if not stage.stale else "Utilisation — being worked out again"
    labels = [Label(pad, pad * 0.6, wide - 2 * pad, px * 1.4, text, px, theme.muted)]
    y = round(pad * 0.6 + px * 1.6)
    for k, colour in enumerate(theme.heat):
        x = pad + k * cell_w
        found.append(Rects(np.array([[x, y, cell_w - round(r), cell_h]], dtype=np.float64), faded(stage, colour)))
        if k:
            share = f"{STEPS[k - 1] * 100:.0f} %"
            at = (x - cell_w / 2, y + cell_h + 1, cell_w, px * 1.4)
            labels.append(Label(*at, share, px, theme.muted, False, "center"))
    if any(marks):
        found += _keys(stage, frame, marks, (pad, y + cell_h + round(px * 1.7)), labels)
    found.append(Labels(tuple(labels)))
    return found, wide, high


def _keys(
    stage: Stage, frame: Frame, marks: tuple[bool, bool], at: tuple[float, float], labels: list[Label]
) -> list[Batch]:
    """What a mark on a wire and a dashed wire mean, side by side."""
    theme, r = stage.theme, frame.ratio
    px, tall, sign = round(12 * r), round(16 * r), round(22 * r)
    x, y = at
    found: list[Batch] = []
    if marks[0]:
        size = int(9 * r) | 1
        dot = np.array([[x + (sign - size) / 2, y + (tall - size) / 2, size, size]]).round()
        bar = np.array([[x, y + tall / 2 - 3 * r, sign, 6 * r]]).round()
        found += [Rects(bar, theme.bound + "58"), Boxes(dot, theme.bound, theme.bound, 0, size // 2)]
        labels.append(Label(x + sign + 5 * r, y, 50 * r, tall, "binds", px, theme.muted))
        x += sign + 62 * r
    if marks[1]:
        middle = round(y + tall / 2)
        stroke = np.array([[x, middle, x + sign, middle]], dtype=np.float64)
        found.append(Lines(stroke, theme.muted, 2 * r, (4 * r, 3 * r), False))
        labels.append(Label(x + sign + 5 * r, y, 130 * r, tall, "capacity assumed", px, theme.muted))
    return found
