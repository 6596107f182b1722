"""Favourites and what was used lately stand at the top of the palette, in this run and the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from designer.catalog.loader import load_catalog
from designer.design.document import Design, Part
from designer.design.edits.parts import AddParts
from designer.gui import theme
from designer.gui.panels.parts import PartsPanel
from designer.gui.session import Session
from designer.gui.settings import Settings

NIC = "nic/generic/infiniband-hdr100"


@pytest.fixture
def panel(qapp: QApplication, settings: Settings) -> Iterator[PartsPanel]:
    made = PartsPanel(theme.LIGHT, settings, lambda _kind: None)
    made.resize(300, 600)
    made.show()
    made.set_session(Session(Design(name="d")))
    made.flush()
    yield made
    made.set_session(None)
    made.hide()
    made.deleteLater()
    qapp.processEvents()


def added(*parts: tuple[str, str]) -> AddParts:
    types = tuple(load_catalog().get(t) for _, t in parts)
    return AddParts(tuple(Part(id=i, kind=t.partition("/")[0], type=t) for i, t in parts), types)


def children(panel: PartsPanel, title: str) -> list[object]:
    panel.flush()
    return [b.key for root in panel.model.roots if root.title == title for b in root.children]


def choose(panel: PartsPanel, key: object) -> None:
    panel.tree.setCurrentIndex(panel.model.index_of(key))


def test_a_favourite_is_marked_and_unmarked_by_key_and_outlives_the_window(panel: PartsPanel) -> None:
    assert children(panel, "Favourites") == []
    for key in (("part", NIC), ("template", "hgx-h100-8"), ("part", "gpu")):
        choose(panel, key)
        QTest.keyClick(panel.tree, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
        panel.flush()
    wanted = [("part", NIC), ("template", "hgx-h100-8"), ("part", "gpu")]
    assert children(panel, "Favourites") == wanted
    assert panel.model.roots[0].title == "Favourites"
    assert panel.tree.isExpanded(panel.model.index(0, 0))
    assert Settings().favourites == wanted
    panel.set_theme(theme.DARK)
    panel.flush()
    assert panel.tree.isExpanded(panel.model.index(0, 0)), "other colours close nothing"
    choose(panel, ("part", NIC))
    QTest.keyClick(panel.tree, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert children(panel, "Favourites") == wanted[1:]


def test_parts_used_lately_are_those_that_came_into_a_design(panel: PartsPanel) -> None:
    session = panel.session
    assert session is not None
    last = panel.model.index(len(panel.model.roots) - 1, 0)
    panel.tree.expand(last)
    session.apply(added(("n", NIC)))
    assert children(panel, "Recently used") == [("part", NIC)]
    last = panel.model.index(len(panel.model.roots) - 1, 0)
    assert panel.tree.isExpanded(last), "what is open stays open"
    # several types at once are a template or a paste
    gpu = "gpu/nvidia/h100-sxm5"
    session.apply(added(("a", NIC), ("b", gpu)))
    assert children(panel, "Recently used") == [("part", NIC)]
    session.apply(added(("c", gpu)))
    assert children(panel, "Recently used") == [("part", gpu), ("part", NIC)]


def test_what_is_gone_from_the_catalog_is_left_out(panel: PartsPanel, settings: Settings) -> None:
    settings.set_favourite("part", "gpu/nobody/knows", on=True)
    panel.outdate()
    assert children(panel, "Favourites") == []
