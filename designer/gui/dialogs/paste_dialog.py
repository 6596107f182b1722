"""The box to paste what a machine prints about itself, with the command to run there for each kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QFontDatabase, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from designer.errors import DesignerError
from designer.gui.controls import Label
from designer.gui.layouts import in_column, in_row

#: what it is called, what to run on the machine, and what it shows
COMMANDS: Final = (
    ("NVIDIA GPUs", "nvidia-smi topo -m", "GPUs, NICs and how they are joined"),
    ("NCCL", "NCCL_TOPO_DUMP_FILE=topo.xml all_reduce_perf -g 1", "PCIe and NVLink with their speeds"),
    ("Any machine", "lstopo --of xml", "processors, memory and PCIe devices"),
    ("InfiniBand", "iblinkinfo", "all switches and cables of a fabric"),
    ("Slurm", "cat /etc/slurm/topology.conf", "switches and the nodes below them"),
)
#: reading begins when typing has paused for so long [ms]
_PAUSE: Final = 150
#: larger files are no dumps [B]
_LARGEST: Final = 64_000_000


class PasteDialog(QDialog):
    """Takes a text or a file; ``take`` puts it into the design, or raises why it cannot.

    Parameters
    ----------
    folder
        Where the file dialog begins.
    """

    def __init__(self, take: Callable[[bytes, str], None], folder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import a machine")
        self._take, self._folder = take, folder
        self.text = QPlainTextEdit()
        self.text.setAccessibleName("What the machine printed")
        self.text.setPlaceholderText("Paste here what one of these commands prints")
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.said = Label(role="muted", wrap=True)
        self.file = QPushButton("Open a file…")
        self.file.setAutoDefault(False)
        self.file.clicked.connect(self._choose)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText("Import")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.text.installEventFilter(self)
        last = in_row(self.file, 1, self.buttons)
        in_column(self._commands(), (self.text, 1), self.said, last, on=self, margins=(18, 16, 18, 14), spacing=10)
        self._later = QTimer(self, singleShot=True, interval=_PAUSE)
        self._later.timeout.connect(self.look)
        self.text.textChanged.connect(self._later.start)
        self.look()
        self.resize(720, 520)
        self.text.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter makes a line in the text; with Ctrl it imports."""
        enter = (int(Qt.Key.Key_Return), int(Qt.Key.Key_Enter))
        if (
            event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() in enter
            and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self.accept()
            return True
        return super().eventFilter(watched, event)

    def _commands(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        mono = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        for row, (title, command, shows) in enumerate(COMMANDS):
            name, run, about = Label(title), Label(command), Label(shows)
            run.setFont(mono)
            run.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            about.setProperty("role", "muted")
            copy = QToolButton()
            copy.setText("Copy")
            copy.setAccessibleName(f"Copy the command {command}")
            copy.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            copy.clicked.connect(lambda _=False, text=command: QGuiApplication.clipboard().setText(text))
            for column, widget in enumerate((name, run, copy, about)):
                grid.addWidget(widget, row, column)
        grid.setColumnStretch(3, 1)
        return grid

    def look(self) -> None:
        """Say what the text is, as far as it can be read."""
        from designer.interchange.importing import read_bytes

        text = self.text.toPlainText()
        good = False
        if not text.strip():
            said = "Nothing leaves this computer. The text fills the empty design, or becomes one of its own."
        else:
            try:
                design = read_bytes(text.encode(), None, "the text").design
            except DesignerError as error:
                said = error.text + (f" — {error.remedy}" if error.remedy else "")
            else:
                good = True
                said = f"{len(design.parts)} parts and {len(design.links)} links can be read."
        self.said.setText(said)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(good)

    def accept(self) -> None:
        """Take the text, or say why not."""
        self._later.stop()
        self._try(self.text.toPlainText().encode(), "clipboard")

    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Import a machine", self._folder)
        if not name:
            return
        from designer.interchange.native.raw import read_bytes

        try:
            data = read_bytes(Path(name), _LARGEST)
        except DesignerError as error:
            self.said.setText(str(error))
            return
        self._try(data, Path(name).name)

    def _try(self, data: bytes, name: str) -> None:
        try:
            self._take(data, name)
        except DesignerError as error:
            self.said.setText(error.text + (f" — {error.remedy}" if error.remedy else ""))
            return
        super().accept()
