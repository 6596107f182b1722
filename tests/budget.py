"""How much of a long trial runs each time: a sample always, the whole of it with ``packaging/test --long``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sample(always: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """Values for ``parametrize``: some always, the others as long trials."""
    late = (value if isinstance(value, tuple) else (value,) for value in others)
    return [*always, *(pytest.param(*value, marks=pytest.mark.long) for value in late)]


def seeds(always: int, whole: int) -> list[Any]:
    """Seeds of random trials, the first few always."""
    return sample(range(always), range(always, whole))
