"""Questions about files: the question in one sentence, what it is about in rows, and each button at its place.

Buttons do not follow the habits of the desktop, which put them here in one order and there in another: what gives work
up is alone on the left, what keeps it on the right, and Cancel between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from designer.gui.controls import Label, plain
from designer.gui.layouts import in_column

#: width of the text, in widths of a letter, and rows shown before the list is scrolled
_WIDE: Final = 62
_ROWS: Final = 6


class QuestionRow(NamedTuple):
    """One thing a question is about."""

    title: str
    detail: str


class AnswerButton(NamedTuple):
    """A button: what it represents, its text with a mnemonic, and what happens."""

    key: str
    text: str
    tip: str = ""


CANCEL: Final = AnswerButton("cancel", "&Cancel", "Go back; nothing is changed")


class QuestionDialog(QDialog):
    """Asks; ``chosen`` is the key of the button, ``cancel`` if it was closed.

    Parameters
    ----------
    left, right
        Buttons; the last one on the right is what Enter does.
    """

    def __init__(
        self,
        title: str,
        text: str,
        rows: Sequence[QuestionRow],
        left: Sequence[AnswerButton],
        right: Sequence[AnswerButton],
        over: QWidget | None = None,
    ) -> None:
        super().__init__(over)
        self.setWindowTitle(title)
        self.chosen = CANCEL.key
        self.buttons: dict[str, QPushButton] = {}
        wide = QFontMetrics(self.font()).averageCharWidth() * _WIDE
        asked = Label(text, role="title", wrap=True)
        asked.setMinimumWidth(wide)
        box = in_column(asked, margins=(20, 18, 20, 16), spacing=14)
        if rows:
            box.addWidget(_listed(rows, wide), 1)
        line = QHBoxLayout()
        line.setSpacing(8)
        for answer in left:
            line.addWidget(self._button(answer))
        line.addSpacing(24)
        line.addStretch(1)
        for answer in right:
            line.addWidget(self._button(answer))
        box.addLayout(line)
        self.setLayout(box)
        last = self.buttons[right[-1].key]
        last.setDefault(True)
        last.setFocus()

    def _button(self, answer: AnswerButton) -> QPushButton:
        button = QPushButton(answer.text)
        button.setAutoDefault(False)
        button.setToolTip(plain(answer.tip))
        button.setAccessibleDescription(answer.tip)
        button.clicked.connect(partial(self._choose, answer.key))
        self.buttons[answer.key] = button
        return button

    def _choose(self, key: str, *_: object) -> None:
        self.chosen = key
        self.done(QDialog.DialogCode.Rejected if key == CANCEL.key else QDialog.DialogCode.Accepted)


def _listed(rows: Sequence[QuestionRow], wide: int) -> QWidget:
    inside = QWidget()
    inside.setObjectName("panel")
    inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    box = in_column(margins=(12, 10, 12, 10), spacing=10)
    high = 0
    for number, row in enumerate(rows):
        pair = QVBoxLayout()
        pair.setSpacing(1)
        for text, role in ((row.title, "title"), (row.detail, "muted")):
            label = Label(label_of(text, wide), role=role)
            label.setToolTip(plain(text))
            pair.addWidget(label)
        box.addLayout(pair)
        high += pair.sizeHint().height() + (box.spacing() if number else 0) if number < _ROWS else 0
    box.addStretch(1)
    inside.setLayout(box)
    area = QScrollArea()
    area.setObjectName("listed")
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    area.setMinimumHeight(high + 22)
    return area


def label_of(text: str, wide: int) -> str:
    """A text cut in its middle where it does not fit: names differ at their ends, folders at their beginnings."""
    from PySide6.QtWidgets import QApplication

    metrics = QFontMetrics(QApplication.font())
    return metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, max(80, wide - 40))


def ask(question: QuestionDialog) -> str:
    """Show a question and wait for the answer."""
    question.exec()
    question.deleteLater()
    return question.chosen
