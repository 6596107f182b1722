"""A Qt list of ids and titles that shows those which hold every word one types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex


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
