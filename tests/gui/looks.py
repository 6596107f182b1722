"""Pictures of the window, kept small next to the tests: what is to be seen now looks as it did."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

PICTURES: Final = Path(__file__).parent / "pictures"
#: so wide are those that are kept [px]
WIDTH: Final = 720
#: share of a picture that may look otherwise
MOST: Final = 0.05
#: so many levels of grey are another look
_LEVELS: Final = 40
_TRIES: Final = 20
_PAUSE_MS: Final = 100


def difference(one: QImage, other: QImage) -> float:
    """Share of the picture that looks otherwise, seen at a quarter of its size in grey."""
    shades: list[npt.NDArray[np.int64]] = []
    for picture in (one, other):
        small = picture.scaled(180, 112, mode=Qt.TransformationMode.SmoothTransformation)
        grey = small.convertToFormat(QImage.Format.Format_Grayscale8)
        rows = np.frombuffer(grey.constBits(), dtype=np.uint8).reshape(grey.height(), grey.bytesPerLine())
        shades.append(rows[:, : grey.width()].astype(np.int64))
    return float((abs(shades[0] - shades[1]) > _LEVELS).mean())


def _seen(widget: QWidget, width: int) -> QImage:
    return widget.grab().toImage().scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)


def looks_as_kept(widget: QWidget, name: str, width: int = WIDTH, most: float = MOST) -> None:
    """What is to be seen now looks as it did: compared small, so that fonts drawn otherwise make no difference.

    DESIGNER_WRITE_PICTURES=1 keeps the new picture instead.
    """
    seen = _seen(widget, width)
    file = PICTURES / f"{name}.png"
    if os.environ.get("DESIGNER_WRITE_PICTURES"):
        QTest.qWait(_TRIES * _PAUSE_MS // 3)
        seen = _seen(widget, width)
        assert seen.convertToFormat(QImage.Format.Format_Indexed8).save(str(file))
    known = QImage(str(file))
    assert not known.isNull(), file
    share = difference(known, seen)
    # on a busy machine the layout comes to rest later
    for _ in range(_TRIES):
        if share < most:
            break
        QTest.qWait(_PAUSE_MS)
        share = difference(known, _seen(widget, width))
    assert share < most, f"{share:.1%} of {file.name} look otherwise"
