"""Scaling: speed-up over the number of accelerators, and what is lost."""

from __future__ import annotations

from designer.gui.panels._figures import FiguresPanel
from designer.gui.panels._panel import PanelKind, Side

_EMPTY = "The shown workload has no scaling curve."
PANEL = PanelKind(
    "scaling",
    "Scaling",
    Side.BOTTOM,
    90,
    lambda s: FiguresPanel("scaling", _EMPTY, s.theme),
)
