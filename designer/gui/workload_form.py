"""The form of a workload, and what it says put into the design."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.design.edits.workloads import AddWorkloads, ChangeWorkload
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.viewmodels import workloads
from designer.gui.viewmodels.sweep import of_workload

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from designer.gui.session import Session
    from designer.gui.viewmodels.sweep import Varied


def edit_workload(session: Session, new: bool, over: QWidget) -> Varied | None:
    """Show the form of the workload shown, or an empty one; the setting to sweep, where that was asked for."""

    spec = None if new else session.design.workloads.get(session.workload)
    dialog = WorkloadDialog(spec, over, design=session.design)
    wanted = ""
    if dialog.exec() == WorkloadDialog.DialogCode.Accepted:
        take_workload(session, dialog.kind_name, dialog.title.text(), dialog.texts(), spec is None)
        wanted = dialog.sweep
    dialog.deleteLater()
    if not wanted:
        return None

    path = f"workloads.{session.workload}.{wanted}"
    return next((v for v in of_workload(session.design, session.workload) if v.path == path), None)


def take_workload(session: Session, kind: str, title: str, texts: dict[str, str], new: bool) -> None:
    """Put what a form says into the design."""

    settings = workloads.typed(kind, texts)
    if new:
        spec = workloads.new_workload(session.design, kind, title, settings)
        if session.apply(AddWorkloads((spec,))):
            session.set_workload(spec.id)
    else:
        changes = {"kind": kind, "title": title.strip(), "settings": settings}
        session.apply(ChangeWorkload(session.workload, changes))
