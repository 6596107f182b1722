"""Moves a virtual machine dropped on a host: at once where that is quick, else worked out next to the window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from PySide6.QtCore import QObject

from designer.gui.session import Session
from designer.gui.workers import Cancelled_, Newest

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.design.edit import Edit
    from designer.drawing.machines import Machines
    from designer.gui.canvas.scene import Scene
    from designer.gui.viewmodels.virtual_machines import Decision

#: parts of a design from which a drop is worked out on a thread
HEAVY: Final = 1500


class Board(Protocol):
    """The part of the canvas that moves of machines use."""

    session: Session
    scene: Scene

    def make(self, edit: Edit) -> bool:
        """Make an edit."""
        ...

    def set_machines(self, machines: Machines | None) -> None:
        """Show where machines are placed."""
        ...


class MachineMoves(QObject):
    """Moves of a canvas. No thread while there is nothing to do."""

    def __init__(self, board: Board, parent: QObject) -> None:
        super().__init__(parent)
        self._board = board
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        parent.destroyed.connect(self._jobs.close)

    def move(self, vm_id: str, host: str) -> bool:
        """Move a machine as one step and report what the migration takes; False if it is refused at once.

        It goes as the workload shown says: under the conditions of a migration, else next to its traffic.
        """
        from designer.gui.viewmodels.virtual_machines import decide

        session, machines = self._board.session, self._board.scene.machines
        if machines is None:
            return False
        design, shown = session.design, session.workload
        if machines.network.net.n_parts < HEAVY:
            return self._take(design, vm_id, decide(design, machines, vm_id, host, shown))

        def job(_cancelled: Cancelled_) -> object:
            return design, vm_id, decide(design, machines, vm_id, host, shown)

        session.message.emit(f"Working out the move of {design.vms[vm_id].label} …")
        self._jobs.submit(job)
        return True

    def _arrived(self, _ticket: int, result: object) -> None:
        if isinstance(result, tuple):
            self._take(*result)
        else:
            self._board.session.warned.emit(f"the move cannot be worked out: {result}")

    def _take(self, design: Design, vm_id: str, decision: Decision) -> bool:
        session = self._board.session
        if design is not session.design:
            session.warned.emit("the design has changed meanwhile; drop the machine again")
            return False
        if decision.edit is None:
            session.warned.emit(f"{design.vms[vm_id].label} stays: {decision.reason}")
            return False
        if not self._board.make(decision.edit):
            return False
        self._board.set_machines(decision.after)
        session.set_migration(decision.migration)
        if decision.migration is not None:
            session.message.emit(decision.migration.text)
        return True
