"""Charts of an answer: where the time of a step or a request goes, memory, queues."""

from __future__ import annotations

from typing import Final

from designer.gui.panels._figures import FiguresPanel
from designer.gui.panels._panel import PanelKind, Place

_EMPTY = "The shown workload has no timeline of a step."
#: kinds of workloads that have no such chart
_WITHOUT: Final = ("transfer", "collective", "migration", "evacuation")
PANEL = PanelKind(
    "timeline",
    "Charts",
    Place.ANSWER,
    30,
    lambda s: FiguresPanel("timeline", _EMPTY, s.theme),
    wanted=lambda s: s.result is not None and s.result.kind not in _WITHOUT,
)
