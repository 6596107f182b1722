"""Which settings a sweep tries: every combination, value by value together, or drawn at random."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.decisions.variables import Span, Variable, spelled
from designer.errors import FormatError

#: a sweep of more runs is a mistake of its ranges
RUNS_LIMIT: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its number and a value for each variable."""

    number: int
    settings: tuple[str, ...]


def grid(variables: Sequence[Variable]) -> tuple[Run, ...]:
    """Every combination; the last variable changes fastest.

    Raises
    ------
    FormatError
        If there are none, or far too many.
    """
    _demand(variables)
    count = math.prod(len(v.values) for v in variables)
    if count > RUNS_LIMIT:
        raise FormatError(
            f"{count:,} combinations", place="--vary", remedy=f"at most {RUNS_LIMIT:,}; or draw some with --random"
        )
    return tuple(Run(k, row) for k, row in enumerate(itertools.product(*(v.values for v in variables))))


def together(variables: Sequence[Variable]) -> tuple[Run, ...]:
    """The first values of all, then the second, and so on.

    Raises
    ------
    FormatError
        If one has more values than another.
    """
    _demand(variables)
    counts = {len(v.values) for v in variables}
    if len(counts) > 1:
        stated = ", ".join(f"{v.path} has {len(v.values)}" for v in variables)
        raise FormatError(
            f"values that go together must be as many: {stated}", place="--together", remedy="add or drop"
        )
    return tuple(Run(k, row) for k, row in enumerate(zip(*(v.values for v in variables), strict=True)))


def at_random(variables: Sequence[Variable], count: int, seed: int) -> tuple[Run, ...]:
    """So many settings, spread evenly: of each range every equal slice is drawn from once (a Latin hypercube).

    The same seed gives the same settings.

    Raises
    ------
    FormatError
        If there is nothing to draw from, or the count makes no sense.
    """
    if not 1 <= count <= RUNS_LIMIT:
        raise FormatError(f"{count} runs", place="--random", remedy=f"1 to {RUNS_LIMIT:,}")
    if not variables:
        raise FormatError("nothing varies", place="--vary", remedy="give PATH=VALUES")
    random = np.random.default_rng(seed)
    columns: list[list[str]] = []
    for variable in variables:
        shares = (random.permutation(count) + random.random(count)) / count
        columns.append([_value_at(variable, float(share)) for share in shares])
    return tuple(Run(k, row) for k, row in enumerate(zip(*columns, strict=True)))


def _value_at(variable: Variable, share: float) -> str:
    if variable.span is None:
        return variable.values[min(int(share * len(variable.values)), len(variable.values) - 1)]
    return _from_span(variable.span, share)


def _from_span(span: Span, share: float) -> str:
    if span.log:
        number = math.exp(math.log(span.low) * (1 - share) + math.log(span.high) * share)
    else:
        number = span.low * (1 - share) + span.high * share
    if span.whole:
        # each whole number is as likely as the others
        wide = span.high - span.low + 1
        number = float(round(number)) if span.log else min(span.high, span.low + math.floor(share * wide))
    else:
        number = float(f"{number:.6g}")
    return spelled(number, span.unit)


def _demand(variables: Sequence[Variable]) -> None:
    if not variables:
        raise FormatError("nothing varies", place="--vary", remedy="give PATH=VALUES")
    twice = [v.path for k, v in enumerate(variables) if v.path in [w.path for w in variables[:k]]]
    if twice:
        raise FormatError(f"{twice[0]} is varied twice", place="--vary", remedy="give all its values at once")
