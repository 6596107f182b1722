"""The one memo: answers about frozen objects, declared next to the function that works them out.

Three rules, held by a test of the house. What depends on a frozen object (a design, a network, a structure) is
remembered by `memo`, per object and by identity. What depends on plain values alone (a name, a number) may use
``functools.lru_cache`` with a bound, and what depends on nothing ``functools.cache``. Nothing else remembers: no
dictionaries of names, no weak references, no answers put into another object's ``__dict__``. Equal objects that
edits make again are made one by `Interned`; answers known by a digest are in a `Store` that a `memo` keeps.

An object may state by its `extent` how many numbers answers about it are made of: of large ones fewer are kept, the
last
three of a hundred thousand accelerators, so that the memory of edits one after the other is bounded. Code that works
on one design after the other states each by `turn`, and `forget_old` lets go what the last two did not ask for.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar, cast

Host = TypeVar("Host")
Rest = ParamSpec("Rest")
Answer = TypeVar("Answer")
_Place = TypeVar("_Place")

_Key = tuple[Hashable, ...]

#: extent of the objects that answers are kept about, of large ones and of small ones together, and how many of each are
#: kept however large they are
_ROOM: Final = 5_500_000
_FEWEST: Final = 2
#: answers about objects of less extent are not worth forgetting before their time
_LARGE: Final = 250_000


def _extent(host: object) -> int:
    return getattr(host, "extent", 0)


class _Turn:
    """How often the design was another one."""

    now = 0


class _Kept:
    """The answers about one object; holding it keeps its address from being given to another one.

    Its extent is the larger of its own and that of the first answer; ``asked`` is the turn in which it was asked about
    last.
    """

    __slots__ = ("answers", "asked", "extent", "host", "size")

    def __init__(self, host: object, answer: object) -> None:
        self.host = host
        self.answers: OrderedDict[_Key, tuple[Any, int]] = OrderedDict()
        self.size = 0
        self.extent = max(_extent(host), _extent(answer))
        self.asked = _Turn.now

    @property
    def large(self) -> bool:
        """Whether it has room among the large ones."""
        return self.extent >= _LARGE

    @property
    def old(self) -> bool:
        """True if it is large and the last two turns did not ask about it."""
        return self.large and self.asked < _Turn.now - 1


def _too_many(known: Mapping[_Place, _Kept], extents: Mapping[bool, int]) -> list[_Place]:
    """Which to let go of so that there is room, those asked about longest ago first.

    Large ones and small ones have room of their own: small ones are what edited designs have in common.

    Parameters
    ----------
    extents
        Of all large ones, and of all small ones.
    """
    found: list[_Place] = []
    for large, total in extents.items():
        if total <= _ROOM:
            continue
        # of many small ones a quarter at once: each look through them costs as much as they are
        goal = _ROOM if large else _ROOM - _ROOM // 4
        some = [(place, kept.extent) for place, kept in known.items() if kept.large is large]
        for place, size in some[:-_FEWEST]:
            if total <= goal:
                break
            found.append(place)
            total -= size
    return found


class Memo(Generic[Host, Rest, Answer]):
    """A function of one frozen object, and of hashable values, that is worked out once for each. Made by `memo`.

    Answers usually hold the object they are about, so weak references would never let go: the oldest are
    forgotten instead, by number and by size. It may be asked from any thread; two that ask the same at once may both
    work it out, and get equal answers.
    """

    def __init__(
        self,
        make: Callable[Concatenate[Host, Rest], Answer],
        most: int = 256,
        each: int = 64,
        size: Callable[[Answer], int] | None = None,
        budget: int = 0,
    ) -> None:
        self._make, self._most, self._each, self._size, self._budget = make, most, each, size, budget
        self._known: OrderedDict[int, _Kept] = OrderedDict()
        self._total = 0
        self._extents = {True: 0, False: 0}
        self._lock = threading.Lock()
        self.__doc__ = make.__doc__
        _all.add(self)

    def __call__(self, host: Host, /, *values: Rest.args, **named: Rest.kwargs) -> Answer:
        key: _Key = (*values, *named.values()) if named else values
        with self._lock:
            kept = self._known.get(id(host))
            if kept is not None:
                self._known.move_to_end(id(host))
                kept.asked = _Turn.now
                found = kept.answers.get(key)
                if found is not None:
                    kept.answers.move_to_end(key)
                    return found[0]
        answer = self._make(host, *values, **named)
        size = self._size(answer) if self._size is not None else 0
        with self._lock:
            kept = self._known.get(id(host))
            if kept is None:
                kept = self._known[id(host)] = _Kept(host, answer)
                self._extents[kept.large] += kept.extent
            self._known.move_to_end(id(host))
            twice = kept.answers.pop(key, None)
            kept.answers[key] = (answer, size)
            self._grow(kept, size - (twice[1] if twice is not None else 0))
            while len(kept.answers) > 1 and (
                len(kept.answers) > self._each or (len(self._known) == 1 and self._total > self._budget > 0)
            ):
                self._grow(kept, -kept.answers.popitem(last=False)[1][1])
            while len(self._known) > 1 and (len(self._known) > self._most or self._total > self._budget > 0):
                self._drop()
            for number in _too_many(self._known, self._extents):
                self._leave(self._known.pop(number))
        return answer

    def _drop(self) -> None:
        """Let go of the object asked about longest ago."""
        self._leave(self._known.popitem(last=False)[1])

    def _leave(self, kept: _Kept) -> None:
        self._total -= kept.size
        self._extents[kept.large] -= kept.extent

    def forget_old(self) -> None:
        """Let go what is known of large objects that the last two turns did not ask about."""
        with self._lock:
            for number in [number for number, kept in self._known.items() if kept.old]:
                self._leave(self._known.pop(number))

    def _grow(self, kept: _Kept, by: int) -> None:
        kept.size += by
        self._total += by

    def forget(self, keep: int = 0) -> None:
        """Let the answers about all objects go but the `keep` asked about last."""
        with self._lock:
            while len(self._known) > keep:
                self._drop()

    def __len__(self) -> int:
        """How many answers are kept."""
        with self._lock:
            return sum(len(kept.answers) for kept in self._known.values())


class Interned(Generic[Answer]):
    """One object for all of an equal key; the last ones are kept.

    So what two designs have in common is the same frozen object, and answers can hang on it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._extents = {True: 0, False: 0}
        self._lock = threading.Lock()
        _all.add(self)

    def __call__(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        with self._lock:
            if key in self._known:
                return self._take_known(key)
        made = make()
        with self._lock:
            if key not in self._known:
                kept = self._known[key] = _Kept(made, made)
                self._extents[kept.large] += kept.extent
            made = self._take_known(key)
            while len(self._known) > self._most:
                self._leave(self._known.popitem(last=False)[1])
            for other in _too_many(self._known, self._extents):
                self._leave(self._known.pop(other))
        return made

    def _leave(self, kept: _Kept) -> None:
        self._extents[kept.large] -= kept.extent

    def _take_known(self, key: Hashable) -> Answer:
        kept = self._known[key]
        kept.asked = _Turn.now
        self._known.move_to_end(key)
        return cast("Answer", kept.host)

    def forget_old(self) -> None:
        """Let go of large ones that the last two turns did not ask for."""
        with self._lock:
            for key in [key for key, kept in self._known.items() if kept.old]:
                self._leave(self._known.pop(key))

    def forget(self, keep: int = 0) -> None:
        """Let all go but the `keep` asked for last."""
        with self._lock:
            while len(self._known) > keep:
                self._leave(self._known.popitem(last=False)[1])


class Store(Generic[Answer]):
    """Answers under keys such as digests, the last ones, up to a number of entries in all of them together.

    It hangs on the object the answers are about, which a `memo` gives it.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._made: OrderedDict[bytes, tuple[Answer, int]] = OrderedDict()
        self._entries = 0
        self._lock = threading.Lock()

    def get(self, key: bytes) -> Answer | None:
        """The answer kept under a key, or None."""
        with self._lock:
            found = self._made.get(key)
            if found is None:
                return None
            self._made.move_to_end(key)
            return found[0]

    def keep(self, key: bytes, answer: Answer, entries: int) -> None:
        """Keep an answer of so many entries, unless it alone is too large."""
        with self._lock:
            before = self._made.pop(key, None)
            self._entries -= before[1] if before is not None else 0
            if entries > self._limit:
                return
            self._made[key] = answer, entries
            self._entries += entries
            while self._entries > self._limit:
                self._entries -= self._made.popitem(last=False)[1][1]


_all: weakref.WeakSet[Memo[Any, Any, Any] | Interned[Any]] = weakref.WeakSet()


def memo(
    most: int = 256, each: int = 64, size: Callable[[Any], int] | None = None, budget: int = 0
) -> Callable[[Callable[Concatenate[Host, Rest], Answer]], Memo[Host, Rest, Answer]]:
    """Remember what a function says about its first argument, a frozen object, known by identity.

    Parameters
    ----------
    most
        About how many objects answers are kept.
    each
        How many answers are kept about one object, by the values of the other arguments, which must be hashable and
        always given in the same manner.
    size, budget
        How large an answer is, and how much is kept together; the newest answer always stays.
    """
    return lambda make: Memo(make, most, each, size, budget)


def forget(keep: int = 0) -> None:
    """Let all answers go but those about the `keep` objects each function was asked about last: a document closed."""
    for function in list(_all):
        function.forget(keep)


def turn() -> None:
    """Another design is worked on from here: see `forget_old`."""
    _Turn.now += 1


def forget_old() -> None:
    """Let go what is known of large objects and was not asked for since the `turn` before the last.

    So the design that is shown and the one before it are known, which an undo brings back.
    """
    for function in list(_all):
        function.forget_old()
