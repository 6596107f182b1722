"""A new virtual machine: its name, its host, its size and its virtual GPU; says at once where it would be placed."""

from __future__ import annotations

from pydantic import ValidationError
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QWidget

from designer.design.document import Design, VirtualMachine
from designer.design.naming import in_names
from designer.errors import UnitError
from designer.gui.controls import ChoiceBox, Label, NumberBox
from designer.gui.layouts import in_column
from designer.gui.viewmodels import new_machine
from designer.gui.viewmodels.new_machine import Wanted
from designer.gui.viewmodels.table import sentence_case
from designer.units import parse_size

#: from the last key until a place is looked for [ms]
_QUIET = 150


class MachineDialog(QDialog):
    """Asks what the machine is to be; ``machine`` is it once the dialog was accepted.

    Parameters
    ----------
    host
        Path of the host it is meant for; empty for any.
    """

    def __init__(self, design: Design, host: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("New virtual machine")
        self._design = design
        self.machine: VirtualMachine | None = None
        self.name = QLineEdit()
        self.name.setPlaceholderText("as its id")
        self.like, self.host, self.profile = ChoiceBox(), ChoiceBox(), ChoiceBox()
        self.like.addItem("nothing: as below", "")
        for vm in design.vms.values():
            self.like.addItem(vm.label, vm.id)
        self.host.addItem("found by itself", "")
        for choice in new_machine.host_choices(design):
            self.host.addItem(choice.title, choice.path)
        self.host.setCurrentIndex(max(0, self.host.findData(host)))
        for key, title in new_machine.profile_choices(design):
            self.profile.addItem(title, key)
        for box in (self.like, self.host, self.profile):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(24)
        self.vcpus, self.count = NumberBox(), NumberBox()
        self.vcpus.setRange(1, 10_000)
        self.vcpus.setValue(8)
        self.count.setRange(1, 64)
        self.memory = QLineEdit("64 GiB")
        self.memory.setPlaceholderText("such as 64 GiB")
        self.state = Label(role="muted", wrap=True)
        self.state.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setSpacing(8)
        for title, field in (
            ("Name", self.name),
            ("Like", self.like),
            ("Host", self.host),
            ("Virtual CPUs", self.vcpus),
            ("Memory", self.memory),
            ("GPU profile", self.profile),
            ("How many", self.count),
        ):
            field.setAccessibleName(title)
            form.addRow(title, field)
        in_column(form, self.state, 1, self.buttons, on=self, margins=(16, 14, 16, 14), spacing=10)
        self._timer = QTimer(self, singleShot=True, interval=_QUIET)
        self._timer.timeout.connect(self.look)
        self.like.currentIndexChanged.connect(self._take)
        self.host.currentIndexChanged.connect(self._timer.start)
        self.profile.currentIndexChanged.connect(self._counted)
        self.vcpus.valueChanged.connect(self._timer.start)
        self.count.valueChanged.connect(self._timer.start)
        self.memory.textChanged.connect(self._timer.start)
        self.resize(460, 400)
        self._counted()
        self.look()

    @property
    def wanted(self) -> Wanted:
        """What the fields say."""
        return Wanted(
            self.name.text(),
            str(self.host.currentData() or ""),
            self.vcpus.value(),
            self.memory.text(),
            str(self.profile.currentData() or ""),
            self.count.value(),
            str(self.like.currentData() or ""),
        )

    def _take(self) -> None:
        """All as another machine has it, but for its name and host."""
        known = str(self.like.currentData() or "")
        if not known:
            return
        wanted = new_machine.like(self._design, known)
        self.name.setText(wanted.name)
        self.vcpus.setValue(wanted.vcpus)
        self.memory.setText(wanted.memory)
        self.profile.setCurrentIndex(max(0, self.profile.findData(wanted.profile)))
        self.count.setValue(wanted.count)

    def _counted(self, *_: object) -> None:
        self.count.setEnabled(bool(self.profile.currentData()))
        self._timer.start()

    def look(self) -> None:
        """Find it a place, or say why there is none."""
        self._timer.stop()
        self.machine = None
        try:
            parse_size(self.memory.text())
            machine = new_machine.new_machine(self._design, self.wanted)
        except UnitError as error:
            self._tell(False, f"Memory: {error}")
            return
        except (ValidationError, ValueError) as error:
            text = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            self._tell(False, text.removeprefix("Value error, "))
            return
        found = new_machine.verdict(self._design, machine)
        self.machine = machine if found.ok else None
        self._tell(found.ok, sentence_case(in_names(self._design, found.text)))

    def _tell(self, ok: bool, text: str) -> None:
        self.state.setText(text)
        role = "muted" if ok else "bad"
        if self.state.property("role") != role:
            self.state.setProperty("role", role)
            self.state.style().unpolish(self.state)
            self.state.style().polish(self.state)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(ok)

    def accept(self) -> None:
        """Take what the fields say now."""
        self.look()
        if self.machine is not None:
            super().accept()
