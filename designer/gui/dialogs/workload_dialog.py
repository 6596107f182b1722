"""A workload as a form, built from the settings its kind declares."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from designer.design.document import WorkloadSpec
from designer.gui.controls import Choice, Label, plain
from designer.gui.viewmodels import forms, workloads


class WorkloadDialog(QDialog):
    """Edits a workload, or makes a new one when none is given."""

    def __init__(self, spec: WorkloadSpec | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Workload" if spec is not None else "New workload")
        self._spec = spec
        self.kind = Choice()
        self.kind.setAccessibleName("Kind of workload")
        for name, title, help_text in workloads.kinds():
            self.kind.addItem(title, name)
            self.kind.setItemData(self.kind.count() - 1, help_text, Qt.ItemDataRole.ToolTipRole)
        self.title = QLineEdit(spec.title if spec is not None else "")
        self.title.setPlaceholderText("Title")
        self.title.setAccessibleName("Title")
        self.help = Label()
        self.help.setWordWrap(True)
        self.help.setProperty("role", "muted")
        self.fields: dict[str, QLineEdit | QComboBox] = {}
        self._entries: dict[str, forms.Entry] = {}
        self._page = QWidget()
        self._page.setObjectName("panel")
        self._form = QFormLayout(self._page)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(self._page)
        self.problem = Label()
        self.problem.setWordWrap(True)
        self.problem.setProperty("role", "bad")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        top = QFormLayout()
        top.addRow("Kind", self.kind)
        top.addRow("Title", self.title)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 14, 16, 14)
        box.setSpacing(10)
        box.addLayout(top)
        box.addWidget(self.help)
        box.addWidget(area, 1)
        box.addWidget(self.problem)
        box.addWidget(self.buttons)
        if spec is not None:
            self.kind.setCurrentIndex(self.kind.findData(spec.kind))
        self.kind.currentIndexChanged.connect(self._rebuild)
        self._rebuild()
        self.resize(480, 520)

    @property
    def kind_name(self) -> str:
        """Name of the chosen kind."""
        return str(self.kind.currentData() or "")

    def _rebuild(self) -> None:
        while self._form.rowCount():
            self._form.removeRow(0)
        self.fields, self._entries = {}, {}
        self.help.setText(str(self.kind.currentData(Qt.ItemDataRole.ToolTipRole) or ""))
        settings: Mapping[str, object] = {}
        if self._spec is not None and self._spec.kind == self.kind_name:
            settings = self._spec.settings
        for entry in workloads.entries(self.kind_name, settings):  # type: ignore[arg-type]
            self._entries[entry.name] = entry
            field = self.fields[entry.name] = self._field(entry)
            field.setToolTip(plain(entry.note))
            field.setAccessibleName(entry.title)
            self._form.addRow(entry.title, field)
        self._check()

    def _field(self, entry: forms.Entry) -> QLineEdit | QComboBox:
        if entry.dimension in ("choice", "flag"):
            box = Choice()
            for value, title in entry.choices or (("yes", "yes"), ("no", "no")):
                box.addItem(title, value)
            box.setCurrentIndex(max(0, box.findData(entry.spelled)))
            return box
        line = QLineEdit(entry.spelled)
        line.setPlaceholderText(entry.note)
        line.textChanged.connect(self._check)
        return line

    def texts(self) -> dict[str, str]:
        """What the fields hold."""
        return {
            name: str(f.currentData()) if isinstance(f, QComboBox) else f.text().strip()
            for name, f in self.fields.items()
        }

    def _check(self) -> None:
        wrong = ""
        for name, field in self.fields.items():
            if isinstance(field, QLineEdit):
                problem = forms.check(self._entries[name], field.text())
                if bool(field.property("wrong")) != bool(problem):
                    field.setProperty("wrong", bool(problem))
                    field.style().unpolish(field)
                    field.style().polish(field)
                wrong = wrong or (f"{self._entries[name].title}: {problem}" if problem else "")
        self.problem.setText(wrong)
        self.problem.setVisible(bool(wrong))
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not wrong)
