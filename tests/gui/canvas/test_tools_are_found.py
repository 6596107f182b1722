"""Tools are found by their files, each once; a new one is asked for presses, drags and keys, and stands in a menu."""

from __future__ import annotations

from pathlib import Path

import pytest

from designer.gui.actions._action import menus
from designer.gui.actions._late import late_actions, tools_of_toolbar
from designer.gui.canvas.tools import select
from designer.gui.canvas.tools._tool import Pointer, Press, Tool, ToolKind, tool_kinds
from designer.gui.main_window import MainWindow


def test_every_file_is_a_tool(checkout: Path) -> None:
    files = {path.stem for path in (checkout / "designer" / "gui" / "canvas" / "tools").glob("[!_]*.py")}
    assert len(tool_kinds()) == len(files)
    shown = [kind for kind in tool_kinds() if kind.take_up is not None]
    assert all(kind.title for kind in shown)
    assert len({kind.title for kind in shown}) == len(shown)
    keys = [key for kind in shown for key in kind.shortcut]
    assert len(set(keys)) == len(keys)
    assert set(tools_of_toolbar()) == {f"{kind.menu}.{kind.name}" for kind in shown if kind.icon}


def test_menus_and_toolbar_have_them(window: MainWindow) -> None:
    window.open_template("hgx-a100-4")
    for menu in menus():
        assert {a.id for a in late_actions().get(menu.name, ())} <= {a.id for a in menu.actions}
    assert list(tools_of_toolbar()) == ["view.select", "edit.connect", "view.pan"]
    canvas = window.canvas
    assert canvas is not None
    window.run("view.pan")
    assert type(canvas.tool).__name__ == "Hand"
    window.run("view.select")
    assert type(canvas.tool).__name__ == "Select"


def test_another_tool_is_asked(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window.open_template("hgx-a100-4")
    canvas = window.canvas
    assert canvas is not None
    asked: list[str] = []
    mine = Tool(canvas)

    def key(_: object, press: Press) -> bool:
        asked.append("key")
        return press.key == 0x51

    probe = ToolKind("probe", 1, press=lambda rest, p: mine if p.alt else None, key=key)
    monkeypatch.setattr(select, "tool_kinds", lambda: (probe, *tool_kinds()))
    assert canvas.tool.key(Press(0x51))
    assert asked == ["key"]
    canvas.tool.press(Pointer(5, 5, -1e6, -1e6, alt=True))
    assert canvas.tool is mine
