"""The shown design as a picture file: what the canvas shows, in full detail, with its loads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QFormLayout, QWidget

from designer.design.address import address_text
from designer.design.geometry import lay_out
from designer.drawing.loads import loads_of
from designer.gui.controls import ChoiceBox
from designer.gui.layouts import in_column
from designer.interchange.exporting import ExportOptions, write_design

if TYPE_CHECKING:
    from designer.gui.canvas.canvas import Canvas


@dataclass(frozen=True, slots=True)
class Pixels:
    """How a picture becomes pixels: so many for one scene unit, and whether the ground is left out."""

    scale: float = 2.0
    transparent: bool = False


def write_picture(
    canvas: Canvas, file: Path, theme: str, selected_only: bool, pixels: Pixels = Pixels()
) -> tuple[str, ...]:
    """Write SVG, PDF or PNG by the suffix; groups that are open on the canvas are open in the picture.

    Returns what one should know of the file written (see ``atomic.write``).

    Raises
    ------
    DesignerError
        If the suffix is no picture's, nothing is selected, or the file cannot be written.
    """

    session = canvas.session
    opened = canvas.scene.geometry.opened
    loads = None
    if session.analysis is not None and session.workload in session.analysis.loads and not session.stale:
        carried, result = session.analysis.loads[session.workload], session.result
        binding = result.binding if result is not None else ()
        loads = loads_of(lay_out(session.design, opened), carried.load, carried.utilization, binding)
    chosen = frozenset(
        f"{address_text(within)}/{ref.id}" if within else ref.id
        for within, ref in session.selection
        if ref.what in ("parts", "groups")
    )
    options = ExportOptions(
        theme=theme,
        opened=opened,
        chosen=chosen if selected_only else frozenset(),
        loads=loads,
        machines=canvas.machines_shown,
        scale=pixels.scale,
        transparent=pixels.transparent,
    )
    return write_design(session.design, None, file, options)


# How large a pixel picture is to be, and whether it has a ground.


class PixelsDialog(QDialog):
    """Asks for the scale of a PNG picture and whether its ground is transparent."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("PNG picture")
        self.scale = ChoiceBox()
        self.scale.setAccessibleName("Scale")
        for factor, title in ((1.0, "1 × (screen)"), (2.0, "2 × (sharp screens)"), (3.0, "3 ×"), (4.0, "4 × (print)")):
            self.scale.addItem(title, factor)
        self.scale.setCurrentIndex(1)
        self.transparent = QCheckBox("Transparent ground")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.setSpacing(10)
        form.addRow("Scale", self.scale)
        form.addRow("", self.transparent)
        in_column(form, buttons, on=self, margins=(18, 16, 18, 14))

    def chosen(self) -> tuple[float, bool]:
        """Pixels for one scene unit, and whether the ground is left out."""
        return float(self.scale.currentData()), self.transparent.isChecked()


def ask_pixels(over: QWidget) -> tuple[float, bool] | None:
    """The scale and whether the ground is transparent; None if it was given up."""
    dialog = PixelsDialog(over)
    done = dialog.exec() == QDialog.DialogCode.Accepted
    chosen = dialog.chosen()
    dialog.deleteLater()
    return chosen if done else None
