"""The inspector: the selected thing as a form, with "what if" at hand for every number."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QApplication,
    QToolButton,
    QWidget,
)

from designer.gui.controls import Label, plain
from designer.gui.layouts import FLUSH, in_column, in_row, scrolled
from designer.gui.panels._entry_rows import EntryRow, ValueField, sort_of
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._whatif import WhatIf
from designer.gui.panels._widgets import column, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import inspector, sweep
from designer.gui.viewmodels.forms import Entry, Form, Section
from designer.gui.viewmodels.members import Shown
from designer.plain_text import HEADING, in_one_line

if TYPE_CHECKING:
    from designer.design.edit import Edit

#: as many lines of a section are kept for later, once they are not shown; forms of all kinds together would fill memory
_SPARE = 24
#: a form of other lines is filled for so long in a turn of the event loop [s]
_TURN: Final = 0.012
_END: Final = object()


class SectionBox(QWidget):
    """Lines under a heading that opens and closes."""

    def __init__(self, make: Callable[[Entry], EntryRow], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self.rows: list[EntryRow] = []
        #: lines not shown now, the longest unused first
        self._idle: list[EntryRow] = []
        self.head = QToolButton()
        self.head.setCheckable(True)
        self.head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.head.setProperty("section", True)
        self.body = QWidget()
        self.lines = in_column(on=self.body, margins=(4, 0, 0, 6), spacing=1)
        in_column(self.head, self.body, on=self, margins=FLUSH, spacing=0)
        self.head.toggled.connect(self._open)

    def showing(self, section: Section) -> Iterator[None]:
        """Show another section, a line a step. Lines stay in this box, used or idle: a widget that moves is dressed
        again by Qt, which takes longer than all else.
        """
        self.head.setText(section.title)
        self.head.setChecked(section.hint != "collapsed")
        self._open(self.head.isChecked())
        for at, entry in enumerate(section.entries):
            if at < len(self.rows) and sort_of(self.rows[at].entry) == sort_of(entry):
                self.rows[at].reset()
                self.rows[at].show_entry(entry)
            else:
                row = self._spare(entry) or self._make(entry)
                row.show_entry(entry)
                self.lines.insertWidget(at, row)
                row.show()
                self.rows.insert(at, row)
            yield
        left = self.rows[len(section.entries) :]
        del self.rows[len(section.entries) :]
        for row in left:
            self.lines.removeWidget(row)
            row.hide()
            row.reset()
            self._idle.append(row)
        for row in self._idle[:-_SPARE]:
            row.deleteLater()
        del self._idle[:-_SPARE]

    def _spare(self, entry: Entry) -> EntryRow | None:
        """A line kept that can show this one."""
        found = next((row for row in reversed(self._idle) if sort_of(row.entry) == sort_of(entry)), None)
        if found is not None:
            self._idle.remove(found)
        return found

    def _open(self, on: bool) -> None:
        self.head.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        self.body.setVisible(on)


class MemberBar(QWidget):
    """Which member of an opened group is shown, with arrows to the next and the one before.

    Signals
    -------
    wanted : ``int``
        Number of the member to show, −1 for what all share.
    """

    wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: Shown | None = None
        self.back, self.forth = QToolButton(), QToolButton()
        for button, arrow, key, text in (
            (self.back, Qt.ArrowType.LeftArrow, ",", "Previous member"),
            (self.forth, Qt.ArrowType.RightArrow, ".", "Next member"),
        ):
            button.setArrowType(arrow)
            button.setAutoRaise(True)
            button.setAccessibleName(text)
            button.setToolTip(plain(f"{text}  ({key})"))
        self.number = ValueField(Entry("member", "Member shown", "", dimension="count"))
        self.number.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words = quiet("")
        line = in_row(self.back, (self.number, 1), self.forth, spacing=4)
        in_column(line, self.words, on=self, margins=(0, 6, 0, 2), spacing=2)
        self.back.clicked.connect(lambda: self._step(-1))
        self.forth.clicked.connect(lambda: self._step(1))
        self.number.entered.connect(self._entered)

    def show_group(self, shown: Shown | None) -> None:
        """Show which member is shown; None hides the bar."""
        self.shown = shown
        self.setVisible(shown is not None)
        if shown is None:
            return
        # counted from one, as everywhere in words; paths count from nought
        spelled = "" if shown.member is None else str(shown.member + 1)
        text = f"{shown.label} {spelled} of {shown.replicas}" if spelled else f"All {shown.replicas} equal"
        note = f"1 to {shown.replicas}; empty for what all members share  (M)"
        self.number.show_entry(Entry("member", "Member shown", text, spelled, "count", note=note))
        self.words.setText(shown.words)

    def _step(self, by: int) -> None:
        if self.shown is not None:
            member = self.shown.other(by)
            self.wanted.emit(-1 if member is None else member)

    def _entered(self, text: str) -> None:
        if self.shown is not None:
            self.wanted.emit(min(max(int(text), 1), self.shown.replicas) - 1 if text else -1)


class InspectorPanel(Panel):
    """The form of the selection.

    Signals
    -------
    member_wanted : ``Shown, int | None``
        Show this member of the group, None for what all share.
    sweep_wanted : ``Varied``
        What the workload does over a range of a value is wanted.
    """

    member_wanted = Signal(object, object)
    sweep_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.title = Label(role="title", wrap=True)
        self.subtitle = quiet("")
        self.members = MemberBar()
        self.members.hide()
        self.members.wanted.connect(self._want_member)
        #: the group whose members one may choose from now
        self.shown_group: Callable[[], Shown | None] = lambda: None
        self.rows: dict[str, EntryRow] = {}
        self._form: Form | None = None
        #: whether all lines of the form are there
        self._whole = False
        self._boxes: list[SectionBox] = []
        self._body = QWidget()
        self._body.setObjectName("panel")
        around, self._sections = column(self._body)
        around.setContentsMargins(10, 2, 8, 8)
        self._sections.setSpacing(2)
        area = scrolled(self._body)
        self.what_if = WhatIf()
        self.what_if.hide()
        head = in_column(self.title, self.subtitle, self.members, margins=(14, 12, 12, 4), spacing=2)
        in_column(head, (area, 1), self.what_if, on=self, margins=FLUSH, spacing=0)
        self._touched = ""
        #: what is left to do until the form of the selection is complete
        self._filling: Iterator[None] | None = None
        #: factors of two requested before the form was complete
        self._steps = 0
        self._turns = QTimer(self, singleShot=True, interval=0)
        self._turns.timeout.connect(self._go_on)
        self.what_if.applied.connect(self._apply)
        self.what_if.sweep_wanted.connect(self._sweep)

    def watch(self, session: Session) -> None:
        """Follow selection, design and analysis."""
        self.connect_signal(session.selection_changed, self._selected)
        self.connect_signal(session.design_changed, self.outdate)
        self.connect_signal(session.analysis_changed, self.outdate)
        self.connect_signal(session.workload_changed, self._other_workload)
        self.connect_signal(session.design_changed, self.what_if.follow)
        self._touched = ""
        self._steps = 0

    def _selected(self, *_: object) -> None:
        # what was asked for was meant for what was selected before
        self._steps = 0
        self.outdate()

    def set_session(self, session: Session | None) -> None:
        """Follow another document; a trial belongs to its design, and so does what is being typed."""
        for row in self.rows.values():
            row.reset()
        self.members.number.reset()
        self.what_if.watch(session)
        super().set_session(session)

    def finish(self) -> None:
        """Take over what is being typed, as if one had gone on to the next field."""
        field = QApplication.focusWidget()
        if isinstance(field, ValueField) and self.isAncestorOf(field):
            field.clearFocus()

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._turns.stop()
        self.what_if.close_jobs()

    def set_theme(self, theme: Theme) -> None:
        """Other colours: the form is made again."""
        self._form = None
        super().set_theme(theme)

    @property
    def pending(self) -> bool:
        """True if it can be seen and will be redrawn."""
        return super().pending or self._filling is not None

    def _redraw(self) -> None:
        """Redraw in as many turns of the event loop as it takes: what was shown stays in sight meanwhile."""
        if self._dirty and self.seen and not self._waits():
            self._dirty = False
            self.redraws += 1
            self._begin()
            self._go_on()

    def refresh(self) -> None:
        """Show the form of the selection, at once."""
        self._begin()
        self._go_on(at_once=True)

    def _begin(self) -> None:
        session = self.session
        if session is None:
            self.members.show_group(None)
            form = Form(None, "", "")
        else:
            self._show_member()
            form = inspector.inspect(session.design, session.selection, session.analysis, session.result)
        # bars repaint their background with each value, long before all is laid out
        self._body.setUpdatesEnabled(False)
        self._filling = self._shown(form)

    def _go_on(self, at_once: bool = False) -> None:
        """Fill the form for a while, or to its end."""
        begin = time.perf_counter()
        while self._filling is not None:
            if next(self._filling, _END) is _END:
                self._filling = None
                self._turns.stop()
                self._body.setUpdatesEnabled(True)
                if not self._dirty:
                    # else the form of another selection comes, which what was asked for is meant for
                    self._step()
            elif not at_once and time.perf_counter() - begin > _TURN:
                self._turns.start()
                break
        self._take_turn()

    def entry(self) -> QWidget | None:
        """The number of members of a group, which is what a new one waits for; else the first field."""
        if self.pending:
            self.flush()
        members = self.rows.get("replicas")
        return members.value if members is not None else None

    def scale(self, by: int) -> None:
        """Try twice as much of the number in question, or half for −1."""
        self._steps += by
        if self.pending:
            # as soon as the form of the selection is complete
            return
        if self._dirty:
            self.flush()
        self._step()

    def _step(self) -> None:
        steps, self._steps = self._steps, 0
        if steps and not self.what_if.isHidden():
            self.what_if.step(steps)

    def _show_member(self) -> None:
        """The bar helps where something in a group is selected, or an open group."""
        session = self.session
        inside = session is not None and any(within or ref.what == "groups" for within, ref in session.selection)
        shown = self.shown_group() if inside else None
        self.members.show_group(None if shown is None or shown.collapsed else shown)

    def _want_member(self, number: int) -> None:
        if self.members.shown is not None:
            self.member_wanted.emit(self.members.shown, None if number < 0 else number)

    def _shown(self, form: Form) -> Iterator[None]:
        """Show a form, a line a step."""
        old, self._form = self._form if self._whole else None, form
        self._whole = False
        if old is not None and _shape(old) == _shape(form):
            self._head(form)
            for section in form.sections:
                for entry in section.entries:
                    self.rows[entry.name].show_entry(entry)
            self.what_if.keep(self._entry(self._touched))
            self._whole = True
            return
        self.rows = {}
        stops: list[QWidget] = []
        while len(self._boxes) < len(form.sections):
            box = SectionBox(self._row)
            self._boxes.append(box)
            self._sections.put(box)
        for number, box in enumerate(self._boxes):
            box.setVisible(number < len(form.sections))
        for box, section in zip(self._boxes, form.sections, strict=False):
            yield from box.showing(section)
            self.rows |= {row.entry.name: row for row in box.rows}
            stops += [box.head, *(self.rows[e.name].value for e in section.entries if e.editable)]
        self._head(form)
        # lines that are used again were elsewhere before
        for before, after in itertools.pairwise(stops):
            QWidget.setTabOrder(before, after)
        scalable = [e for s in form.sections for e in s.entries if e.scalable]
        usual = next((e.name for e in scalable if e.dimension != "count"), "")
        self._touched = form.asked if any(e.name == form.asked for e in scalable) else usual
        self.what_if.begin(self._entry(self._touched))
        self._whole = True

    def _head(self, form: Form) -> None:
        self.title.setText(in_one_line(form.title, HEADING))
        self.subtitle.setText(form.subtitle)
        self.subtitle.setVisible(bool(form.subtitle))

    def _entered(self, row: EntryRow, text: str) -> None:
        self._enter(row.entry.name, text)

    def _row(self, entry: Entry) -> EntryRow:
        row = EntryRow(entry)
        row.entered.connect(partial(self._entered, row))
        row.focused.connect(lambda: self._touch(row.entry.name))
        row.sweep_wanted.connect(lambda: self._sweep_line(row.entry.name))
        return row

    def _entry(self, name: str) -> Entry | None:
        if self._form is None:
            return None
        return next((e for s in self._form.sections for e in s.entries if e.name == name), None)

    def _touch(self, name: str) -> None:
        entry = self._entry(name)
        if entry is not None and entry.scalable and name != self._touched:
            self._touched = name
            self.what_if.begin(entry)

    def _sweep_line(self, name: str) -> None:
        self._sweep(self._entry(name))

    def _sweep(self, entry: Entry | None) -> None:
        session = self.session
        if session is None or entry is None:
            return
        varied = sweep.of_entry(session.design, self._form, entry)
        if not session.design.workloads:
            session.warned.emit("A sweep needs a workload: add one first")
        elif varied is None:
            session.warned.emit(f"{entry.title} cannot be swept here: select one thing, or equal ones")
        else:
            self.sweep_wanted.emit(varied)

    def _enter(self, name: str, text: str) -> None:
        entry = self._entry(name)
        if entry is None or entry.make is None or self.session is None:
            return
        self.session.seal()
        self.session.apply(entry.make(text))
        self.session.seal()
        self.flush()

    def _apply(self, edit: Edit) -> None:
        if self.session is not None:
            self.session.seal()
            self.session.apply(edit)
            self.session.seal()
            self.flush()

    def _other_workload(self, _workload: str) -> None:
        self.what_if.begin(self._entry(self._touched))


def _shape(form: Form) -> object:
    """What must be equal for the widgets to stay."""
    return form.key, [
        (s.title, [(e.name, e.dimension, e.editable, e.bar is None) for e in s.entries]) for s in form.sections
    ]


PANEL = PanelKind("inspector", "Selection", Place.ANSWER, 20, lambda s: InspectorPanel(s.theme), "Alt+3")
