"""Measurements begin in the same way, whatever ran before them."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True)
def nothing_old_is_looked_through() -> None:
    """Looking for garbage counts for what is measured, not for what earlier tests left."""
    gc.collect()
    gc.freeze()
