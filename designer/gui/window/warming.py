"""Getting ready while the start page is looked at: what the first design needs is loaded and made beforehand.

Files and modules are read on a thread; widgets are made on that of the window, a panel at a time, so that it answers
in between.
"""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from PySide6.QtCore import QObject, QTimer

from designer.drawing.fonts import text_width
from designer.gui.workers import Cancelled_, Newest, study
from designer.interchange.templates import list_templates, open_design

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

    from designer.gui.panels._panel import PanelKind
    from designer.gui.places import Places

#: what the first design, its analysis and the first forms load
_MODULES: Final = (
    "designer.gui.workspace",
    "designer.gui.canvas.canvas",
    "designer.gui.canvas.machine_watch",
    "designer.gui.last_views",
    "designer.gui.actions._late",
    "designer.gui.actions.edit",
    "designer.gui.actions._members",
    "designer.gui.places",
    "designer.gui.time_bar",
    "designer.gui.window.lighting",
    "designer.gui.searching",
    "designer.gui.inserting",
    "designer.gui.workload_form",
    "designer.gui.dialogs.command_palette",
    "designer.gui.dialogs.workload_dialog",
    "designer.analysis.study",
    "designer.checks.runner",
    "designer.gui.window.saving",
    "designer.gui.viewmodels.findings",
    "designer.interchange.overrides",
    "designer.report.figures.flow_stages",
)
#: a template that is analysed in no time, and trains
_SMALL: Final = "m40-server"
#: what names are spelled with
_LETTERS: Final = "".join(map(chr, range(32, 127))) + "×·…"
#: the window comes first [ms]
_AFTER_MS: Final = 400
_LATER_MS: Final = 3000
#: between two panels [ms]
_PAUSE_MS: Final = 15


class WarmingWindow(Protocol):
    """What is asked of the window."""

    places: Places | None

    def find_icon(self, kind: str) -> QIcon | None:
        """Icon of a kind of part."""
        ...

    def make_panel(self, kind: PanelKind) -> None:
        """Make a panel before the places are wanted."""
        ...

    def make_places(self) -> None:
        """Make the places before a document is there."""
        ...


class Warming(QObject):
    """Makes a window ready for its first design."""

    def __init__(self, window: WarmingWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self.done = False
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._loaded)
        self._steps: deque[Callable[[], object]] = deque()
        self._timer = QTimer(self, interval=_PAUSE_MS)
        self._timer.timeout.connect(self._next)
        self._start = QTimer(self, singleShot=True, interval=_AFTER_MS)
        self._start.timeout.connect(lambda: self._jobs.submit(load))

    def begin(self, at_once: bool) -> None:
        """Start in a moment; or when what is opened has been shown."""
        self._start.start(_AFTER_MS if at_once else _LATER_MS)

    def close(self) -> None:
        """Stop."""
        self._start.stop()
        self._timer.stop()
        self._jobs.close()

    def _loaded(self, _ticket: int, result: object) -> None:
        if isinstance(result, Exception):
            # the code that needs it reports the error
            return
        from designer.catalog.parttype import part_kinds
        from designer.gui.panels._panel import panel_kinds

        window = self._window
        self._steps.extend(partial(window.find_icon, kind) for kind in part_kinds())
        self._steps.extend(partial(window.make_panel, kind) for kind in panel_kinds())
        self._steps.append(window.make_places)
        self._timer.start()

    def _next(self) -> None:
        if self._steps and self._window.places is None:
            self._steps.popleft()()
            return
        self._timer.stop()
        self.done = True


def load(cancelled: Cancelled_) -> None:
    """Load modules, the catalogue and the list of templates; can be called from a thread."""
    for name in _MODULES:
        if cancelled():
            return
        importlib.import_module(name)
    from designer.catalog.loader import load_catalog
    from designer.catalog.sources import shipped_sources
    from designer.gui.panels._panel import panel_kinds
    from designer.gui.viewmodels import palette
    from designer.report.figure_kinds import figure_kinds
    from designer.rules.rule import rules
    from designer.workload.models import models

    panel_kinds()
    figure_kinds()
    for bold in (False, True):
        # reads the font file: most of the time of a first drawing
        text_width(_LETTERS, 1.0, bold)
    rules()
    models()
    shipped_sources()
    # a word is searched as well: what parts can be found by is worked out at the first search
    for query in ("", "gpu"):
        palette.tree(load_catalog(), list_templates(), query)
    if not cancelled():
        # analyses load the formulas they need when they are first asked
        study(open_design(_SMALL), "", False, cancelled, _quiet)


def _quiet(_share: float, _text: str) -> None:
    """Progress that is not reported."""
