"""The flow: the numbers that count, what binds and what comes next in words, and the way with its stages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QGridLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from designer.gui.controls import Button, ChoiceBox, Label, plain
from designer.gui.itemmodels.choices import ChoicesModel
from designer.gui.layouts import FLUSH, in_column, in_row, scrolled
from designer.gui.panels._answer import Progress, banner, fix_card, heading
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import ElidedLink, column, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import flow
from designer.gui.viewmodels.answer_state import AnswerState
from designer.gui.viewmodels.places import picked_of
from designer.plain_text import HEADING, in_one_line

if TYPE_CHECKING:
    from designer.gui.figures.view import FigureView
    from designer.report.figure import Figure

_NUMBERS = 4
#: an answer that takes longer than this leaves the old one marked as out of date [ms]
_LATE = 400
#: between two numbers, and beside them [px]
_BETWEEN, _BESIDE = 18, 24
#: from this width on figures stand beside the words; the least height of one below them, and the widest the words get
#: beside figures [px]
_TWO, _HIGH, _WORDS = 700, 240, 420
_UNBOUND = 16_777_215


class FlowPanel(Panel):
    """The answer in words, the stages or the sweep below them; beside them where the panel is wide.

    Signals
    -------
    workload_wanted
        There is no workload, and one is to be added.
    update_wanted, stop_wanted
        The analysis is to run now, or to stop.
    """

    workload_wanted = Signal()
    update_wanted = Signal()
    stop_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        words = QWidget()
        words.setObjectName("panel")
        around, self._words = column(words)
        around.setContentsMargins(14, 10, 10, 8)
        self._words.setSpacing(7)
        self._page = QWidget()
        self._page.setObjectName("panel")
        area = scrolled(self._page)
        self._area = area
        # the room for the numbers changes with the width of the panel
        area.viewport().installEventFilter(self)
        self._cells: list[QWidget] = []
        self._progress: Progress | None = None
        self._grid = QGridLayout()
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
        in_column(self.chooser, (self._figures, 1), on=self._right, margins=(10, 6, 8, 8), spacing=4)
        self._way = in_column(words, (self._right, 1), on=self._page, margins=FLUSH, spacing=0)
        self._said = words
        in_column(area, on=self, margins=FLUSH)
        self._views: list[FigureView] = []
        self._flow = ""
        self._all = False
        #: by workload what its numbers are compared with: those first seen, or those pinned since
        self._baseline: dict[str, dict[str, float]] = {}
        self._shown: flow.FlowView | None = None
        self._plots = QTimer(self, singleShot=True, interval=0)
        self._plots.timeout.connect(self._draw)
        #: an answer that is late is shown as out of date; one that comes at once only changes
        self._late = QTimer(self, singleShot=True, interval=_LATE)
        self._late.timeout.connect(self.outdate)

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        self.connect_signal(session.analysis_changed, self.outdate)
        self.connect_signal(session.workload_changed, self._other_workload)
        self.connect_signal(session.highlight_changed, self._highlighted)
        self.connect_signal(session.state_changed, self._state_changed)
        self.connect_signal(session.fitting_changed, self.outdate)
        self.connect_signal(session.progress_changed, self._show_progress)
        self._flow = ""
        self._baseline = {}

    def _state_changed(self, state: AnswerState) -> None:
        if state is AnswerState.STALE:
            self._late.start()
        else:
            self._late.stop()
            self.outdate()

    def _show_progress(self, share: float, text: str) -> None:
        if self._progress is not None:
            self._progress.show_progress(share, text)

    def _other_workload(self, _workload: str) -> None:
        self._flow = ""
        self.outdate()

    def _highlighted(self, channels: object) -> None:
        if not channels and self._flow:
            self._flow = ""
            self.chooser.setCurrentIndex(0)
            self._plots.start()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._shown = None
        for view in self._views:
            view.set_theme(theme)
        super().set_theme(theme)

    def refresh(self) -> None:
        """Say it, then draw it."""
        session = self.session
        view = flow.FlowView("")
        if session is not None:
            spec = session.design.workloads.get(session.workload)
            view = flow.flow_view(
                session.result,
                session.failure,
                self._known(session),
                session.design,
                state=session.state,
                title=(spec.title or spec.id) if spec is not None else "",
                fitting=session.fitting,
            )
        if view != self._shown:
            self._write(view)
        self._shown = view
        self._fill(view)
        if self._views:
            self._draw()
        else:
            self._plots.start()

    def _known(self, session: Session) -> dict[str, float]:
        """The baseline of the workload shown; the first numbers it has become one."""
        result = session.result
        if result is None or result.unfit is not None:
            return {}
        if result.id not in self._baseline and result.metrics:
            self.pin()
        return self._baseline.get(result.id, {})

    def pin(self) -> None:
        """Compare with the numbers of now from here on."""
        result = self.session.result if self.session is not None else None
        if result is not None:
            self._baseline[result.id] = {name: estimate.value for name, estimate in result.metrics.items()}
            self._shown = None
            self.outdate()

    def _toggle(self) -> None:
        self._all = not self._all
        self._shown = None
        self.outdate()

    def entry(self) -> QWidget | None:
        """What binds: the first thing one wants to read."""
        self.flush()
        return next(iter(self._area.findChildren(ElidedLink)), None)

    # ---- words

    def _write(self, view: flow.FlowView) -> None:
        self._words.let_go()
        self._cells, self._progress = [], None
        title = Label(in_one_line(view.title, HEADING), role="title", wrap=True)
        self._words.put(title)
        if view.banner[0]:
            self._words.put(self._banner(view))
        if view.state is AnswerState.COMPUTING:
            self._words.put(self._computing())
        elif view.trouble:
            self._words.put(quiet(view.trouble))
        if view.fixes or view.searching:
            self._words.put(heading("What to change"))
        if view.searching:
            self._words.put(quiet("Searching for settings that fit…"))
        for number, fix in enumerate(view.fixes):
            self._words.put(fix_card(fix.title, fix.detail, partial(self._apply, number), first=number == 0))
        faded = view.state in (AnswerState.UNFIT, AnswerState.STALE)
        if view.state is AnswerState.UNFIT and view.numbers:
            self._words.put(heading("If it did fit"))
        if view.warning:
            self._words.put(Label(view.warning, role="bad", wrap=True))
        if self.session is not None and not self.session.design.workloads:
            add = Button("Add a workload…", self.workload_wanted)
            self._words.put(add, Qt.AlignmentFlag.AlignLeft)
        if view.numbers:
            self._words.put(self._numbers(view.numbers if self._all else view.numbers[:_NUMBERS], faded))
            self._words.put(self._below(view.numbers))
        if view.binding is not None:
            self._words.put(self._sentence("Binding", view.binding, self.theme.bad))
        for also in view.also:
            self._words.put(self._sentence("And", also, self.theme.bad))
        if view.next is not None:
            self._words.put(self._sentence("Next", view.next, self.theme.muted))

    def _banner(self, view: flow.FlowView) -> QWidget:
        """What is wrong with the answer, in front of its figures."""
        tone = "warn" if view.state is AnswerState.STALE else "bad"
        buttons: list[tuple[str, Callable[[], object]]] = []
        if view.state is AnswerState.STALE:
            buttons.append(("Update now", self.update_wanted.emit))
        return banner(*view.banner, tone, buttons)

    def _computing(self) -> QWidget:
        """How far the first answer is, and the way to stop it."""
        progress = self._progress = Progress()
        if self.session is not None:
            progress.show_progress(*self.session.progress)
        stop = Button("Cancel", self.stop_wanted.emit, tip="Stop the analysis (Shift+F5)")
        box = QWidget()
        lines = in_column(progress, (stop, 0, Qt.AlignmentFlag.AlignLeft), on=box, margins=FLUSH, spacing=8)
        lines.addWidget(quiet("You can keep drawing: an edit starts the computation again."))
        return box

    def _apply(self, number: int) -> None:
        """Take over settings with which the workload fits."""
        session = self.session
        if session is not None and session.fitting is not None and number < len(session.fitting):
            session.apply(session.fitting[number].edit)

    def _numbers(self, numbers: tuple[flow.Number, ...], faded: bool = False) -> QWidget:
        box = QWidget()
        self._grid = QGridLayout(box)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(_BETWEEN)
        self._grid.setVerticalSpacing(4)
        self._cells = [_number(n, faded) for n in numbers]
        self._arrange()
        return box

    def _below(self, numbers: tuple[flow.Number, ...]) -> QWidget:
        """All numbers on demand, and what they are compared with."""
        box = QWidget()
        line = in_row(on=box, margins=FLUSH, spacing=14)
        if len(numbers) > _NUMBERS:
            text = "Fewer numbers" if self._all else f"All {len(numbers)} numbers"
            line.addWidget(_aside(text, self._toggle))
        if any(n.change for n in numbers):
            tip = "Numbers are compared with those first seen; from here on with those of now"
            line.addWidget(_aside("Compare with now", self.pin, tip))
        line.addStretch(1)
        return box

    def _arrange(self) -> None:
        """Figures beside the words where the panel is wide; as many numbers side by side as there is room for."""
        room = self._area.viewport().width()
        beside = room >= _TWO and not self._right.isHidden()
        self._way.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._said.setMaximumWidth(_WORDS if beside else _UNBOUND)
        if not self._cells:
            return
        widths = [cell.sizeHint().width() for cell in self._cells]
        columns = _columns(widths, (min(room, _WORDS) if beside else room) - _BESIDE)
        for i, cell in enumerate(self._cells):
            self._grid.removeWidget(cell)
            self._grid.addWidget(cell, i // columns, i % columns)
        for i in range(_NUMBERS + 1):
            self._grid.setColumnStretch(i, int(i == columns))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrange the numbers anew where the words got another width."""
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        return super().eventFilter(watched, event)

    def _sentence(self, head: str, sentence: flow.Sentence, colour: str) -> QWidget:
        box = QWidget()
        lines = in_column(on=box, margins=(0, 2, 0, 0), spacing=1)
        tag = Label(head)
        tag.setStyleSheet(f"color: {colour}; font-weight: 600;")
        name = ElidedLink(sentence.head)
        name.setCursor(Qt.CursorShape.PointingHandCursor)
        name.setToolTip(plain(f"{sentence.head}\nShow on the canvas"))
        name.clicked.connect(lambda: self._reveal(sentence.ids))
        top = in_row(tag, (name, 1), spacing=4)
        lines.addLayout(top)
        lines.addWidget(quiet(sentence.body))
        gain = flow.gain_text(sentence.gain, sentence.count > 1)
        if gain:
            lines.addWidget(quiet(gain[0].upper() + gain[1:] + ".", "good" if "%" in gain else "muted"))
        return box

    def _reveal(self, ids: tuple[str, ...]) -> None:
        if self.session is not None:
            picked = [picked_of(self.session.design, i) for i in ids]
            self.session.reveal(p for p in picked if p is not None)
            self.session.set_highlight(ids)

    def _picked(self, key: str) -> None:
        self._reveal((key,))

    # ---- the flows

    def _fill(self, view: flow.FlowView) -> None:
        self.chooser.blockSignals(True)
        self._choices.set_choices(view.flows)
        self.chooser.setCurrentIndex(self._choices.row_of(self._flow))
        self.chooser.setVisible(len(view.flows) > 1)
        self.chooser.blockSignals(False)

    def _choose(self, index: int) -> None:
        self._flow = str(self.chooser.itemData(index) or "")
        if self.session is not None:
            chosen = flow.find_flow(self.session.result, self._flow)
            self.session.set_highlight(chosen.via if chosen is not None else ())
        self._plots.start()

    def _made(self) -> list[Figure]:
        session = self.session
        if session is None or session.analysis is None or session.result is None or session.result.unfit is not None:
            return []
        from designer.report.figure import figure_kinds
        from designer.report.figures.flow_stages import stages

        chosen = flow.find_flow(session.result, self._flow) if self._flow else None
        if chosen is not None:
            one = stages(session.design, session.analysis, chosen)
            return [one] if one is not None else []
        kinds = sorted((k for k in figure_kinds().values() if k.dock == "flow"), key=lambda k: k.order)
        found = [k.build(session.design, session.analysis, session.result) for k in kinds]
        return [f for f in found if f is not None]

    def _draw(self) -> None:
        if not self.seen:
            self._dirty = True
            return
        from designer.gui.figures.view import FigureView

        figures = self._made()
        self._right.setVisible(bool(figures))
        self._arrange()
        while len(self._views) < len(figures):
            view = FigureView(self.theme)
            view.picked.connect(self._picked)
            view.setMinimumHeight(_HIGH)
            self._views.append(view)
            self._figures.addWidget(view, 1)
        for number, view in enumerate(self._views):
            view.set_figure(figures[number] if number < len(figures) else None)
            view.setVisible(number < len(figures))


def _aside(text: str, done: Callable[[], object], tip: str = "") -> QPushButton:
    """A link that is as wide as its words."""
    link = QPushButton(text)
    link.setProperty("link", True)
    link.setToolTip(plain(tip))
    link.clicked.connect(lambda: done())
    return link


def _columns(widths: list[int], room: int) -> int:
    """How many columns, each as wide as its widest number, fit side by side; two and two rather than three and one."""
    tries = [n for n in (4, 3, 2) if n <= len(widths) and not (n == 3 and len(widths) == _NUMBERS)]
    return next((n for n in tries if sum(max(widths[k::n]) + _BETWEEN for k in range(n)) - _BETWEEN <= room), 1)


def _number(number: flow.Number, faded: bool = False) -> QWidget:
    """A number under its name, over its band; faded where it does not hold for the design as it is."""
    value = Label(number.text, role="faint" if faded else "")
    font = value.font()
    font.setPointSizeF(font.pointSizeF() * 1.35)
    font.setWeight(font.Weight.DemiBold)
    value.setFont(font)
    cell = QWidget()
    lines = in_column(on=cell, margins=FLUSH, spacing=2)
    rows = [quiet(number.title), value, quiet(number.band, "faint")]
    if number.change:
        rows.append(quiet(number.change, number.tone))
    for label in rows:
        label.setToolTip(plain(number.tip))
        label.setWordWrap(False)
        lines.addWidget(label)
    return cell


PANEL = PanelKind("flow", "Answer", Place.ANSWER, 10, lambda s: FlowPanel(s.theme), "Alt+5")
