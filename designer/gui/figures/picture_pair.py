"""Two pictures next to each other, as large as the room allows, with a word about what is lit."""

from __future__ import annotations

import html

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from designer.gui.controls import Label, MarkedLabel
from designer.plain_text import shortened


class Pane(QWidget):
    """A picture, scaled down to fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picture = QImage()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        """The size it asks for."""
        return QSize(320, 200)

    def place(self) -> QRectF:
        """Where the picture is painted."""
        size = self.picture.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        if size.width() > self.picture.width():
            size = self.picture.size()
        left, top = (self.width() - size.width()) / 2, (self.height() - size.height()) / 2
        return QRectF(left, top, size.width(), size.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint it."""
        if self.picture.isNull():
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            ratio, place = self.devicePixelRatioF(), self.place()
            # scaled by itself first: a painter takes few of the points and loses thin lines
            small = self.picture.scaled(
                round(place.width() * ratio),
                round(place.height() * ratio),
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            painter.drawImage(place, small)


class PicturePair(QWidget):
    """Two panes with titles."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.titles, self.panes = (MarkedLabel(), MarkedLabel()), (Pane(), Pane())
        self.state = Label(role="muted")
        self.state.setAlignment(Qt.AlignmentFlag.AlignCenter)
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 2, 10, 6)
        grid.setSpacing(6)
        for column, (title, pane) in enumerate(zip(self.titles, self.panes, strict=True)):
            title.setWordWrap(True)
            grid.addWidget(title, 0, column)
            grid.addWidget(pane, 1, column)
            grid.setColumnStretch(column, 1)
        grid.setRowStretch(1, 1)
        grid.addWidget(self.state, 2, 0, 1, 2)
        self.show_nothing()

    def set_titles(self, first: str, second: str, colours: tuple[str, str, str]) -> None:
        """Say which is which and what the colours mean; the pictures are on their way."""
        *own, changed = colours
        for label, title, colour, pane in zip(self.titles, (first, second), own, self.panes, strict=True):
            name = html.escape(shortened(title, 60))
            label.setText(
                f"<b>{name}</b> &nbsp; <span style='color:{colour}'>■</span> only here"
                f" &nbsp; <span style='color:{changed}'>■</span> other values"
            )
            pane.setAccessibleName(f"Drawing of {title}")
        self.state.setText("Drawing…")
        self.state.show()

    def set_pictures(self, first: bytes, second: bytes) -> None:
        """Show two PNG pictures."""
        for pane, data in zip(self.panes, (first, second), strict=True):
            pane.picture = QImage.fromData(data)
            pane.update()
        self.state.hide()

    def show_nothing(self) -> None:
        """There is nothing to compare with."""
        for label, pane in zip(self.titles, self.panes, strict=True):
            label.setText("")
            pane.picture = QImage()
            pane.update()
        self.state.setText("Choose what to compare with.")
        self.state.show()
