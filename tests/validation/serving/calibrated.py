"""Calibrated by one run, judged on runs that were left out: ``python -m tests.validation.serving.calibrated``.

Each release is first taken out of those of its engine, as in `left_out`. One run of a deployment (the middle one of its
concurrencies) then fits the two factors of ``designer calibrate``, and the other concurrencies are predicted; or the
runs of one model at their middle concurrencies fit them, and another model on the release is predicted.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations
from statistics import mean, median
from typing import Final

from designer.families.serving.engines import Calibration, Chosen, calibrated
from designer.families.serving.formulas._release import Release
from designer.interchange.calibrating import LEFT, LEFT_FIRST
from tests.validation.serving.left_out import without
from tests.validation.serving.runs import Row, impossible, predicted, rows

#: deployments of a group, spread over its loads, and other runs of each that are predicted
DEPLOYMENTS: Final = 6
OTHERS: Final = 4
#: as ``designer calibrate`` does
ROUNDS: Final = 2


def fitted(chosen: Sequence[Row], base: Release, served: str = "") -> Release:
    """The release as these runs show it: factors of steps and prompts in turn, each the geometric mean of all.

    Parameters
    ----------
    served
        Model that is asked for; empty for the one that ran.
    """
    steps = prompts = 1.0
    found = base
    for _ in range(ROUNDS):
        steps *= math.exp(mean(math.log(row.tpot / predicted(row, found)[1]) for row in chosen))
        found = _with(base, steps, prompts)
        prompts *= math.exp(mean(math.log(row.ttft / predicted(row, found)[0]) for row in chosen))
        found = _with(base, steps, prompts)
    return _with(base, steps, prompts, chosen[0].model, served)


def _with(base: Release, steps: float, prompts: float, ran: str = "", served: str = "") -> Release:
    one = Calibration(steps, prompts, LEFT.value, LEFT_FIRST.value, ran)
    return calibrated(Chosen(base, True), one, served).release


def _error(row: Row, asked: Release) -> tuple[float, float]:
    first, step = predicted(row, asked)
    return math.log(step / row.tpot), math.log(first / row.ttft)


def _spread(values: Sequence[Row], most: int) -> list[Row]:
    """Up to so many, evenly over the list."""
    return list(values) if len(values) <= most else [values[k * (len(values) - 1) // (most - 1)] for k in range(most)]


@cache
def concurrencies() -> Mapping[tuple[str, ...], Sequence[tuple[float, float]]]:
    """Errors of other concurrencies after one run of a deployment, by group: time per token, and first token."""
    found: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for name in dict.fromkeys(row.group for row in rows() if not impossible(row)):
        same: dict[tuple[int, ...], list[Row]] = {}
        for row in rows():
            if row.group == name:
                same.setdefault((row.tensor, row.prompt, row.output), []).append(row)
        several = [sorted(v, key=lambda row: row.clients) for _, v in sorted(same.items()) if len(v) > 1]
        for mine in several[:: max(1, len(several) // DEPLOYMENTS)]:
            one = mine[len(mine) // 2]
            base = without(one)
            asked = fitted([one], base)
            others = _spread([row for row in mine if row is not one], OTHERS)
            found.setdefault(name, []).extend(_error(row, asked) for row in others)
    return found


@cache
def models() -> Mapping[tuple[str, ...], Sequence[tuple[float, float]]]:
    """Errors of another model on the release, after the first of a pair fitted it: by engine, release and pair."""
    found: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows():
        if not impossible(row) and not row.drafts:
            groups.setdefault((row.engine, row.version or row.group[3]), {}).setdefault(row.model, []).append(row)
    for release, by_model in sorted(groups.items()):
        for first, other in permutations(sorted(by_model), 2):
            known, asked = (_spread(sorted(by_model[k], key=_load), 2 * OTHERS) for k in (first, other))
            base = fitted(known, without(known[0]), other)
            found[(*release, first, other)] = [_error(row, base) for row in asked]
    return found


def _load(row: Row) -> tuple[int, ...]:
    return row.clients, row.prompt, row.output, row.tensor


def score(found: Mapping[tuple[str, ...], Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """Median error in a group, mean over groups: of the time per token and of the first token."""
    return tuple(mean(median(abs(one[k]) for one in v) for v in found.values()) for k in (0, 1))  # pyright: ignore[reportReturnType]


def main() -> None:
    """Print both tables."""
    for found in (concurrencies(), models()):
        for name, errors in found.items():
            step, first = (median(abs(one[k]) for one in errors) for k in (0, 1))
            sys.stdout.write(f"{' '.join(name)} {len(errors)}: {step:.3f} {first:.3f}\n")
        sys.stdout.write("mean over groups: {:.3f} {:.3f}\n".format(*score(found)))


if __name__ == "__main__":
    main()
