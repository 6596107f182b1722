"""Actions that the files of tools and panels say themselves; loaded with the first document, not for the start page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from designer.gui.actions._action import Action, Window, has_document, has_selection
from designer.gui.canvas.tools._tool import ToolKind, tool_kinds
from designer.gui.panels._panel import panel_kinds

#: section of the view menu
_PANELS = 5


def late_actions() -> Mapping[str, tuple[Action, ...]]:
    """The actions by the name of their menu."""
    found: dict[str, list[Action]] = {}
    for menu, action in (*_of_tools(), *(("view", action) for action in _of_panels())):
        found.setdefault(menu, []).append(action)
    return {menu: tuple(actions) for menu, actions in found.items()}


def tools_of_toolbar() -> tuple[str, ...]:
    """The actions of tools with an icon, in order."""
    return tuple(action.id for _, action in _of_tools() if action.icon)


def _of_tools() -> list[tuple[str, Action]]:
    return [
        (
            kind.menu,
            Action(
                f"{kind.menu}.{kind.name}",
                kind.title,
                _take_up(kind),
                kind.shortcut,
                has_selection if kind.on_selection else has_document,
                kind.icon,
                kind.section,
                words=kind.words,
            ),
        )
        for kind in tool_kinds()
        if kind.take_up is not None
    ]


def _take_up(kind: ToolKind) -> Callable[[Window], object]:
    def run(window: Window) -> None:
        canvas = window.canvas
        if canvas is None or kind.take_up is None:
            return
        if kind.on_selection and not canvas.hasFocus():
            # asked for from the outline: the parts are brought into sight, and the next keys are the tool's
            canvas.reveal(canvas.session.selection)
            canvas.setFocus()
        kind.take_up(canvas)

    return run


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
