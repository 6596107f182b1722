"""The tour names files that are there; examples in docstrings and the notebook run."""

from __future__ import annotations

import doctest
import importlib
import json
import re
from pathlib import Path

import pytest

# Pages for newcomers name files that are there.


@pytest.mark.parametrize("page", ["tour.md", "adding.md", "architecture.md"])
def test_every_file_named_is_there(checkout: Path, page: str) -> None:
    text = (checkout / "docs" / page).read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    named = re.findall(r"`((?:designer|assets|tests)/[^`<>]+)`", prose)
    assert len(named) >= 8
    assert [name for name in named if not (checkout / name).exists()] == []


# The examples in docstrings run and print what they say.

CHECKOUT = Path(__file__).resolve().parents[2]


def modules_with_examples() -> list[str]:
    """Modules that show an example; the window's are left out, so that this runs without Qt."""
    paths = (path for path in sorted((CHECKOUT / "designer").rglob("*.py")) if ">>> " in path.read_text("utf-8"))
    names = (".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__") for path in paths)
    return [name for name in names if not name.startswith("designer.gui")]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert outcome.attempted > 0
    assert outcome.failed == 0, f"see the captured output for what {name} printed instead"


# The notebook of the documentation runs, cell by cell, in a kernel of its own.


def test_the_notebook_runs(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ipykernel")
    client = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for name in ("matplotlib", "pandas", "plotly"):
        pytest.importorskip(name)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(checkout))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    book = nbformat.read(checkout / "docs" / "notebook.ipynb", 4)
    nbformat.validate(book)
    assert sum(cell.cell_type == "code" for cell in book.cells) == 10
    client.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [out for cell in book.cells for out in cell.get("outputs", ())]
    assert all(out.output_type != "error" for out in shown)
    kinds = [set(out.data) for out in shown if out.output_type == "execute_result"]
    assert len(kinds) == 10, "each cell shows something"
    assert sum("text/html" in kind for kind in kinds) >= 6
    assert any("image/png" in kind for kind in kinds)


def test_the_notebook_is_kept_without_outputs(checkout: Path) -> None:
    book = json.loads((checkout / "docs" / "notebook.ipynb").read_text("utf-8"))
    assert all(cell.get("outputs", []) == [] for cell in book["cells"])
