"""The description every formula file gives of itself: name, function, sources and where it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Formula:
    """A published model as one function.

    Parameters
    ----------
    name
        Unique, kebab-case; family is the folder.
    title
        For people.
    function
        Takes SI floats (or arrays), returns SI floats.
    sources
        Keys into ``assets/sources/``.
    valid_when
        The range in which the authors, or we against measurements, found it to hold.
    """

    name: str
    title: str
    function: Callable[..., Any]
    sources: tuple[str, ...]
    valid_when: str
