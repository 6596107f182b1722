"""Accepting a finding: why, by whom and until when. It is an edit of the design, so it can be undone and is saved."""

from __future__ import annotations

from datetime import date

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from designer.design.document import Design, Waiver
from designer.errors import DocumentError
from designer.findings import Finding
from designer.gui.controls import ChoiceBox, Label
from designer.gui.layouts import in_column
from designer.gui.viewmodels import waiving

#: lines of the reason seen at once
_LINES = 3


class WaiveDialog(QDialog):
    """Asks for a waiver of a finding; ``waiver`` is it once the dialog was accepted."""

    def __init__(self, design: Design, finding: Finding, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Waive a finding")
        self._design, self._finding, self._today = design, finding, date.today()
        self.waiver: Waiver | None = None
        stated = Label(f"{finding.code}: {finding.text}", role="title", wrap=True)
        self.reason = QPlainTextEdit()
        self.reason.setPlaceholderText("Why this is right here, for readers of the report")
        self.reason.setAccessibleName("Reason")
        self.reason.setTabChangesFocus(True)
        self.reason.setFixedHeight((_LINES + 1) * self.fontMetrics().lineSpacing())
        self.author = QLineEdit(waiving.last_author(design))
        self.author.setPlaceholderText("Name or role")
        self.author.setAccessibleName("Author")
        self.scope = ChoiceBox()
        self.scope.setAccessibleName("Scope")
        self.scope.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        if finding.where:
            self.scope.addItem("at this place", False)
        self.scope.addItem("everywhere in this design", True)
        self.span = ChoiceBox()
        self.span.setAccessibleName("How long it holds")
        for title, days in waiving.SPANS.items():
            self.span.addItem(title, waiving.last_day(days, self._today))
        self.expires = QLineEdit()
        self.expires.setPlaceholderText("for good")
        self.expires.setAccessibleName("Last day")
        self.problem = Label(role="muted", wrap=True)
        self.problem.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.problem.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText("Waive")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow("Reason", self.reason)
        form.addRow("Author", self.author)
        form.addRow("Waived", self.scope)
        form.addRow("Holds", self.span)
        form.addRow("Last day", self.expires)
        in_column(stated, form, self.problem, 1, self.buttons, on=self, margins=(18, 16, 18, 14), spacing=10)
        self.span.currentIndexChanged.connect(lambda: self.expires.setText(str(self.span.currentData())))
        self.expires.setText(str(self.span.currentData()))
        self.reason.textChanged.connect(self._check)
        self.scope.currentIndexChanged.connect(self._check)
        for field in (self.author, self.expires):
            field.textChanged.connect(self._check)
        self._check()
        self.resize(max(480, 46 * self.fontMetrics().averageCharWidth()), self.sizeHint().height())

    def _check(self, *_: object) -> None:
        try:
            self.waiver = waiving.waiver_of(
                self._design,
                self._finding,
                bool(self.scope.currentData()),
                self.reason.toPlainText(),
                self.author.text(),
                self.expires.text(),
                self._today,
            )
        except DocumentError as error:
            self.waiver = None
            self.problem.setText(f"{error.text[:1].upper()}{error.text[1:]}: {error.remedy}")
        else:
            self.problem.setText("It no longer counts, and is listed under Waivers and in the report.")
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(self.waiver is not None)
