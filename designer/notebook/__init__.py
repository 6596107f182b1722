"""Work with designs in notebooks: data frames of every table, figures of plotting libraries, rich display."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from designer.errors import ExchangeError


def extra(module: str, package: str, purpose: str) -> Any:
    """Return a module of an optional package.

    Parameters
    ----------
    purpose
        What needs it, the subject of the message: ``Data frames``.

    Raises
    ------
    ExchangeError
        If the package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ExchangeError(f"{purpose} need {package}", remedy=f"pip install {package}") from error
