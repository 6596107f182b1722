"""What a panel says where the shown workload has nothing for it, and the way to one that has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from designer.gui.layouts import in_column
from designer.gui.panels._widgets import WidgetColumn, quiet
from designer.plain_text import HEADING, in_one_line

#: so many workloads are offered
_MOST: Final = 4


class EmptyPage(QWidget):
    """A sentence, and below it a button for each workload of the design that has what this one lacks.

    Signals
    -------
    wanted : ``str``
        Id of the workload to show.
    """

    wanted = Signal(str)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.text = quiet(text)
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._buttons = WidgetColumn()
        self._buttons.setSpacing(2)
        self._offered: tuple[tuple[str, str], ...] = ()
        in_column(1, self.text, self._buttons, 1, on=self, margins=(14, 12, 14, 12), spacing=8)

    def offer(self, workloads: Sequence[tuple[str, str]]) -> None:
        """Offer other workloads, as id and title."""
        offered = tuple(workloads[:_MOST])
        if offered == self._offered:
            return
        self._offered = offered
        self._buttons.let_go()
        for key, title in offered:
            button = QPushButton(f"Show “{in_one_line(title, HEADING)}”".replace("&", "&&"))
            button.setProperty("link", True)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(partial(self._wanted, key))
            self._buttons.put(button, Qt.AlignmentFlag.AlignHCenter)

    def _wanted(self, key: str, *_: object) -> None:
        self.wanted.emit(key)
