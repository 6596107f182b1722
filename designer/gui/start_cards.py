"""What the start page is made of: questions, cards with a picture, a grid of them, and pictures of designs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QScrollArea, QSizePolicy, QWidget

from designer.drawing.theme import palette
from designer.gui import icons
from designer.gui.controls import Label, plain
from designer.gui.layouts import in_column
from designer.gui.theme import Theme

if TYPE_CHECKING:
    from designer.design.document import Design

CARD: Final = QSize(236, 188)
PICTURE: Final = 128
GAP: Final = 14


class Question(QPushButton):
    """A question to begin with: its title, what is answered, and the example it opens."""

    def __init__(self, title: str, answered: str, example: str, icon: str, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("question")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{title}. {answered}")
        self.picture = Label()
        self._icon = icon
        head = Label(title, role="title", wrap=True)
        example_ = Label(f"Example: {example}" if example else "From your own machine", role="accent", wrap=True)
        in_column(
            self.picture, head, Label(answered, role="muted", wrap=True), 1, example_, on=self, margins=(14, 12, 12, 12)
        )
        for label in self.findChildren(QLabel):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.picture.setPixmap(icons.pixmap(self._icon, theme.accent, 26, self.devicePixelRatioF()))

    def sizeHint(self) -> QSize:
        layout = self.layout()
        high = layout.totalHeightForWidth(max(self.width(), 150)) if layout is not None else 0
        return QSize(150, max(high, 130))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()


class Card(QFrame):
    """A picture with a title and a line below it; click or Enter opens it."""

    opened = Signal()

    def __init__(self, title: str, detail: str, tip: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setFixedWidth(CARD.width())
        self.setMinimumHeight(CARD.height())
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(plain(tip))
        self.setAccessibleName(f"{title}, {detail}" if detail else title)
        self.setAccessibleDescription(tip)
        self._theme = theme
        self._picture: QPixmap | None = None
        self._texts, self._labels = (title, detail), (Label(role="title"), Label(role="muted"))
        in_column(*self._labels, 1, on=self, margins=(14, PICTURE + 12, 12, 10), spacing=2)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        """Shorten the texts to the width."""
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        for label, text, font in zip(self._labels, self._texts, (bold, self.font()), strict=True):
            label.setText(QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, CARD.width() - 30))

    def show_picture(self, picture: QPixmap | None) -> None:
        """Show a picture above the title."""
        self._picture = picture
        self.update()

    @property
    def has_picture(self) -> bool:
        """True if a picture has been made."""
        return self._picture is not None

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture in the upper part, with the round corners of the card."""
        super().paintEvent(event)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            clip = QPainterPath()
            clip.addRoundedRect(QRectF(1.5, 1.5, self.width() - 3, PICTURE + 40), 7, 7)
            painter.setClipPath(clip)
            area = QRectF(1.5, 1.5, self.width() - 3, PICTURE)
            painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
            painter.fillRect(area, QColor(self._theme.sunken))
            if self._picture is not None:
                ratio = self._picture.devicePixelRatio()
                width, height = self._picture.width() / ratio, self._picture.height() / ratio
                at = QRectF(area.center().x() - width / 2, area.center().y() - height / 2, width, height)
                painter.drawPixmap(at, self._picture, QRectF(self._picture.rect()))
            painter.setClipping(False)
            painter.setPen(QColor(self._theme.accent if self.hasFocus() else self._theme.border))
            painter.drawLine(2, PICTURE + 2, self.width() - 3, PICTURE + 2)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Space open."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.opened.emit()
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: object) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)  # type: ignore[arg-type]
        self._mark(True)

    def focusOutEvent(self, event: object) -> None:
        """Show where the keyboard is."""
        super().focusOutEvent(event)  # type: ignore[arg-type]
        self._mark(False)

    def _mark(self, on: bool) -> None:
        self.setProperty("focused", on)
        self.style().unpolish(self)
        self.style().polish(self)
        parent = self.parentWidget()
        if on and parent is not None:
            area = parent.parentWidget()
            while area is not None and not isinstance(area, QScrollArea):
                area = area.parentWidget()
            if area is not None:
                area.ensureWidgetVisible(self, 10, 30)


class CardGrid(QWidget):
    """Cards in as many columns as fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards: list[Card] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._columns = 0

    def set_cards(self, cards: list[Card]) -> None:
        """Show these cards."""
        for card in self.cards:
            if card not in cards:
                self._grid.removeWidget(card)
                card.setParent(None)
                card.deleteLater()
        self.cards = cards
        self.lay(self.width(), again=True)

    def lay(self, width: int, again: bool = False) -> None:
        """Spread the cards over a width."""
        columns = max(1, (width + GAP) // (CARD.width() + GAP))
        # what is left over goes between full rows, so that they end where the heading ends
        spare = width - columns * CARD.width()
        wide = min(spare // (columns - 1), 3 * GAP) if 1 < columns <= len(self.cards) else GAP
        self._grid.setHorizontalSpacing(wide)
        if columns == self._columns and not again:
            return
        self._columns = columns
        for card in self.cards:
            self._grid.removeWidget(card)
        for number, card in enumerate(self.cards):
            self._grid.addWidget(card, number // columns, number % columns)
            card.show()
        for column in range(20):
            self._grid.setColumnStretch(column, 1 if column == columns else 0)


def thumbnail(design: Design, theme: Theme, size: QSize, ratio: float) -> QPixmap:
    """A small picture of a design: boxes in the colours of their kinds, and the links between them."""
    from designer.design.geometry import lay_out

    colours = palette(theme.name)
    geometry = lay_out(design)
    pixmap = QPixmap(round(size.width() * ratio), round(size.height() * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(QColor(theme.sunken))
    if not len(geometry):
        return pixmap
    x, y, width, height = geometry.bounds()
    scale = min((size.width() - 20) / max(width, 1), (size.height() - 16) / max(height, 1))
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(size.width() / 2, size.height() / 2)
        painter.scale(scale, scale)
        painter.translate(-(x + width / 2), -(y + height / 2))
        boxes = geometry.rect.tolist()
        for box, rect in enumerate(boxes):
            if geometry.is_container[box]:
                painter.setPen(_pen(theme.border, 1.2 / scale))
                painter.setBrush(QColor(theme.surface))
                painter.drawRoundedRect(QRectF(*rect), 6 / scale, 6 / scale)
        for connection, points in enumerate(geometry.connection_route.tolist()):
            kind = geometry.connection_kinds[int(geometry.connection_kind[connection])]
            colour = QColor(colours.link(kind))
            colour.setAlpha(150)
            painter.setPen(_pen(colour.name(QColor.NameFormat.HexArgb), 1.1 / scale))
            path = QPainterPath()
            path.moveTo(*points[0])
            for point in points[1:]:
                path.lineTo(*point)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(path)
        painter.setPen(Qt.PenStyle.NoPen)
        for box, rect in enumerate(boxes):
            if not geometry.is_container[box]:
                kind = geometry.kinds[int(geometry.kind[box])]
                painter.setBrush(QColor(colours.kind(kind)))
                painter.drawRoundedRect(QRectF(*rect), 2.5 / scale, 2.5 / scale)
    return pixmap


def _pen(colour: str, width: float) -> QPen:
    return QPen(QColor(colour), width)
