"""Renaming on the canvas: by key or double click, through the history, refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from designer.design.address import Ref
from designer.errors import DocumentError
from designer.gui.canvas.renaming import LONGEST, NameEditor, rename
from tests import designs

Make = Callable[..., Any]
NONE = Qt.KeyboardModifier.NoModifier


def editor(bench: Any) -> NameEditor | None:
    QApplication.processEvents()
    found = [e for e in bench.canvas.findChildren(NameEditor) if e.isVisible()]
    return found[0] if found else None


def opened(bench: Any, part: str) -> NameEditor:
    bench.select(part)
    QTest.keyClick(bench.canvas, Qt.Key.Key_F2)
    found = editor(bench)
    assert found is not None
    return found


def test_a_name_is_typed_over_and_undone(make: Make) -> None:
    bench = make(designs.one_server())
    before, steps = bench.session.design.parts["gpu3"].label, bench.steps()
    line = opened(bench, "gpu3")
    assert line.text() == before
    assert line.selectedText() == before
    box = bench.canvas.scene.geometry.rect[bench.box("gpu3")]
    x, y = bench.canvas.view.to_view(box[0] + box[2] / 2, box[1] + box[3] / 2)
    assert line.geometry().contains(round(x), round(y)), "it lies over the card"
    QTest.keyClicks(line, "Left  GPU")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert editor(bench) is None
    assert bench.session.design.parts["gpu3"].label == "Left GPU"
    assert bench.steps() == steps + 1
    bench.session.undo()
    assert bench.session.design.parts["gpu3"].label == before


@pytest.mark.parametrize("keys", [[Qt.Key.Key_Escape], [Qt.Key.Key_Return]])
def test_leaving_or_an_unchanged_name_makes_no_step(make: Make, keys: list[Qt.Key]) -> None:
    bench = make(designs.one_server())
    steps = bench.steps()
    line = opened(bench, "cpu0")
    if keys == [Qt.Key.Key_Escape]:
        QTest.keyClicks(line, "something else")
    for key in keys:
        QTest.keyClick(line, key)
    assert editor(bench) is None
    assert bench.steps() == steps


def test_letters_typed_are_no_commands(make: Make) -> None:
    bench = make(designs.one_server())
    line = opened(bench, "gpu0")
    QTest.keyClicks(line, "cF")
    assert editor(bench) is line
    assert line.text() == "cF"
    QTest.keyClick(line, Qt.Key.Key_Escape)
    assert "gpu0" in bench.session.design.parts


def test_a_double_click_on_the_name_opens_it_too(make: Make) -> None:
    bench = make(designs.one_server())
    bench.canvas.zoom_to(1.0)
    bench.canvas._centre(*bench.canvas.scene.geometry.rect[bench.box("gpu1"), :2].tolist())
    QTest.mouseDClick(bench.canvas, Qt.MouseButton.LeftButton, NONE, bench.at("gpu1", 0.6, 0.3))
    line = editor(bench)
    assert line is not None
    QTest.keyClicks(line, "Second")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert bench.session.design.parts["gpu1"].label == "Second"


def test_a_refused_name_stays_and_says_why(make: Make) -> None:
    bench = make(designs.one_server())
    steps = bench.steps()
    line = opened(bench, "gpu0")
    line.setText("x" * (LONGEST + 1))
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert editor(bench) is line
    assert "too long" in line.toolTip()
    assert bench.steps() == steps
    QTest.keyClick(line, Qt.Key.Key_Escape)
    assert editor(bench) is None


def test_control_characters_are_refused_and_spaces_are_one() -> None:
    with pytest.raises(DocumentError, match="control"):
        rename((), Ref("parts", "gpu0"), "a\x07b")
    design = designs.one_server()
    assert rename((), Ref("parts", "gpu0"), " a \t b ").apply(design).parts["gpu0"].name == "a b"


def test_several_selected_have_no_one_name(make: Make) -> None:
    bench = make(designs.one_server())
    bench.select("gpu0", "gpu1")
    QTest.keyClick(bench.canvas, Qt.Key.Key_F2)
    assert editor(bench) is None
