"""Virtual machines and hosts: new ones, a host to empty, a machine to move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.errors import DesignerError
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
            # what is in a server that is no group
            part = session.design.parts.get(ref.id) if not within else None
            while part is not None and part.parent:
                if part.parent in hosts:
                    return part.parent
                part = session.design.parts.get(part.parent)
    return ""


def can_empty(window: Window) -> bool:
    """True if something is selected in a design with virtual machines."""
    session = window.document.session if window.document is not None else None
    return session is not None and bool(session.design.vms and session.selection)


def can_move(window: Window) -> bool:
    """True if one virtual machine is selected."""
    return window.document is not None and bool(_machine(window.document.session))


def _machine(session: Session) -> str:
    """Id of the virtual machine that alone is selected; empty if none is."""
    picked = [ref for _, ref in session.selection]
    return picked[0].id if len(picked) == 1 and picked[0].what == "vms" else ""


def _host_of(session: Session) -> str:
    """Path of the host that is selected, or that the selected machine runs on; empty if there is none."""
    from designer.drawing.machines import machines_of

    machine = _machine(session)
    if not machine:
        return selected_host(session)
    placed = machines_of(session.design).placement.placed.get(machine)
    return placed.host.path if placed is not None else ""


def empty_host(window: Window) -> None:
    """Show the answer to emptying the selected host: which machines move, which stay and why."""
    from designer.design.edits.workloads import AddWorkloads
    from designer.drawing.machines import machines_of
    from designer.gui.viewmodels.workloads import new_workload

    if window.document is None:
        return
    session = window.document.session
    host = _host_of(session)
    if not host:
        session.warned.emit("Select a host, or a virtual machine that runs on one.")
        return
    every = session.design.workloads.values()
    known = next((w.id for w in every if w.kind == "evacuation" and w.settings == {"hosts": host}), "")
    if known:
        session.set_workload(known)
    else:
        session.seal()
        title = next(row.title for row in machines_of(session.design).hosts if row.path == host)
        spec = new_workload(session.design, "evacuation", f"Empty {title}", {"hosts": host})
        if session.apply(AddWorkloads((spec,))):
            session.set_workload(spec.id)
    session.select(())
    window.show_panel("answer")


def move_machine(window: Window) -> None:
    """Offer the hosts that the selected machine could move to; those that refuse it say why."""
    from functools import partial

    from designer.drawing.machines import machines_of
    from designer.gui.dialogs.command_palette import PaletteEntry
    from designer.gui.viewmodels.virtual_machines import can_move as verdict_of

    canvas = window.canvas
    if window.document is None or canvas is None:
        return
    session = window.document.session
    machine = _machine(session)
    if not machine:
        return
    machines = machines_of(session.design)
    choices: list[PaletteEntry] = []
    for host in machines.hosts:
        verdict = verdict_of(machines, machine, host.path)
        move = partial(canvas.move_machine, machine, host.path)
        choices.append(PaletteEntry(host.title, move, hint=verdict.text, group="Hosts", enabled=verdict.ok))
    choices.sort(key=lambda choice: not choice.enabled)
    window.offer(choices, f"Move {session.design.vms[machine].label} to which host")


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
