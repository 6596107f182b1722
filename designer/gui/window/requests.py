"""What canvases, panels and the search ask of the window: put something in, offer what fits, a menu, a member."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPoint

from designer.gui.actions._action import Window
from designer.gui.actions._members import step_from
from designer.gui.window.menus import Menus

if TYPE_CHECKING:
    from designer.findings import Finding
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.canvas.tools._tool import QuickAdd
    from designer.gui.dialogs.command_palette import PaletteEntry
    from designer.gui.places import Places
    from designer.gui.session import Picked, Session


class RequestsWindow(Window, Protocol):
    """What is asked of the window for that."""

    places: Places | None
    menus: Menus

    def offer(self, choices: list[PaletteEntry], hint: str) -> None:
        """Show a list to search and choose from."""
        ...


class Requests:
    """Does what is asked, on the canvas that is shown."""

    def __init__(self, host: RequestsWindow) -> None:
        self._host = host

    def listen(self, canvas: Canvas) -> None:
        """Take the requests of a canvas."""
        canvas.quick_add_requested.connect(self.quick_add)
        canvas.context_requested.connect(self.context)
        canvas.template_dropped.connect(self.drop_template)
        canvas.activated.connect(self._activated)
        canvas.member_changed.connect(self._member_changed)
        canvas.step_wanted.connect(self._step_member)

    def insert(self, what: str, key: str) -> None:
        """Put in a template, a kind of part or a type, and show it."""
        from designer.gui.inserting import insert

        canvas, places = self._host.canvas, self._host.places
        if canvas is None:
            return
        insert(canvas, what, key)
        if not canvas.sees_all():
            canvas.reveal(canvas.session.selection)
        if places is not None and places.parts.search.hasFocus():
            # the next word is another part
            places.parts.search.selectAll()

    def waive(self, finding: Finding) -> None:
        """Ask for a waiver of a finding, and put it into the design."""
        from PySide6.QtWidgets import QApplication

        from designer.design.edits.waivers import AddWaivers
        from designer.gui.dialogs.waive_dialog import WaiveDialog

        canvas = self._host.canvas
        if canvas is None:
            return
        dialog = WaiveDialog(canvas.session.design, finding, QApplication.activeWindow())
        if dialog.exec() == WaiveDialog.DialogCode.Accepted and dialog.waiver is not None:
            canvas.session.apply(AddWaivers((dialog.waiver,)))
        dialog.deleteLater()

    def insert_kept(self, what: str, key: str) -> None:
        """Put in what was searched for; the next key is for the canvas."""
        self.insert(what, key)
        self._host.focus_canvas()

    def go_to(self, session: Session, picked: Picked) -> None:
        """Select a thing that was searched for; the next key is for the canvas."""
        session.reveal([picked])
        self._host.focus_canvas()

    def drop_template(self, template_id: str, x: float, y: float) -> None:
        """Put in a template at a point of the scene."""
        from designer.gui.inserting import drop_template

        if self._host.canvas is not None:
            drop_template(self._host.canvas, template_id, x, y)

    def quick_add(self, wanted: QuickAdd) -> None:
        """Offer the parts that fit at a point."""
        from designer.gui.searching import fitting_parts

        if self._host.canvas is not None:
            hint = "Add a part that fits here" if wanted.kinds else "Add a part"
            self._host.offer(fitting_parts(self._host.canvas, wanted, self._host.find_icon), hint)

    def context(self, at: QPoint, picked: Picked | None) -> None:
        """Open the menu of a thing, or of the empty canvas."""
        document = self._host.document
        if document is None:
            return
        if picked is not None and picked not in document.session.selection:
            document.session.select([picked])
        self._host.menus.open_context(at, on_a_thing=picked is not None)

    def _activated(self, _picked: object) -> None:
        self._host.show_panel("inspector")

    def _member_changed(self) -> None:
        if self._host.places is not None:
            self._host.places.inspector.outdate()

    def _step_member(self, picked: Picked, by: int) -> None:
        step_from(self._host, picked, by)
