"""A run as its clients see it where several tokens are sent to them at once: which message holds a token, and when."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.records import ServingRun

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: of more messages than this, every so manieth request states its own
_MESSAGES_LIMIT: Final = 1_000_000
#: two ends of the same step lie within this, relative to their time
_SAME_TOLERANCE: Final = 1e-12


def streamed(run: ServingRun, how: Scheduling) -> ServingRun:
    """The run as clients see it.

    A request that is answered has its first message either with its first token or, where that is held, with as many
    as a message holds; the last message has what is left. When an answer is complete does not change.
    """
    every = how.stream_interval
    if every <= 1:
        return run
    mine = np.flatnonzero(run.served)
    first = run.first.copy()
    begin = np.minimum(every, run.output[mine]) - 1 if how.first_held else np.zeros(len(mine), dtype=np.int64)
    clock = _Clock(run)
    first[mine] = clock.tokens(mine, begin)
    # tokens after the first message, and the messages they make
    left = run.output[mine] - 1 - begin
    if left.sum() / every > _MESSAGES_LIMIT:
        kept = np.arange(0, len(mine), int(left.sum() / every / _MESSAGES_LIMIT) + 1)
        mine, begin, left = mine[kept], begin[kept], left[kept]
    count = -(-left // every)
    row = np.repeat(np.arange(len(mine)), count)
    number = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + 1
    token = begin[row] + np.minimum(number * every, left[row])
    sent = clock.tokens(mine[row], token)
    before = np.where(number > 1, np.concatenate([[0.0], sent[:-1]]), first[mine][row]) if len(sent) else sent
    messages = np.column_stack([sent, sent - before])
    return replace(run, first=first, messages=messages, stream_interval=every)


class _Clock:
    """When decoding steps of a run end."""

    def __init__(self, run: ServingRun) -> None:
        self._run = run
        self._rows = run.turns[run.turns[:, 4] > 0]
        self._through = np.cumsum(self._rows[:, 3])

    def tokens(self, requests: Int, token: Int) -> Float:
        """When some requests have so many tokens after their first one [s]."""
        run = self._run
        first, done, last = run.first[requests], run.done[requests], run.output[requests] - 1
        if not len(self._rows):
            return first
        # steps that decode, done before the first token was there
        rows = np.searchsorted(self._rows[:, 0], first - _SAME_TOLERANCE * np.abs(first), side="left")
        steps = np.concatenate([[0.0], self._through])[rows]
        here, end = self._ends(np.add(steps, token, dtype=float)), self._ends(np.add(steps, last, dtype=float))
        # preempted in between, or answered elsewhere: as even as what lies between its first and its last token allows
        whole = end - first
        share = np.divide(here - first, whole, out=np.zeros(len(first)), where=whole > 0)
        return np.where(token > 0, first + np.clip(share, 0.0, 1.0) * (done - first), first)

    def _ends(self, step: Float) -> Float:
        """When the so manieth decoding step ends, counted from 1 [s]."""
        row = np.minimum(np.searchsorted(self._through, step, side="left"), len(self._rows) - 1)
        begin, one, growth, steps = self._rows[row, :4].T
        within = np.clip(step - (self._through[row] - steps), 0.0, steps)
        return begin + within * one + growth * within * (within - 1) / 2
