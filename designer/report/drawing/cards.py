"""Boxes of a picture: containers with a header, cards with glyph, name and product, notes and frames."""

from __future__ import annotations

from typing import Final

import numpy as np

from designer.design.document import Annotation
from designer.design.geometry import Geometry
from designer.report.drawing.detail import DETAIL_SIZE, TITLE_SIZE
from designer.report.drawing.elements import Element, Glyph, Label, Panel
from designer.report.drawing.fonts import fitted_text, lines_of, text_width
from designer.report.drawing.palette import Palette, mixed

_PAD: Final = 8.0
_GLYPH: Final = 18.0
_LINE: Final = 17.0
_TITLE_LINE: Final = 18.0
#: from this height on a card has room for a second line
_HIGH: Final = 80.0
#: cards of closed groups look like a pile of so many, each so far behind the next
_PILE: Final = (2, 4.0)


def add_containers(elements: list[Element], geometry: Geometry, colours: Palette) -> None:
    """Frames, open containers and open groups; their headers come later, above the connections."""
    for box in range(len(geometry)):
        kind = geometry.kinds[int(geometry.kind[box])]
        if kind == "frame":
            _add_frame(elements, geometry, box, colours)
        elif geometry.is_container[box]:
            _add_container(elements, geometry, box, kind, colours)


def _add_container(elements: list[Element], geometry: Geometry, box: int, kind: str, colours: Palette) -> None:
    x, y, width, height = (float(v) for v in geometry.rect[box])
    plain = _ground(geometry, box, colours)
    border = mixed(colours.surface["container_border"], colours.kind(kind), 0.35)
    if geometry.is_group[box]:
        for behind in range(_PILE[0], 0, -1):
            d = behind * _PILE[1]
            elements.append(Panel(x + d, y + d, width, height, 8, mixed(plain, border, 0.12), border))
    elements.append(Panel(x, y, width, height, 8, plain, border))


def _ground(geometry: Geometry, box: int, colours: Palette) -> str:
    return colours.surface["container" if geometry.depth[box] % 2 == 0 else "container_alternate"]


def add_headers(elements: list[Element], geometry: Geometry, colours: Palette) -> None:
    """Glyph, title and product of what is open, on a ground that keeps connections from running through the text."""
    for box in np.flatnonzero(geometry.is_container).tolist():
        _add_header(elements, geometry, box, colours)


def _add_header(elements: list[Element], geometry: Geometry, box: int, colours: Palette) -> None:
    x, y, width, _ = (float(v) for v in geometry.rect[box])
    kind = geometry.kinds[int(geometry.kind[box])]
    text: list[Element] = [Glyph(x + 12, y + 10, _GLYPH, kind, colours.kind(kind))]
    _add_badge(text, geometry, box, x + width - 12, y + 10, colours)
    left = x + 12 + _GLYPH + 8
    room = width - (left - x) - 16 - _badge_width(geometry, box)
    title = fitted_text(geometry.label(box), TITLE_SIZE, room, bold=True, keep_number=True)
    text.append(Label(left, y + 24, title, TITLE_SIZE, colours.surface["text"], bold=True))
    used = text_width(title, TITLE_SIZE, bold=True) + 12
    detail = fitted_text(geometry.detail(box), DETAIL_SIZE, room - used) if room - used > 40 else ""
    if len(detail) > 1:
        text.append(Label(left + used, y + 24, detail, DETAIL_SIZE, colours.surface["text_muted"]))
        used += text_width(detail, DETAIL_SIZE) + 6
    elements.append(Panel(x + 8, y + 8, left - x + used - 8, 22, 4, _ground(geometry, box, colours)))
    elements += text


def add_cards(elements: list[Element], geometry: Geometry, colours: Palette) -> None:
    """Everything that is not open, and notes."""
    for box in range(len(geometry)):
        kind = geometry.kinds[int(geometry.kind[box])]
        if kind == "note":
            _add_note(elements, geometry, box, colours)
        elif kind != "frame" and not geometry.is_container[box]:
            _add_card(elements, geometry, box, kind, colours)


def _add_card(elements: list[Element], geometry: Geometry, box: int, kind: str, colours: Palette) -> None:
    x, y, width, height = (float(v) for v in geometry.rect[box])
    accent = colours.kind(kind)
    border = mixed(colours.surface["card_border"], accent, 0.4)
    fill = mixed(colours.surface["card"], accent, 0.07)
    if geometry.is_group[box]:
        for behind in range(_PILE[0], 0, -1):
            d = behind * _PILE[1]
            elements.append(Panel(x + d, y + d, width, height, 5, mixed(fill, border, 0.15), border))
    elements.append(Panel(x, y, width, height, 5, fill, border))
    small = width < 56
    left = x + _PAD + (0 if small else _GLYPH + 6)
    room = x + width - _PAD - left - _badge_width(geometry, box)
    detail, label = geometry.detail(box), geometry.label(box)
    lines = lines_of(detail, DETAIL_SIZE, width - 2 * _PAD, 2 if height >= _HIGH else 1) if detail else []
    titles = [fitted_text(label, TITLE_SIZE, room, bold=True, keep_number=True)]
    if titles[0] != label and height >= _GLYPH + _TITLE_LINE + len(lines) * _LINE + 6:
        wrapped = lines_of(label, TITLE_SIZE, room, 2, bold=True)
        titles = wrapped if " ".join(wrapped) == label else titles
    block = _GLYPH + (len(titles) - 1) * _TITLE_LINE + len(lines) * _LINE
    if height < block + 6:
        lines, block = [], _GLYPH
    top = y + (height - block) / 2
    _add_badge(elements, geometry, box, x + width - _PAD + 2, top, colours)
    if not small:
        elements.append(Glyph(x + _PAD, top, _GLYPH, kind, accent))
    for n, title in enumerate(titles):
        at = top + 13.5 + n * _TITLE_LINE
        elements.append(Label(left, at, title, TITLE_SIZE, colours.surface["text"], bold=True))
    for n, line in enumerate(lines):
        at = top + _GLYPH + 12 + (len(titles) - 1) * _TITLE_LINE + n * _LINE
        elements.append(Label(x + _PAD, at, line, DETAIL_SIZE, colours.surface["text_muted"]))


def _badge_width(geometry: Geometry, box: int) -> float:
    """Room the badge of a group takes beside its title; 0 for others."""
    return text_width(_repeated(geometry, box), DETAIL_SIZE, bold=True) + 16 if geometry.is_group[box] else 0.0


def _repeated(geometry: Geometry, box: int) -> str:
    return f"×{int(geometry.replicas[box])}"


def _add_badge(
    elements: list[Element], geometry: Geometry, box: int, right: float, top: float, colours: Palette
) -> None:
    """How often a group is repeated, at its upper right."""
    if not geometry.is_group[box]:
        return
    width = _badge_width(geometry, box) - 4
    elements.append(Panel(right - width, top, width, 18, 9, colours.surface["badge"]))
    colour, text = colours.surface["badge_text"], _repeated(geometry, box)
    elements.append(Label(right - width / 2, top + 13.2, text, DETAIL_SIZE, colour, bold=True, anchor="middle"))


def _add_frame(elements: list[Element], geometry: Geometry, box: int, colours: Palette) -> None:
    x, y, width, height = (float(v) for v in geometry.rect[box])
    elements.append(Panel(x, y, width, height, 8, colours.surface["frame"], colours.surface["container_border"]))
    text = fitted_text(geometry.label(box), TITLE_SIZE, width - 24, bold=True)
    elements.append(Label(x + 12, y + 22, text, TITLE_SIZE, colours.surface["text_muted"], bold=True))


def _add_note(elements: list[Element], geometry: Geometry, box: int, colours: Palette) -> None:
    x, y, width, height = (float(v) for v in geometry.rect[box])
    note = geometry.thing(box)
    assert isinstance(note, Annotation)
    elements.append(Panel(x, y, width, height, 4, colours.surface["note"], colours.surface["note_border"]))
    for n, line in enumerate(lines_of(note.text, DETAIL_SIZE, width - 2 * _PAD, max(1, int((height - 8) // _LINE)))):
        elements.append(Label(x + _PAD, y + 20 + n * _LINE, line, DETAIL_SIZE, colours.surface["text"]))
