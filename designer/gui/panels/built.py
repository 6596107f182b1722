"""As built: the dump of a fabric next to the drawing, with the cables that differ lit and priced on the workloads."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from designer.decisions.as_built import compare_built
from designer.gui.layouts import FLUSH, Wrap, in_column
from designer.gui.panels._asked import MeasuredPanel
from designer.gui.panels._panel import PanelKind, Place
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.overlay import BUILT, Overlay, of_built
from designer.gui.workers import Cancelled_
from designer.interchange.importing import read_any


class BuiltPanel(MeasuredPanel):
    """The dump compared last, and the page of what differs."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        nothing = "Open the dump of the fabric that was built: ibnetdiscover, iblinkinfo, LLDP or a cable plan."
        super().__init__(theme, parent, "Open dump…", self.ask, self._take, BUILT, nothing)
        in_column(
            Wrap(self.job.go, self.job.stop, self.clear, margins=(14, 8, 8, 0)),
            in_column(self.job.state, self.job.problem, margins=(14, 2, 12, 0), spacing=2),
            (self.view, 1),
            on=self,
            margins=FLUSH,
            spacing=2,
        )

    def entry(self) -> QWidget | None:
        """The button that opens a dump."""
        return self.job.go

    def watch(self, session: Session) -> None:
        """A comparison belongs to the design that was compared."""
        self._forget()
        self.connect_signal(session.settled, self._changed)
        self.connect_signal(session.overlay_changed, self.outdate)

    def ask(self, *_: object) -> None:
        """Ask for a dump, and compare with it."""
        name, _filter = QFileDialog.getOpenFileName(self, "Compare with built", "", "All files (*)")
        if name:
            self.compare(Path(name))

    def compare(self, file: Path) -> None:
        """Compare the design with the dump in a file."""
        session = self.session
        if session is None:
            return
        design, own = session.design, str(session.file or "DESIGN")

        def job(_cancelled: Cancelled_) -> object:
            from designer.decisions.worth_of_differences import priced
            from designer.pages.built import page_of_built

            found = compare_built(design, read_any(str(file)).design)
            costs, unpriced = priced(design, found)
            return design, page_of_built(found, costs, unpriced, design, own, file.name), of_built(design, found)

        self.job.begin(job, f"Comparing with {file.name}…")

    def _take(self, result: object) -> None:
        assert isinstance(result, tuple)
        design, page, overlay = result
        self.job.end("")
        if self.session is None or design is not self.session.design:
            return
        self.page = page
        assert isinstance(overlay, Overlay)
        self.session.set_overlay(overlay)
        self.flush()

    def _changed(self, changes: object) -> None:
        if not getattr(changes, "only_placement", False):
            self._forget()

    def refresh(self) -> None:
        """Show the page of the last comparison."""
        super().refresh()
        self.job.stop.setVisible(self.job.busy)


PANEL = PanelKind("built", "As built", Place.IMPROVE, 40, lambda s: BuiltPanel(s.theme))
