"""What an empty canvas says: the ways to begin. Clicks and drops go through it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from designer.drawing.theme import CanvasTheme
from designer.gui.controls import Label
from designer.gui.layouts import in_column

_WAYS: Final = (
    ("Drag in", "a part or a whole server from the list at the left"),
    ("Ctrl+P", "search parts and templates, Enter puts the first in"),
    ("Double-click", "add a part right here"),
    ("Ctrl+V", "paste nvidia-smi topo -m, NCCL XML or lstopo XML of a machine"),
    ("Ctrl+K", "search every command"),
)


class Blank(QWidget):
    """A few lines of help in the middle of an empty canvas."""

    def __init__(self, theme: CanvasTheme, over: QWidget) -> None:
        super().__init__(over)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.title = Label("Nothing drawn yet")
        self._keys: list[QLabel] = []
        self._words: list[QLabel] = []
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(8)
        for row, (key, words) in enumerate(_WAYS):
            self._keys.append(Label(key))
            self._words.append(Label(words))
            self._keys[-1].setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(self._keys[-1], row, 0)
            grid.addWidget(self._words[-1], row, 1)
        in_column((self.title, 0, Qt.AlignmentFlag.AlignHCenter), grid, on=self, margins=(16, 16, 16, 16), spacing=14)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: CanvasTheme) -> None:
        """Other colours."""
        self.title.setStyleSheet(f"color: {theme.text}; font-size: 14pt; font-weight: 600;")
        for label in self._keys:
            label.setStyleSheet(f"color: {theme.text}; font-weight: 600;")
        for label in self._words:
            label.setStyleSheet(f"color: {theme.muted};")

    def show_if(self, empty: bool) -> None:
        """Show it where nothing is drawn and there is room for it."""
        over = self.parentWidget()
        assert over is not None
        self.adjustSize()
        fits = over.width() >= self.width() and over.height() >= self.height()
        self.setVisible(empty and fits)
        self.move((over.width() - self.width()) // 2, max(0, (over.height() - self.height()) // 2))
