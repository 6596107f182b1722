"""The settings: looks and behaviour; every change shows at once."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QPushButton,
    QWidget,
)

from designer.gui.controls import ChoiceBox, NumberBox
from designer.gui.layouts import in_column
from designer.gui.settings import Settings


class SettingsDialog(QDialog):
    """Edits the settings.

    Signals
    -------
    changed
        Something has changed: look at the settings again.
    """

    changed = Signal()

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self._settings = settings
        self.theme = ChoiceBox()
        for name, title in (
            ("system", "As the desktop"),
            ("light", "Light"),
            ("dark", "Dark"),
            ("contrast", "High contrast"),
        ):
            self.theme.addItem(title, name)
        self.theme.setCurrentIndex(self.theme.findData(settings.theme))
        self.scale = NumberBox()
        self.scale.setRange(80, 200)
        self.scale.setSingleStep(10)
        self.scale.setSuffix(" %")
        self.scale.setValue(settings.font_scale)
        self.live = QCheckBox("Analyze every edit at once")
        self.live.setChecked(settings.live)
        self.motion = QCheckBox("Nothing moves by itself")
        self.motion.setChecked(settings.reduced_motion)
        forget = QPushButton("Forget recent files")
        # Enter closes; it must not forget anything
        forget.setAutoDefault(False)
        forget.clicked.connect(settings.forget_recent)
        forget.clicked.connect(self.changed)
        form = QFormLayout()
        form.setSpacing(10)
        form.addRow("Theme", self.theme)
        form.addRow("Text size", self.scale)
        form.addRow("", self.live)
        form.addRow("", self.motion)
        form.addRow("", forget)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        buttons.button(QDialogButtonBox.StandardButton.Close).setDefault(True)
        in_column(form, 1, buttons, on=self, margins=(18, 16, 18, 14))
        self.theme.currentIndexChanged.connect(self._store)
        self.scale.valueChanged.connect(self._store)
        self.live.toggled.connect(self._store)
        self.motion.toggled.connect(self._store)
        self.resize(400, 280)

    def _store(self) -> None:
        self._settings.theme = str(self.theme.currentData())
        self._settings.font_scale = self.scale.value()
        self._settings.live = self.live.isChecked()
        self._settings.reduced_motion = self.motion.isChecked()
        self.changed.emit()
