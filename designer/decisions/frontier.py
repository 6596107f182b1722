"""What a sweep says: the runs no other run beats in both of two metrics, and where the bottleneck changes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from designer.decisions.answers import Binding, Row
from designer.decisions.variables import amount_of
from designer.workload.metrics import more_is_better


def frontier(rows: Iterable[Row], first: str, second: str, kind: str = "") -> tuple[Row, ...]:
    """The rows that no other row beats in both metrics, by the first from best to worst; equal ones all count.

    `kind` is the kind of the workload that was swept. Of metrics without a better direction less counts as better.
    """
    signs = [-1.0 if more_is_better(name, kind) else 1.0 for name in (first, second)]
    found: list[tuple[float, float, Row]] = []
    for row in rows:
        if first in row.metrics and second in row.metrics:
            a, b = (s * row.metrics[name].value for s, name in zip(signs, (first, second), strict=True))
            if not (math.isnan(a) or math.isnan(b)):
                found.append((a, b, row))
    found.sort(key=lambda entry: (entry[0], entry[1], entry[2].number))
    best: list[tuple[float, float, Row]] = []
    for entry in found:
        if not best or entry[1] < best[-1][1] or entry[:2] == best[-1][:2]:
            best.append(entry)
    return tuple(row for _, _, row in best)


@dataclass(frozen=True, slots=True)
class Turn:
    """Between two neighbouring values of one path the bottleneck changes.

    Parameters
    ----------
    before, after
        The rows on both sides.
    """

    path: str
    before: Row
    after: Row


def turns(rows: Iterable[Row], paths: Sequence[str]) -> tuple[Turn, ...]:
    """Where the bottleneck changes along each path while all else stays.

    What binds is a set, since ties are real: it has changed when nothing is left of what bound all the way before.
    """
    answered = [row for row in rows if row.binding]
    found: list[Turn] = []
    for at, path in enumerate(paths):
        lines: dict[tuple[str, ...], list[Row]] = {}
        for row in answered:
            lines.setdefault((*row.settings[:at], *row.settings[at + 1 :]), []).append(row)
        for line in lines.values():
            amounts = [amount_of(row.settings[at]) for row in line]
            if any(a is None for a in amounts):
                # names have no order of their own: as they were given
                line.sort(key=lambda row: row.number)
            else:
                line.sort(key=lambda row, at=at: (amount_of(row.settings[at]) or (0.0, ""))[0])
            found += _breaks_along(line, path)
    return tuple(found)


def _breaks_along(line: Sequence[Row], path: str) -> Iterable[Turn]:
    for k in breaks(line):
        yield Turn(path, line[k - 1], line[k])


def breaks(line: Sequence[Row]) -> tuple[int, ...]:
    """Places in a line of rows at which nothing is left of what bound all the way before."""
    found: list[int] = []
    held: frozenset[tuple[str, str]] = frozenset()
    for k, row in enumerate(line):
        now = frozenset((b.what, b.id) for b in row.binding)
        if k and not held & now:
            found.append(k)
        held = held & now or now
    return tuple(found)


def binding_text(binding: Sequence[Binding]) -> str:
    """What binds, in one line."""
    if not binding:
        return ""
    more = f" and {len(binding) - 1} more" if len(binding) > 1 else ""
    return f"{binding[0].label}{more}"
