"""Renaming on the canvas: an editor over the name of a part, group or note, until Enter or Escape."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QToolTip, QWidget

from designer.design.address import Address, Ref
from designer.design.arrange.sizes import HEADER
from designer.design.edit import Edit
from designer.design.edits.groups import ChangeGroups
from designer.design.edits.parts import ChangeParts
from designer.design.geometry import Geometry
from designer.drawing.view import View
from designer.errors import DocumentError
from designer.gui.controls import plain
from designer.gui.session import Session

#: names are stated in lists and reports too: what is longer is refused
LONGEST: Final = 200
#: extent of the editor at least [px]
_LEAST: Final = (120, 26)


def rename(within: Address, ref: Ref, name: str) -> Edit:
    """The edit that gives a part or group another name.

    Raises
    ------
    DocumentError
        If it cannot be called that.
    """
    name = " ".join(name.split())
    if len(name) > LONGEST:
        raise DocumentError(
            f"a name of {len(name)} letters is too long", remedy=f"use at most {LONGEST}, and notes for the rest"
        )
    if any(not c.isprintable() for c in name):
        raise DocumentError("a name cannot hold control characters", remedy="type it again")
    change = ChangeParts if ref.what == "parts" else ChangeGroups
    return change((ref.id,), {"name": name}, within=within)


class NameEditor(QLineEdit):
    """A line over the name of a box; Enter takes it, Escape and a click elsewhere leave the name as it was.

    A name that is refused stays in the editor, with the reason next to it.
    """

    def __init__(self, canvas: QWidget, session: Session, geometry: Geometry, view: View, box: int) -> None:
        super().__init__(canvas)
        self._canvas, self._session = canvas, session
        self._address, self._ref = geometry.address(box)
        self._before = geometry.label(box)
        self.setText(self._before)
        self.setAccessibleName(f"Name of {self._before}")
        self.setMaxLength(10 * LONGEST)
        self.setGeometry(_place(geometry, view, box))
        self.returnPressed.connect(self._take)
        self.show()
        self.selectAll()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take(self) -> None:
        if self.text().strip() in (self._before, ""):
            self._leave()
            return
        said: list[str] = []
        session = self._session
        try:
            edit = rename(self._address, self._ref, self.text())
        except DocumentError as error:
            said.append(f"{error.text} — {error.remedy}")
        else:
            session.warned.connect(said.append)
            done = session.apply(edit)
            session.warned.disconnect(said.append)
            if done:
                self._leave()
                return
        QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), plain("\n".join(said) or "refused"), self)
        self.setToolTip(plain("\n".join(said)))
        self.selectAll()

    def _leave(self) -> None:
        self._canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        self.close()

    def event(self, event: QEvent) -> bool:
        """Keys are the editor's own while it is open: none reaches the menus."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Leave the name as it was when the focus moves elsewhere."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves the name as it was."""
        if event.key() == Qt.Key.Key_Escape:
            self._leave()
            return
        super().keyPressEvent(event)
        event.accept()


def _place(geometry: Geometry, view: View, box: int) -> QRect:
    """Rectangle of the name of a box, as large as can be typed in, and within the view."""
    x, y, wide, high = geometry.rect[box].tolist()
    left, top = view.to_view(x, y)
    tall = (min(high, HEADER) if geometry.is_container[box] else high) * view.scale
    width = min(max(_LEAST[0], round(wide * view.scale)), view.width)
    height = max(_LEAST[1], min(round(tall), 36))
    found = QRect(round(left), round(top + (tall - height) / 2), width, height)
    found.moveLeft(max(0, min(found.left(), view.width - width)))
    found.moveTop(max(0, min(found.top(), view.height - height)))
    return found
