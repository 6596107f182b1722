"""Progress of long work, and the request to stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from designer.errors import Cancelled

T = TypeVar("T")
#: called with the share that is done, from 0 to 1, and what is being done
Progress = Callable[[float, str], None]
#: returns True once the work has to stop
Cancel = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Watch:
    """Who follows long work: both fields may be None."""

    progress: Progress | None = None
    cancelled: Cancel | None = None

    def check(self) -> None:
        """Stop if that was requested.

        Raises
        ------
        Cancelled
            If `cancelled` returns True.
        """
        if self.cancelled is not None and self.cancelled():
            raise Cancelled("stopped")

    def report(self, share: float, text: str) -> None:
        """Report a share from 0 to 1 and what is being done."""
        if self.progress is not None:
            self.progress(share, text)

    def step(self, share: float, text: str) -> None:
        """Check, then report.

        Raises
        ------
        Cancelled
            If the work has to stop.
        """
        self.check()
        self.report(share, text)

    def part(self, index: int, count: int) -> Watch:
        """The watch over one of several equal parts of the work."""
        outer = self.progress
        if outer is None:
            return self
        return Watch(lambda share, text: outer((index + share) / count, text), self.cancelled)

    def each(self, items: Iterable[T], count: int, words: str, every: int = 1) -> Iterator[T]:
        """The items, with a step before every so many of them.

        Parameters
        ----------
        count
            How many items there are.
        words
            A format of what is done, with ``{done}`` and ``{count}``.
        """
        for done, item in enumerate(items):
            if done % every == 0:
                self.step(min(1.0, done / max(1, count)), words.format(done=done, count=count))
            yield item


#: nobody follows the work
UNWATCHED = Watch()
