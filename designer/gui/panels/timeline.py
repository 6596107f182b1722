"""The timeline: where the time of a step or of a request goes."""

from __future__ import annotations

from designer.gui.panels._figures import FiguresPanel
from designer.gui.panels._panel import PanelKind, Side

_EMPTY = "The shown workload has no timeline of a step."
PANEL = PanelKind(
    "timeline",
    "Timeline",
    Side.BOTTOM,
    60,
    lambda s: FiguresPanel("timeline", _EMPTY, s.theme),
)
