"""Where one looked at each file last: kept in the settings, never in the file, and shown again when it is opened."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, QTimer

from designer.gui.canvas.canvas import Canvas
from designer.gui.settings import Settings

#: the view has come to rest after so long [ms]
_REST: Final = 150


class LastView(QObject):
    """Keeps the view of a canvas for its file, and goes back to it once everything has its place.

    It lives as long as the canvas. A view that shows the whole design is not kept: on another screen the whole design
    is another view.
    """

    def __init__(self, canvas: Canvas, settings: Settings) -> None:
        super().__init__(canvas)
        self._canvas, self._settings = canvas, settings
        self._ready = False
        self._later = QTimer(self, singleShot=True, interval=_REST)
        self._later.timeout.connect(self.keep)
        canvas.view_changed.connect(self._later.start)
        canvas.session.file_changed.connect(self.keep)
        QTimer.singleShot(0, self, self.show_again)

    def show_again(self) -> None:
        """Look where one looked last, if part of the design is still to be seen there."""
        self._ready = True
        canvas, file = self._canvas, self._canvas.session.file
        kept = self._settings.view_of(file) if file is not None else None
        if kept is None:
            return
        scale, x, y = kept
        view = canvas.view
        view = replace(view, scale=scale, x=view.width / 2 - x * scale, y=view.height / 2 - y * scale)
        if len(canvas.scene.view_state.boxes.index.touching(*view.visible())):
            canvas.set_view(view)

    def keep(self, *_: object) -> None:
        """Remember the view now."""
        self._later.stop()
        canvas, file = self._canvas, self._canvas.session.file
        if file is None or not self._ready:
            return
        view = canvas.camera.target
        if canvas.shows_all():
            self._settings.set_view_of(file, None)
        else:
            self._settings.set_view_of(file, (view.scale, *view.to_scene(view.width / 2, view.height / 2)))
