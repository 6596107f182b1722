"""Keys and mouse from outside the program: events that the X server makes, as a person's keyboard and mouse do.

They take the whole way: the server finds the window under the pointer and the one with the focus, popups grab what they
need, Qt reads its connection. Events that a test hands to a widget itself skip all of that.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

_NAMES = {
    Qt.Key.Key_Return: "Return",
    Qt.Key.Key_Escape: "Escape",
    Qt.Key.Key_Tab: "Tab",
    Qt.Key.Key_Up: "Up",
    Qt.Key.Key_Down: "Down",
    Qt.Key.Key_Left: "Left",
    Qt.Key.Key_Right: "Right",
    Qt.Key.Key_Delete: "Delete",
    Qt.Key.Key_Space: "space",
}
_LETTERS = {" ": "space", "-": "minus", "_": "underscore", ".": "period", "/": "slash", ",": "comma", "%": "percent"}
_SHIFTED = set("_%:?()+*\"'") - set("'")
_KEYS = {
    Qt.KeyboardModifier.ControlModifier: "Control_L",
    Qt.KeyboardModifier.ShiftModifier: "Shift_L",
    Qt.KeyboardModifier.AltModifier: "Alt_L",
}


class Server:
    """The keyboard and mouse of the X server the program runs on."""

    def __init__(self, x11: ctypes.CDLL, test: ctypes.CDLL) -> None:
        self._x, self._test = x11, test
        x11.XOpenDisplay.restype = ctypes.c_void_p
        x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
        x11.XStringToKeysym.restype = ctypes.c_ulong
        x11.XStringToKeysym.argtypes = [ctypes.c_char_p]
        x11.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        x11.XKeysymToKeycode.restype = ctypes.c_ubyte
        x11.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
        x11.XSetInputFocus.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_ulong]
        test.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
        test.XTestFakeButtonEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
        test.XTestFakeMotionEvent.argtypes = [ctypes.c_void_p] + [ctypes.c_int] * 3 + [ctypes.c_ulong]
        self._display = x11.XOpenDisplay(None)
        if not self._display:
            raise OSError("no X server")

    def _key(self, name: str, down: bool) -> None:
        code = self._x.XKeysymToKeycode(self._display, self._x.XStringToKeysym(name.encode()))
        assert code, f"no key for {name!r}"
        self._test.XTestFakeKeyEvent(self._display, code, int(down), 0)

    def _held(self, keys: Qt.KeyboardModifier) -> list[str]:
        return [name for modifier, name in _KEYS.items() if keys & modifier]

    def _stroke(self, name: str, held: list[str]) -> None:
        for modifier in held:
            self._key(modifier, True)
        self._key(name, True)
        self._key(name, False)
        for modifier in reversed(held):
            self._key(modifier, False)
        self.sync()

    def press(self, key: Qt.Key, keys: Qt.KeyboardModifier) -> None:
        """A key or chord."""
        self._stroke(_NAMES.get(key) or chr(key.value).lower(), self._held(keys))

    def letter(self, letter: str) -> None:
        """One letter of a word."""
        name = _LETTERS.get(letter, letter)
        self._stroke(name, ["Shift_L"] if letter.isupper() or letter in _SHIFTED else [])

    def move(self, widget: QWidget, at: QPoint) -> None:
        """The pointer to a place of a widget."""
        ratio = widget.devicePixelRatioF()
        point = widget.mapToGlobal(at) * ratio
        self._test.XTestFakeMotionEvent(self._display, -1, point.x(), point.y(), 0)
        self.sync()

    def button(self, down: bool, number: int = 1) -> None:
        """A button of the mouse; 4 and 5 turn the wheel."""
        self._test.XTestFakeButtonEvent(self._display, number, int(down), 0)
        self.sync()

    def click(self, widget: QWidget, at: QPoint, keys: Qt.KeyboardModifier, number: int = 1) -> None:
        """A click, with keys held."""
        self.move(widget, at)
        for modifier in self._held(keys):
            self._key(modifier, True)
        self.button(True, number)
        self.button(False, number)
        for modifier in reversed(self._held(keys)):
            self._key(modifier, False)
        self.sync()

    def focus(self, window: QWidget) -> None:
        """Give a window the keyboard, as a window manager would."""
        self._x.XSetInputFocus(self._display, window.winId(), 1, 0)
        self.sync()

    def sync(self) -> None:
        """Wait until the server has made the events."""
        self._x.XSync(self._display, 0)


@cache
def server() -> Server | None:
    """The X server of the program; None elsewhere, or where its library for tests is missing."""
    if QGuiApplication.platformName() != "xcb":
        return None
    try:
        return Server(ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6"))
    except OSError:
        return None
