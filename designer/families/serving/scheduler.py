"""The scheduler of a serving engine, run step by step: what is admitted, split, preempted, and when it ends.

Between two changes (a completion, an arrival, no room left) all steps are equivalent but for their growing context, so
they
are taken in one jump: k steps take k A + B k (k - 1) / 2. Requests carry the count of steps at which they end, so a
step costs the same however many run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import suppress

from designer.errors import Cancelled
from designer.families.serving.engine_state import LOOK_LIMIT, SPAN_LIMIT, Book, EngineState, Held, Requests, Steps
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.records import ServingRun
from designer.families.serving.scheduler_groups import groups_at_work
from designer.families.serving.streaming import streamed


def run_requests(
    steps: Steps,
    requests: Requests,
    how: Scheduling,
    capacity: int,
    path: float = 0.0,
    *,
    jump: bool = True,
    cancelled: Callable[[], bool] | None = None,
) -> ServingRun:
    """Every request through one engine.

    Parameters
    ----------
    capacity
        Tokens whose keys and values fit.
    path
        A request's way to the queue [s].
    jump
        True if equal steps are taken at once; the result is the same.

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    """
    book = Book(requests, path)
    # never held, it goes through to its end
    with suppress(StopIteration):
        next(engine(steps, book, how, capacity, jump=jump, cancelled=cancelled))
    return streamed(book.run(capacity), how)


def engine(
    steps: Steps,
    book: Book,
    how: Scheduling,
    capacity: int,
    *,
    jump: bool = True,
    hold: float = math.inf,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Held, tuple[float, float]]:
    """An engine at work; held at the first step that ends at `hold` or later, and whenever it has nothing to do.

    It goes on with the time it is then, and the time at which it is to be held again [s]. One that is never held ends
    when all is answered.

    Raises
    ------
    AnalysisError
        If the first request in the queue can never be admitted.
    Cancelled
        If `cancelled` says so.
    """
    work = groups_at_work if how.groups > 1 else _at_work
    return work(steps, book, how, capacity, jump=jump, hold=hold, cancelled=cancelled)


def _at_work(
    steps: Steps,
    book: Book,
    how: Scheduling,
    capacity: int,
    *,
    jump: bool = True,
    hold: float = math.inf,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Held, tuple[float, float]]:
    """An engine with one scheduler at work."""
    live = hold < math.inf
    one = EngineState(steps, book, how, capacity, jump=jump, live=live)
    coming, waiting, ends, span = book.coming, one.waiting, one.ends, SPAN_LIMIT
    n, look, preempts, turns = len(book.prompt), LOOK_LIMIT, how.reserve < 1, 0
    while live or one.finished + one.refused < n:
        turns += 1
        if one.now >= hold:
            one.write(turns)
            one.now, hold = yield one.now, one.now
            one.refresh()
        if turns >= look:
            look = turns + LOOK_LIMIT
            one.write(turns)
            if cancelled is not None and cancelled():
                raise Cancelled("stopped")
        while coming and coming[0][0] <= one.now:
            waiting.append(coming.popleft()[1])
        running = one.running
        if not running and not waiting and one.split < 0:
            if live:
                one.write(turns)
                one.now, hold = yield one.now, coming[0][0] if coming else math.inf
                one.refresh()
            else:
                one.now = coming[0][0]
            continue
        robbed = running > 0 and preempts and one.cached + running > capacity and one.preempt()
        if (waiting or one.split >= 0) and one.admit(robbed):
            one.read()
        elif one.running:
            until = coming[0][0] if coming else hold
            one.decode(hold if hold < until else until)
        else:
            one.skip(coming)
            continue
        if ends and (ends[0] < (one.count + 1) * span or one.preempted):
            one.end()
    one.write(turns)
    book.now = one.now
