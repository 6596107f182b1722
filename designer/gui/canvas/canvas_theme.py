"""Colours, sizes and the font of the canvas, light and dark. No Qt.

Utilisation runs over a sequential scale whose lightness changes steadily, so it reads without colour vision: on the
light ground a busier link is darker, on the dark ground brighter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

#: utilisation at which the next colour of the scale begins; the last one is a saturated channel
STEPS: Final = (0.05, 0.30, 0.60, 0.80, 0.95)
_LIGHT_HEAT: Final = ("#b9c3cf", "#8fb4c9", "#e0b44c", "#dd8530", "#c2472f", "#7c1d4f")
_DARK_HEAT: Final = ("#4d5866", "#44699b", "#8f5fb5", "#d65f86", "#f79a5c", "#fbe66b")
_LIGHT_ACCENTS: Final = {
    "gpu": "#3f8f4f", "nvswitch": "#7a9a1f", "cpu": "#3a6fb0", "numa": "#6c8fc0", "memory": "#b07d2b",
    "pcie_switch": "#6b7686", "nic": "#1f8a93", "dpu": "#2a7fb8", "switch": "#5b57b0", "storage": "#9a5a3c",
    "drive": "#a8705a", "server": "#56616e", "rack": "#434c57",
}  # fmt: skip
_DARK_ACCENTS: Final = {
    "gpu": "#6cc47c", "nvswitch": "#b3cf58", "cpu": "#77a9e6", "numa": "#93b4df", "memory": "#dba95a",
    "pcie_switch": "#9aa6b6", "nic": "#55c3cc", "dpu": "#62b4ea", "switch": "#9b97ee", "storage": "#d08b6b",
    "drive": "#d6a18b", "server": "#9aa5b1", "rack": "#7f8a96",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CanvasTheme:
    """How the canvas looks.

    Parameters
    ----------
    heat
        Colours of utilisation, idle first; one more than ``STEPS``.
    containers, container_edges
        Fill and edge of containers by nesting depth, repeating.
    accents
        Colour of each part kind.
    """

    name: str
    background: str
    grid: str
    containers: tuple[str, ...]
    container_edges: tuple[str, ...]
    header_text: str
    card: str
    card_edge: str
    text: str
    muted: str
    accents: Mapping[str, str]
    other_accent: str
    wire: str
    heat: tuple[str, ...]
    heat_text: tuple[str, ...]
    selection: str
    hover: str
    guide: str
    good: str
    bad: str
    bound: str
    bound_text: str
    note: str
    note_edge: str
    note_text: str
    pill: str
    pill_text: str
    family: str = "DejaVu Sans"
    title_px: int = 12
    detail_px: int = 11
    header_px: int = 13
    extra: Mapping[str, str] = field(default_factory=dict[str, str])

    def accent(self, kind: str) -> str:
        """Colour of a part kind."""
        return self.accents.get(kind, self.other_accent)

    def tint(self, kind: str, share: float = 0.16) -> str:
        """A quiet fill in the colour of a part kind."""
        return mixed(self.card, self.accent(kind), share)


def mixed(a: str, b: str, share: float) -> str:
    """The colour between two colours ``#rrggbb``."""
    parts = [(int(a[i : i + 2], 16), int(b[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in parts)


LIGHT: Final = CanvasTheme(
    name="light",
    background="#f6f7f9",
    grid="#e2e5ea",
    containers=("#eceff3", "#f7f8fa", "#eceff3"),
    container_edges=("#c5ccd5", "#d3d9e0", "#c5ccd5"),
    header_text="#3d4652",
    card="#ffffff",
    card_edge="#b9c1cb",
    text="#1d232b",
    muted="#66707d",
    accents=_LIGHT_ACCENTS,
    other_accent="#6b7686",
    wire="#9aa5b2",
    heat=_LIGHT_HEAT,
    heat_text=("#1d232b", "#1d232b", "#1d232b", "#1d232b", "#ffffff", "#ffffff"),
    selection="#2563eb",
    hover="#7aa2f7",
    guide="#e0408a",
    good="#15803d",
    bad="#b91c1c",
    bound="#7c1d4f",
    bound_text="#ffffff",
    note="#fff6d6",
    note_edge="#e2cf8d",
    note_text="#4a3f17",
    pill="#ffffff",
    pill_text="#1d232b",
)

DARK: Final = CanvasTheme(
    name="dark",
    background="#15181d",
    grid="#22272e",
    containers=("#1c2027", "#232831", "#1c2027"),
    container_edges=("#39414c", "#434c58", "#39414c"),
    header_text="#c5ced9",
    card="#2a3039",
    card_edge="#4a5461",
    text="#e8ecf1",
    muted="#98a3b0",
    accents=_DARK_ACCENTS,
    other_accent="#9aa6b6",
    wire="#6d7886",
    heat=_DARK_HEAT,
    heat_text=("#e8ecf1", "#ffffff", "#ffffff", "#ffffff", "#15181d", "#15181d"),
    selection="#6ea0ff",
    hover="#8db4ff",
    guide="#ff78b4",
    good="#5ad17f",
    bad="#ff7b72",
    bound="#fbe66b",
    bound_text="#15181d",
    note="#3a3420",
    note_edge="#5d532f",
    note_text="#eadfb4",
    pill="#2f3640",
    pill_text="#e8ecf1",
)
