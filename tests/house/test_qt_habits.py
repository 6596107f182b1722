"""How Qt is used: nothing of Qt's own that it deletes by itself is wrapped, and no name is taken for HTML.

`QLayout.itemAt` and its kin hand out layout items and table items that belong to Qt. It deletes them with their widget
and states nobody; the wrapper stays, and the next object at that address is taken for it: a crash, some hundred
messages
later. What is in a layout is known to who put it there.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

#: call → why not
FORBIDDEN_CALLS = {
    "itemAt": "Qt deletes the layout item; remember what was put in",
    "itemAtPosition": "Qt deletes the layout item; remember what was put in",
    "takeAt": "Qt deletes the layout item; remember what was put in",
    "insertLayout": "a filled one gets wrappers of its items; add it while the outer one has no widget",
    "replaceWidget": "it returns a layout item of Qt's; remove one widget and add the other",
    "nextInFocusChain": "Python takes what it returns for a child of the widget asked; look among its own children",
    "previousInFocusChain": "Python takes what it returns for a child of the widget asked",
    "internalPointer": "Qt keeps no object alive; carry a number and look it up",
    "QWidgetItem": "layout items are Qt's affair",
    "QSpacerItem": "layout items are Qt's affair; addStretch and addSpacing make them",
    "QTableWidget": "its items are deleted by the view; write a model",
    "QTreeWidget": "its items are deleted by the view; write a model",
    "QListWidget": "its items are deleted by the view; write a model",
    "QStandardItemModel": "its items are deleted by the model; write a model",
}
#: Qt's control → ours, which is plain and deaf to the wheel
OURS = {
    "QLabel": "Label",
    "QComboBox": "Choice",
    "QSlider": "Slider",
    "QSpinBox": "NumberBox",
    "QDoubleSpinBox": "a control of controls.py",
    "QDial": "a control of controls.py",
}
#: calls whose texts Qt may take for HTML → position of the text
TEXTS = {"setToolTip": 0, "setTabToolTip": 1, "showText": 1, "setItemToolTip": 1, "setWhatsThis": 0}
#: names of classes that show a message which Qt may take for HTML
BOXES = {"question", "warning", "critical", "information"}
#: what an index may carry by name
NUMBERS = ("number", "above")
#: a painter that outlives its paint event, held by a traceback or a profiler, paints into what is gone: it is ended by
#: the end of a block, whatever happens in it
PAINTERS = ("QPainter", "QStylePainter")
#: names of events that a handler is given
EVENT = "event"


def offences(source: str, controls: bool = False) -> list[tuple[int, str]]:
    """Line and reason of each thing in a source text that the house does not do with Qt."""
    found: list[tuple[int, str]] = []
    tree = ast.parse(source)
    ended = {id(item.context_expr) for node in ast.walk(tree) if isinstance(node, ast.With) for item in node.items}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in FORBIDDEN_CALLS:
                found.append((node.lineno, f"{name}: {FORBIDDEN_CALLS[name]}"))
            if name in PAINTERS and id(node) not in ended:
                found.append((node.lineno, f"{name}: write `with {name}(…) as painter:`"))
            if name in OURS and not controls:
                found.append((node.lineno, f"{name}: write {OURS[name]}"))
            if name in TEXTS and len(node.args) > TEXTS[name] and not _is_plain(node.args[TEXTS[name]]):
                found.append((node.lineno, f"{name}: wrap the text in plain()"))
            if (
                name in BOXES
                and isinstance(node.func, ast.Attribute)
                and getattr(node.func.value, "id", "") == "QMessageBox"
                and not all(_is_plain(a) for a in node.args[2:3])
            ):
                found.append((node.lineno, f"QMessageBox.{name}: wrap the text in plain()"))
            # an attribute or a look-up is a number by what it is called; a bare name is most often the object itself
            if name == "createIndex" and any(isinstance(a, ast.Name) and a.id not in NUMBERS for a in node.args[2:]):
                found.append((node.lineno, "createIndex: carry a number, not an object"))
        if (
            isinstance(node, ast.Assign)
            and getattr(node.value, "id", "") == EVENT
            and any(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets)
        ):
            found.append((node.lineno, "an event is Qt's and gone after its handler; keep what it says"))
    return sorted(found)


def _is_plain(text: ast.expr) -> bool:
    """True if nothing of a design can be in a text unescaped."""
    if isinstance(text, ast.Constant):
        return True
    if isinstance(text, ast.IfExp):
        return _is_plain(text.body) and _is_plain(text.orelse)
    if isinstance(text, ast.BoolOp):
        return all(_is_plain(v) for v in text.values)
    return isinstance(text, ast.Call) and getattr(text.func, "id", "") == "plain"


def test_the_window_wraps_nothing_that_qt_deletes_and_shows_names_as_they_are(checkout: Path) -> None:
    files = sorted((checkout / "designer" / "gui").rglob("*.py"))
    assert files
    found = [
        f"{path.relative_to(checkout)}:{line}: {what}"
        for path in files
        for line, what in offences(path.read_text("utf-8"), controls=path.name == "controls.py")
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "item = self._box.itemAt(0)",
        "while layout.count():\n    layout.takeAt(0)",
        "found = index.internalPointer()",
        "at = panel.nextInFocusChain()",
        "self.createIndex(0, 0, branch)",
        "label = QLabel(part.name)",
        "box = QtWidgets.QComboBox()",
        "self.setToolTip(part.name)",
        "self.setToolTip(f'{part.name} is slow')",
        "self.setToolTip('' if part is None else part.name)",
        "QToolTip.showText(at, text)",
        "QMessageBox.question(self, 'Title', f'Save {name}?')",
        "self._last = event",
        "table = QTableWidget()",
        "painter = QPainter(self)",
    ],
)
def test_an_offence_is_seen(source: str) -> None:
    assert len(offences(source)) >= 1


@pytest.mark.parametrize(
    "source",
    [
        "self._box.removeWidget(toast)",
        "n = self._box.count()",
        "self.setToolTip('How fresh the numbers are')",
        "self.setToolTip(plain(part.name))",
        "self.setToolTip('' if part is None else plain(part.name))",
        "self._at = event.position()",
        "label = Label(part.name)",
        "with QPainter(self) as painter:\n    painter.drawLine(0, 0, 9, 9)",
        "self.createIndex(row, 0, self._number[key])",
    ],
)
def test_an_ordinary_line_passes(source: str) -> None:
    assert offences(source) == []
