"""The place Improve: what to change, how many GPUs, what failures cost, a value swept and designs for a goal.

Each question is answered by a page of cards; a card draws its change as one step of the history.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from designer.decisions.suggest import QUICK_CHANNELS
from designer.errors import Cancelled, DesignerError
from designer.gui.controls import Button, Label
from designer.gui.layouts import FLUSH, Wrap, in_column
from designer.gui.panels._asked import AskedPage
from designer.gui.panels._cards import apply_change
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._propose import ProposePage
from designer.gui.panels._sweep import SweepPage
from designer.gui.panels._widgets import dress
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import improve
from designer.gui.viewmodels.answer import page_for
from designer.gui.viewmodels.improve import Answer
from designer.gui.viewmodels.overlay import FAILURES, of_failures
from designer.gui.viewmodels.places import picked_of
from designer.gui.viewmodels.sweep import Varied
from designer.gui.workers import Cancelled_, Newest
from designer.present.blocks import Change, Page, State
from designer.report.figure_kinds import figure_kinds

if TYPE_CHECKING:
    from designer.design.diff import Diff
    from designer.report.figure import Figure


@dataclass(frozen=True, slots=True)
class Question:
    """A question: its button, tip, what answers it and what is said meanwhile; `applied` if it is asked again then."""

    title: str
    tip: str
    work: Callable[..., Answer]
    waiting: str
    applied: bool = False


QUESTIONS: Final = {
    "suggest": Question(
        "What to change",
        "The cheapest changes that make the shown workload faster",
        improve.suggested,
        "Searching for changes that help…",
    ),
    "size": Question(
        "How many GPUs",
        "The fewest GPUs that serve the load within its limits",
        improve.sized,
        "Searching for the fewest GPUs…",
        applied=True,
    ),
    "survive": Question(
        "What failures cost",
        "Take every link and part away in turn, and colour the drawing by what is lost",
        improve.surveyed,
        "Taking every link and part away in turn…",
    ),
}
_NOTHING: Final = Page("", State.NONE, "Add a workload to see what to change.")


class ImprovePanel(Panel):
    """Questions, and the page of the one asked last; before, what limits and the changes that make it fit.

    Signals
    -------
    open_wanted : ``Design``
        A proposed design is to be opened as a new document.
    """

    open_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.asked: dict[str, Button] = {}
        for name, question in QUESTIONS.items():
            self.asked[name] = Button(question.title, partial(self._pressed, name), tip=question.tip)
        self.sweep_, self.propose_ = (
            Button("Sweep a value", self.ask_sweep, tip="What the workload does while a value varies"),
            Button("Designs for a goal", self.ask_designs, tip="Search servers, networks and layouts for a goal"),
        )
        self.stop = Button("Stop", self._forget, tip="Stop the search")
        self.clear = Button("Show loads again", self._clear)
        self.words = Label(wrap=True, role="muted")
        self.words.setContentsMargins(14, 0, 12, 0)
        self.view = AskedPage(theme)
        self.view.chosen.connect(self._apply)
        self.view.wanted.connect(self._reveal)
        self.stack = QStackedWidget()
        self.sweep, self.propose = SweepPage(theme), ProposePage(theme)
        self.propose.open_wanted.connect(self.open_wanted)
        for page in (self.view, self.sweep, self.propose):
            self.stack.addWidget(page)
        head = Wrap(*self.asked.values(), self.sweep_, self.propose_, self.stop, self.clear, margins=(14, 8, 8, 4))
        in_column(head, self.words, (self.stack, 1), on=self, margins=FLUSH, spacing=2)
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        #: what the awaited answer is about, and the answer shown
        self._awaited: tuple[object, str] | None = None
        self.answer: Answer | None = None
        self._name = ""
        self._ticket = 0
        #: the design and workload for which changes were searched without a press
        self._offered: tuple[object, str] | None = None
        self._unasked = False

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._jobs.close()
        self.sweep.close_jobs()
        self.propose.job.close()

    def entry(self) -> QWidget | None:
        """The first question."""
        return self.asked["suggest"]

    def watch(self, session: Session) -> None:
        """An answer belongs to the design and workload it was asked about."""
        self._forget()
        self.sweep.follow(session)
        self.propose.follow(session)
        self.connect_signal(session.design_changed, self._changed)
        self.connect_signal(session.workload_changed, self._forget)
        for signal in (
            session.analysis_changed,
            session.trial_changed,
            session.fitting_changed,
            session.overlay_changed,
        ):
            self.connect_signal(signal, self.outdate)

    def let_go(self) -> None:
        """Forget the answer."""
        self._forget()
        self.sweep.follow(None)
        self.propose.follow(None)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.sweep.set_theme(theme)
        self.propose.set_theme(theme)
        super().set_theme(theme)

    @property
    def busy(self) -> bool:
        """True while an answer is awaited."""
        return self._awaited is not None

    def refresh(self) -> None:
        """Offer what can be asked, and show the answer there is."""
        session = self.session
        if self._to_ask(session):
            self.ask("suggest")
            self._unasked = True
            return
        # a button that cannot be pressed while its answer is awaited would lose the focus
        possible = session is not None and bool(session.workload)
        for name, button in self.asked.items():
            button.setEnabled(possible)
            button.setVisible(
                name != "size" or (session is not None and improve.serves(session.design, session.workload))
            )
        self.sweep_.setEnabled(session is not None and bool(session.workload))
        for page, button in ((self.sweep, self.sweep_), (self.propose, self.propose_)):
            dress(button, "chosen", self.stack.currentWidget() is page)
        if self.stack.currentWidget() is self.sweep:
            self.sweep.ask()
        self.stop.setVisible(self.busy)
        self.clear.setVisible(session is not None and session.overlay is not None)
        self.words.setVisible(bool(self.words.text()))
        page = self.answer.page if self.answer is not None else self._first()
        self.view.show_page(page, self.theme)
        self.view.show_figures(self._made() if self.answer is None else ())

    def _to_ask(self, session: Session | None) -> bool:
        """True once for each design and workload with an answer: what to change is asked without a press."""
        if session is None or self.busy or self.answer is not None or self.stack.currentWidget() is not self.view:
            return False
        if session.analysis is None or session.stale or session.state is not State.ANSWERED:
            return False
        before, self._offered = self._offered, (session.design, session.workload)
        if before is not None and before[0] is session.design and before[1] == session.workload:
            return False
        return len(session.analysis.channels) <= QUICK_CHANNELS

    def _made(self) -> list[Figure]:
        """Charts of the answer to the workload: what doubling gains, and the links used most."""
        session = self.session
        if session is None:
            return []
        design, analysis, result = session.shown_design, session.shown_analysis, session.shown_result
        if analysis is None or result is None or result.unfit is not None:
            return []

        kinds = sorted((k for k in figure_kinds().values() if k.dock == "improve"), key=lambda k: k.order)
        found = [k.build(design, analysis, result) for k in kinds]
        # one bar repeats what the limit above it says
        return [f for f in found if f is not None and sum(len(bar.at) for bar in f.bars) > 1]

    def _first(self) -> Page:
        """The page before a question: settings that fit, where the workload does not, and what limits it."""
        session = self.session
        if session is None or session.state is State.NONE:
            return _NOTHING
        page = page_for(session)
        fixes = tuple(change for change in page.changes if change.edit is not None)
        return Page(page.subject, page.state, page.headline, limits=page.limits, changes=fixes)

    # ---- asking

    def _pressed(self, name: str, *_: object) -> None:
        self.ask(name)

    def ask(self, name: str) -> None:
        """Ask a question by its name; what runs is stopped."""
        session = self.session
        if (
            session is None
            or not session.workload
            or (name == "size" and not improve.serves(session.design, session.workload))
        ):
            return
        self._forget()
        self._unasked = False
        self.stack.setCurrentWidget(self.view)
        question, design, workload = QUESTIONS[name], session.design, session.workload

        def job(cancelled: Cancelled_) -> object:
            return question.work(design, workload, cancelled)

        self._ticket = self._jobs.submit(job)
        self._awaited = (design, name)
        self.words.setText(question.waiting)
        self.flush()

    def ask_sweep(self, varied: Varied | bool | None = None) -> None:
        """Show the form of a sweep; of a value, where one is named."""
        self.stack.setCurrentWidget(self.sweep)
        self.sweep.ask(varied if isinstance(varied, Varied) else None)
        self.flush()
        self.sweep.first.range.setFocus()
        self.sweep.first.range.selectAll()

    def ask_designs(self, *_: object) -> None:
        """Show the form of a search for designs."""
        self.stack.setCurrentWidget(self.propose)
        self.propose.ready()
        self.flush()
        self.propose.goal.setFocus()

    def _changed(self, changes: Diff) -> None:
        self._forget()
        if not changes.only_placement:
            self.sweep.outdate()

    def _forget(self, *_: object) -> None:
        known = self.busy or self.answer is not None or bool(self.words.text())
        self._jobs.cancel()
        self._awaited = self.answer = None
        self.words.setText("")
        if self.session is not None:
            self.session.clear_overlay(FAILURES)
        if known and self.seen:
            self.flush()
        else:
            self.outdate()

    def _arrived(self, ticket: int, result: object) -> None:
        session, awaited = self.session, self._awaited
        if ticket != self._ticket or session is None or awaited is None or awaited[0] is not session.design:
            return
        self._awaited = None
        self.words.setText("")
        if isinstance(result, Answer) and self._unasked and not any(c.edit for c in result.page.changes):
            # what limits it and what doubling gains say more than that nothing helps
            self.words.setText(result.page.headline)
        elif isinstance(result, Answer):
            self.answer = result
            self._name = awaited[1]
            if result.survey is not None:
                session.set_overlay(of_failures(session.design, result.survey))
        elif isinstance(result, DesignerError) and not isinstance(result, Cancelled):
            self.words.setText(" ".join(x for x in (f"{result.text}.", result.remedy) if x))
        elif isinstance(result, Exception) and not isinstance(result, Cancelled):
            self.words.setText(str(result))
        self.flush()

    # ---- what comes of it

    def _apply(self, change: Change) -> None:
        session = self.session
        if session is None or change.edit is None:
            return
        name = self._name if self.answer is not None else ""
        if apply_change(session, change) and name and QUESTIONS[name].applied:
            # asked again, to see that it holds
            self.ask(name)

    def _reveal(self, ids: tuple[str, ...]) -> None:
        if self.session is not None:
            picked = [picked_of(self.session.design, i) for i in ids]
            self.session.reveal(p for p in picked if p is not None)
            self.session.set_highlight(ids)

    def _clear(self) -> None:
        if self.session is not None:
            self.session.set_overlay(None)


PANEL = PanelKind("improve", "Improve", Place.IMPROVE, 10, lambda s: ImprovePanel(s.theme), "Alt+9")
