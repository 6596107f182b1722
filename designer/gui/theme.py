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
#: property of the application: the name of the theme it has, and the size of its text
_STYLED: Final = "designer_theme"


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of the window as ``#rrggbb``.

    Parameters
    ----------
    window, surface, raised, sunken
        Grounds: behind everything, of panels, of what is on a panel, of fields.
    series
        Colours of lines and bars in plots, distinguished without colour vision.
    warn_soft, bad_soft
        Grounds of banners.
    quiet
        Of bars drawn behind others.
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
    warn_soft: str
    bad_soft: str
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
    warn_soft="#fdf3e0",
    bad_soft="#fdeceb",
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
    warn_soft="#352b18",
    bad_soft="#3a2022",
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
    warn_soft="#2a2000",
    bad_soft="#330d0a",
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
    """Give the whole program the colours of a theme and the font it has by now.

    What it has already is not set again, which polishes all again; widgets take another font only when polished.
    """
    look = f"{theme.name} {app.font().pointSizeF()}"
    if app.property(_STYLED) is None:
        app.setStyle("Fusion")
    if app.property(_STYLED) != look:
        app.setPalette(qt_palette(theme))
        app.setStyleSheet(style_sheet(theme))
    app.setProperty(_STYLED, look)


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
    sheet = (assets() / "window.qss").read_text(encoding="utf-8")
    sheet = sheet.replace("@arrow", picture_file("arrow", "M3 4.5L6 7.5L9 4.5", theme.muted))
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
