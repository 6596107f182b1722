"""The examples in docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

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
