"""New virtual machines and hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.gui.actions._action import Window

if TYPE_CHECKING:
    from designer.design.document import Block
    from designer.gui.session import Session
    from designer.gui.viewmodels.new_machine import NewHost


def has_hosts(window: Window) -> bool:
    """True if the design shown has a server that machines could run on."""
    return window.document is not None and _has_server(window.document.session.design)


def _has_server(block: Block) -> bool:
    return any(p.kind == "server" for p in block.parts.values()) or any(
        _has_server(group.content) for group in block.groups.values()
    )


def add_machine(window: Window) -> None:
    """Ask for a machine, on the host that is selected."""
    from PySide6.QtWidgets import QWidget

    from designer.design.address import Ref
    from designer.design.edits.vms import AddVms
    from designer.errors import DesignerError
    from designer.gui.dialogs.machine_dialog import MachineDialog

    if window.document is None:
        return
    session = window.document.session
    try:
        dialog = MachineDialog(session.design, selected_host(session), window if isinstance(window, QWidget) else None)
    except DesignerError as error:
        session.warned.emit(f"{error.text} — {error.remedy}" if error.remedy else error.text)
        return
    if dialog.exec() == MachineDialog.DialogCode.Accepted and dialog.machine is not None:
        session.seal()
        if session.apply(AddVms((dialog.machine,))):
            session.select([((), Ref("vms", dialog.machine.id))])
            window.show_panel("inspector")
    dialog.deleteLater()
    window.focus_canvas()


def selected_host(session: Session) -> str:
    """Path of the host something of which is selected; of a group the first member. Empty if none is."""
    from designer.drawing.machines import machines_of
    from designer.gui.viewmodels.scenario import path_of

    hosts = [row.path for row in machines_of(session.design).hosts]
    for within, ref in session.selection:
        if ref.what == "groups":
            path = path_of(((*within, (ref.id, None)), type(ref)("parts", "")))
        else:
            path = path_of((within, ref))
        around = path.rpartition("/")[0]
        for host in hosts:
            if path == host or (around and host.rpartition("/")[0] == around):
                return host
        if ref.what == "parts":
            # what stands in a server that is no group
            part = session.design.parts.get(ref.id) if not within else None
            while part is not None and part.parent:
                if part.parent in hosts:
                    return part.parent
                part = session.design.parts.get(part.parent)
    return ""


def add_host(window: Window) -> None:
    """One more host: the only way there is, or a choice of ways."""
    from designer.gui.dialogs.command_palette import PaletteEntry
    from designer.gui.viewmodels.new_machine import new_hosts

    if window.document is None:
        return
    session = window.document.session
    ways = new_hosts(session.design)
    if len(ways) == 1:
        _make(session, ways[0])
        return
    choices = [PaletteEntry(way.title, lambda way=way: _make(session, way), group="Hosts") for way in ways]
    choices.append(PaletteEntry("A server from the palette…", window.search_parts, group="Hosts"))
    window.offer(choices, "Which host to add")


def _make(session: Session, way: NewHost) -> None:
    from designer.design.edits.clipboard import Duplicate
    from designer.gui.viewmodels.apart import Apart

    session.seal()
    if way.edit is not None:
        if session.apply(way.edit):
            session.message.emit(way.title)
    elif session.apply(Apart(Duplicate(way.refs, outside_links=True, within=way.within)), select_new=True):
        session.message.emit(f"{way.title}, connected as it is")
