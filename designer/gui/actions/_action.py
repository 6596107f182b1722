"""What an action is, and what it may ask of the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from designer.registry import discover

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

    from designer.gui.canvas.canvas import Canvas
    from designer.gui.documents import Document
    from designer.gui.settings import Settings


class FileWork(Protocol):
    """What actions may ask about files."""

    def ask_open(self) -> None:
        """Ask for files and open them."""
        ...

    def paste_machine(self) -> None:
        """Ask for a dump of a machine and open it."""
        ...

    def save(self) -> bool:
        """Save to the document's file; asks for one if there is none."""
        ...

    def save_as(self) -> bool:
        """Ask for a file and save there."""
        ...

    def paste(self) -> None:
        """Paste parts, or import what the clipboard describes."""
        ...

    def export_picture(self, selected_only: bool = False) -> None:
        """Ask for a file and write the picture, or that of the selection, to it."""
        ...

    def copy_picture(self) -> None:
        """Put the picture on the clipboard."""
        ...


class Window(Protocol):
    """What actions may ask of the window."""

    @property
    def settings(self) -> Settings:
        """What is kept."""
        ...

    @property
    def document(self) -> Document | None:
        """The document shown."""
        ...

    @property
    def canvas(self) -> Canvas | None:
        """Its canvas."""
        ...

    @property
    def files(self) -> FileWork:
        """What one does with files."""
        ...

    def warn(self, text: str) -> None:
        """Show a message about something that failed."""
        ...

    def new_document(self) -> None:
        """Open an empty design."""
        ...

    def show_start(self) -> None:
        """Show the start page."""
        ...

    def show_recovery(self) -> None:
        """Show what runs that ended badly left behind."""
        ...

    def open_file(self, file: Path) -> None:
        """Open a file."""
        ...

    def close_document(self) -> None:
        """Close the document shown; asks if it is not saved."""
        ...

    def quit(self) -> None:
        """Close the window."""
        ...

    def find_in_design(self) -> None:
        """Show the outline, ready to type."""
        ...

    def show_panel(self, name: str) -> None:
        """Bring a panel to the front."""
        ...

    def search_parts(self) -> None:
        """Show the palette, ready to type."""
        ...

    def command_palette(self) -> None:
        """Search everything."""
        ...

    def focus_canvas(self) -> None:
        """Give the keys to the canvas."""
        ...

    def offer(self, choices: list[Any], hint: str) -> None:
        """Show a list to search and choose from."""
        ...

    def find_icon(self, kind: str) -> QIcon | None:
        """Icon of a kind of part."""
        ...

    def scale_value(self, by: int) -> None:
        """What if the number in question were twice as large, or half for −1."""
        ...

    @property
    def on_trial(self) -> bool:
        """True if a what-if is compared with the design."""
        ...

    def end_trial(self, apply: bool) -> None:
        """Put the what-if into the design, or forget it."""
        ...

    def choose_workload(self) -> None:
        """Open the list of workloads."""
        ...

    def edit_workload(self, new: bool = False) -> None:
        """Show the form of the workload."""
        ...

    def sweep_value(self) -> None:
        """Ask what the workload does while a value varies."""
        ...

    def show_bill(self) -> None:
        """Show the bill of materials."""
        ...

    def edit_racks(self) -> None:
        """Show the racks of the document."""
        ...

    def compare_built(self) -> None:
        """Ask for the dump of the fabric that was built, and compare the document with it."""
        ...

    def export_report(self) -> None:
        """Ask where the report of the document goes."""
        ...

    def propose_designs(self) -> None:
        """Ask for designs that reach a goal."""
        ...

    def edit_settings(self) -> None:
        """Show the settings."""
        ...

    def set_theme(self, name: str) -> None:
        """``system``, ``light``, ``dark`` or ``contrast``."""
        ...

    def toggle_side(self) -> None:
        """Show or hide the side panel."""
        ...

    def toggle_wide(self) -> None:
        """Give the side panel much of the window, or take it back."""
        ...

    def toggle_parts(self) -> None:
        """Open the palette, or close it."""
        ...

    def toggle_run(self) -> None:
        """Show or hide the pages of a run."""
        ...

    def reset_layout(self) -> None:
        """Put all panels back to where they came from."""
        ...

    def next_tab(self, by: int) -> None:
        """Show another open document."""
        ...

    def about(self) -> None:
        """State about the program."""
        ...


def always(_window: Window) -> bool:
    """True if it can be done: always."""
    return True


def has_document(window: Window) -> bool:
    """True if a document is shown."""
    return window.document is not None


def has_selection(window: Window) -> bool:
    """True if something is selected."""
    return window.document is not None and bool(window.document.session.selection)


@dataclass(frozen=True, slots=True)
class Action:
    """A command of the window.

    Parameters
    ----------
    id
        Stable name, ``menu.verb``.
    section
        Actions of another section follow a separator.
    under
        Title of the sub-menu it is in; empty for the menu itself.
    checked
        True if it is on, for actions that switch.
    words
        Other words it is found by.
    """

    id: str
    title: str
    run: Callable[[Window], object]
    shortcut: tuple[str, ...] = ()
    enabled_when: Callable[[Window], bool] = always
    icon: str = ""
    section: int = 0
    under: str = ""
    checked: Callable[[Window], bool] | None = None
    tip: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Menu:
    """A menu and its actions in order."""

    name: str
    title: str
    order: int
    actions: tuple[Action, ...]


def menus() -> tuple[Menu, ...]:
    """All menus in order; with what needs the canvas and the panels once `add_late` was called."""
    return _menus(_late.loaded)


def all_actions() -> Mapping[str, Action]:
    """All actions by id, as in `menus`."""
    return _all_actions(_late.loaded)


def add_late(actions: Mapping[str, Sequence[Action]]) -> None:
    """Have more actions from now on, by the name of their menu; the same ones each time."""
    _late.actions, _late.loaded = actions, True


class _Late:
    """What came with the first document of the program."""

    loaded = False
    actions: Mapping[str, Sequence[Action]] = {}


_late = _Late()


@lru_cache(maxsize=2)
def _menus(late: bool) -> tuple[Menu, ...]:
    found: Mapping[str, Menu] = discover("designer.gui.actions", "MENU", Menu)
    ordered = sorted(found.values(), key=lambda m: m.order)
    more = _late.actions if late else {}
    assert set(more) <= set(found), f"there is no menu {set(more) - set(found)}"
    return tuple(replace(menu, actions=_merged(menu.actions, more.get(menu.name, ()))) for menu in ordered)


def _merged(actions: tuple[Action, ...], late: Sequence[Action]) -> tuple[Action, ...]:
    """Each late action at the beginning of its section, those of one section in their order."""
    sections = sorted({a.section for a in (*actions, *late)})
    return tuple(a for n in sections for part in (late, actions) for a in part if a.section == n)


@lru_cache(maxsize=2)
def _all_actions(late: bool) -> Mapping[str, Action]:
    found: dict[str, Action] = {}
    for action in (a for menu in _menus(late) for a in menu.actions):
        assert action.id not in found, f"the action {action.id} is listed twice"
        found[action.id] = action
    return found
