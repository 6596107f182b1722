"""The canvas and an exported file show the same picture: both are rasterised at one zoom and compared pixel by pixel.

They share one display list, so only what each rasteriser does with edges and letters may differ.
"""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from designer.design.geometry import lay_out
from designer.drawing.loads import ChannelState, connection_map, nothing, with_loads
from designer.drawing.machines import machines_of
from designer.drawing.picture import Drawing, full_detail
from designer.drawing.theme import canvas_theme
from designer.drawing.view_state import ViewState
from designer.gui.canvas.batch_painter import BatchPainter, GlyphSource
from designer.gui.canvas.viewport import picture
from designer.interchange.templates import open_any
from designer.report.drawing.compose import picture_of
from designer.report.drawing.png import to_png

Pixels = npt.NDArray[np.int16]

#: mean difference of a colour channel, of 255, and the share of pixels that differ by more than a quarter of it
MEAN, STRIKING = 2.0, 0.01


def _painted(image: QImage) -> Pixels:
    image = image.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(image.constBits(), dtype=np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 4 * image.width()].reshape(image.height(), image.width(), 4)[..., :3].astype(np.int16)


def _exported(view_state: ViewState, scale: float) -> Pixels:
    image = pytest.importorskip("PIL.Image")
    x, y, width, height = view_state.bounds
    margin = round(24 * scale)
    frame = (
        round(x * scale) - margin,
        round(y * scale) - margin,
        round(width * scale) + 2 * margin,
        round(height * scale) + 2 * margin,
    )
    drawing = Drawing(tuple(full_detail(view_state, scale, view_state.bounds)), frame, view_state.theme.background)
    data = to_png(picture_of(drawing), 1.0)
    return np.asarray(image.open(io.BytesIO(data)).convert("RGB"), dtype=np.int16)


def _difference(one: Pixels, other: Pixels) -> tuple[float, float]:
    apart = np.abs(one - other)
    return float(apart.mean()), float((apart.max(axis=2) > 64).mean())


@pytest.mark.parametrize(
    ("template", "scale", "theme", "loaded"),
    [
        ("hgx-h100-8", 1.0, "light", True),
        ("hgx-h100-8", 1.0, "dark", False),
        ("vsphere-cluster-4", 2.0, "light", False),
        # so small that trays state only how many machines they have
        ("vsphere-cluster-4", 0.4, "dark", False),
        ("su-h100-32", 1.0, "contrast", True),
    ],
)
def test_canvas_and_file_agree(qapp: QApplication, template: str, scale: float, theme: str, loaded: bool) -> None:
    geometry = lay_out(open_any(template).design)
    loads = nothing(geometry)
    if loaded:
        found = connection_map(geometry)
        used = np.random.default_rng(5).beta(1.2, 2.5, 2 * found.n_links)
        loads = with_loads(loads, geometry, found, ChannelState(used * 3e10, used))
        loads = replace(loads, bottleneck=np.arange(geometry.n_connections) == 1)
    view_state = ViewState(geometry, loads, canvas_theme(theme))
    if geometry.design.vms:
        view_state.show_machines(machines_of(geometry.design))
        assert view_state.trays is not None
    painter = BatchPainter(view_state.theme.family, GlyphSource())
    canvas = _painted(picture(view_state, painter, view_state.bounds, scale, False))
    exported = _exported(view_state, scale)
    assert exported.shape == canvas.shape
    mean, striking = _difference(canvas, exported)
    assert mean < MEAN
    assert striking < STRIKING
    # moved by two pixels they would not agree
    moved = _difference(canvas[2:, 2:], exported[:-2, :-2])
    assert moved[0] > 3 * mean
    assert moved[1] > 3 * striking
