"""The public door: its names exist, and it opens without loading the house."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

#: what users script against; names may be added, none may go
PROMISED = ("open_design", "save_design", "analyze", "load_catalog", "to_networkx", "summarize")
pytestmark = pytest.mark.without_qt

HEAVY = ("PySide6", "pyqtgraph", "pydantic", "scipy", "networkx")


def _public_names() -> list[str]:
    names = getattr(importlib.import_module("designer"), "__all__", None)
    if names is None:
        pytest.skip("designer offers no public names yet")
    return list(names)


def test_the_public_names_exist_and_are_documented() -> None:
    door = importlib.import_module("designer")
    for name in _public_names():
        thing = getattr(door, name)
        assert not callable(thing) or (thing.__doc__ or "").strip(), f"designer.{name} has no docstring"


def test_the_promised_names_are_public() -> None:
    names = _public_names()
    assert [name for name in PROMISED if name not in names] == []
    assert len(names) == len(set(names))


def test_the_public_names_are_listed() -> None:
    names = _public_names()
    assert set(names) <= set(dir(importlib.import_module("designer")))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = importlib.import_module("designer").no_such_name


@pytest.mark.parametrize(
    ("module", "heavy"), [("designer", HEAVY), ("designer.units", HEAVY), ("designer.formulas.formula", HEAVY)]
)
def test_importing_a_part_does_not_load_the_house(checkout: Path, module: str, heavy: tuple[str, ...]) -> None:
    program = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=checkout, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "designer" in loaded
    assert loaded.isdisjoint(heavy)


_WINDOW = """
import sys
from designer.gui.app import make_application, make_window
app = make_application()
window = make_window(app)
window.show()
window.begin([])
assert window.start.templates.cards, "templates are shown"
print(*sorted({name.partition(".")[0] for name in sys.modules}))
sys.stdout.flush()
import os
os._exit(0)
"""


def test_the_window_stands_before_anything_heavy_is_loaded(checkout: Path, tmp_path: Path) -> None:
    pytest.importorskip("PySide6")
    homes = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"), str(tmp_path))
    surroundings = {**os.environ, "QT_QPA_PLATFORM": "offscreen", **homes}
    done = subprocess.run(
        [sys.executable, "-c", _WINDOW], cwd=checkout, capture_output=True, text=True, check=True, env=surroundings
    )
    loaded = set(done.stdout.split())
    assert "PySide6" in loaded
    assert loaded.isdisjoint({"numpy", "scipy", "pydantic"})
