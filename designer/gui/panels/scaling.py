"""Scaling: speed-up over the number of accelerators, and what is lost."""

from __future__ import annotations

from designer.gui.panels._figures import FiguresPanel
from designer.gui.panels._panel import PanelKind, Place

_EMPTY = "The shown workload has no scaling curve."
PANEL = PanelKind(
    "scaling",
    "Scaling",
    Place.ANSWER,
    40,
    lambda s: FiguresPanel("scaling", _EMPTY, s.theme),
    wanted=lambda s: s.result is not None and bool(s.result.curves.get("scaling")),
)
