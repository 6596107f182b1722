"""What is around a design in its file, looked at before anything else."""

from __future__ import annotations

from typing import Final

FORMAT: Final = "designer-design"
VERSION: Final = 1
SUFFIX: Final = ".design.json"


def written_by() -> str:
    """Name and version of this program."""
    return "designer 0.1.0"
