"""Answers about frozen objects, kept for the objects asked about last."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")


class Memo(Generic[_Asked, _Answer]):
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
        # analyses ask from threads of their own
        self._lock = threading.Lock()
        _all.add(self)

    def __call__(self, asked: _Asked) -> _Answer:
        # The entry holds the object, so its address cannot have been given to another one.
        with self._lock:
            found = self._known.get(id(asked))
            if found is not None:
                self._known.move_to_end(id(asked))
                return found[1]
        answer = self._make(asked)
        size = self._size(answer) if self._size is not None else 0
        with self._lock:
            twice = self._known.pop(id(asked), None)
            self._known[id(asked)] = (asked, answer, size)
            self._total += size - (twice[2] if twice is not None else 0)
            while len(self._known) > 1 and (len(self._known) > self._most or self._total > self._budget > 0):
                self._total -= self._known.popitem(last=False)[1][2]
        return answer

    def forget(self, keep: int = 0) -> None:
        """Let all answers go but the `keep` asked for last."""
        with self._lock:
            while len(self._known) > keep:
                self._total -= self._known.popitem(last=False)[1][2]


_all: weakref.WeakSet[Memo[Any, Any]] = weakref.WeakSet()


def forget(keep: int = 0) -> None:
    """Let all answers go but the `keep` each function was asked for last: a document was closed."""
    for function in list(_all):
        function.forget(keep)
