"""A Qt list over choices that are spelled only when somebody looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from designer.plain_text import in_one_line

Index = QModelIndex | QPersistentModelIndex
#: key and text
Choice = tuple[str, str]


class ChoicesModel(QAbstractListModel):
    """A first choice, which represents none of the others, and the others.

    Parameters
    ----------
    first
        Text of the first choice; its key is empty.
    """

    def __init__(self, first: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._first: Choice = ("", first)
        self._choices: Sequence[Choice] = ()

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """Offer other choices."""
        self.beginResetModel()
        self._choices = choices
        self.endResetModel()

    def row_of(self, key: str) -> int:
        """Row of a key; the first one if there is none."""
        return next((row for row, (own, _) in enumerate(self._choices, start=1) if own == key), 0) if key else 0

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 1 + len(self._choices)

    def data(self, index: Index, role: int = 0) -> Any:
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.UserRole):
            return None
        row = index.row()
        key, text = self._choices[row - 1] if row else self._first
        return in_one_line(text) if role == Qt.ItemDataRole.DisplayRole else key


# A Qt list of ids and titles that shows those which hold every word one types.


class SearchedModel(QAbstractListModel):
    """Ids and titles; all of them until words are looked for."""

    def __init__(self, choices: Sequence[tuple[str, str]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all = self._shown = tuple(choices)

    def look_for(self, text: str) -> None:
        """Show those whose title or id holds every word."""
        words = text.casefold().split()
        self.beginResetModel()
        self._shown = tuple(c for c in self._all if all(w in f"{c[1]} {c[0]}".casefold() for w in words))
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = 0) -> Any:
        if not index.isValid():
            return None
        name, title = self._shown[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return title
        return name if role in (Qt.ItemDataRole.UserRole, Qt.ItemDataRole.ToolTipRole) else None
