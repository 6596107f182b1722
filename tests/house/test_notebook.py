"""The notebook of the documentation runs, cell by cell, in a kernel of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


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
