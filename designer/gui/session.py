"""The only mutable state of a document window: the current design, its history, what is selected, the last analysis.

Views never change a design. They make an edit, give it to `Session.apply`, and redraw from the one ``Diff`` the
session sends. Selection, highlight and the chosen workload are state of the view: never in the history.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from designer.design.address import Address, Ref, address_text, block_at, collection
from designer.design.diff import Diff, diff
from designer.design.document import Design
from designer.design.edit import Edit
from designer.design.edits.clipboard import Duplicate, Paste, copy, is_clip
from designer.design.edits.structure import Delete
from designer.design.history import History
from designer.errors import DesignerError, DocumentError
from designer.gui.viewmodels.answer_state import state_of
from designer.gui.viewmodels.apart import Apart
from designer.present.blocks import State

if TYPE_CHECKING:
    from designer.analysis.simulation import Simulation
    from designer.decisions.fitting import FittingSettings
    from designer.decisions.suggest import Suggestions
    from designer.engine.clock.frames import Frames
    from designer.engine.results import Analysis, WorkloadResult
    from designer.findings import Finding
    from designer.gui.viewmodels.overlay import Overlay
    from designer.gui.viewmodels.virtual_machines import Migration

#: one selected thing: the address of the block it is in, and what it is there; see ``Geometry.address``
Picked = tuple[Address, Ref]
NONE: frozenset[Picked] = frozenset()


class Session(QObject):
    """One open document.

    Signals
    -------
    design_changed : ``Diff``
        After every edit, undo, redo and preview; once each.
    settled : ``Diff``
        The same, when everybody has taken the change over: work on a thread begins here, so that it takes no turns
        from the window before.
    selection_changed : ``frozenset[Picked]``
    highlight_changed : ``frozenset[str]``
        Ids of channels to light up while the rest dims: the way of a flow. Empty for none.
    analysis_changed : ``Analysis | None``
        A new answer of the engine for the current design.
    migration_changed : ``Migration | None``
        A virtual machine was moved by hand; None when that no longer holds.
    simulation_changed : ``Simulation | None``
        A run over time to look at, or none any more.
    overlay_changed : ``Overlay | None``
        The drawing is to be coloured by something else than loads, or by loads again.
    moment_changed : ``float``
        The instant of the run that is looked at [s].
    stale_changed : ``bool``
        Whether ``analysis`` belongs to an earlier design or workload.
    awaited_changed : ``bool``
        Whether the loads of the current design are being worked out: other long work on it begins when they are there,
        as it then finds the network and its routes made.
    state_changed : ``State``
        Whether the answer is computed, complete, out of date or refused; sent when that changes.
    progress_changed : ``float, str``
        Share of the running analysis that is done, and what it does.
    fitting_changed
        Settings with which a workload that does not fit would fit are known, or no longer valid.
    workload_changed : ``str``
    modified_changed : ``bool``
    file_changed : ``Path | None``
    reveal_requested : ``frozenset[Picked]``
        Bring these into sight.
    message, warned : ``str``
        A message: done, or refused.
    """

    design_changed = Signal(object)
    settled = Signal(object)
    selection_changed = Signal(object)
    highlight_changed = Signal(object)
    analysis_changed = Signal(object)
    migration_changed = Signal(object)
    simulation_changed = Signal(object)
    moment_changed = Signal(float)
    stale_changed = Signal(bool)
    awaited_changed = Signal(bool)
    state_changed = Signal(object)
    progress_changed = Signal(float, str)
    fitting_changed = Signal()
    overlay_changed = Signal(object)
    trial_changed = Signal()
    workload_changed = Signal(str)
    modified_changed = Signal(bool)
    file_changed = Signal(object)
    reveal_requested = Signal(object)
    message = Signal(str)
    warned = Signal(str)

    def __init__(self, design: Design, file: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history = History(design)
        self.file = file
        self.selection: frozenset[Picked] = NONE
        self.highlight: frozenset[str] = frozenset()
        #: the design of the last answer
        self._answered: Design | None = None
        self.analysis: Analysis | None = None
        self.failure: DesignerError | None = None
        self.migration: Migration | None = None
        self.simulation: Simulation | None = None
        self.frames: Frames | None = None
        #: what the drawing is coloured by in place of loads
        self.overlay: Overlay | None = None
        #: a design on trial with its answer, while a value is dragged
        self.trial: tuple[Design, Analysis] | None = None
        self.moment = 0.0
        #: time that what is shown is a mean of: that since the frame before, 0 for an instant [s]
        self.span = 0.0
        self.stale = False
        self.awaited = False
        self.workload = design.default_workload or next(iter(design.workloads), "")
        self.findings: tuple[Finding, ...] = ()
        self._modified = False
        #: share of the running analysis that is done, and what it does
        self.progress: tuple[float, str] = (0.0, "")
        #: settings with which the shown workload fits; None while they are not known
        self.fitting: tuple[FittingSettings, ...] | None = None
        #: the change that helps the shown workload; None while it is not known
        self.helps: Suggestions | None = None
        self._state = self.state

    @property
    def state(self) -> State:
        """The state of the answer to the shown workload."""
        return state_of(bool(self.design.workloads), self.awaited, self.stale, self.result, self.failure)

    @property
    def design(self) -> Design:
        """The current design."""
        return self.history.design

    @property
    def modified(self) -> bool:
        """True if the current design is another than the saved one."""
        return self.history.modified

    @property
    def title(self) -> str:
        """Name of the document for people."""
        if self.file is not None:
            return self.file.name.removesuffix(".design.json")
        return self.design.title or self.design.name

    @property
    def result(self) -> WorkloadResult | None:
        """What the analysis says about the chosen workload."""
        if self.analysis is None:
            return None
        found = next((w for w in self.analysis.workloads if w.id == self.workload), None)
        if found is None and self.workload not in self.design.workloads:
            return next(iter(self.analysis.workloads), None)
        return found

    @property
    def shown_design(self) -> Design:
        """The design that answers are shown of: that on trial while a value is dragged."""
        return self.trial[0] if self.trial is not None else self.design

    @property
    def shown_analysis(self) -> Analysis | None:
        """The answer that canvas and charts show: that of the trial while a value is dragged."""
        return self.trial[1] if self.trial is not None else self.analysis

    @property
    def shown_result(self) -> WorkloadResult | None:
        """What the shown analysis says about the chosen workload."""
        if self.trial is None:
            return self.result
        return next((w for w in self.trial[1].workloads if w.id == self.workload), None)

    def set_trial(self, design: Design | None, analysis: Analysis | None) -> None:
        """Show a design on trial and its answer in place of the present ones; None ends it."""
        new = (design, analysis) if design is not None and analysis is not None else None
        if new is not None or self.trial is not None:
            self.trial = new
            self.trial_changed.emit()

    # ---- changing the design

    def apply(self, edit: Edit, select_new: bool = False) -> bool:
        """Make an edit; False and a message if it cannot be made. With `select_new` what it added is selected."""
        before = self.design
        try:
            self.history.do(edit)
        except DocumentError as error:
            self.warned.emit(f"{error.text} — {error.remedy}" if error.remedy else error.text)
            return False
        changes = self._tell(before)
        if select_new and changes is not None:
            new = added(changes)
            if new:
                self.select(new)
        return True

    def undo(self) -> None:
        """Take the last step back."""
        if self.history.can_undo:
            before = self.design
            self.history.undo()
            self._tell(before)

    def redo(self) -> None:
        """Do the next undone step again."""
        if self.history.can_redo:
            before = self.design
            self.history.redo()
            self._tell(before)

    def go_to(self, done: int) -> None:
        """Undo or redo until `done` steps are done."""
        before = self.design
        self.history.go_to(done)
        self._tell(before)

    def seal(self) -> None:
        """End a drag or slider: the next edit does not merge with the last one."""
        self.history.seal()

    @contextmanager
    def transaction(self, label: str, merge_key: Hashable | None = None) -> Generator[None, None, None]:
        """Several edits as one step of the history; an exception takes them all back."""
        before = self.design
        try:
            with self.history.transaction(label, merge_key):
                yield
        except BaseException:
            self._tell(before)
            raise
        self._touch()

    def begin(self, label: str, merge_key: Hashable | None = None) -> None:
        """Open a transaction that `commit` or `cancel` closes."""
        self.history.begin(label, merge_key)

    def commit(self) -> None:
        """Close a transaction: its edits are one step."""
        self.history.commit()
        self._touch()

    def cancel(self) -> None:
        """Close a transaction without a trace of what was done in it."""
        before = self.design
        self.history.cancel()
        self._tell(before)

    def _tell(self, before: Design) -> Diff | None:
        after = self.design
        if after is before:
            return None
        changes = diff(before, after)
        self.set_trial(None, None)
        if not changes.only_placement:
            self._set_stale(True)
        self._keep_selection()
        if self.migration is not None and not self.migration.holds(after):
            self.set_migration(None)
        if self.workload not in after.workloads:
            self._set_workload(after.default_workload or next(iter(after.workloads), ""))
        self.design_changed.emit(changes)
        self._tell_state()
        self._touch()
        self.settled.emit(changes)
        return changes

    def _touch(self) -> None:
        if self._modified != self.modified:
            self._modified = self.modified
            self.modified_changed.emit(self._modified)

    # ---- selection

    def select(self, picked: Iterable[Picked]) -> None:
        """Select exactly these, as far as they are there."""
        design = self.design
        new = frozenset(p for p in picked if exists(design, p))
        if new != self.selection:
            self.selection = new
            self.selection_changed.emit(new)

    def toggle(self, picked: Iterable[Picked]) -> None:
        """Add those that are not selected, drop those that are."""
        self.select(self.selection ^ frozenset(picked))

    def select_all(self) -> None:
        """Select every part without a container, every group and note of the design."""
        design = self.design
        found = [((), Ref("parts", p.id)) for p in design.parts.values() if p.parent is None]
        found += [((), Ref("groups", g.id)) for g in design.groups.values() if g.parent is None]
        found += [((), Ref("annotations", a)) for a in design.annotations]
        self.select(found)

    def reveal(self, picked: Iterable[Picked]) -> None:
        """Select these and ask the canvas to bring them into sight."""
        chosen = frozenset(picked)
        self.select(chosen)
        self.reveal_requested.emit(chosen)

    def set_highlight(self, channels: Iterable[str]) -> None:
        """Light up these channels and dim the rest."""
        new = frozenset(channels)
        if new != self.highlight:
            self.highlight = new
            self.highlight_changed.emit(new)

    def selected_refs(self) -> tuple[Address, tuple[Ref, ...]]:
        """The selection within one block: that of most selected things, the outermost where even."""
        by_block: dict[Address, list[Ref]] = {}
        for within, ref in self.selection:
            by_block.setdefault(within, []).append(ref)
        if not by_block:
            return (), ()
        within = min(by_block, key=lambda w: (-len(by_block[w]), len(w), address_text(w)))
        return within, tuple(sorted(by_block[within]))

    def _keep_selection(self) -> None:
        kept = frozenset(p for p in self.selection if exists(self.design, p))
        self.select(kept)

    # ---- what one does with the selection

    def delete(self) -> None:
        """Take the selected things out, as one step."""
        by_block: dict[Address, list[Ref]] = {}
        for within, ref in self.selection:
            by_block.setdefault(within, []).append(ref)
        if len(by_block) == 1:
            within, refs = next(iter(by_block.items()))
            self.apply(Delete(tuple(sorted(refs)), within=within))
        elif by_block:
            try:
                with self.transaction("Delete"):
                    # innermost first, so that no address is gone before it is used
                    for within in sorted(by_block, key=len, reverse=True):
                        self.apply(Delete(tuple(sorted(by_block[within])), within=within))
            except DocumentError as error:
                self.warned.emit(str(error))

    def duplicate(self) -> None:
        """Copy the selected things next to themselves."""
        within, refs = self.selected_refs()
        if refs:
            self.apply(Apart(Duplicate(refs, within=within)), select_new=True)

    def copy(self) -> str:
        """Put the selected things on the clipboard as text, for this and other windows; the text."""
        within, refs = self.selected_refs()
        refs = tuple(r for r in refs if r.what not in ("links", "wirings")) or refs
        if not refs:
            return ""
        try:
            text = copy(self.design, refs, within)
        except DocumentError as error:
            self.warned.emit(error.text)
            return ""
        # not setMimeData: Qt may keep an object of ours until after Python has ended, and crash there
        QGuiApplication.clipboard().setText(text)
        return text

    def cut(self) -> None:
        """Copy the selected things, then take them out; one undo brings them back."""
        if self.copy():
            self.delete()

    def paste(self, text: str | None = None, at: tuple[int, int] | None = None, within: Address = ()) -> bool:
        """Paste parts from a text or the clipboard, near the originals or a point, where they cover nothing."""
        if text is None:
            text = QGuiApplication.clipboard().text()
        if not is_clip(text):
            return False
        return self.apply(Apart(Paste(text, at=at, within=within)), select_new=True)

    # ---- workload and analysis

    def set_workload(self, workload: str) -> None:
        """Show another workload."""
        if workload != self.workload and workload in self.design.workloads:
            self._set_workload(workload)
            if self.analysis is None or all(w.id != workload for w in self.analysis.workloads):
                self._set_stale(True)

    def set_migration(self, migration: Migration | None) -> None:
        """Show what the move of a virtual machine takes."""
        if migration is not self.migration:
            self.migration = migration
            self.migration_changed.emit(migration)

    # ---- the run over time

    def set_simulation(self, simulation: Simulation | None, frames: Frames | None = None) -> None:
        """Look at a run over time, or at none; the instant looked at stays where the new run has it."""
        self.simulation, self.frames = simulation, frames
        self.moment = min(self.moment, frames.end) if frames is not None else 0.0
        self.span = 0.0
        self.simulation_changed.emit(simulation)

    def set_moment(self, moment: float, span: float = 0.0) -> None:
        """Look at an instant of the run, or at the mean of the `span` before it."""
        if self.frames is None:
            return
        moment = min(max(moment, 0.0), self.frames.end)
        span = min(span, moment)
        if (moment, span) != (self.moment, self.span):
            self.moment, self.span = moment, span
            self.moment_changed.emit(moment)

    def _set_workload(self, workload: str) -> None:
        self.workload = workload
        self.set_trial(None, None)
        self.set_migration(None)
        self.set_highlight(())
        self.set_fitting(None)
        self.workload_changed.emit(workload)
        self._tell_state()

    def set_analysis(self, analysis: Analysis | None, failure: DesignerError | None = None) -> None:
        """Take over the answer of the engine for the current design, or why there is none."""
        self.analysis = analysis
        self.failure = failure
        if analysis is None or self._answered is not self.design:
            self.set_highlight(())
        # else a full answer follows the quick one: what is looked at stays lit
        self._answered = self.design if analysis is not None else None
        self._set_stale(False)
        self._tell_state()
        self.analysis_changed.emit(analysis)

    def set_overlay(self, overlay: Overlay | None) -> None:
        """Colour the drawing by something else than loads; None for loads again."""
        if overlay is not self.overlay:
            self.overlay = overlay
            self.overlay_changed.emit(overlay)

    def clear_overlay(self, about: str) -> None:
        """Colour the drawing by loads again, where it is coloured by what a panel has found."""
        if self.overlay is not None and self.overlay.about == about:
            self.set_overlay(None)

    def _set_stale(self, stale: bool) -> None:
        if stale != self.stale:
            self.stale = stale
            if stale:
                self.set_fitting(None)
            self.stale_changed.emit(stale)
            self._tell_state()

    def _tell_state(self) -> None:
        state = self.state
        if state is not self._state:
            self._state = state
            self.state_changed.emit(state)

    def set_progress(self, share: float, text: str) -> None:
        """Take over how far the running analysis is."""
        self.progress = (share, text)
        self.progress_changed.emit(share, text)

    def set_fitting(self, fitting: tuple[FittingSettings, ...] | None, helps: Suggestions | None = None) -> None:
        """Take over with which settings the shown workload fits, and which change helps it."""
        if fitting is not self.fitting or helps is not self.helps:
            self.fitting, self.helps = fitting, helps
            self.fitting_changed.emit()

    def set_awaited(self, awaited: bool) -> None:
        """State whether the loads of the current design are being worked out."""
        if awaited != self.awaited:
            self.awaited = awaited
            if awaited:
                self.progress = (0.0, "")
            self._tell_state()
            self.awaited_changed.emit(awaited)

    # ---- file

    def mark_saved(self, file: Path) -> None:
        """The current design is now in `file`."""
        self.history.mark_saved()
        if file != self.file:
            self.file = file
            self.file_changed.emit(file)
        self._touch()

    def mark_unsaved(self) -> None:
        """No file holds this design: it was recovered or imported."""
        self.history.mark_unsaved()
        self._touch()


def exists(design: Design, picked: Picked) -> bool:
    """True if what was selected is in a design."""
    within, ref = picked
    try:
        return ref.id in collection(block_at(design, within), ref.what)
    except DocumentError:
        return False


def added(changes: Diff) -> frozenset[Picked]:
    """What an edit brought, without its content; links only if nothing else came."""
    found: set[Picked] = set()
    links: set[Picked] = set()
    for within, block in changes.blocks.items():
        after = block_at(changes.after, within)
        new_parts = set(block["parts"].added)
        for part_id in new_parts:
            if after.parts[part_id].parent not in new_parts:
                found.add((within, Ref("parts", part_id)))
        found |= {(within, Ref("groups", g)) for g in block["groups"].added if after.groups[g].parent not in new_parts}
        if not within:
            found |= {(within, Ref("annotations", a)) for a in block["annotations"].added}
        links |= {(within, Ref("links", x)) for x in block["links"].added}
    return frozenset(found or links)
