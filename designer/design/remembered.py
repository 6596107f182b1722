"""Answers about frozen blocks, remembered as long as the block lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from designer.design.document import Block

_B = TypeVar("_B", bound=Block)
_T = TypeVar("_T")


class Remembered(Generic[_B, _T]):
    """A function of a block that is worked out once per block object.

    By identity: blocks have no hash, and comparing two large ones would cost more than most answers.
    """

    def __init__(self, make: Callable[[_B], _T]) -> None:
        self._make = make
        self._known: dict[int, tuple[weakref.ref[_B], _T]] = {}

    def __call__(self, block: _B) -> _T:
        key, known = id(block), self._known
        found = known.get(key)
        if found is not None and found[0]() is block:
            return found[1]
        made = self._make(block)

        def forget(dead: weakref.ref[_B]) -> None:
            # another block may live at the same address by now
            if (entry := known.get(key)) is not None and entry[0] is dead:
                del known[key]

        known[key] = (weakref.ref(block, forget), made)
        return made
