"""Moving the view by dragging: middle button, right button on anything, or Space and the left button."""

from __future__ import annotations

from PySide6.QtCore import Qt

from designer.gui.canvas.tools._tool import Pointer, Press, Rest, Tool, ToolCanvas, ToolKind


class Pan(Tool):
    """The view follows the hand. A right click that does not move asks for the context menu."""

    cursor = Qt.CursorShape.ClosedHandCursor

    def __init__(self, host: ToolCanvas, start: Pointer) -> None:
        super().__init__(host)
        self._start = start
        self._view = host.view
        self._moved = False

    def move(self, p: Pointer) -> None:
        if self._moved or p.far_from(self._start):
            self._moved = True
            self.host.set_view(self._view.panned(p.x - self._start.x, p.y - self._start.y))

    def release(self, p: Pointer) -> None:
        if p.button is not self._start.button:
            return
        self.host.finish()
        if not self._moved and p.button is Qt.MouseButton.RightButton:
            self.host.ask_context(p, self.host.hit(p))

    def cancel(self) -> bool:
        """The view goes back to where it was."""
        self.host.set_view(self._view)
        self.host.finish()
        return True

    def redrawn(self) -> None:
        """A changing design does not disturb the view."""


class Hand(Tool):
    """Space is held, or the hand was chosen: the next drag moves the view."""

    hint = "Drag to move the view"
    cursor = Qt.CursorShape.OpenHandCursor

    def __init__(self, host: ToolCanvas, held: bool = True) -> None:
        super().__init__(host)
        self._held = held
        self._pan: Pan | None = None

    def press(self, p: Pointer) -> None:
        self._pan = Pan(self.host, p)
        self.host.set_cursor(Pan.cursor)

    def move(self, p: Pointer) -> None:
        if self._pan is not None:
            self._pan.move(p)

    def release(self, p: Pointer) -> None:
        self._pan = None
        self.host.set_cursor(self.cursor)

    def key_up(self, press: Press) -> bool:
        if press.key == Qt.Key.Key_Space and self._held:
            self.host.finish()
            return True
        return False

    def redrawn(self) -> None:
        """Nothing to do."""


def _press(rest: Rest, p: Pointer) -> Tool | None:
    """With the middle or the right button."""
    if p.button is Qt.MouseButton.RightButton:
        rest.choose_for_menu(rest.host.hit(p))
    elif p.button is not Qt.MouseButton.MiddleButton:
        return None
    return Pan(rest.host, p)


def _key(rest: Rest, press: Press) -> bool:
    if press.key != Qt.Key.Key_Space:
        return False
    rest.host.switch(Hand(rest.host))
    return True


TOOL = ToolKind(
    "pan",
    30,
    _press,
    key=_key,
    take_up=lambda host: host.switch(Hand(host, held=False)),
    title="Move the view",
    shortcut=("H",),
    icon="pan",
)
