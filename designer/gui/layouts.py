"""Rows, columns and pages that scroll: what stands in them, how far apart, and the widget they lay out, in one call."""

from __future__ import annotations

from typing import Final, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QScrollArea, QVBoxLayout, QWidget

Margins = tuple[int, int, int, int]
#: a widget or layout, how far it stretches and where it stands in its place; a number is empty room that stretches
Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
#: up to the edges
FLUSH: Final[Margins] = (0, 0, 0, 0)

_Box = TypeVar("_Box", bound=QBoxLayout)


def in_row(
    *items: Item, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Things beside each other.

    Parameters
    ----------
    on
        The widget that is laid out; None for a part of another layout.
    margins, spacing
        Left, top, right and bottom, and between two things [pixels]; those of the style where left out.
    """
    return _filled(QHBoxLayout() if on is None else QHBoxLayout(on), items, margins, spacing)


def in_column(
    *items: Item, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Things below each other, as in `in_row`."""
    return _filled(QVBoxLayout() if on is None else QVBoxLayout(on), items, margins, spacing)


def _filled(box: _Box, items: tuple[Item, ...], margins: Margins | None, spacing: int | None) -> _Box:
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            box.addStretch(item)
            continue
        what, stretch, *aligned = item if isinstance(item, tuple) else (item, 0)
        if isinstance(what, QLayout):
            box.addLayout(what, stretch)
        else:
            box.addWidget(what, stretch, *aligned)
    return box


def scrolled(page: QWidget) -> QScrollArea:
    """A page as wide as there is room for it, which scrolls up and down."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(page)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area
