"""What a tool is: a state of the hand that receives pointer and key events until it is done or cancelled.

A tool never changes the design while it runs. It previews on the overlay, and at its end gives one edit to the host,
which is one step of undo; cancelled, it leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt

from designer.catalog.parttype import PartType
from designer.design.edit import Edit
from designer.drawing.batches import Batch
from designer.drawing.view import Rect, View
from designer.drawing.view_state import Frame
from designer.gui.canvas.editing import Picked
from designer.gui.canvas.hit import Hit
from designer.gui.canvas.navigate import Direction
from designer.gui.canvas.scene import Scene
from designer.registry import discover

ARROWS: Final[dict[int, Direction]] = {
    int(Qt.Key.Key_Left): "left",
    int(Qt.Key.Key_Right): "right",
    int(Qt.Key.Key_Up): "up",
    int(Qt.Key.Key_Down): "down",
}


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer event: ``x, y`` in view pixels, ``sx, sy`` in the scene."""

    x: float
    y: float
    sx: float
    sy: float
    button: Qt.MouseButton = Qt.MouseButton.NoButton
    shift: bool = False
    ctrl: bool = False
    alt: bool = False

    def far_from(self, other: Pointer, reach: float = 4.0) -> bool:
        """True if the pointer moved enough since `other` to mean a drag."""
        return abs(self.x - other.x) > reach or abs(self.y - other.y) > reach


@dataclass(frozen=True, slots=True)
class Press:
    """A key event."""

    key: int
    shift: bool = False
    ctrl: bool = False
    alt: bool = False


@dataclass(frozen=True, slots=True)
class QuickAdd:
    """A wish to add a part at a point of the scene, linked to ``sources``; ``kinds`` are the part kinds that fit.

    Parameters
    ----------
    container
        The container at the point, None for the canvas.
    """

    x: float
    y: float
    sources: frozenset[Picked] = frozenset()
    kinds: tuple[str, ...] = ()
    container: Picked | None = None


class ToolCanvas(Protocol):
    """What a tool may ask of the canvas."""

    @property
    def scene(self) -> Scene:
        """The picture and its state."""
        ...

    @property
    def view(self) -> View:
        """Where the eye is."""
        ...

    def frame(self) -> Frame:
        """How the scene falls on device pixels."""
        ...

    def hit(self, p: Pointer) -> Hit:
        """What is under the pointer."""
        ...

    def switch(self, tool: Tool) -> None:
        """Take up another tool."""
        ...

    def finish(self) -> None:
        """Go back to the resting tool."""
        ...

    def use_select(self) -> None:
        """Go back to the resting tool, whatever is going on."""
        ...

    def make(self, edit: Edit, select_new: bool = False) -> bool:
        """Make an edit; False if it was refused."""
        ...

    def select(self, picked: Iterable[Picked]) -> None:
        """Select exactly these."""
        ...

    def set_view(self, view: View) -> None:
        """Look somewhere else."""
        ...

    def glide(self, view: View) -> None:
        """Move the view there, shortly animated."""
        ...

    def lift(self, boxes: npt.NDArray[np.bool_] | None, connections: npt.NDArray[np.bool_] | None) -> None:
        """Take boxes and connections out of the picture, to be drawn by the tool; None puts all back."""
        ...

    def refresh(self) -> None:
        """Draw the overlay again."""
        ...

    def set_cursor(self, cursor: Qt.CursorShape) -> None:
        """Show another pointer."""
        ...

    def say(self, hint: str) -> None:
        """State what can be done now."""
        ...

    def warn(self, text: str) -> None:
        """State why something was refused."""
        ...

    def wish(self, wanted: QuickAdd) -> None:
        """Ask the window to offer parts."""
        ...

    def rename(self, box: int) -> bool:
        """Open an editor over the name of what a box shows; False if it has none."""
        ...

    def activate(self, picked: Picked) -> None:
        """State that something was double-clicked."""
        ...

    def ask_context(self, p: Pointer, hit: Hit) -> None:
        """Ask for a context menu."""
        ...

    def part_type(self, type_id: str) -> PartType | None:
        """A part type of the design or catalog."""
        ...

    def step_member(self, box: int, by: int) -> None:
        """Ask for the next member of an open group, or the one before for −1."""
        ...

    def move_machine(self, vm_id: str, host: str) -> bool:
        """Move a virtual machine to another host; False if it was refused."""
        ...


class Tool:
    """A state of the hand; the base does nothing."""

    hint = ""
    cursor = Qt.CursorShape.ArrowCursor
    #: whether values and badges step back while it is used
    quiet = False
    #: whether the view moves when the pointer nears its border
    scrolls = False

    def __init__(self, host: ToolCanvas) -> None:
        self.host = host

    def enter(self) -> None:
        """The tool is taken up."""

    def leave(self) -> None:
        """The tool is put away, done or cancelled."""

    def press(self, p: Pointer) -> None:
        """A button goes down."""

    def move(self, p: Pointer) -> None:
        """The pointer moves."""

    def release(self, p: Pointer) -> None:
        """A button goes up."""

    def double(self, p: Pointer) -> None:
        """A double click."""

    def key(self, press: Press) -> bool:
        """A key goes down; whether the tool used it."""
        return False

    def key_up(self, press: Press) -> bool:
        """A key goes up; whether the tool used it."""
        return False

    def cancel(self) -> bool:
        """Back out one step; whether there was anything to back out of."""
        self.host.finish()
        return True

    def redrawn(self) -> None:
        """The design changed under the tool: by undo, another view, a script."""
        self.host.finish()

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        """What the tool draws over the picture."""
        return []


class Rest(Protocol):
    """What the select tool knows about a press, for tools that start with a press or a drag."""

    @property
    def host(self) -> ToolCanvas:
        """The canvas."""
        ...

    @property
    def was_selected(self) -> bool:
        """True if what was pressed on was selected before."""
        ...

    def chip_at(self, p: Pointer) -> int:
        """The chip of a virtual machine under the pointer; −1 for none."""
        ...

    def handle_at(self, p: Pointer) -> int:
        """The card one of whose port handles is under the pointer; −1 for none."""
        ...

    def grip_at(self, p: Pointer) -> int:
        """The selected box whose lower right corner is under the pointer; −1 for none."""
        ...

    def choose_for_menu(self, hit: Hit) -> None:
        """Select what a right click means."""
        ...


@dataclass(frozen=True, slots=True)
class ToolKind:
    """A tool as its file declares it, under the name ``TOOL``: how it is started, and its texts in menus.

    Parameters
    ----------
    order
        Tools are asked in this order whether something is theirs; menus and toolbar have the same order.
    press
        The tool that a press begins; None if it is not theirs.
    drag
        The tool that a drag begins, by where it began and what was hit there; None if it is not theirs.
    key
        Whether a key was theirs.
    take_up
        What its menu entry does; None for tools that only the hand begins.
    title, shortcut, icon, menu, section
        Of the menu entry; with an icon it is in the toolbar too.
    on_selection
        True if something must be selected.
    words
        Other words its menu entry is found by.
    """

    name: str
    order: int
    press: Callable[[Rest, Pointer], Tool | None] | None = None
    drag: Callable[[Rest, Pointer, Hit], Tool | None] | None = None
    key: Callable[[Rest, Press], bool] | None = None
    take_up: Callable[[ToolCanvas], object] | None = None
    title: str = ""
    shortcut: tuple[str, ...] = ()
    icon: str = ""
    menu: str = "view"
    section: int = 1
    on_selection: bool = False
    words: tuple[str, ...] = ()


@cache
def tool_kinds() -> tuple[ToolKind, ...]:
    """All tools in order; loads their files."""
    found = discover("designer.gui.canvas.tools", "TOOL", ToolKind)
    return tuple(sorted(found.values(), key=lambda k: (k.order, k.name)))
