"""What a run of a serving engine was: every request with its times, every step, and what was counted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.families.serving.formulas._release import Scheduling

# A run as its clients see it where several tokens are sent to them at once: which message holds a token, and when.

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


Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: buckets of a distribution of steps, so fine that none of its percentiles moves by more than a part in a thousand
_STEPS_IN_A_JUMP_LIMIT = 8


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted: turns of the loop, steps, tokens in and out, preemptions, refusals, most tokens cached."""

    turns: int
    steps: int
    tokens_in: int
    tokens_out: int
    preempted: int
    refused: int
    kv_peak: int
    kv_capacity: int


@dataclass(frozen=True, eq=False)
class ServingRun:
    """A run.

    Parameters
    ----------
    sent, first, done : (n,) when each request was sent, gave its first token and its last [s]; NaN where refused
    prompt, output : (n,) tokens
    taken : (n,) when each prompt was first worked on [s]
    ready, there : (n,) when it was read and when its keys and values had been pulled [s]; empty where nothing is pulled
    turns : (n_turns, 7) begin [s], first step [s], growth of a step [s], steps, running, cached tokens, waiting
    messages : (n_messages, 2) when each but the first of a request was sent, and how long after the one before [s];
        empty where every token is sent by itself
    stream_interval
        Tokens of a message.
    """

    sent: Float
    first: Float
    done: Float
    prompt: Int
    output: Int
    end: float
    turns: Float
    counts: Counts
    taken: Float = field(default_factory=lambda: np.zeros(0))
    ready: Float = field(default_factory=lambda: np.zeros(0))
    there: Float = field(default_factory=lambda: np.zeros(0))
    messages: Float = field(default_factory=lambda: np.zeros((0, 2)))
    stream_interval: int = 1

    @cached_property
    def served(self) -> npt.NDArray[np.bool_]:
        """(n,) requests that were answered."""
        return np.isfinite(self.done)

    @cached_property
    def ttft(self) -> Float:
        """Time to the first token of every request answered [s]."""
        return (self.first - self.sent)[self.served]

    @cached_property
    def latency(self) -> Float:
        """From sending to the last token [s]."""
        return (self.done - self.sent)[self.served]

    @cached_property
    def tpot(self) -> Float:
        """Mean time between tokens of every request of two or more [s]."""
        more = self.served & (self.output > 1)
        return (self.done - self.first)[more] / (self.output[more] - 1)

    @cached_property
    def lengths(self) -> Float:
        """How long each turn took [s]: k steps of which each is longer than the one before by the growth."""
        turns = self.turns
        return turns[:, 3] * turns[:, 1] + turns[:, 2] * turns[:, 3] * (turns[:, 3] - 1) / 2

    @property
    def busy(self) -> float:
        """Share of the run in which the engine had work [1]."""
        return min(1.0, float(self.lengths.sum()) / self.end)

    def gaps(self) -> tuple[Float, Float]:
        """Times between two tokens of a request, or two messages of several [s], and how many there were of each."""
        if self.stream_interval > 1:
            return self.messages[:, 1], np.ones(len(self.messages))
        kept = self.turns[self.turns[:, 4] > 0]
        if not len(kept):
            return np.zeros(0), np.zeros(0)
        _, first, growth, steps, running = kept[:, :5].T
        few = np.minimum(steps, _STEPS_IN_A_JUMP_LIMIT).astype(np.int64)
        row = np.repeat(np.arange(len(kept)), few)
        place = np.arange(len(row)) - np.repeat(np.cumsum(few) - few, few)
        # a jump represents its steps by a few of them, evenly spread
        at = (place + 0.5) / few[row] * steps[row] - 0.5
        return first[row] + growth[row] * at, running[row] * steps[row] / few[row]
