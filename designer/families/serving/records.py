"""What a run of a serving engine was: every request with its times, every step, and what was counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

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
