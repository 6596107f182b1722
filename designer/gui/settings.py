"""What the window keeps between runs: theme, layout, recent files. Nothing of a design."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QSettings, QStandardPaths

_RECENT: Final = 12
_USED: Final = 8
#: views of so many files are kept
_VIEWS: Final = 100


class Settings:
    """Typed access to the stored settings."""

    def __init__(self) -> None:
        self._store = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "designer", "designer")

    @property
    def theme(self) -> str:
        """``system``, ``light``, ``dark`` or ``contrast``."""
        return str(self._store.value("look/theme", "system"))

    @theme.setter
    def theme(self, name: str) -> None:
        self._store.setValue("look/theme", name)

    @property
    def font_scale(self) -> int:
        """Size of all text in per cent."""
        text = str(self._store.value("look/font_scale", "100"))
        return min(200, max(80, int(text))) if text.isdigit() else 100

    @font_scale.setter
    def font_scale(self, percent: int) -> None:
        self._store.setValue("look/font_scale", percent)

    @property
    def live(self) -> bool:
        """True if every edit starts an analysis at once."""
        return str(self._store.value("analysis/live", "true")).lower() == "true"

    @live.setter
    def live(self, on: bool) -> None:
        self._store.setValue("analysis/live", "true" if on else "false")

    @property
    def reduced_motion(self) -> bool:
        """True if animations are off."""
        return str(self._store.value("look/reduced_motion", "false")).lower() == "true"

    @reduced_motion.setter
    def reduced_motion(self, on: bool) -> None:
        self._store.setValue("look/reduced_motion", "true" if on else "false")

    @property
    def recent(self) -> list[Path]:
        """Files opened and saved lately that still exist, newest first."""
        return [Path(p) for p in self._texts("files/recent") if Path(p).is_file()]

    def add_recent(self, file: Path) -> None:
        """Put a file on top of the recent ones."""
        path = str(file.resolve())
        others = [p for p in self._texts("files/recent") if p != path]
        self._store.setValue("files/recent", [path, *others][:_RECENT])

    def forget_recent(self) -> None:
        """Empty the list of recent files, and what was seen of them."""
        self._store.remove("files/recent")
        self._store.remove("files/views")

    @property
    def used_parts(self) -> list[str]:
        """Part types inserted lately, newest first."""
        return self._texts("parts/used")

    def add_used_part(self, part_id: str) -> None:
        """Put a part type on top of those used lately."""
        self._store.setValue("parts/used", [part_id, *(p for p in self.used_parts if p != part_id)][:_USED])

    @property
    def favourites(self) -> list[tuple[str, str]]:
        """What was marked as a favourite, in that order: ``part`` or ``template``, and its id."""
        pairs = [text.partition(":") for text in self._texts("parts/favourites")]
        return [(what, key) for what, _, key in pairs if key]

    def set_favourite(self, what: str, key: str, on: bool) -> None:
        """Mark a part type, kind or template as a favourite, or no longer."""
        others = [pair for pair in self.favourites if pair != (what, key)]
        kept = [*others, (what, key)] if on else others
        self._store.setValue("parts/favourites", [":".join(pair) for pair in kept])

    def view_of(self, file: Path) -> tuple[float, float, float] | None:
        """Where one looked at a file last: scale, and the point of the scene in the middle; None if that is unknown."""
        words = dict(self._views()).get(str(file.resolve()), "").split()
        try:
            scale, x, y = (float(word) for word in words)
        except ValueError:
            return None
        return (scale, x, y) if scale > 0 and all(map(isfinite, (scale, x, y))) else None

    def set_view_of(self, file: Path, view: tuple[float, float, float] | None) -> None:
        """Remember where one looks at a file; None forgets it."""
        path = str(file.resolve())
        before = self._views()
        kept = [(p, words) for p, words in before if p != path]
        if view is not None:
            kept.insert(0, (path, " ".join(f"{value:.9g}" for value in view)))
        if kept != before:
            self._store.setValue("files/views", [f"{words}\t{p}" for p, words in kept[:_VIEWS]])

    def _views(self) -> list[tuple[str, str]]:
        pairs = [text.partition("\t") for text in self._texts("files/views")]
        return [(path, words) for words, _, path in pairs if path]

    def layout(self, name: str) -> QByteArray | None:
        """A stored geometry, or what is open."""
        found = self._store.value(f"window/{name}")
        return found if isinstance(found, QByteArray) and not found.isEmpty() else None

    def set_layout(self, name: str, state: QByteArray | None) -> None:
        """Store a geometry, or what is open; None forgets it."""
        if state is None:
            self._store.remove(f"window/{name}")
        else:
            self._store.setValue(f"window/{name}", state)

    def sync(self) -> None:
        """Write to disk now."""
        self._store.sync()

    def _texts(self, key: str) -> list[str]:
        found = self._store.value(key, [])
        if isinstance(found, str):
            return [found]
        return [str(x) for x in found] if isinstance(found, list) else []


def journal_folder() -> Path:
    """Folder of the journals of documents being edited."""
    place = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    return Path(place) / "designer" / "journals"
