"""The answer: a page of blocks about the shown workload, and below it the figures of its flows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QBoxLayout, QComboBox, QFrame, QVBoxLayout, QWidget

from designer.gui.controls import Button, ChoiceBox, Headline, Label
from designer.gui.itemmodels.choices import ChoicesModel
from designer.gui.layouts import FLUSH, Wrap, in_column, in_row, scrolled
from designer.gui.panels._cards import Cards, apply_change
from designer.gui.panels._page import Grid, LimitRow, Pool, StackBar
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._promises import promise_menu
from designer.gui.panels._widgets import dress, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import flow
from designer.gui.viewmodels.answer import Baseline, page_for
from designer.gui.viewmodels.places import picked_of
from designer.plain_text import in_one_line
from designer.present.blocks import Change, Page, State
from designer.present.blocks import Figure as Figure_
from designer.report.figure_kinds import figure_kinds
from designer.report.figures.flow_stages import stages

if TYPE_CHECKING:
    from designer.gui.figures.view import FigureView
    from designer.report.figure import Figure

#: an answer that takes longer than this leaves the old one marked as out of date [ms]
_LATE: Final = 400
#: from this width on the page has two columns, at text of 100 %; the least height of a chart [px]
_TWO: Final = 640
_HIGH: Final = 240
_POINTS: Final = 9.5
_NUMBERS: Final = 4
#: characters of a headline; names in it can be as long as one likes
_LONGEST: Final = 400
#: tones of a chip and the look of the banner that is in its place
_BANNER: Final = {State.UNFIT: "bad", State.REFUSED: "bad", State.STALE: "warn"}


class Progress(QWidget):
    """A bar with what is being done, and the button that stops it."""

    def __init__(self, stop: Button) -> None:
        super().__init__()
        from PySide6.QtWidgets import QProgressBar

        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the analysis")
        self.text = quiet("Computing…")
        hint = quiet("You can keep drawing: an edit starts the computation again.")
        in_column(self.bar, self.text, in_row(stop, 1), hint, on=self, margins=FLUSH, spacing=8)

    def show_progress(self, share: float, text: str) -> None:
        """Show how much is done; without a known share the bar only moves."""
        self.bar.setRange(0, 100 if share > 0 else 0)
        self.bar.setValue(round(share * 100))
        self.text.setText(text or "Computing…")


class AnswerPanel(Panel):
    """The page of the shown workload.

    Signals
    -------
    workload_wanted
        There is no workload, and one is to be added.
    update_wanted, stop_wanted
        The analysis is to run now, or to stop.
    formula_wanted : ``str``
        A promise is to be changed as a formula.
    place_wanted : ``str``
        The panel that answers a next question.
    """

    workload_wanted = Signal()
    update_wanted = Signal()
    stop_wanted = Signal()
    place_wanted = Signal(str)
    formula_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        #: the page shown; None before there is one
        self.page: Page | None = None
        self._baseline = Baseline()
        self._flow = ""
        self._views: list[FigureView] = []
        self._make_head()
        self.progress = Progress(Button("Cancel", self.stop_wanted, tip="Stop the analysis (Shift+F5)"))
        self.add = Button("Add a workload…", self.workload_wanted)
        #: whether what to change comes before the figures, which do not hold then
        self._changes_first = False
        self.grid, self.unfit = Grid(), Label("If it did fit", role="title")
        self.grid.menu_wanted.connect(self._offer_promise)
        self.all = Button("", partial(self._lead, "tables"))
        self.pin_ = Button("Compare with now", self.pin, tip="Changes of figures are counted from now on")
        for link in (self.all, self.pin_):
            link.setProperty("link", True)
        self.more = Wrap(self.all, self.pin_, spacing=6)
        self.where_title, self.limit_title = Label(role="title"), Label("What limits it", role="title")
        self.change_title, self.searching = Label(role="title"), quiet("Searching for settings that fit…")
        self.stacks: Pool[StackBar] = Pool(StackBar)
        self.limits: Pool[LimitRow] = Pool(self._new_limit, 4)
        self.changes = Cards()
        self.changes.chosen.connect(self._apply)
        self.remarks: Pool[Label] = Pool(partial(quiet, ""), 4)
        self.checks = Button("Show in Checks", partial(self._lead, "findings"))
        self.checks.setProperty("link", True)
        self._make_chart()
        self._first, self._second = QWidget(), QWidget()
        self._change_box = QWidget()
        in_column(self.change_title, self.searching, self.changes, on=self._change_box, margins=FLUSH, spacing=6)
        self._first_lines = in_column(
            self.chip_row,
            self.banner,
            self.headline,
            self.progress,
            (self.add, 0, Qt.AlignmentFlag.AlignLeft),
            self.unfit,
            self.grid,
            self.more,
            self.where_title,
            self.stacks,
            on=self._first,
            margins=(14, 6, 12, 4),
            spacing=7,
        )
        self._second_lines = in_column(
            self.limit_title,
            self.limits,
            self._change_box,
            self.remarks,
            (self.checks, 0, Qt.AlignmentFlag.AlignLeft),
            self._right,
            on=self._second,
            margins=(14, 4, 12, 8),
        )
        page = QWidget()
        page.setObjectName("panel")
        self._way = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        for half in (self._first, self._second):
            self._way.addWidget(half, 1, Qt.AlignmentFlag.AlignTop)
            # until there is a page, all that any page may have would be seen
            half.hide()
        around = in_column(self._way, 1, on=page, margins=FLUSH, spacing=0)
        del around
        self._area = scrolled(page)
        self._area.viewport().installEventFilter(self)
        in_column(self._area, on=self, margins=FLUSH)
        self._charts = QTimer(self, singleShot=True, interval=0)
        self._charts.timeout.connect(self._draw)
        #: an answer that is late is shown as out of date; one that comes at once only changes
        self._late = QTimer(self, singleShot=True, interval=_LATE)
        self._late.timeout.connect(self.outdate)

    def _make_head(self) -> None:
        """Chip and headline; where the state is not good both are in a banner."""
        self.chip, self.subject = Label(), Label(role="muted")
        self.chip.setObjectName("chip")
        self.chip_row = QWidget()
        in_row(self.chip, (self.subject, 1), on=self.chip_row, margins=FLUSH, spacing=8)
        self.headline = Headline(1.2, wrap=True)
        self.banner = QFrame()
        self.banner.setObjectName("banner")
        self.banner_head, self.banner_text = Label(wrap=True), Headline(1.1, wrap=True)
        self.update_ = Button("Update now", self.update_wanted)
        in_column(
            self.banner_head,
            self.banner_text,
            in_row(self.update_, 1),
            on=self.banner,
            margins=(12, 8, 10, 9),
            spacing=4,
        )

    def _make_chart(self) -> None:
        self.chooser = ChoiceBox()
        self._choices = ChoicesModel("Overview", self)
        self.chooser.setModel(self._choices)
        self.chooser.setAccessibleName("Flow to show")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.chooser.setMinimumContentsLength(12)
        self.chooser.activated.connect(self._choose)
        self._figures = QVBoxLayout()
        self._figures.setContentsMargins(0, 0, 0, 0)
        self._right = QWidget()
        in_column(self.chooser, self._figures, on=self._right, margins=(0, 4, 0, 0), spacing=4)

    def _new_limit(self) -> LimitRow:
        row = LimitRow()
        row.wanted.connect(self._reveal)
        return row

    # ---- what is followed

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        self.connect_signal(session.analysis_changed, self.outdate)
        self.connect_signal(session.trial_changed, self.outdate)
        self.connect_signal(session.workload_changed, self._other_workload)
        self.connect_signal(session.highlight_changed, self._highlighted)
        self.connect_signal(session.state_changed, self._state_changed)
        self.connect_signal(session.fitting_changed, self.outdate)
        self.connect_signal(session.progress_changed, self.progress.show_progress)
        self._flow = ""
        self._baseline = Baseline()

    def _state_changed(self, state: State) -> None:
        if state is State.STALE:
            self._late.start()
        else:
            self._late.stop()
            self.outdate()

    def _other_workload(self, _workload: str) -> None:
        self._flow = ""
        self.outdate()

    def _highlighted(self, channels: object) -> None:
        if not channels and self._flow:
            self._flow = ""
            self.chooser.setCurrentIndex(0)
            self._charts.start()

    def let_go(self) -> None:
        """Forget the page of a closed document."""
        self.page = None
        self._baseline = Baseline()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for view in self._views:
            view.set_theme(theme)
        super().set_theme(theme)

    def entry(self) -> QWidget | None:
        """What limits: the first thing one wants to read."""
        self.flush()
        return next((row.name for row in self.limits.held if not row.isHidden()), None)

    def pin(self, *_: object) -> None:
        """Count changes from the figures of now on."""
        result = self.session.result if self.session is not None else None
        if result is not None:
            self._baseline.pin(result)
            self.outdate()

    # ---- what is shown

    def refresh(self) -> None:
        """Show the page of the session."""
        session = self.session
        page = page_for(session) if session is not None else None
        self.page = page
        if session is not None and page is not None:
            self._order(page)
            self._show_head(session, page)
            self._show_figures(session, page)
            self._show_rest(session, page)
        for half in (self._first, self._second):
            half.setVisible(page is not None)
        self._fill()
        if self._views:
            self._draw()
        else:
            self._charts.start()

    def _order(self, page: Page) -> None:
        """Put what to change in front of figures that do not hold, else behind what limits."""
        if self._changes_first != (not page.valid):
            self._changes_first = not page.valid
            before, after = self._second_lines, self._first_lines
            if page.valid:
                before, after = after, before
            before.removeWidget(self._change_box)
            at = after.indexOf(self.limits) + 1 if page.valid else after.indexOf(self.unfit)
            after.insertWidget(at, self._change_box)

    def _show_head(self, session: Session, page: Page) -> None:
        state = session.state
        tone = _BANNER.get(state if state is State.STALE else page.state, "")
        self.banner.setVisible(bool(tone))
        self.chip_row.setVisible(not tone and state is not State.NONE)
        self.headline.setVisible(state is State.STALE or not tone)
        self.headline.setText(in_one_line(page.headline, _LONGEST))
        dress(self.headline, "role", "faint" if state is State.STALE else "")
        self.chip.setText(page.chip_text)
        dress(self.chip, "tone", str(page.state.tone) or "accent")
        if tone:
            dress(self.banner, "tone", tone)
            dress(self.banner_head, "role", tone)
            self.banner_head.setText(state.value if state is State.STALE else page.chip_text)
            stale = "The design changed since this answer." if page.figures else "No answer for this design yet."
            self.banner_text.setText(stale if state is State.STALE else page.headline)
        self.update_.setVisible(state is State.STALE)
        self.progress.setVisible(state is State.COMPUTING)
        if state is State.COMPUTING:
            self.progress.show_progress(*session.progress)
        self.add.setVisible(state is State.NONE)

    def _show_figures(self, session: Session, page: Page) -> None:
        faded = session.state in (State.UNFIT, State.STALE)
        changes = self._baseline.changes(session.shown_result) if page.valid and not faded else {}
        figures = page.figures[: _NUMBERS if not self._wide else None]
        for cell, figure in zip(self.grid.shown(len(figures)), figures, strict=True):
            cell.show_figure(figure, self.theme, faded, *changes.get(figure.name, ("", "")))
        self.grid.arrange()
        self.unfit.setVisible(page.state is State.UNFIT and bool(figures))
        self.all.setText(page.more)
        self.all.setVisible(bool(page.more) and bool(figures))
        self.pin_.setVisible(bool(changes))
        self.more.setVisible(bool(figures))
        self.where_title.setText(page.where_title)
        self.where_title.setVisible(bool(page.where))
        for bar, stack in zip(self.stacks.shown(len(page.where)), page.where, strict=True):
            bar.show_stack(stack, self.theme, faded, page.where)

    def _show_rest(self, session: Session, page: Page) -> None:
        limits = page.limits if session.state is not State.STALE else ()
        for row, limit in zip(self.limits.shown(len(limits)), limits, strict=True):
            row.show_limit(limit, self.theme)
        self.limit_title.setVisible(bool(limits))
        changes = [c for c in page.changes if c.edit is not None or c.place or c.detail or not c.command]
        changes = changes if session.state is not State.STALE else []
        searching = not page.valid and session.fitting is None
        self.searching.setVisible(searching)
        self.change_title.setText(page.changes_title)
        self.change_title.setVisible(bool(changes) or searching)
        self.changes.show_changes(changes, self.theme)
        for line, text in zip(self.remarks.shown(len(page.remarks)), page.remarks, strict=True):
            line.setText(text)
        self.checks.setVisible(bool(page.remarks))

    @property
    def _wide(self) -> bool:
        return self._area.viewport().width() >= _TWO * max(1.0, self.font().pointSizeF() / _POINTS)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Two columns where there is room."""
        if event.type() == QEvent.Type.Resize:
            way = QBoxLayout.Direction.LeftToRight if self._wide else QBoxLayout.Direction.TopToBottom
            if way is not self._way.direction():
                self._way.setDirection(way)
                self.outdate()
        return super().eventFilter(watched, event)

    # ---- what one can do

    def _offer_promise(self, figure: Figure_, at: QPoint) -> None:
        if self.session is not None:
            promise_menu(self.session, figure.name, self, self.formula_wanted.emit).popup(at)

    def _apply(self, change: Change) -> None:
        session = self.session
        if session is not None and change.edit is not None:
            apply_change(session, change)
        elif change.place:
            self._lead(_PANEL_OF.get(change.place, change.place))

    def _lead(self, panel: str, *_: object) -> None:
        self.place_wanted.emit(panel)

    def _reveal(self, ids: tuple[str, ...]) -> None:
        if self.session is not None:
            picked = [picked_of(self.session.design, i) for i in ids]
            self.session.reveal(p for p in picked if p is not None)
            self.session.set_highlight(ids)

    def _picked(self, key: str) -> None:
        self._reveal((key,))

    # ---- the flows

    def _fill(self) -> None:
        session = self.session
        self.chooser.blockSignals(True)
        choices = flow.flow_choices(session.result, session.design) if session is not None else ()
        self._choices.set_choices(choices)
        self.chooser.setCurrentIndex(self._choices.row_of(self._flow))
        self.chooser.setVisible(len(choices) > 1)
        self.chooser.blockSignals(False)

    def _choose(self, index: int) -> None:
        self._flow = str(self.chooser.itemData(index) or "")
        if self.session is not None:
            chosen = flow.find_flow(self.session.result, self._flow)
            self.session.set_highlight(chosen.via if chosen is not None else ())
        self._charts.start()

    def _made(self) -> list[Figure]:
        session = self.session
        if session is None:
            return []
        design, analysis, result = session.shown_design, session.shown_analysis, session.shown_result
        if analysis is None or result is None or result.unfit is not None:
            return []

        chosen = flow.find_flow(result, self._flow) if self._flow else None
        if chosen is not None:
            one = stages(design, analysis, chosen)
            return [one] if one is not None else []
        kinds = sorted((k for k in figure_kinds().values() if k.dock == "flow"), key=lambda k: k.order)
        found = [k.build(design, analysis, result) for k in kinds]
        return [f for f in found if f is not None]

    def _draw(self) -> None:
        if not self.seen:
            self._dirty = True
            return
        from designer.gui.figures.view import FigureView

        figures = self._made()
        self._right.setVisible(bool(figures))
        while len(self._views) < len(figures):
            view = FigureView(self.theme)
            view.picked.connect(self._picked)
            view.setFixedHeight(_HIGH)
            self._views.append(view)
            self._figures.addWidget(view)
        for number, view in enumerate(self._views):
            view.set_figure(figures[number] if number < len(figures) else None)
            view.setVisible(number < len(figures))


#: the panel of each place that a next question names
_PANEL_OF: Final = {"links": "links", "checks": "findings", "improve": "improve", "time": "moment"}
PANEL = PanelKind("answer", "Answer", Place.ANSWER, 10, lambda s: AnswerPanel(s.theme), "Alt+5")
