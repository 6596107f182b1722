"""Showing one member of an opened group: the next, the one before, or one chosen by its number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from designer.gui.actions._action import Window

if TYPE_CHECKING:
    from designer.gui.viewmodels.members import Shown
    from designer.gui.viewmodels.places import Picked


def has_group(window: Window) -> bool:
    """True if the design shown has groups."""
    return window.document is not None and bool(window.document.session.design.groups)


def shown_group(window: Window) -> Shown | None:
    """The group whose members one may choose from now."""
    from designer.gui.viewmodels.members import group_in_question

    document, canvas = window.document, window.canvas
    if document is None or canvas is None:
        return None
    session = document.session
    return group_in_question(session.design, session.selection, canvas.members)


def show(window: Window, shown: Shown, member: int | None) -> None:
    """Show a member; the group opens if it is closed, and what is selected is selected in that member."""
    from designer.design.address import Ref
    from designer.design.edits.placement import SetCollapsed
    from designer.gui.viewmodels.members import moved

    document, canvas = window.document, window.canvas
    if document is None or canvas is None:
        return
    session = document.session
    if shown.collapsed:
        session.apply(SetCollapsed((Ref("groups", shown.group),), False, within=shown.within))
    selection = moved(session.selection, shown, member)
    canvas.show_member(shown.within, shown.group, member)
    session.select(selection)


def step(by: int) -> Callable[[Window], None]:
    """Shows the next member, or the one before."""

    def run(window: Window) -> None:
        shown = shown_group(window)
        if shown is not None:
            show(window, shown, shown.other(by))

    return run


def step_from(window: Window, picked: Picked, by: int) -> None:
    """Show the next member of a certain group, or the one before; what is selected elsewhere stays so."""
    from designer.gui.viewmodels.members import group_in_question

    document, canvas = window.document, window.canvas
    if document is None or canvas is None:
        return
    shown = group_in_question(document.session.design, frozenset((picked,)), canvas.members)
    if shown is not None:
        show(window, shown, shown.other(by))


def differs(window: Window) -> bool:
    """True if the member shown differs from the others of its group."""
    shown = shown_group(window)
    return shown is not None and shown.member in shown.exceptions


def reset(window: Window) -> None:
    """Make the member shown like the others again."""
    from designer.design.edits.structure import ResetException

    shown = shown_group(window)
    if window.document is not None and shown is not None and shown.member is not None:
        window.document.session.apply(ResetException(shown.group, (shown.member,), within=shown.within))


def choose(window: Window) -> None:
    """Offer the members by number."""
    from designer.gui.dialogs.command_palette import PaletteEntry

    shown = shown_group(window)
    if shown is None:
        return
    icon = window.find_icon("group")
    differ = dict.fromkeys(shown.exceptions, "differs")
    found = [PaletteEntry("All members", partial(_go, window, shown, None), "", shown.label, icon)]
    found += [
        PaletteEntry(f"{shown.label} {k + 1}", partial(_go, window, shown, k), "", differ.get(k, ""), icon)
        for k in range(shown.replicas)
    ]
    window.offer(found, f"Member of {shown.label}, 1 to {shown.replicas}")


def _go(window: Window, shown: Shown, member: int | None) -> None:
    show(window, shown, member)
    if window.canvas is not None:
        window.canvas.setFocus()
