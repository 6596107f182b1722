"""A workload as a form, built from the settings its kind declares: grouped, searchable, with the title following."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from designer.design.document import Design, WorkloadSpec
from designer.gui.completing import OfferedList
from designer.gui.controls import ChoiceBox, Label, plain
from designer.gui.dialogs.workload_fields import GroupHead, ListedChoice, ModelField, SettingChoice, SettingText
from designer.gui.layouts import in_column, in_row
from designer.gui.viewmodels import forms, workload_choices, workloads

Field = SettingText | SettingChoice | ListedChoice | ModelField

#: fields made before the window looks for keys again
_AT_ONCE = 6


class WorkloadDialog(QDialog):
    """Edits a workload, or makes a new one when none is given.

    Parameters
    ----------
    design
        What it runs on: chooses the kind offered, and the ids that fields offer.
    """

    def __init__(
        self, spec: WorkloadSpec | None, parent: QWidget | None = None, *, design: Design | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Workload" if spec is not None else "New workload")
        self._spec, self._design = spec, design
        #: the setting to sweep, where that is what one wants
        self.sweep = ""
        self.kind = ChoiceBox()
        self.kind.setAccessibleName("Kind of workload")
        for name, title, help_text in workloads.kinds():
            self.kind.addItem(title, name)
            self.kind.setItemData(self.kind.count() - 1, help_text, Qt.ItemDataRole.ToolTipRole)
        self.title = QLineEdit(spec.title if spec is not None else "")
        self.title.setPlaceholderText("Title")
        self.title.setAccessibleName("Title")
        #: True while the title says what the settings say
        self.follows = spec is None or not spec.title
        self.help = Label(role="muted", wrap=True)
        self.misfit = Label(role="warn", wrap=True)
        self._fields: dict[str, Field] = {}
        #: groups whose fields are still to be made: the form is shown before all of them are
        self._waiting: deque[Callable[[], None]] = deque()
        self._later = QTimer(self, interval=0)
        self._later.timeout.connect(self._make_next)
        self.heads: dict[str, GroupHead] = {}
        self._summaries: dict[str, Label] = {}
        self._entries: dict[str, forms.Entry] = {}
        self._groups: tuple[tuple[str, tuple[forms.Entry, ...]], ...] = ()
        self._page: QWidget | None = None
        self._wide = 0
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.verticalScrollBar().valueChanged.connect(self._place_offers)
        self.hint = Label(role="muted", wrap=True)
        # two lines stay free, so that the form does not jump from field to field
        self.hint.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.hint.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.problem = Label(role="bad", wrap=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        top = QFormLayout()
        top.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        top.addRow("Kind", self.kind)
        top.addRow("Title", self.title)
        in_column(
            top,
            self.help,
            self.misfit,
            (self.area, 1),
            self.hint,
            self.problem,
            self.buttons,
            on=self,
            margins=(16, 14, 16, 14),
            spacing=8,
        )
        wanted = spec.kind if spec is not None else workload_choices.fitting_kind(design) if design is not None else ""
        if wanted:
            self.kind.setCurrentIndex(self.kind.findData(wanted))
        self.kind.currentIndexChanged.connect(self._rebuild)
        self.title.textEdited.connect(self._own_title)
        self._rebuild()
        if spec is not None and spec.title:
            self.follows = spec.title == self._suggested()
        room = self.fontMetrics().lineSpacing()
        self.resize(min(760, max(500, 32 * room)), min(820, max(580, 36 * room)))

    @property
    def kind_name(self) -> str:
        """Name of the chosen kind."""
        return str(self.kind.currentData() or "")

    def _rebuild(self) -> None:
        self._fields, self._entries, self.heads, self._summaries = {}, {}, {}, {}
        self._waiting.clear()
        self.help.setText(str(self.kind.currentData(Qt.ItemDataRole.ToolTipRole) or ""))
        misfit = workload_choices.misfit(self._design, self.kind_name) if self._design is not None else ""
        self.misfit.setText(misfit)
        self.misfit.setVisible(bool(misfit))
        self.hint.setText("")
        settings: Mapping[str, object] = {}
        if self._spec is not None and self._spec.kind == self.kind_name:
            settings = self._spec.settings
        entries = workloads.entries(self.kind_name, settings)  # type: ignore[arg-type]
        self._groups = workload_choices.grouped(self.kind_name, entries)
        # the same for every group, so that the fields are aligned
        wide = max((self.fontMetrics().horizontalAdvance(e.title) for e in entries), default=0)
        self._wide = min(wide + 6, 14 * self.fontMetrics().lineSpacing())
        page = self._page = QWidget()
        page.setObjectName("panel")
        column = in_column(on=page, margins=(10, 6, 10, 8), spacing=2)
        for number, (title, lines) in enumerate(self._groups):
            self._add_group(column, title, lines, number == 0 or any(e.overridden for e in lines))
        column.addStretch(1)
        # the area lets the old page go
        self.area.setWidget(page)
        self._check()
        self._follow()
        self._tell()
        self._later.start()

    @property
    def fields(self) -> Mapping[str, Field]:
        """The field of every setting."""
        while self._waiting:
            self._make_next()
        return self._fields

    def _make_next(self) -> None:
        if self._waiting:
            self._waiting.popleft()()
        if not self._waiting and self._later.isActive():
            self._later.stop()
            self._check()

    def accept(self) -> None:
        """Accept the form, once it is complete and without errors."""
        if self._later.isActive():
            _ = self.fields
        if self.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled():
            super().accept()

    def _add_group(self, column: QVBoxLayout, title: str, lines: tuple[forms.Entry, ...], on: bool) -> None:
        body = QWidget()
        form = QFormLayout(body)
        form.setContentsMargins(18, 0, 0, 8)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        open_at_once = on or len(self._groups) == 1
        for entry in lines:
            self._entries[entry.name] = entry
        if open_at_once:
            self._add_fields(form, lines)
        else:
            # a few at a time, and fields are looked up by name only after all of them exist
            for first in range(0, len(lines), _AT_ONCE):
                self._waiting.append(partial(self._add_fields, form, lines[first : first + _AT_ONCE]))
        head = self.heads[title] = GroupHead(title, body)
        said = self._summaries[title] = Label()
        said.setProperty("role", "muted")
        said.setWordWrap(True)
        line = in_row()
        column.addLayout(line)
        line.addWidget(head, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(said, 1)
        column.addWidget(body)
        head.toggled.connect(self._tell)
        head.begin(open_at_once)

    def _add_fields(self, form: QFormLayout, lines: tuple[forms.Entry, ...]) -> None:
        for entry in lines:
            field = self._fields[entry.name] = self._field(entry)
            field.setToolTip(plain(entry.note))
            field.setAccessibleName(entry.title)
            field.entered.connect(partial(self._explain, entry.name))
            label = Label(entry.title, wrap=True)
            label.setFixedWidth(self._wide)
            label.setBuddy(field)
            form.addRow(label, field)

    def _field(self, entry: forms.Entry) -> Field:
        if entry.name == "model":
            model = ModelField(entry)
            model.changed.connect(self._check)
            return model
        if entry.name == "dataset":
            data = ListedChoice(entry.spelled, workload_choices.dataset_choices())
            data.editTextChanged.connect(self._check)
            return data
        if entry.dimension in ("choice", "flag"):
            box = SettingChoice(entry)
            box.currentIndexChanged.connect(self._check)
            box.sweep_wanted.connect(partial(self._sweep, entry.name))
            return box
        known = workload_choices.offered(self._design, self.kind_name, entry.name) if self._design is not None else ()
        line = SettingText(entry, known)
        line.textChanged.connect(self._check)
        line.sweep_wanted.connect(partial(self._sweep, entry.name))
        return line

    def _offers(self) -> Iterator[OfferedList]:
        """What the fields made so far offer."""
        for field in self._fields.values():
            line = field.list if isinstance(field, ModelField) else field
            if isinstance(line, SettingText | ListedChoice) and line.offers is not None:
                yield line.offers

    def _place_offers(self, *_: object) -> None:
        """What is offered stays with its field while the form is scrolled."""
        for offers in self._offers():
            offers.follow()

    def _explain(self, name: str) -> None:
        """What the field in hand is about, below the form."""
        entry = self._entries.get(name)
        if entry is not None:
            self.hint.setText(f"{entry.title}: {entry.note}" if entry.note else "")
            self.area.ensureWidgetVisible(self._fields[name], 0, 12)

    def _sweep(self, name: str) -> None:
        """Take the form, and sweep a setting then."""
        if self.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled():
            self.sweep = name
            self.accept()

    def texts(self) -> dict[str, str]:
        """What the fields hold."""
        return {name: forms.with_unit(self._entries[name], _text(field)) for name, field in self.fields.items()}

    def _so_far(self) -> dict[str, str]:
        """What the fields hold; of those still to be made what they will."""
        return {name: entry.spelled for name, entry in self._entries.items()} | {
            name: _text(field) for name, field in self._fields.items()
        }

    def _suggested(self) -> str:
        return workload_choices.suggested_title(self._design, self.kind_name, self._so_far())

    def _own_title(self, text: str) -> None:
        """A title that was typed stays; an empty one follows again."""
        self.follows = not text.strip()

    def _tell(self, *_: object) -> None:
        texts = self._so_far()
        for title, lines in self._groups:
            if title in self._summaries:
                said = self._summaries[title]
                known = {e.name: texts.get(e.name, e.spelled) for e in lines}
                said.setText("" if self.heads[title].isChecked() else workload_choices.summary(lines, known))

    def _check(self, *_: object) -> None:
        if self._waiting or len(self._fields) < len(self._entries) or not self._summaries:
            return
        wrong, usable = "", True
        for name, field in self._fields.items():
            problem = self._problem(name, field)
            if isinstance(field, QLineEdit) and bool(field.property("wrong")) != bool(problem):
                field.setProperty("wrong", bool(problem))
                field.style().unpolish(field)
                field.style().polish(field)
            # what is wrong with a model is shown below it already
            if problem and not isinstance(field, ModelField):
                wrong = wrong or f"{self._entries[name].title}: {problem}"
            usable = usable and not problem
        self.problem.setText(wrong)
        if bool(wrong) == self.problem.isHidden():
            self.problem.setVisible(bool(wrong))
            # the words take room from the form: the field they are about stays in view
            QTimer.singleShot(0, self, self._keep_in_view)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(usable)
        self._tell()
        self._follow()

    def _keep_in_view(self) -> None:
        field = next((f for f in self._fields.values() if f.hasFocus()), None)
        if field is not None:
            self.area.ensureWidgetVisible(field, 0, 12)

    def _follow(self) -> None:
        if self.follows and not self.title.isModified():
            self.title.setText(self._suggested())
            self.title.setCursorPosition(0)

    def _problem(self, name: str, field: Field) -> str:
        if isinstance(field, ModelField):
            return field.problem
        if isinstance(field, SettingText):
            return forms.check(self._entries[name], field.text())
        if isinstance(field, ListedChoice):
            return workload_choices.check_dataset(field.spelled)
        return ""


def _text(field: Field) -> str:
    if isinstance(field, ModelField | ListedChoice):
        return field.spelled
    return str(field.currentData()) if isinstance(field, SettingChoice) else field.text().strip()
