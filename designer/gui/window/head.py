"""The head of the window: menus, tabs, the state of saving and the search in one row."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QMenuBar, QToolButton, QWidget

from designer.gui.layouts import in_row

_HIGH: Final = 40
#: points of the text at 100 %, and the width from which the bar of menus has room next to the tabs [px]
_POINTS: Final = 9.5
_BROAD: Final = 1180


class Head(QWidget):
    """Shows the menus as a bar, in narrow windows behind one button.

    Parameters
    ----------
    bar
        The bar of menus; keys of actions work while it is hidden.
    tabs, saving, search
        What is next to it.
    """

    def __init__(self, bar: QMenuBar, tabs: QWidget, saving: QWidget, search: QWidget) -> None:
        super().__init__()
        self.setObjectName("head")
        self.bar, self.button = bar, QToolButton()
        self.button.setText("☰  &Menu")
        self.button.setAccessibleName("Menu")
        self.button.setToolTip("All menus  (Alt+M)")
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        menu = QMenu(self.button)
        menu.aboutToShow.connect(self._fill)
        self.button.setMenu(menu)
        self.button.hide()
        # the empty room is only wide while no tabs are shown
        in_row(self.button, bar, (tabs, 1), 0, saving, search, on=self, margins=(2, 0, 6, 0), spacing=6)
        self.fit()

    def fit(self) -> None:
        """Be as high as the text needs by now."""
        self.setFixedHeight(max(_HIGH, self.sizeHint().height()))

    def _fill(self) -> None:
        menu = self.button.menu()
        menu.clear()
        menu.addActions(self.bar.actions())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._choose()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._choose()

    def _choose(self) -> None:
        """The bar where there is room for it."""
        narrow = self.width() < _BROAD * max(1.0, self.font().pointSizeF() / _POINTS)
        if narrow == self.button.isHidden():
            self.button.setVisible(narrow)
            self.bar.setVisible(not narrow)
