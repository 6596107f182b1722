"""How the window looks: colours light, dark and of high contrast, the Qt palette and the style sheet made from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from designer import atomic
from designer.errors import WriteError
from designer.resources import assets

#: what the settings offer
NAMES: Final = ("system", "light", "dark", "contrast")


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of the window as ``#rrggbb``.

    Parameters
    ----------
    window, surface, raised, sunken
        Grounds: behind everything, of panels, of what stands on a panel, of fields.
    series
        Colours of lines and bars in plots, told apart without colour vision.
    quiet
        Of bars that only stand behind others.
    assumed
        Of values nobody vouches for.
    """

    name: str
    window: str
    surface: str
    raised: str
    sunken: str
    border: str
    text: str
    muted: str
    faint: str
    accent: str
    accent_text: str
    accent_soft: str
    hover: str
    good: str
    warn: str
    bad: str
    assumed: str
    quiet: str
    series: tuple[str, ...]

    @property
    def is_dark(self) -> bool:
        """True if text is lighter than its background: a dark theme."""
        return self.name in ("dark", "contrast")


LIGHT: Final = Theme(
    name="light",
    window="#eef0f3",
    surface="#ffffff",
    raised="#ffffff",
    sunken="#f4f5f7",
    border="#dde1e7",
    text="#1d232b",
    muted="#555f6c",
    faint="#6d7784",
    accent="#2563eb",
    accent_text="#ffffff",
    accent_soft="#e3ecff",
    hover="#eceff4",
    good="#15803d",
    warn="#b45309",
    bad="#b91c1c",
    assumed="#9a5b00",
    quiet="#cbd2db",
    series=("#2f6fde", "#d9822b", "#178a7a", "#a8479b", "#7a8496", "#b8a11a"),
)
DARK: Final = Theme(
    name="dark",
    window="#111418",
    surface="#1a1e24",
    raised="#232830",
    sunken="#14171c",
    border="#2e343d",
    text="#e6eaf0",
    muted="#a9b4c2",
    faint="#8590a0",
    accent="#5b8def",
    accent_text="#ffffff",
    accent_soft="#25344f",
    hover="#272d36",
    good="#5ad17f",
    warn="#f0b355",
    bad="#ff7b72",
    assumed="#e2b35c",
    quiet="#4b5462",
    series=("#6ea0ff", "#f2a65a", "#4cc3ae", "#d886cb", "#9aa6b6", "#e0d05a"),
)

CONTRAST: Final = Theme(
    name="contrast",
    window="#222222",
    surface="#000000",
    raised="#000000",
    sunken="#000000",
    border="#b0b0b0",
    text="#ffffff",
    muted="#e6e6e6",
    faint="#c8c8c8",
    accent="#ffff00",
    accent_text="#000000",
    accent_soft="#333300",
    hover="#2b2b2b",
    good="#7dff9b",
    warn="#ffc94d",
    bad="#ff9d94",
    assumed="#ffe066",
    quiet="#8a8a8a",
    series=("#7cc4ff", "#ffb055", "#5ee6d8", "#f0a8e6", "#d0d0d0", "#ffff00"),
)


def resolve(name: str) -> Theme:
    """The theme called `name`; ``system`` asks the desktop, light where it does not say."""
    if name == "contrast":
        return CONTRAST
    if name == "dark":
        return DARK
    if name == "system" and QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark:
        return DARK
    return LIGHT


def apply(app: QApplication, theme: Theme) -> None:
    """Give the whole program the colours of a theme."""
    app.setStyle("Fusion")
    app.setPalette(qt_palette(theme))
    app.setStyleSheet(style_sheet(theme))


def base_font(app: QApplication, percent: int = 100) -> QFont:
    """The font that comes with the program, so that it looks the same everywhere; that of the system if it is gone."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    family = _own_family()
    if family:
        font.setFamily(family)
    font.setPointSizeF(9.5 * percent / 100)
    app.setFont(font)
    return font


@cache
def _own_family() -> str:
    found = ""
    for file in ("Inter-Regular.ttf", "Inter-SemiBold.ttf"):
        number = QFontDatabase.addApplicationFont(str(assets() / "fonts" / file))
        families = QFontDatabase.applicationFontFamilies(number) if number >= 0 else []
        found = found or (families[0] if families else "")
    return found


def qt_palette(theme: Theme) -> QPalette:
    """The Qt palette of a theme."""
    palette = QPalette()
    role = QPalette.ColorRole
    for which, colour in (
        (role.Window, theme.surface),
        (role.WindowText, theme.text),
        (role.Base, theme.surface),
        (role.AlternateBase, theme.sunken),
        (role.Text, theme.text),
        (role.Button, theme.raised),
        (role.ButtonText, theme.text),
        (role.ToolTipBase, theme.raised),
        (role.ToolTipText, theme.text),
        (role.Highlight, theme.accent),
        (role.HighlightedText, theme.accent_text),
        (role.Link, theme.accent),
        (role.PlaceholderText, theme.faint),
        (role.Mid, theme.border),
        (role.Midlight, theme.hover),
        (role.Dark, theme.border),
        (role.Light, theme.raised),
        (role.Shadow, theme.border),
        (role.BrightText, theme.bad),
        (role.Accent, theme.accent),
    ):
        palette.setColor(which, QColor(colour))
    off = QPalette.ColorGroup.Disabled
    for which in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(off, which, QColor(theme.faint))
    palette.setColor(off, role.Highlight, QColor(theme.border))
    return palette


def style_sheet(theme: Theme) -> str:
    """The style sheet of a theme."""
    colours = {name: getattr(theme, name) for name in Theme.__dataclass_fields__ if name not in ("name", "series")}
    sheet = _SHEET.replace("@arrow", picture_file("arrow", "M3 4.5L6 7.5L9 4.5", theme.muted))
    sheet = sheet.replace("@upwards", picture_file("upwards", "M3 7.5L6 4.5L9 7.5", theme.muted))
    sheet = sheet.replace("@check", picture_file("check", "M2.5 6.2L5 8.7L9.5 3.5", theme.accent_text))
    for name in sorted(colours, key=len, reverse=True):
        sheet = sheet.replace(f"@{name}", colours[name])
    return sheet


def picture_file(name: str, path: str, colour: str) -> str:
    """A file with a stroke on a 12 × 12 grid; style sheets take pictures from files only."""
    folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericCacheLocation)) / "designer"
    file = folder / f"{name}-{colour[1:]}.svg"
    stroke = f'stroke="{colour}" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"'
    text = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 12 12"><path d="{path}" fill="none" {stroke}/></svg>'
    try:
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            folder.mkdir(parents=True, exist_ok=True)
            atomic.write(file, text.encode())
    except (OSError, WriteError):
        return ""
    return file.as_posix()


_SHEET: Final = """
QMainWindow, QDialog { background: @window; }
QMainWindow::separator { background: @window; width: 6px; height: 6px; }
QMainWindow::separator:hover { background: @accent_soft; }
QToolTip { background: @upwardsd; color: @text; border: 1px solid @border; padding: 4px 6px; }

QMenuBar { background: @surface; padding: 2px 6px; border-bottom: 1px solid @border; }
QMenuBar::item { padding: 5px 10px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @upwardsd; border: 1px solid @border; padding: 5px; }
QMenu::item { padding: 5px 26px 5px 14px; border-radius: 4px; }
QMenu::item:selected { background: @accent; color: @accent_text; }
QMenu::item:disabled { color: @faint; background: transparent; }
QMenu::separator { height: 1px; background: @border; margin: 5px 8px; }

QToolBar { background: @surface; border: none; border-bottom: 1px solid @border; spacing: 2px; padding: 4px 8px; }
QToolBar::separator { background: @border; width: 1px; margin: 6px 6px; }
QToolButton { border: none; border-radius: 5px; padding: 5px; background: transparent; color: @text; }
QToolButton:hover { background: @hover; }
QToolButton:pressed, QToolButton:checked { background: @accent_soft; }
QToolButton:focus { background: @hover; }
QToolButton[pill="true"] { border: 1px solid @border; padding: 4px 10px; background: @sunken; }
QToolButton[pill="true"]:hover { border-color: @faint; }

QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @muted; padding: 6px 8px; border: none;
  border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; }
QTabBar::tab:hover:!selected { color: @text; }
QTabBar::close-button { subcontrol-position: right; }
QTabBar#documents { background: @window; }
QTabBar#documents::tab { padding: 7px 14px; background: @window; border-bottom: 2px solid transparent; }
QTabBar#documents::tab:selected { background: @surface; border-bottom: 2px solid @accent; }

QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: none; }
QWidget#panel { background: @surface; }
QLabel { background: transparent; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="faint"] { color: @faint; }
QLabel[role="good"] { color: @good; }
QLabel[role="bad"] { color: @bad; }
QLabel[role="warn"] { color: @warn; }
QLabel[role="assumed"] { color: @assumed; }
QLabel[role="badge"] { background: @accent_soft; color: @accent; border-radius: 4px; padding: 1px 6px; }

QLineEdit, QPlainTextEdit, QTextEdit, QComboBox, QSpinBox, QDoubleSpinBox {
  background: @sunken; border: 1px solid @border; border-radius: 5px; padding: 4px 7px;
  selection-background-color: @accent; selection-color: @accent_text; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QComboBox:focus, QSpinBox:focus { border-color: @accent; }
QLineEdit[wrong="true"] { border-color: @bad; }
QComboBox { padding-right: 2px; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url(@arrow); width: 12px; height: 12px; }
QSpinBox { padding: 4px 24px 4px 7px; min-height: 1.2em; }
QSpinBox::up-button, QSpinBox::down-button { subcontrol-origin: border; width: 20px; border: none;
  background: transparent; }
QSpinBox::up-button { subcontrol-position: top right; }
QSpinBox::down-button { subcontrol-position: bottom right; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover { background: @hover; }
QSpinBox::up-arrow { image: url(@upwards); width: 10px; height: 10px; }
QSpinBox::down-arrow { image: url(@arrow); width: 10px; height: 10px; }
QTabBar QToolButton { background: @surface; border: none; padding: 2px; }
QTabBar QToolButton#closetab { background: transparent; padding: 1px; border-radius: 3px; }
QTabBar QToolButton#closetab:hover { background: @hover; }
QComboBox QAbstractItemView { background: @upwardsd; border: 1px solid @border; outline: none; padding: 3px; }

QPushButton { background: @upwardsd; border: 1px solid @border; border-radius: 5px; padding: 6px 14px; }
QPushButton:hover { background: @hover; }
QPushButton:focus { border-color: @accent; }
QPushButton:disabled { color: @faint; }
QPushButton:default, QPushButton[primary="true"] { background: @accent; color: @accent_text; border-color: @accent; }
QPushButton:default:disabled, QPushButton[primary="true"]:disabled {
    background: @upwardsd; color: @faint; border-color: @border; }
QPushButton[link="true"] { border: none; background: transparent; color: @accent; padding: 2px 4px; }
QPushButton[link="true"]:hover { text-decoration: underline; }
QPushButton[link="true"]:focus { text-decoration: underline; border: none; background: transparent; outline: none; }

QTreeView, QTableView, QListView { background: @surface; border: none; outline: none;
  selection-background-color: @accent_soft; selection-color: @text; alternate-background-color: @sunken; }
QTreeView::item, QListView::item { padding: 3px 4px; border: none; }
QTreeView::item:hover, QListView::item:hover, QTableView::item:hover { background: @hover; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected { background: @accent_soft;
  color: @text; }
QHeaderView { background: @surface; }
QHeaderView::section { background: @surface; color: @muted; border: none; border-bottom: 1px solid @border;
  padding: 5px 6px; }
QTableView { gridline-color: transparent; }
QTableView::item { padding: 2px 6px; border: none; }

QScrollArea { border: none; background: transparent; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 1px; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 1px; }
QScrollBar::handle { background: @border; border-radius: 4px; }
QScrollBar::handle:hover { background: @faint; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QSlider::groove:horizontal { height: 4px; background: @border; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px; }
QSlider::handle:horizontal { background: @upwardsd; border: 2px solid @accent; width: 12px; height: 12px;
  margin: -6px 0; border-radius: 8px; }
QSplitter::handle { background: @border; }
QStatusBar { background: @surface; border-top: 1px solid @border; color: @muted; }
QStatusBar::item { border: none; }
QProgressBar { background: @border; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: @accent; border-radius: 2px; }
QCheckBox { spacing: 7px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid @faint; border-radius: 3px; background: @sunken; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url(@check); }
QCheckBox:focus { color: @accent; }

QFrame#toast { background: @upwardsd; border: 1px solid @border; border-left: 3px solid @accent; border-radius: 6px; }
QFrame#toast[bad="true"] { border-left-color: @bad; }
QFrame#card { background: @surface; border: 1px solid @border; border-radius: 8px; }
QFrame#card:hover, QFrame#card[focused="true"] { border-color: @accent; }
QPushButton#leftovers { background: @upwardsd; color: @text; border: 1px solid @border; border-left: 3px solid @warn;
  border-radius: 6px; padding: 10px 14px; text-align: left; }
QPushButton#leftovers:hover, QPushButton#leftovers:focus { border-color: @accent; border-left-color: @warn; }
QFrame#notice { background: @upwardsd; border: none; border-bottom: 1px solid @border; border-left: 3px solid @warn; }
QFrame#notice QPushButton { padding: 3px 10px; }
QScrollArea#listed { border: 1px solid @border; border-radius: 6px; background: @surface; }
QToolButton#autosave { color: @muted; padding: 3px 12px; }
QToolButton#autosave[state="failed"] { color: @bad; }
QFrame#line { background: @border; max-height: 1px; min-height: 1px; border: none; }
QFrame#timebar { background: @surface; border: none; border-top: 1px solid @border; }
QWidget#start { background: @window; }
QDialog#command { background: @upwardsd; border: 1px solid @border; border-radius: 8px; }
QDialog#command QLineEdit { border: none; border-bottom: 1px solid @border; border-radius: 0; background: transparent;
  padding: 10px 12px; }
QDialog#command QListView { background: transparent; padding: 4px; }
"""
