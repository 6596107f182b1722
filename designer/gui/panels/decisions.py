"""What to change and what failures cost: asked for by a press, applied by another, undone as any edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from PySide6.QtWidgets import QStackedLayout, QWidget

from designer.design.edit import Edit
from designer.errors import Cancelled, DesignerError
from designer.gui.controls import Button, Label
from designer.gui.layouts import FLUSH, Wrap, in_column
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import Table
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import decisions, sizing
from designer.gui.viewmodels.apart import Apart
from designer.gui.workers import Cancelled_, Newest

if TYPE_CHECKING:
    from designer.decisions.suggest import Suggestions

_WORK: Final[Any] = {"suggest": decisions.suggested, "survive": decisions.surveyed, "size": sizing.sized}
_WAITING: Final = {
    "suggest": "Looking for edits …",
    "survive": "Taking everything away in turn …",
    "size": "Trying widths and replicas …",
}
_HINT = "Asks for the cheapest edits that lift what binds the shown workload, or takes every part away in turn."


class DecisionsPanel(Panel):
    """Two questions, their answers in a table, and what to do with a row."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.suggest = Button(
            "What to change",
            lambda: self._ask("suggest"),
            tip="The cheapest edits that lift what binds the shown workload, then the next",
        )
        self.survive = Button(
            "What failures cost",
            lambda: self._ask("survive"),
            tip="Take every link and part away in turn, and colour the drawing by what that costs",
        )
        self.how_many = Button(
            "How many GPUs",
            lambda: self._ask("size"),
            tip="The fewest accelerators that serve the shown load within its limits, and the load those drawn serve",
        )
        self.stop = Button("Stop", self._stop)
        self.apply_ = Button(
            "Apply",
            self._apply,
            tip="Put the edits up to the selected row, or the selected way to serve, into the design",
        )
        self.clear = Button("Show loads again", self._clear)
        self.words = Label(_HINT, wrap=True)
        self.table = Table(decisions.STEP_COLUMNS, theme, "What to change", wrap=True)
        self.failures = Table(decisions.LOSS_COLUMNS, theme, "What failures cost", wrap=True, spare=True)
        self.sizes = Table(sizing.COLUMNS, theme, "How many GPUs", wrap=True)
        body = QWidget()
        self._stack = QStackedLayout(body)
        for table in self._tables:
            self._stack.addWidget(table)
        buttons = (self.suggest, self.survive, self.how_many, self.stop, self.apply_, self.clear)
        head = Wrap(*buttons, margins=(10, 8, 8, 4))
        # what is told can be long: it has the whole width
        self.words.setContentsMargins(10, 0, 8, 2)
        in_column(head, self.words, (body, 1), on=self, margins=FLUSH, spacing=2)
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._asked: tuple[object, str, str] | None = None
        #: an answer is awaited; the thread may still be at work on one nobody wants
        self._awaited = False
        self._ticket = 0
        self.steps: Suggestions | None = None
        self.sized: sizing.Answer | None = None
        # all buttons at once would make the panel wider than a small window has room for
        self._offer()

    @property
    def _tables(self) -> tuple[Table, Table, Table]:
        return self.table, self.failures, self.sizes

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._jobs.close()

    def entry(self) -> QWidget | None:
        """The first question."""
        return self.suggest

    def watch(self, session: Session) -> None:
        """An answer belongs to the design it was asked about."""
        self._forget()
        self.connect_signal(session.design_changed, self._forget)
        self.connect_signal(session.workload_changed, self._forget)

    def let_go(self) -> None:
        """Forget the answer."""
        self._forget()

    def refresh(self) -> None:
        """Offer what can be done."""
        for table in self._tables:
            table.set_theme(self.theme)
        self._offer()

    def _forget(self, *_: object) -> None:
        self._jobs.cancel()
        self._awaited = False
        self._asked = self.steps = self.sized = None
        for table in self._tables:
            table.lines.set_lines([])
        self.words.setText(_HINT)
        if self.session is not None:
            self.session.set_survey(None)
        self._offer()

    def _ask(self, question: str) -> None:
        session = self.session
        if session is None or not session.workload:
            return
        self._forget()
        design, workload = session.design, session.workload
        self._asked = (design, workload, question)

        def job(cancelled: Cancelled_) -> object:
            work: Any = _WORK[question]
            return work(design, workload, cancelled)

        self._ticket = self._jobs.submit(job)
        self._awaited = True
        self.words.setText(_WAITING[question])
        self._offer()

    def _stop(self) -> None:
        self._forget()

    def _arrived(self, ticket: int, result: object) -> None:
        session, asked = self.session, self._asked
        if ticket != self._ticket or session is None or asked is None or asked[0] is not session.design:
            return
        self._awaited = False
        if isinstance(result, Exception):
            self.words.setText("" if isinstance(result, Cancelled) else str(result))
            self._asked = None
        elif asked[2] == "suggest":
            found: Any = result
            self.steps = found
            self.table.lines.set_lines(decisions.step_lines(found, session.design))
            self._stack.setCurrentWidget(self.table)
            self.words.setText(decisions.step_words(found, session.design))
        elif asked[2] == "size":
            answer: Any = result
            self.sized = answer
            self.sizes.lines.set_lines(sizing.lines(answer))
            self._stack.setCurrentWidget(self.sizes)
            self.words.setText(sizing.words(answer))
        else:
            survey: Any = result
            self.failures.lines.set_lines(decisions.loss_lines(survey, session.design))
            self._stack.setCurrentWidget(self.failures)
            self.words.setText(decisions.loss_words(survey, session.design))
            session.set_survey(survey)
        self._offer()

    def _offer(self, *_: object) -> None:
        busy = self._awaited
        session = self.session
        self.suggest.setEnabled(session is not None and bool(session.workload) and not busy)
        self.survive.setEnabled(self.suggest.isEnabled())
        self.how_many.setEnabled(self.suggest.isEnabled())
        self.how_many.setVisible(session is not None and sizing.serves(session.design, session.workload))
        self.stop.setVisible(busy)
        ways = self.sized is not None and self.sized.found.best is not None
        self.apply_.setVisible(ways or (self.steps is not None and bool(self.steps.steps)))
        self.clear.setVisible(session is not None and session.survey is not None)

    def _apply(self) -> None:
        """The steps up to the selected one, of which each builds on those before; the first where none is selected."""
        session, steps = self.session, self.steps
        if session is not None and self.sized is not None:
            self._place(session, self.sized)
            return
        if session is None or steps is None or not steps.steps:
            return
        from designer.design.edits.together import Together

        rows = [key for key in self.table.keys() if isinstance(key, int)]  # noqa: SIM118
        last = max(rows, default=0)
        edits = tuple(one for step in steps.steps[: last + 1] for one in step.edit.edits)
        titles = [one.words for step in steps.steps[: last + 1] for one in step.edits]
        self._make(session, Together(edits, "; ".join(titles)))

    def _place(self, session: Session, answer: sizing.Answer) -> None:
        """The selected way to serve, with the servers it takes; then ask again, to see that it does."""
        rows = [key for key in self.sizes.keys() if isinstance(key, int)]  # noqa: SIM118
        try:
            edit = sizing.applied(answer, max(rows, default=0), session.design)
        except DesignerError as error:
            session.warned.emit(f"{error.text} — {error.remedy}" if error.remedy else error.text)
            return
        if edit is None:
            session.warned.emit("This way does not serve the load: select one that does")
        elif self._make(session, edit):
            self._ask("size")

    def _make(self, session: Session, edit: Edit) -> bool:
        """Make an edit; what it adds covers nothing, is selected, brought into sight and named."""
        before = session.design
        if not session.apply(Apart(edit), select_new=True):
            return False
        new = decisions.added_words(before, session.design)
        if new:
            session.reveal(session.selection)
            session.message.emit(new)
        return True

    def _clear(self) -> None:
        if self.session is not None:
            self.session.set_survey(None)
        self._offer()


PANEL = PanelKind("decisions", "What to change", Place.IMPROVE, 10, lambda s: DecisionsPanel(s.theme))
