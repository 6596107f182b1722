"""Racks: their elevations next to what each feeds and carries; units are dragged from place to place. Stays open."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QLineEdit, QScrollArea, QSplitter, QWidget

from designer.design.edit import Edit
from designer.errors import DocumentError
from designer.gui.controls import Button, ChoiceBox, Label, NumberBox
from designer.gui.figures.elevations import Elevations
from designer.gui.layouts import FLUSH, in_column, in_row, scrolled
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import racks
from designer.report.rack_moves import move, new_rack, why_not

_HINT: Final = (
    "Drag a unit, or move it with the arrow keys; Shift and arrows choose another one. Ctrl and the wheel zoom."
)


class RacksDialog(QDialog):
    """The racks of one document."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.view = Elevations(session, theme)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setWidget(self.view)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._make_fields()
        self._make_buttons()
        self._lay_out(self._page())
        self._connect()
        self._follow()
        self.say("", False)
        self.view.setFocus()

    def _make_fields(self) -> None:
        """Fields of a rack and of a unit, and the labels next to them."""
        self.name, self.power, self.weight = QLineEdit(), QLineEdit(), QLineEdit()
        self.height_, self.feeds, self.at = NumberBox(), NumberBox(), NumberBox()
        self.feed = ChoiceBox()
        self.feed.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.height_.setRange(1, 100)
        self.feeds.setRange(1, 4)
        self.at.setRange(1, 100)
        for box in (self.height_, self.feeds, self.at):
            # a number that is only half written is not taken over
            box.setKeyboardTracking(False)
        self.height_.setSuffix(" U")
        self.power.setPlaceholderText("not stated")
        self.weight.setPlaceholderText("not stated")
        self.power.setToolTip("What the rack can feed while one of its feeds is lost, such as 17.3 kW")
        self.weight.setToolTip("What the rack can carry, such as 1 t")
        self.loads = Label(role="muted", wrap=True)
        self.unit_name = Label(wrap=True)
        self.unit_facts = Label(role="muted", wrap=True)
        self.state = Label(role="muted", wrap=True)
        self.state.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.state.setAlignment(Qt.AlignmentFlag.AlignTop)

    def _make_buttons(self) -> None:
        self.add = Button("New rack", self._add, tip="An empty rack like the chosen one")
        self.remove = Button("Remove rack", self._remove, tip="Take the chosen rack away; it must be empty")
        self.undo = Button("Undo", self.session.undo, tip="Take the last step back (Ctrl+Z)")
        self.redo = Button("Redo", self.session.redo, tip="Do it again (Ctrl+Shift+Z)")
        for button in (self.add, self.remove, self.undo, self.redo):
            button.setAutoDefault(False)

    def _page(self) -> QWidget:
        """The forms of the chosen rack and of the chosen unit."""
        rack_form, unit_form = self._form(), self._form()
        for title, field in (
            ("Name", self.name),
            ("Height", self.height_),
            ("Power", self.power),
            ("Power feeds", self.feeds),
            ("Carries", self.weight),
        ):
            field.setAccessibleName(f"Rack: {title}")
            rack_form.addRow(title, field)
        for title, field in (("Lowest unit", self.at), ("Feed", self.feed)):
            field.setAccessibleName(title)
            unit_form.addRow(title, field)
        self.rack_title, unit_title = Label("Rack", role="title"), Label("Unit", role="title")
        page = QWidget()
        page.setObjectName("panel")
        in_column(
            self.rack_title,
            rack_form,
            self.loads,
            in_row(self.add, self.remove, 1),
            unit_title,
            self.unit_name,
            self.unit_facts,
            unit_form,
            1,
            on=page,
            margins=(14, 12, 12, 12),
            spacing=8,
        )
        return page

    def _lay_out(self, page: QWidget) -> None:
        """Elevations on the left, the page on the right, shortcuts of the dialog."""
        side, left = QWidget(), QWidget()
        in_column((scrolled(page), 1), in_row(self.undo, self.redo, 1, margins=(14, 6, 12, 12)), on=side, margins=FLUSH)
        below = in_column(self.state, margins=(14, 6, 14, 10))
        in_column((self.area, 1), below, on=left, margins=FLUSH, spacing=0)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(left)
        split.addWidget(side)
        split.setStretchFactor(0, 1)
        split.setSizes([850, 280])
        in_column(split, on=self, margins=FLUSH)
        self.resize(1130, 720)
        for keys, run in (
            (QKeySequence.StandardKey.Undo, self.session.undo),
            (QKeySequence.StandardKey.Redo, self.session.redo),
        ):
            QShortcut(QKeySequence(keys), self, run)

    @staticmethod
    def _form() -> QFormLayout:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setSpacing(8)
        return form

    def _connect(self) -> None:
        self.session.design_changed.connect(self._changed)
        self.session.file_changed.connect(self._retitle)
        self.session.warned.connect(self._warned)
        self.view.chosen.connect(self._follow)
        self.view.stated.connect(self.say)
        self.view.reached.connect(self._reach)
        self.name.editingFinished.connect(lambda: self._limit("name", self.name.text()))
        self.power.editingFinished.connect(lambda: self._limit("power", self.power.text()))
        self.weight.editingFinished.connect(lambda: self._limit("weight_capacity", self.weight.text()))
        self.height_.valueChanged.connect(lambda: self._limit("height", self.height_.value()))
        self.feeds.valueChanged.connect(lambda: self._limit("feeds", self.feeds.value()))
        self.at.valueChanged.connect(self._put)
        self.feed.activated.connect(self._hang)

    # ---- what is shown

    def showEvent(self, event: QShowEvent) -> None:
        """Bring the first unit into sight: racks fill from below, and a tall one is higher than the dialog."""
        super().showEvent(event)
        # the racks have their places when the event loop has been round
        QTimer.singleShot(0, self, self._reach_first)

    def _reach_first(self) -> None:
        racks_ = self.view.plan.racks
        rack = next((n for n, each in enumerate(racks_) if each.units), None)
        if rack is not None and not self.view.unit:
            unit = max(racks_[rack].units, key=lambda each: each.at)
            self._reach(self.view.box(rack, unit.at, unit.height))

    def _retitle(self, *_: object) -> None:
        self.setWindowTitle(f"Racks of {self.session.title}")

    def _changed(self, *_: object) -> None:
        self.view.refresh()

    def _follow(self) -> None:
        """The fields say what is chosen."""
        self._retitle()
        history = self.session.history
        self.undo.setEnabled(history.can_undo)
        self.redo.setEnabled(history.can_redo)
        plan, number = self.view.plan, self.view.rack
        rack = plan.racks[number] if plan.racks else None
        fields = (self.name, self.height_, self.power, self.feeds, self.weight, self.at, self.feed)
        for field in fields:
            field.blockSignals(True)
        for field in (self.height_, self.power, self.feeds, self.weight):
            field.setEnabled(rack is not None)
        self.name.setEnabled(rack is not None and rack.drawn < 0)
        self.add.setEnabled(rack is not None)
        self.remove.setEnabled(rack is not None and rack.drawn < 0 and bool(rack.key) and not rack.units)
        if rack is not None:
            shown = racks.shown(rack)
            self.name.setText(shown.name)
            self.name.setCursorPosition(0)
            self.height_.setValue(shown.height)
            self.power.setText(shown.power)
            self.weight.setText(shown.weight)
            self.feeds.setValue(rack.feeds)
            self.loads.setText(shown.loads)
        self.rack_title.setText(racks.kind_of_rack(plan, number))
        unit = self.view.placed
        self.unit_name.setText(unit.name if unit is not None else "None is chosen.")
        self.unit_facts.setText(racks.facts(unit) if unit is not None else "")
        self.at.setEnabled(unit is not None)
        self.feed.setEnabled(unit is not None)
        self.feed.clear()
        if unit is not None and rack is not None:
            self.at.setValue(int(unit.at))
            for title, key in racks.feed_choices(rack):
                self.feed.addItem(title, key)
            self.feed.setCurrentIndex(max(0, self.feed.findData(unit.feed)))
        for field in fields:
            field.blockSignals(False)

    def _reach(self, box: QRectF) -> None:
        middle = box.center()
        self.area.ensureVisible(
            round(middle.x()), round(middle.y()), round(box.width() / 2) + 12, min(round(box.height() / 2) + 12, 200)
        )

    def say(self, text: str, bad: bool) -> None:
        """Show a text below the racks; without one, what can be done there."""
        self.state.setText(text or _HINT)
        role = "bad" if bad else "muted"
        if self.state.property("role") != role:
            self.state.setProperty("role", role)
            self.state.style().unpolish(self.state)
            self.state.style().polish(self.state)

    def _warned(self, text: str) -> None:
        self.say(text, True)

    # ---- what is changed

    def _do(self, edit: Edit) -> bool:
        self.session.seal()
        return self.session.apply(edit)

    def _limit(self, name: str, value: str | int) -> None:
        """Take over a field of the rack, if it says something else than before."""
        plan, number = self.view.plan, self.view.rack
        if not plan.racks:
            return
        try:
            edit = racks.limited(self.session.design, plan, number, name, value)
        except DocumentError as error:
            self.say(f"{error.text} — {error.remedy}" if error.remedy else error.text, True)
            return
        if edit is not None and self._do(edit):
            self.say(f"{edit.label}.", False)

    def _put(self) -> None:
        member = self.view.member
        if member is None:
            return
        at, rack = self.at.value(), self.view.rack
        reason = why_not(self.session.design, self.view.plan, member, rack, at)
        if reason:
            self.say(f"{self.unit_name.text()} does not fit at unit {at}: {reason}.", True)
            self._follow()
        else:
            self.session.seal()
            self.view.put(rack, at)

    def _hang(self) -> None:
        member, unit = self.view.member, self.view.placed
        key = str(self.feed.currentData() or "")
        if member is not None and unit is not None and key != unit.feed:
            self._do(move(self.session.design, self.view.plan, member, self.view.rack, int(unit.at), feed=key))

    def _add(self) -> None:
        if self._do(new_rack(self.session.design, self.view.plan, self.view.rack)):
            self.view.choose("", len(self.view.plan.racks) - 1)
            self.view.reached.emit(self.view.place_of(self.view.rack))

    def _remove(self) -> None:
        rack = self.view.plan.racks[self.view.rack]
        if rack.key and not rack.units:
            self._do(racks.removed(rack))

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.view.set_theme(theme)

    def close_links(self) -> None:
        """Follow the document no more."""
        self.session.design_changed.disconnect(self._changed)
        self.session.file_changed.disconnect(self._retitle)
        self.session.warned.disconnect(self._warned)
