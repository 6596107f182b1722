"""What if: which link or part would gain most, were it twice as fast."""

from __future__ import annotations

from designer.gui.panels._figures import FiguresPanel
from designer.gui.panels._panel import PanelKind, Place

_EMPTY = "Nothing binds yet: add a workload."
PANEL = PanelKind(
    "whatif",
    "Gains",
    Place.IMPROVE,
    20,
    lambda s: FiguresPanel("whatif", _EMPTY, s.theme),
    "Alt+9",
)
