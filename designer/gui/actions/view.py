"""View: zoom, tools, panels, themes, the command palette; panels say their own actions in their files."""

from __future__ import annotations

from collections.abc import Callable

from designer.gui.actions import _members as members
from designer.gui.actions._action import Action, Menu, Window, has_document, has_selection


def _on_canvas(name: str, *values: object) -> Callable[[Window], object]:
    """Runs a method of the canvas shown."""

    def run(window: Window) -> object:
        return getattr(window.canvas, name)(*values) if window.canvas is not None else None

    return run


def _theme(name: str) -> Callable[[Window], object]:
    return lambda window: window.set_theme(name)


def _is_theme(name: str) -> Callable[[Window], bool]:
    return lambda window: window.settings.theme == name


def _toggle_minimap(window: Window) -> None:
    if window.canvas is not None:
        window.canvas.minimap.setVisible(not window.canvas.minimap.isVisible())


ACTIONS = (
    Action(
        "view.palette", "Search everything…", lambda w: w.command_palette(), ("Ctrl+K", "Ctrl+Shift+P"), icon="search"
    ),
    Action("view.fit", "Fit the design", _on_canvas("zoom_to_fit"), ("Ctrl+1", "F"), has_document, "fit", 2),
    Action(
        "view.fit_selection",
        "Fit the selection",
        _on_canvas("zoom_to_selection"),
        ("Ctrl+2",),
        has_selection,
        section=2,
    ),
    Action("view.actual", "Actual size", _on_canvas("zoom_to", 1.0), ("Ctrl+0",), has_document, section=2),
    Action("view.zoom_in", "Zoom in", _on_canvas("zoom_by", 1.25), ("Ctrl+=", "Ctrl++"), has_document, section=2),
    Action("view.zoom_out", "Zoom out", _on_canvas("zoom_by", 0.8), ("Ctrl+-",), has_document, section=2),
    Action(
        "view.zoom_back", "Back to the view before", _on_canvas("zoom_back"), ("Alt+Left",), has_document, section=2
    ),
    Action(
        "view.minimap",
        "Minimap",
        _toggle_minimap,
        ("Ctrl+M",),
        has_document,
        section=3,
        checked=lambda w: w.canvas is not None and w.canvas.minimap.isVisibleTo(w.canvas),
    ),
    Action(
        "view.machines",
        "Virtual machines",
        _on_canvas("toggle_machines"),
        ("Ctrl+Shift+M",),
        has_document,
        section=3,
        checked=lambda w: w.canvas is not None and w.canvas.machines_shown,
        tip="Show which virtual machines run on which host",
    ),
    Action(
        "view.racks",
        "Racks…",
        lambda w: w.edit_racks(),
        ("Ctrl+Alt+R",),
        has_document,
        section=3,
        tip="Rack elevations: positions of units, power feeds and limits; drag a unit to another place",
    ),
    Action("view.next_member", "Next member of the group", members.step(1), (".",), members.has_group, section=4),
    Action(
        "view.previous_member", "Previous member of the group", members.step(-1), (",",), members.has_group, section=4
    ),
    Action(
        "view.member",
        "Go to member…",
        members.choose,
        ("M",),
        members.has_group,
        section=4,
        tip="Show one member of a group; what is edited in it makes it differ from the others",
    ),
    Action("view.canvas", "Go to the canvas", lambda w: w.focus_canvas(), ("Alt+0",), has_document, section=5),
    Action(
        "view.parts",
        "Palette of parts",
        lambda w: w.toggle_parts(),
        ("Ctrl+B",),
        has_document,
        "plus",
        5,
        tip="Open or close the palette: parts, outline, history",
    ),
    Action("view.side", "Side panel", lambda w: w.toggle_side(), ("F9",), has_document, section=5),
    Action("view.wide", "Wide side panel", lambda w: w.toggle_wide(), ("Shift+F9",), has_document, section=5),
    Action("view.run", "Lanes and plots of the run", lambda w: w.toggle_run(), ("Ctrl+F6",), has_document, section=5),
    Action("view.reset_layout", "Put all panels back", lambda w: w.reset_layout(), (), section=5),
    *(
        Action(f"view.theme_{name}", title, _theme(name), (), section=6, under="Theme", checked=_is_theme(name))
        for name, title in (
            ("system", "As the desktop"),
            ("light", "Light"),
            ("dark", "Dark"),
            ("contrast", "High contrast"),
        )
    ),
    Action(
        "view.next_tab", "Next design", lambda w: w.next_tab(1), ("Ctrl+Tab", "Ctrl+PgDown"), has_document, section=7
    ),
    Action(
        "view.previous_tab",
        "Previous design",
        lambda w: w.next_tab(-1),
        ("Ctrl+Shift+Tab", "Ctrl+PgUp"),
        has_document,
        section=7,
    ),
)
MENU = Menu("view", "View", 30, ACTIONS)
