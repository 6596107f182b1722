"""Moving the view: at once, or gliding there shortly; a movement by hand takes over."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTimer

from designer.drawing.view import View

_DURATION: Final = 0.18
_TICK: Final = 15


class Camera(QObject):
    """The present view, and the way to another one.

    Parameters
    ----------
    moved
        Called after each change of the view.
    """

    def __init__(self, moved: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self.view = View()
        #: with reduced motion views change at once
        self.animated = True
        self._moved = moved
        self._past: list[View] = []
        self._start, self._target, self._began = self.view, self.view, 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._step)

    @property
    def gliding(self) -> bool:
        """True while the view moves."""
        return self._timer.isActive()

    @property
    def target(self) -> View:
        """The view at the end of the running animation."""
        return self._target if self.gliding else self.view

    def set(self, view: View) -> None:
        """Look there at once."""
        self._timer.stop()
        if view != self.view:
            self.view = view
            self._moved()

    def glide(self, view: View, remember: bool = True) -> None:
        """Go there in a moment."""
        if remember:
            self._past.append(self.view)
            del self._past[:-50]
        if not self.animated:
            self.set(view)
            return
        self._start, self._target, self._began = self.view, view, time.monotonic()
        self._timer.start()

    def back(self) -> None:
        """Go to where the view was before the last glide."""
        if self._past:
            self.glide(self._past.pop(), remember=False)

    def stop(self) -> None:
        """Stop moving, where the view is now."""
        self._timer.stop()

    def _step(self) -> None:
        share = (time.monotonic() - self._began) / _DURATION
        if share >= 1:
            self._timer.stop()
            self.view = self._target
        else:
            self.view = self._start.between(self._target, 1 - (1 - share) ** 3)
        self._moved()
