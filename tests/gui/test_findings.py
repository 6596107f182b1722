"""The findings panel: what is shown, and what one press mends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from designer.catalog.loader import load_catalog
from designer.design.document import Design, Link, Part, WorkloadSpec
from designer.design.integrity import demand_sound
from designer.design.peers import degraded_links
from designer.fields import Quantity
from designer.findings import Finding, Severity
from designer.gui import theme
from designer.gui.panels.findings import FindingsPanel
from designer.gui.session import Session
from designer.gui.viewmodels import findings
from designer.interchange.templates import open_design
from designer.sources import Status


def twins(**changes: object) -> Design:
    """Two equal NICs, one of them at half its lanes."""
    parts = [Part(id="numa0", kind="numa")] + [
        Part(id=f"nic{n}", kind="nic", attributes={"product": "CX"}) for n in range(2)
    ]
    links = [
        Link(id=f"l{n}", kind="pcie", a="numa0", b=f"nic{n}", generation=4, lanes=lanes, status=Status.PRIMARY)
        for n, lanes in enumerate((16, 8))
    ]
    made = Design(name="d", parts={p.id: p for p in parts}, links={x.id: x for x in links})
    return made.model_copy(update=changes)


@pytest.fixture
def panel(qapp: QApplication) -> Iterator[FindingsPanel]:
    made = FindingsPanel(theme.LIGHT)
    made.resize(900, 300)
    made.show()
    yield made
    made.set_session(None)
    made.hide()
    made.deleteLater()
    qapp.processEvents()


def codes(panel: FindingsPanel) -> list[str]:
    panel.flush()
    return [line.cells[3].text for line in panel.table.lines.lines]


def choose(panel: FindingsPanel, row: int) -> None:
    """Select one finding, whatever keys an earlier test left pressed."""
    model = panel.table.selectionModel()
    how = QItemSelectionModel.SelectionFlag
    model.select(panel.table.model().index(row, 0), how.ClearAndSelect | how.Rows)


def press(widget: object) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)  # type: ignore[arg-type]


def test_each_severity_can_be_left_out_and_says_how_many_there_are(panel: FindingsPanel) -> None:
    session = Session(Design(name="d"))
    session.findings = tuple(
        Finding(code, severity, code)
        for code, severity in (
            ("DOC-SELF", Severity.ERROR),
            ("TRAIN-IDLE", Severity.WARNING),
            ("TRAIN-BATCH", Severity.WARNING),
            ("FLOW-STEADY", Severity.INFO),
        )
    )
    panel.set_session(session)
    assert codes(panel) == ["DOC-SELF", "TRAIN-IDLE", "TRAIN-BATCH", "FLOW-STEADY"]
    assert [panel.kinds[s].text() for s in Severity] == ["Errors 1", "Warnings 2", "Remarks 1"]
    panel.kinds[Severity.WARNING].click()
    assert codes(panel) == ["DOC-SELF", "FLOW-STEADY"]
    panel.kinds[Severity.INFO].click()
    assert codes(panel) == ["DOC-SELF"]
    panel.kinds[Severity.WARNING].click()
    assert codes(panel) == ["DOC-SELF", "TRAIN-IDLE", "TRAIN-BATCH"]


def test_a_degraded_link_is_drawn_as_its_twin_by_one_press(panel: FindingsPanel) -> None:
    design = twins()
    session = Session(design)
    session.findings = (*degraded_links(design), Finding("FLOW-STEADY", Severity.INFO, "nothing to be done"))
    panel.set_session(session)
    assert codes(panel) == ["LINK-DEGRADED", "FLOW-STEADY"]
    assert not panel.mend.isEnabled()
    choose(panel, 1)
    assert not panel.mend.isEnabled()
    choose(panel, 0)
    assert panel.mend.text() == "Draw it as its twin: Gen4 x16"
    press(panel.mend)
    assert session.design.links["l1"].lanes == 16
    assert session.history.done == 1
    assert codes(panel) == ["FLOW-STEADY"]
    session.undo()
    assert session.design == design
    assert codes(panel) == ["LINK-DEGRADED", "FLOW-STEADY"]


def test_what_opening_a_file_found_is_mended_from_the_catalog() -> None:
    entry = load_catalog().get("nic/generic/infiniband-hdr100")
    parts = {
        "a": Part(id="a", kind="nic", type=entry.id),
        "b": Part(id="b", kind="nic", overrides={"wings": Quantity(value=2), "ports": Quantity(value=1)}),
        "c": Part(id="c", kind="nic", type="nic/nobody/knows"),
    }
    design = Design(name="d", parts=parts)
    found = demand_sound(design)
    mended: set[str] = set()
    for finding in found:
        fix = findings.fix_of(design, finding)
        if fix is not None:
            mended.add(fix.title)
            design = fix.edit.apply(design)
    assert mended == {f"Take {entry.title} from the catalog", "Remove wings"}
    assert set(design.parts["b"].overrides) == {"ports"}
    left = demand_sound(design)
    assert [(f.code, f.where) for f in left] == [("DOC-TYPE", ("c",))]
    # what opening the file found no longer holds: the rules look at the document as it is now
    shown = findings.gather(found, None, None, "", findings.ruled(design))
    assert [f for f in shown if f.code.startswith("DOC-")] == left


def test_a_link_with_more_lanes_than_its_part_has_is_shown_in_the_window() -> None:
    design = open_design("hgx-h100-8")
    wide = design.model_copy(
        update={"links": {**design.links, "cpu0--psw0": design.links["cpu0--psw0"].model_copy(update={"lanes": 17})}}
    )
    assert "DOC-PORTS" in {f.code for f in findings.gather((), None, None, "", findings.ruled(wide))}


def test_settings_and_policy_follow_what_a_finding_says() -> None:
    spec = WorkloadSpec(id="w", kind="training", settings={"data": 4, "tensor": 2})
    design = Design(name="d", workloads={"w": spec})
    idle, hashed = Finding("TRAIN-IDLE", Severity.WARNING, ""), Finding("FLOW-HASHED", Severity.INFO, "")
    fix = findings.fix_of(design, idle, "w")
    assert fix is not None
    assert fix.edit.apply(design).workloads["w"].settings == {"tensor": 2}
    assert findings.fix_of(fix.edit.apply(design), idle, "w") is None
    fix = findings.fix_of(design, hashed, "w")
    assert fix is not None
    assert fix.edit.apply(design).policy.ecmp == "hash"
    assert findings.fix_of(design, Finding("TRAIN-PRECISION", Severity.WARNING, "")) is None
