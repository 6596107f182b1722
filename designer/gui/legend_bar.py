"""The strip below the canvas: what its colours and strokes mean, what can be done now, and how near the eye is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolButton, QWidget

from designer.drawing.theme import STEPS, CanvasTheme, mixed
from designer.gui.controls import plain
from designer.gui.layouts import in_row
from designer.gui.toolbar import Hint

if TYPE_CHECKING:
    from designer.drawing.view_state import ViewState
    from designer.gui.canvas.canvas import Canvas

_SAMPLE, _CELL, _GAP, _APART = 22, 26, 6, 16


class Keys(QWidget):
    """Samples of what is drawn, each with a word."""

    def __init__(self) -> None:
        super().__init__()
        self._theme: CanvasTheme | None = None
        #: text, colour, width and whether it is dashed; a width of 0 for an outlined part
        self._samples: tuple[tuple[str, str, float, bool], ...] = ()
        self._heat: tuple[str, ...] = ()
        self._title = ""
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("Legend")

    def show_state(self, state: ViewState) -> None:
        """Explain what a picture shows."""
        loads, theme = state.loads, state.theme
        samples: list[tuple[str, str, float, bool]] = []
        if loads.box_bottleneck.any():
            samples.append(("limits", theme.bottleneck, 0.0, False))
        elif loads.bottleneck.any():
            samples.append(("limits", theme.bottleneck, 4.0, False))
        if loads.failed.any() or loads.box_failed.any():
            marked = loads.failed_words or loads.box_failed_words
            samples.append(("deviates" if marked else "failed", theme.bad, 2.0, True))
        if loads.assumed.any():
            samples.append(("rate assumed", theme.muted, 2.0, True))
        if state.calm:
            samples += [("carries traffic", mixed(theme.containers[0], theme.muted, 0.62), 3.0, False)]
            samples += [("idle", theme.card_edge, 1.0, False)]
        heat = tuple(theme.heat) if loads.known and not state.calm else ()
        title = ("Utilization, out of date" if state.stale else loads.title or "Utilization") if heat else ""
        new = (theme, tuple(samples), heat, title)
        if new != (self._theme, self._samples, self._heat, self._title):
            self._theme, self._samples, self._heat, self._title = new
            self.setAccessibleDescription(", ".join(x for x in (title, *(text for text, *_ in samples)) if x))
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        wide = sum(_SAMPLE + _GAP + metrics.horizontalAdvance(text) + _APART for text, *_ in self._samples)
        if self._heat:
            wide += metrics.horizontalAdvance(self._title) + _GAP + len(self._heat) * _CELL + _APART
        return QSize(wide, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        if theme is None:
            return
        metrics, middle, x = self.fontMetrics(), self.height() / 2, 0.0
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for text, colour, width, dashed in self._samples:
                pen = QPen(QColor(colour), width or 2.0)
                pen.setCapStyle(Qt.PenCapStyle.FlatCap)
                if dashed:
                    pen.setDashPattern([2.0, 1.5])
                painter.setPen(pen)
                if width:
                    painter.drawLine(QPointF(x, middle), QPointF(x + _SAMPLE, middle))
                else:
                    tint = QColor(colour)
                    tint.setAlpha(40)
                    painter.setBrush(tint)
                    painter.drawRoundedRect(QRectF(x + 1, middle - 6, _SAMPLE - 2, 12), 3, 3)
                x = self._write(painter, text, x + _SAMPLE + _GAP) + _APART
            if self._heat:
                x = self._write(painter, self._title, x) + _GAP
                for k, colour in enumerate(self._heat):
                    painter.fillRect(QRectF(x, middle - 9, _CELL - 1, 6), QColor(colour))
                    if k:
                        share = f"{STEPS[k - 1] * 100:.0f}%"
                        place = QRectF(x - _CELL / 2, middle - 3, _CELL, metrics.height())
                        painter.setPen(QColor(theme.muted))
                        font = painter.font()
                        font.setPointSizeF(self.font().pointSizeF() * 0.8)
                        painter.setFont(font)
                        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, share)
                        painter.setFont(self.font())
                    x += _CELL

    def _write(self, painter: QPainter, text: str, x: float) -> float:
        assert self._theme is not None
        painter.setPen(QColor(self._theme.muted))
        wide = self.fontMetrics().horizontalAdvance(text) + 1
        place = QRectF(x, 0, wide, self.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        return x + wide


class LegendBar(QFrame):
    """Follows one canvas at a time."""

    def __init__(self, hint: Hint, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("strip")
        self.keys, self.hint = Keys(), hint
        self._canvas: Canvas | None = None
        self._line = in_row(self.keys, (hint, 1), on=self, margins=(12, 0, 8, 0), spacing=4)
        self.scale = QToolButton()
        self.scale.setAccessibleName("Scale of the drawing")
        self.scale.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def add_actions(self, actions: Mapping[str, QAction], run: Callable[[str], object]) -> None:
        """Put in the buttons of time and of the eye; the first document brings them."""
        self.scale.setToolTip(plain("Actual size"))
        self.scale.clicked.connect(lambda: run("view.actual"))
        for action_id, text in (("time.run", "Time  F6"), ("view.zoom_out", "−"), ("", ""), ("view.zoom_in", "+")):
            if not action_id:
                self._line.addWidget(self.scale)
                continue
            button = QToolButton()
            button.setText(text)
            button.setAccessibleName(actions[action_id].text())
            button.setToolTip(plain(actions[action_id].text()))
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.clicked.connect(partial(_run, run, action_id))
            self._line.addWidget(button)
        fit = QToolButton()
        fit.setDefaultAction(actions["view.fit"])
        fit.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        fit.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._line.addWidget(fit)
        self.scale.setText("100%")
        self.fit()

    def fit(self) -> None:
        """Be as wide as the scale needs by now."""
        self.scale.setFixedWidth(self.scale.sizeHint().width() + 10)

    def follow(self, canvas: Canvas | None) -> None:
        """Explain another canvas."""
        if self._canvas is not None:
            self._canvas.view_changed.disconnect(self._show_scale)
        self._canvas = canvas
        if canvas is not None:
            canvas.view_changed.connect(self._show_scale)
            self._show_scale()
            self.keys.show_state(canvas.scene.view_state)

    def explain(self, canvas: Canvas) -> None:
        """What a canvas shows is another; one that is not in front is not explained."""
        if canvas is self._canvas:
            self.keys.show_state(canvas.scene.view_state)

    def _show_scale(self) -> None:
        if self._canvas is not None:
            text = f"{self._canvas.view.scale * 100:.0f}%"
            if text != self.scale.text():
                self.scale.setText(text)


def _run(run: Callable[[str], object], action_id: str, *_: object) -> None:
    run(action_id)
