"""Answers about frozen objects, remembered for the objects asked about last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")


class Remembered(Generic[_Asked, _Answer]):
    """A function of one frozen object that is worked out once per object, by identity.

    Answers usually hold the object they are about, so weak references would never let go: the oldest are
    forgotten instead, by number and by size.

    Parameters
    ----------
    most
        How many answers are kept.
    size, budget
        How large an answer is, and how much is kept together; the newest answer always stays.
    """

    def __init__(
        self,
        make: Callable[[_Asked], _Answer],
        most: int = 256,
        size: Callable[[_Answer], int] | None = None,
        budget: int = 0,
    ) -> None:
        self._make, self._most, self._size, self._budget = make, most, size, budget
        self._known: OrderedDict[int, tuple[_Asked, _Answer, int]] = OrderedDict()
        self._total = 0

    def __call__(self, asked: _Asked) -> _Answer:
        # The entry holds the object, so its address cannot have been given to another one.
        found = self._known.get(id(asked))
        if found is not None:
            self._known.move_to_end(id(asked))
            return found[1]
        answer = self._make(asked)
        size = self._size(answer) if self._size is not None else 0
        self._known[id(asked)] = (asked, answer, size)
        self._total += size
        while len(self._known) > 1 and (len(self._known) > self._most or self._total > self._budget > 0):
            self._total -= self._known.popitem(last=False)[1][2]
        return answer
