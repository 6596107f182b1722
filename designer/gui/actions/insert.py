"""Insert: parts, notes, workloads."""

from __future__ import annotations

from designer.gui.actions._action import Action, Menu, Window, has_document
from designer.gui.actions._machines import (
    add_host,
    add_machine,
    can_empty,
    can_move,
    empty_host,
    has_hosts,
    move_machine,
)


def _note(window: Window) -> None:
    from designer.design.document import Annotation, Position
    from designer.design.edits.annotations import AddAnnotations
    from designer.design.ids import next_id

    if window.document is None or window.canvas is None:
        return
    session, canvas = window.document.session, window.canvas
    x, y = canvas.view.to_scene(canvas.width() / 2, canvas.height() / 2)
    note = Annotation(
        id=next_id(session.design.annotations, "note1"), text="Note", position=Position(x=round(x), y=round(y))
    )
    if session.apply(AddAnnotations((note,)), select_new=True):
        window.show_panel("inspector")


ACTIONS = (
    Action("insert.part", "Part or template…", lambda w: w.search_parts(), ("Ctrl+P",), icon="part"),
    Action("insert.note", "Note", _note, ("N",), has_document),
    Action(
        "insert.workload",
        "Workload…",
        lambda w: w.edit_workload(new=True),
        ("Ctrl+Alt+W",),
        has_document,
        "workload",
        words=("new workload", "add a workload"),
    ),
    Action(
        "insert.machine",
        "Virtual machine…",
        add_machine,
        ("Ctrl+Alt+M",),
        has_hosts,
        section=1,
        tip="A new virtual machine, on the host that is selected",
    ),
    Action(
        "insert.empty_host",
        "Empty host",
        empty_host,
        (),
        can_empty,
        section=2,
        tip="How long the machines of the selected host take to move away, which stay, and why",
    ),
    Action(
        "insert.move_machine",
        "Move virtual machine to…",
        move_machine,
        (),
        can_move,
        section=2,
        tip="Hosts that take the selected machine; the others with the reason why not",
    ),
    Action("insert.host", "Host", add_host, (), has_document, section=1, tip="One more host, like those there are"),
)
MENU = Menu("insert", "Insert", 40, ACTIONS)
