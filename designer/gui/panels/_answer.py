"""Pieces of an answer: the banner in front of it, what to change, and how far its computation is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QFrame, QProgressBar, QWidget

from designer.gui.controls import Button, Label
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._widgets import quiet
from designer.plain_text import in_one_line


def heading(text: str) -> Label:
    """The title of a section."""
    return Label(text, role="title")


def banner(head: str, text: str, tone: str, buttons: Sequence[tuple[str, Callable[[], object]]] = ()) -> QFrame:
    """A coloured frame: what is wrong with an answer, why, and what can be done at once.

    Parameters
    ----------
    tone
        ``bad`` or ``warn``.
    """
    frame = QFrame()
    frame.setObjectName("banner")
    frame.setProperty("tone", tone)
    lines = in_column(on=frame, margins=(12, 8, 10, 9), spacing=4)
    title = Label(head, role=tone, wrap=True)
    font = title.font()
    font.setWeight(font.Weight.DemiBold)
    title.setFont(font)
    lines.addWidget(title)
    if text:
        lines.addWidget(quiet(text))
    if buttons:
        row = in_row(spacing=6)
        for name, run in buttons:
            row.addWidget(Button(name, partial(_run, run)))
        row.addStretch(1)
        lines.addLayout(row)
    return frame


def _run(run: Callable[[], object], *_: object) -> None:
    run()


def fix_card(title: str, detail: str, apply: Callable[[], object], first: bool = False) -> QFrame:
    """A change that helps, with the figures it leads to and a button that makes it."""
    frame = QFrame()
    frame.setObjectName("fix")
    button = Button("Apply", partial(_run, apply), tip="Change the workload, as one step that can be undone")
    button.setAccessibleName(f"Apply: {in_one_line(title)}")
    button.setProperty("primary", first)
    head = in_row((Label(title, role="title", wrap=True), 1), button, spacing=8)
    in_column(head, Label(detail, role="good", wrap=True), on=frame, margins=(10, 8, 8, 9), spacing=3)
    return frame


class Progress(QWidget):
    """A bar with what is being done; without a known share it only moves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the analysis")
        self.text = quiet("Computing…")
        in_column(self.bar, self.text, on=self, margins=FLUSH, spacing=6)
        self.show_progress(0.0, "")

    def show_progress(self, share: float, text: str) -> None:
        """Show how much is done."""
        self.bar.setRange(0, 100 if share > 0 else 0)
        self.bar.setValue(round(share * 100))
        self.text.setText(text or "Computing…")
