"""Names and details, only where they can be read. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.address import block_at
from designer.design.arrange.sizes import HEADER
from designer.design.document import Annotation, Group, Part
from designer.design.geometry import Geometry
from designer.design.query import contents
from designer.drawing.batches import Batch, Boxes, Label, Labels, Lines, Rects
from designer.drawing.compose_boxes import faded, glyph_places, heat_of, is_block
from designer.drawing.fonts import lines_of, text_width
from designer.drawing.levels import Level
from designer.drawing.short_names import written
from designer.drawing.theme import rgb
from designer.drawing.view_state import Frame, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: smaller text is not drawn, larger is not needed [px]
SMALLEST: Final = 9
_LARGEST: Final = 22
#: a name needs a container at least this wide, and a card at least this wide and high [px]
_HEADER: Final = 30.0
_ROOM: Final = (14.0, 9.0)
#: from afar, containers at least this wide carry their name [px]
_TITLED: Final = 72.0
#: from afar, blocks at least this wide and high carry their name [px]
_NAMED: Final = (64.0, 22.0)


def texts(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    """All text on boxes, that of the largest boxes first."""
    geometry = view_state.geometry
    block = is_block(view_state, frame, boxes)
    found: list[Batch] = []
    headers = boxes[(geometry.is_container[boxes] & ~block) | view_state.boxes.is_frame[boxes]]
    found += _headers(view_state, frame, headers)
    if frame.level is Level.FAR:
        found += _block_names(view_state, frame, boxes[block | view_state.boxes.is_card[boxes]])
    else:
        found += _cards(view_state, frame, boxes[block | view_state.boxes.is_card[boxes]])
    found += _notes(view_state, frame, boxes[view_state.boxes.is_note[boxes]])
    return found


def _px(frame: Frame, units: float) -> int:
    """Text height of so many scene units, never too small to read."""
    return round(min(max(units * frame.scale, SMALLEST * frame.ratio), _LARGEST * frame.ratio))


def _headers(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    geometry, theme = view_state.geometry, view_state.theme
    rects = frame.boxes(geometry.rect[boxes])
    labels: list[Label] = []
    plates: list[Float] = []
    marks: list[Float] = []
    high = HEADER * frame.scale
    inside = high >= 12 * frame.ratio
    px = _px(frame, theme.header_px) if inside else int(11 * frame.ratio)
    for box, (x, y, width, _) in zip(boxes.tolist(), rects.tolist(), strict=True):
        deep = int(geometry.depth[box])
        if width < (_HEADER if inside else _TITLED * (1 + deep)) * frame.ratio:
            continue
        if not inside and deep and _is_covered(geometry, box, frame):
            continue
        indent = max(6 * frame.ratio, 12 * frame.scale)
        top = y + (6 * frame.scale if inside else 1)
        tall = high if inside else px * 1.5
        if not view_state.boxes.is_frame[box]:
            marks.append(_fold_mark(x + indent, top + tall / 2, px))
            indent += px
        whole = title(geometry, box)
        # what nothing short is known for is cut where the box ends
        name = written(geometry, box, whole, width - 2 * indent, px) or whole
        labels.append(Label(x + indent, top, width - 2 * indent, tall, name, px, theme.header_text, True))
        if not inside:
            wide = min(width - 4, text_width(name, px, bold=True) + 2 * indent)
            plates.append(np.array([x + 2, y + 1, wide, tall]))
        elif frame.level is Level.NEAR:
            beside = _group_detail(geometry, box) if not view_state.boxes.is_frame[box] else ""
            used = text_width(name, px, bold=True) + 1.5 * px
            if beside and width - indent - used > 80 * frame.scale:
                small = _px(frame, theme.detail_px)
                labels.append(
                    Label(x + indent + used, top, width - 2 * indent - used, tall, beside, small, theme.muted)
                )
    found: list[Batch] = []
    if plates:
        found.append(Rects(np.array(plates), theme.containers[0] + "d8"))
    if marks:
        found.append(Lines(np.concatenate(marks), theme.header_text, 1.5 * frame.ratio, (), True))
    found.append(Labels(tuple(labels)))
    return found


def _fold_mark(x: float, middle: float, px: int) -> Float:
    """A corner that points down, in front of the name of what can be closed. : (2, 4)"""
    wide, high = 0.28 * px, 0.16 * px
    left, at = x + 0.1 * px, middle - high / 2
    return np.array([[left, at, left + wide, at + 2 * high], [left + wide, at + 2 * high, left + 2 * wide, at]])


def _is_covered(geometry: Geometry, box: int, frame: Frame) -> bool:
    """True if the container's name would cover that of the one around it."""
    above = int(geometry.parent[box])
    return above >= 0 and (geometry.rect[box, 1] - geometry.rect[above, 1]) * frame.scale < 16 * frame.ratio


def _cards(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:  # noqa: C901, PLR0912, PLR0915
    geometry, theme = view_state.geometry, view_state.theme
    rects = frame.boxes(geometry.rect[boxes])
    roomy = (rects[:, 2] >= _ROOM[0] * frame.ratio) & (rects[:, 3] >= _ROOM[1] * frame.ratio)
    boxes, rects = boxes[roomy], rects[roomy]
    order = np.argsort(-rects[:, 2] * rects[:, 3], kind="stable")
    px, small = _px(frame, theme.title_px), _px(frame, theme.detail_px)
    titles: list[Label] = []
    details: list[Label] = []
    badges: list[Float] = []
    counts: list[Label] = []
    size = _glyph_sizes(frame, boxes, rects, geometry.kind)
    pad = round(6 * frame.scale)
    # as wide as they are before pixels are counted: cards of one size are treated in the same way
    exact = (geometry.rect[boxes, 2] * frame.scale).tolist()
    for i in order.tolist():
        box = int(boxes[i])
        x, y, width, height = rects[i].tolist()
        indent = round(9 * frame.scale) + size[i] + pad
        room = width - indent - pad
        if not size[i] and frame.level is Level.MIDDLE:
            # only the bar in the colour of the kind is in front
            indent = round(3 * frame.scale + 2 * frame.ratio)
            room = width - indent - round(frame.ratio)
        if room < 12 * frame.ratio and size[i]:
            # no room next to the glyph
            if size[i] >= SMALLEST * frame.ratio:
                continue
            indent, room = pad, width - 2 * pad
        text = (
            _fitting_detail(geometry, box, room + exact[i] - width + pad / 2, small)
            if frame.level is Level.NEAR
            else ""
        )
        two = bool(text) and height >= 2.7 * px and small >= SMALLEST * frame.ratio and frame.level is Level.NEAR
        count = badge(geometry, box) if geometry.is_group[box] and not geometry.is_container[box] else ""
        wide = 0.0
        if count:
            wide = (len(count) + 1) * px * 0.66
            badges.append(np.array([x + width - wide - pad / 2, y + pad / 2, wide, px * 1.4]).round())
            plate = (x + width - wide - pad / 2, y + pad / 2, wide, px * 1.4)
            counts.append(Label(*plate, count, px, theme.badge_text, True, "center"))
            room -= 0 if two else wide
        # a name in the upper half is next to the count, unless the card is so high that it is below
        beside = room - wide if two and height / 2 < 2.65 * px + pad / 2 else room
        whole = title(geometry, box)
        name = written(geometry, box, whole, beside + exact[i] - width, px)
        if not name:
            continue
        # a name that fits is not cut where the card loses part of a pixel
        own = beside + max(0.0, exact[i] - width)
        if frame.level is Level.NEAR and text_width(whole, px, bold=True) > beside:
            lines = lines_of(whole, px, room, 2, bold=True)
            if two and text_width(lines[0], px, bold=True) > room - wide:
                lines = lines_of(whole, px, room - wide, 2, bold=True)
            if " ".join(lines) == whole and height >= len(lines) * 1.3 * px + (1.4 * small if two else 0.2 * px):
                top = y + (height - len(lines) * 1.3 * px - (1.3 * small if two else 0)) / 2
                for n, part in enumerate(lines):
                    place = (x + indent, top + n * 1.3 * px, room, 1.3 * px)
                    titles.append(Label(*place, part, px, theme.text, True))
                if two:
                    place = (x + indent, top + len(lines) * 1.3 * px, room + pad / 2, 1.3 * px)
                    details.append(Label(*place, text, small, theme.muted))
                continue
        top = y + (height / 2 - px * 1.35 if two else 0)
        titles.append(Label(x + indent, top, own, px * 1.4 if two else height, name, px, theme.text, True))
        if two:
            details.append(
                Label(x + indent, y + height / 2 + px * 0.05, room + pad / 2, px * 1.3, text, small, theme.muted)
            )
    found: list[Batch] = [Labels(tuple(titles))]
    if badges:
        found.append(Boxes(np.array(badges), theme.badge, theme.badge, 0, int(max(2, px * 0.5))))
        found.append(Labels(tuple(counts)))
    found.append(Labels(tuple(details)))
    return found


def _glyph_sizes(frame: Frame, boxes: Int, rects: Float, kind: Int) -> list[int]:
    """Extent of the glyph on each card, as ``compose_boxes`` draws it: one for all cards of a kind."""
    sizes = np.zeros(len(boxes), dtype=np.int64)
    for code in np.unique(kind[boxes]).tolist():
        here = kind[boxes] == code
        size = glyph_places(frame, rects[here])[0]
        sizes[here] = size if size >= SMALLEST * frame.ratio else 0
    return sizes.tolist()


def _block_names(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    """Names of blocks; of all that have room, or of none where there would be too many to read."""
    geometry, _theme = view_state.geometry, view_state.theme
    rects = frame.boxes(geometry.rect[boxes])
    px = int(10 * frame.ratio)
    roomy = np.flatnonzero((rects[:, 2] >= _NAMED[0] * frame.ratio) & (rects[:, 3] >= _NAMED[1] * frame.ratio))
    heat = heat_of(view_state.loads.box_used[boxes]) if not view_state.calm else np.full(len(boxes), -1)
    labels = [
        Label(*_four(rects[i]), title(geometry, int(boxes[i])), px, _ink(view_state, int(heat[i])), False, "center")
        for i in roomy.tolist()
    ]
    return [Labels(tuple(labels))]


def _ink(view_state: ViewState, heat: int) -> str:
    """The colour of text that can be read on a block."""
    theme = view_state.theme
    if heat < 0:
        return theme.text
    dark, light = sorted((theme.text, theme.card), key=lightness)
    return light if lightness(faded(view_state, theme.heat[heat])) < 0.5 else dark


def lightness(colour: str) -> float:
    """How light a colour looks, 0 to 1."""
    red, green, blue = rgb(colour)
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def _four(row: Float) -> tuple[float, float, float, float]:
    x, y, width, height = row.tolist()
    return x, y, width, height


def _notes(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    geometry, theme = view_state.geometry, view_state.theme
    px = _px(frame, theme.detail_px)
    if theme.detail_px * frame.scale < 0.7 * SMALLEST * frame.ratio:
        return []
    labels: list[Label] = []
    for box, (x, y, width, height) in zip(boxes.tolist(), frame.boxes(geometry.rect[boxes]).tolist(), strict=True):
        pad = round(8 * frame.scale)
        most = max(1, int((height - pad) / (px * 1.35)))
        for k, line in enumerate(lines_of(geometry.label(box), px, width - 2 * pad, most)):
            labels.append(
                Label(x + pad, y + pad + k * px * 1.35, width - 2 * pad, px * 1.35, line, px, theme.note_text)
            )
    return [Labels(tuple(labels))]


def title(geometry: Geometry, box: int) -> str:
    """Name on a card or header, in one line."""
    text = geometry.label(box).replace("\n", " ")
    thing = geometry.thing(box)
    if isinstance(thing, Group) and geometry.is_container[box] and thing.replicas > 1:
        member = int(geometry.member[box])
        return f"{text} ×{thing.replicas}" if member < 0 else f"{text} {member + 1} of {thing.replicas}"
    return text


def badge(geometry: Geometry, box: int) -> str:
    """How many members a group has: ``×32``, or ``×31+1`` where one differs; nothing for one alone."""
    group, n = geometry.thing(box), int(geometry.replicas[box])
    odd = len(group.exceptions) if isinstance(group, Group) else 0
    if n == 1:
        return ""
    return f"×{n - odd}+{odd}" if odd else f"×{n}"


def differing(group: Group) -> str:
    """How many members of a group differ from the others; empty for none."""
    n = len(group.exceptions)
    return f"{n} differ{'s' * (n == 1)}" if n else ""


def _group_detail(geometry: Geometry, box: int) -> str:
    """Next to the name of an open group: which member it shows, and how that is to the others."""
    group, member = geometry.thing(box), int(geometry.member[box])
    if not isinstance(group, Group) or member < 0:
        return detail(geometry, box)
    return "differs from the others" if member in group.exceptions else "like the others"


def _fitting_detail(geometry: Geometry, box: int, room: float, px: int) -> str:
    """Second line of a card in its room: the product, else what it is known by, else the words that name it."""
    text = detail(geometry, box)
    if text_width(text, px) <= room or not isinstance(geometry.thing(box), Part):
        return text
    if short := next((each for each in geometry.briefs(box) if text_width(each, px) <= room), ""):
        return short
    return _named_part(text, room, px)


def _named_part(text: str, room: float, px: int) -> str:
    """The words of a product that say which it is, up to the first with a digit or a comma; all where none fit."""
    words = text.split()
    last = next((n for n, word in enumerate(words) if any(c.isdigit() for c in word)), 0)
    ends = [n for n, word in enumerate(words) if word.endswith(",")]
    stop = ends[0] + 1 if ends else len(words)
    for first in range(last + 1):
        for end in range(stop, last, -1):
            part = " ".join(words[first:end]).rstrip(",")
            if text_width(part, px) <= room:
                return part
    return text


def detail(geometry: Geometry, box: int) -> str:
    """Second line of a card: the product, or what a closed container or group holds."""
    text = geometry.detail(box)
    thing = geometry.thing(box)
    if isinstance(thing, Group):
        return " · ".join(x for x in (differing(thing), text) if x)
    if text:
        return text
    if isinstance(thing, Annotation):
        return ""
    within, _ = geometry.address(box)
    block = block_at(geometry.design, within)
    inside = contents(block, (thing.id,)) - {thing.id} if thing.collapsed else set()
    if inside:
        return f"{len(inside)} parts closed"
    return ""
