"""Actions that the files of panels say themselves; loaded with the first document, not for the start page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from designer.gui.actions._action import Action, Window
from designer.gui.panels._panel import panel_kinds

#: section of the view menu
_PANELS = 5


def late_actions() -> Mapping[str, tuple[Action, ...]]:
    """The actions by the name of their menu."""
    return {"view": _of_panels()}


def _of_panels() -> tuple[Action, ...]:
    return tuple(
        Action(
            f"view.panel_{kind.name}",
            f"Show {kind.title}",
            _show(kind.name),
            (kind.shortcut,) if kind.shortcut else (),
            section=_PANELS,
            under="Panels",
        )
        for kind in panel_kinds()
    )


def _show(name: str) -> Callable[[Window], object]:
    return lambda window: window.show_panel(name)
