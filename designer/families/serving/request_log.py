"""What became of the requests of a served model, by the end of a run or until a time within it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from designer.engine.clock.records import Readings
from designer.engine.clock.run import Run
from designer.families.serving.readings import percentiles
from designer.families.serving.records import Counts, ServingRun
from designer.sources import EIGHTY, Estimate

#: of latencies at the server
_NO_LEG: Final = Estimate.exact(0.0, "s")


@dataclass(eq=False)
class RequestLog:
    """What became of the requests of a served model.

    Parameters
    ----------
    extra
        What is not known of the first token next to its steps: logarithm of the factor either way [1].
    saturated
        True if more is asked than can be answered: no latency is stated.
    arriving
        True if requests have times of their own; else clients send one when another has been answered.
    leg
        The round trip to the clients, which latencies in `readings` include and those of `run` do not [s].
    costs
        What a day like it costs, where prices are given.
    """

    extra: float = 0.0
    saturated: bool = False
    parts: list[tuple[ServingRun, int]] = field(default_factory=list[tuple[ServingRun, int]])
    arriving: bool = True
    leg: Estimate | None = None
    costs: Callable[[RequestLog], Mapping[str, Estimate]] | None = None

    @cached_property
    def run(self) -> ServingRun:
        """All replicas together: what is not counted first, then in order of sending."""
        runs = [run for run, _ in self.parts]
        counted = np.concatenate([np.arange(len(run.sent)) >= first for run, first in self.parts])

        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(run, name) for run in runs])

        sent = joined("sent")
        order = np.lexsort((sent, counted))
        counts = [run.counts for run in runs]
        total = Counts(
            sum(c.turns for c in counts),
            sum(c.steps for c in counts),
            sum(c.tokens_in for c in counts),
            sum(c.tokens_out for c in counts),
            sum(c.preempted for c in counts),
            sum(c.refused for c in counts),
            max(c.kv_peak for c in counts),
            counts[0].kv_capacity,
        )
        return ServingRun(
            sent[order],
            joined("first")[order],
            joined("done")[order],
            joined("prompt")[order],
            joined("output")[order],
            max(run.end for run in runs),
            np.concatenate([run.turns for run in runs]),
            total,
            joined("taken")[order],
            messages=np.concatenate([run.messages for run in runs]),
            stream_interval=runs[0].stream_interval,
        )

    @property
    def first(self) -> int:
        """The first request of `run` that counts."""
        return sum(min(first, len(run.sent)) for run, first in self.parts)

    @cached_property
    def readings(self) -> Readings:
        """Means, percentiles and rates of all that counts, as clients see them."""
        found = self._seen_by_client(percentiles(self.run, self.first, arriving=self.arriving))
        paid = self.costs(self) if self.costs is not None else {}
        errors = {name: (one.high - one.low) / 2 / EIGHTY.value for name, one in paid.items()}
        return Readings({**found.values, **{n: one.value for n, one in paid.items()}}, {**found.errors, **errors})

    def _seen_by_client(self, found: Readings) -> Readings:
        if self.leg is None:
            return found
        late = self.leg.value
        values = {name: value + late if seen_later(name) else value for name, value in found.values.items()}
        return Readings(values, found.errors)

    def behind(self, leg: Estimate | None) -> RequestLog:
        """The same as clients see it over a round trip [s]; None for clients at the server."""
        return replace(self, leg=leg)

    def seen_later_by(self, metric: str) -> Estimate:
        """The time by which clients see a metric later than the server [s]."""
        return self.leg if self.leg is not None and seen_later(metric) else _NO_LEG

    def between(self, begin: float, end: float, *, outside: bool = False) -> ServingRun:
        """Counted requests sent between two times, and steps that began then; or all others [s]."""
        run = self.run
        sent = (run.sent >= begin) & (run.sent < end)
        turns = (run.turns[:, 0] >= begin) & (run.turns[:, 0] < end)
        messages = (run.messages[:, 0] >= begin) & (run.messages[:, 0] < end)
        if outside:
            sent, turns, messages = ~sent, ~turns, ~messages
        sent &= np.arange(len(run.sent)) >= self.first
        return replace(
            run,
            sent=run.sent[sent],
            first=run.first[sent],
            done=run.done[sent],
            prompt=run.prompt[sent],
            output=run.output[sent],
            turns=run.turns[turns],
            taken=run.taken[sent],
            messages=run.messages[messages],
        )


def logs_of(run: Run) -> Mapping[str, RequestLog]:
    """Logs of the served models of a run by program."""
    return {name: log for name, log in run.requests.items() if isinstance(log, RequestLog)}


def seen_later(metric: str) -> bool:
    """Whether clients behind a network see a metric later than the server by the time of a round trip."""
    return metric.partition("_")[0] in ("ttft", "latency")


def until_end(run: ServingRun, asked: int, end: float) -> ServingRun:
    """The first requests of a run, and what of them has happened by a time."""

    def cut(times: np.ndarray) -> np.ndarray:
        return np.where(times[:asked] <= end, times[:asked], np.nan)

    return replace(
        run,
        sent=run.sent[:asked],
        first=cut(run.first),
        done=cut(run.done),
        prompt=run.prompt[:asked],
        output=run.output[:asked],
        taken=cut(run.taken),
        turns=run.turns[run.turns[:, 0] < end],
        messages=run.messages[run.messages[:, 0] < end],
        end=end,
    )
