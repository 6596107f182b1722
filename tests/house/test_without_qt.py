"""Everything but the window is there without Qt: all its modules load, and the commands answer (`tests/cli`)."""

from __future__ import annotations

import importlib.util
import pkgutil
import subprocess
import sys

import pytest

import designer

pytestmark = pytest.mark.without_qt

#: modules of extras → what the extra brings
_EXTRAS = {"designer.cli.mcp_server": "mcp"}
_LOAD_ALL = """
import importlib, sys
for name in ("PySide6", "shiboken6", "pyqtgraph"):
    sys.modules[name] = None  # as where it is not installed: an import of it fails
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def _modules() -> list[str]:
    """All modules but those of the window, whose view-models count among the rest, and those of absent extras."""
    found = pkgutil.walk_packages(designer.__path__, "designer.", onerror=lambda name: None)
    absent = {name for name, brings in _EXTRAS.items() if importlib.util.find_spec(brings) is None}
    names = [module.name for module in found if module.name not in absent]
    return [n for n in names if not n.startswith("designer.gui") or n.startswith("designer.gui.viewmodels")]


def test_every_module_below_the_window_loads_without_qt() -> None:
    names = _modules()
    assert len(names) > 300
    done = subprocess.run([sys.executable, "-c", _LOAD_ALL, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
