"""The actions as Qt knows them: in menus, with keys, and enabled while they can be done."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QToolButton, QWidget

from designer.gui import icons
from designer.gui.actions._action import Action, Menu, Window, add_late, all_actions, menus
from designer.gui.controls import plain
from designer.gui.theme import Theme

#: actions of the context menu of a thing, and of the empty canvas; a separator where a name is empty
_ON_A_THING: Final = (
    "edit.connect",
    "edit.connect_to",
    "edit.rename",
    "edit.replace_type",
    "edit.select_similar",
    "edit.tidy",
    "edit.straighten",
    "insert.machine",
    "insert.move_machine",
    "insert.empty_host",
    "",
    "edit.replicate",
    "edit.group",
    "edit.ungroup",
    "",
    "edit.cut",
    "edit.copy",
    "edit.duplicate",
    "edit.delete",
    "",
    "time.fail",
    "time.degrade",
    "time.mend",
    "",
    "view.fit_selection",
)
#: of these the menu names only what can be done: most designs have no virtual machines
_MACHINES: Final = ("insert.move_machine", "insert.empty_host")
_ON_NOTHING: Final = ("insert.part", "insert.note", "edit.paste", "", "edit.select_all", "edit.tidy", "view.fit")


class Menus(QObject):
    """The menus of a window, from the table of actions.

    Parameters
    ----------
    window, asked
        The window as what has a menu bar, and as what actions ask.
    pages
        The widget in which keys without modifiers mean actions.
    """

    def __init__(self, window: QMainWindow, asked: Window, pages: QWidget, theme: Theme) -> None:
        super().__init__(window)
        #: how often the actions were asked whether they can be done
        self.looks = 0
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.update)
        self.actions: dict[str, QAction] = {}
        self._shown: dict[str, QMenu] = {}
        self._below: dict[tuple[str, str], QMenu] = {}
        self._window, self._asked, self._pages = window, asked, pages
        for menu in menus():
            self._fill(menu, theme)
        self.search = QToolButton()
        self.search.setProperty("pill", True)
        self.search.setText("Search   Ctrl+K")
        self.search.setIcon(icons.icon("search", theme.muted))
        self.search.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.search.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.search.clicked.connect(asked.command_palette)
        window.installEventFilter(self)

    def _fill(self, menu: Menu, theme: Theme) -> None:
        shown = self._shown[menu.name] = self._window.menuBar().addMenu(menu.title)
        shown.setToolTipsVisible(True)
        shown.aboutToShow.connect(self.update)
        section = menu.actions[0].section
        for action in menu.actions:
            if action.section != section:
                section = action.section
                shown.addSeparator()
            if action.under and (menu.name, action.under) not in self._below:
                self._below[menu.name, action.under] = shown.addMenu(action.under)
            target = self._below[menu.name, action.under] if action.under else shown
            target.addAction(self._make(action, theme))
        if menu.name == "file":
            self._recent = QMenu("Recent files", shown)
            shown.insertMenu(self.actions["file.save"], self._recent)
            self._recent.aboutToShow.connect(self._fill_recent)

    def add_late(self, theme: Theme) -> None:
        """Put in what panels say of themselves, which a first document brings: the start page loads none."""
        from designer.gui.actions._late import late_actions

        add_late(late_actions())
        for menu in menus():
            shown, before = self._shown[menu.name], None
            for action in reversed(menu.actions):
                at = (menu.name, action.under)
                if action.id in self.actions:
                    before = self._below[at].menuAction() if action.under else self.actions[action.id]
                elif not action.under:
                    shown.insertAction(before, self._make(action, theme))  # type: ignore[arg-type]
                    before = self.actions[action.id]
                else:
                    if at not in self._below:
                        self._below[at] = QMenu(action.under, shown)
                        shown.insertMenu(before, self._below[at])  # type: ignore[arg-type]
                    first = next(
                        (self.actions[a.id] for a in menu.actions if _after(menu, action, a, self.actions)), None
                    )
                    self._below[at].insertAction(first, self._make(action, theme))  # type: ignore[arg-type]
                    before = self._below[at].menuAction()
        self.update()

    def _make(self, action: Action, theme: Theme) -> QAction:
        made = self.actions[action.id] = QAction(action.title, self._window)
        made.setObjectName(action.id)
        made.setShortcuts([QKeySequence(s) for s in action.shortcut])
        if action.icon:
            made.setIcon(icons.icon(action.icon, theme.text))
            made.setIconVisibleInMenu(False)
        tip = action.tip or action.title
        keys = made.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        made.setToolTip(plain(f"{tip}  ({keys})" if keys else tip))
        made.setStatusTip(tip)
        made.setCheckable(action.checked is not None)
        made.triggered.connect(partial(self.run, action.id))
        if action.shortcut and all(_is_plain(s) for s in action.shortcut):
            # plain letters and Del belong to the canvas: in a list or field they mean something else
            made.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            self._pages.addAction(made)
        else:
            self._window.addAction(made)
        return made

    def _fill_recent(self) -> None:
        self._recent.clear()
        for file in self._asked.settings.recent:
            self._recent.addAction(str(file), partial(self._asked.open_file, file))
        self._recent.setEnabled(True)
        if self._recent.isEmpty():
            self._recent.addAction("None yet").setEnabled(False)

    def run(self, action_id: str, *_: object) -> None:
        """Do what an action does, if it can be done now."""
        action = all_actions()[action_id]
        if action.enabled_when(self._asked):
            action.run(self._asked)
        self.update()

    def update_soon(self, *_: object) -> None:
        """Look which actions can be done once the event loop comes round, however often it is asked till then."""
        self._soon.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A key that comes before the event loop has been round must find the actions as they are now."""
        if event.type() == QEvent.Type.ShortcutOverride and self._soon.isActive():
            self.update()
        return False

    def update(self, *_: object) -> None:
        """Look which actions can be done."""
        self._soon.stop()
        self.looks += 1
        known = all_actions()
        for action_id, made in self.actions.items():
            action = known[action_id]
            made.setEnabled(action.enabled_when(self._asked))
            if action.checked is not None:
                made.setChecked(action.checked(self._asked))
        document = self._asked.document
        if document is not None:
            history = document.session.history
            self.actions["edit.undo"].setText(f"Undo {_lower(history.undo_label)}".strip())
            self.actions["edit.redo"].setText(f"Redo {_lower(history.redo_label)}".strip())

    def open_context(self, at: QPoint, on_a_thing: bool) -> None:
        """Open the context menu at a point of the screen."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.update()
        for action_id in _ON_A_THING if on_a_thing else _ON_NOTHING:
            if action_id in _MACHINES and not self.actions[action_id].isEnabled():
                continue
            if action_id:
                menu.addAction(self.actions[action_id])
            else:
                menu.addSeparator()
        menu.popup(at)

    def set_theme(self, theme: Theme) -> None:
        """Icons in other colours."""
        for action_id, made in self.actions.items():
            icon = all_actions()[action_id].icon
            if icon:
                made.setIcon(icons.icon(icon, theme.text))
        self.search.setIcon(icons.icon("search", theme.muted))


def _after(menu: Menu, action: Action, other: Action, made: Mapping[str, QAction]) -> bool:
    """True if an action follows another of the same sub-menu and is there already."""
    order = menu.actions.index
    return other.under == action.under and other.id in made and order(other) > order(action)


def _is_plain(shortcut: str) -> bool:
    """True if it is a single key without modifiers."""
    return "+" not in shortcut


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
