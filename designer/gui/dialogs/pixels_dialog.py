"""How large a pixel picture is to be, and whether it has a ground."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QFormLayout, QWidget

from designer.gui.controls import ChoiceBox
from designer.gui.layouts import in_column


class PixelsDialog(QDialog):
    """Asks for the scale of a PNG picture and whether its ground is transparent."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("PNG picture")
        self.scale = ChoiceBox()
        self.scale.setAccessibleName("Scale")
        for factor, title in ((1.0, "1 × (screen)"), (2.0, "2 × (sharp screens)"), (3.0, "3 ×"), (4.0, "4 × (print)")):
            self.scale.addItem(title, factor)
        self.scale.setCurrentIndex(1)
        self.transparent = QCheckBox("Transparent ground")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.setSpacing(10)
        form.addRow("Scale", self.scale)
        form.addRow("", self.transparent)
        in_column(form, buttons, on=self, margins=(18, 16, 18, 14))

    def chosen(self) -> tuple[float, bool]:
        """Pixels for one scene unit, and whether the ground is left out."""
        return float(self.scale.currentData()), self.transparent.isChecked()


def ask_pixels(over: QWidget) -> tuple[float, bool] | None:
    """The scale and whether the ground is transparent; None if it was given up."""
    dialog = PixelsDialog(over)
    done = dialog.exec() == QDialog.DialogCode.Accepted
    chosen = dialog.chosen()
    dialog.deleteLater()
    return chosen if done else None
