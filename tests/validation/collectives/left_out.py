"""Collectives without what one publication measured: ``python -m tests.validation.collectives.left_out``.

The fitted shares of bandwidth start at what the library plans, or at a neutral value where it has no plan, and are
chosen, one after the other, on all other publications; the library's tables stay. With ``generation``, ``fabric`` or
``maker`` as argument all machines of one generation of GPU, of one kind of path, or of one maker or cloud are left out
together; several arguments are several runs. It takes a minute or two, so the score table states its mean.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from operator import itemgetter
from statistics import mean, median
from typing import Any

from designer.formulas.collectives import AlgorithmTime, NetworkKind
from designer.formulas.collectives import _constants as c
from designer.formulas.collectives import collective_time as module
from designer.formulas.collectives._terms import fabric
from designer.formulas.scoring import Scored, band_score, macro_mean
from designer.sources import Constant
from tests.validation.collectives.test_collective_cases import CASES, scored, situation

#: tables that hold fitted shares, and the keys of those that the cases reach
TABLES: Sequence[tuple[dict[Any, Constant], Any]] = (
    *((c.NVLINK_RING, key) for key in (70, 80, 90)),
    (c.IN_SWITCH, 90),
    (c.IN_SWITCH_SMALL_CHUNKS, 90),
    (c.LL128_SHARE, 70),
    (c.NETWORK, NetworkKind.ROCE),
    (c.NETWORK, NetworkKind.EFA),
)
#: fitted constants of their own, by name
NAMES: Sequence[str] = (
    *("PCIE_RING", "PCIE_ONE_WAY", "PAIR", "SEND_NVLINK", "SEND_NETWORK"),
    "RING_PIPELINE",
)
PLACES: Sequence[tuple[Any, Any]] = (*TABLES, *((c, name) for name in NAMES))
#: the sets of generations and fabrics that are fitted
FITTED: Sequence[str] = ("FITTED_GENERATIONS", "FITTED_FABRICS")
NEUTRAL = 0.8
#: what is known without a measurement: plans of the library for networks and PCIe
PLANNED: dict[Any, float] = {
    **dict.fromkeys(c.NETWORK, 0.96),
    **dict.fromkeys(("PCIE_RING", "PCIE_ONE_WAY"), 0.762),
}
GRID: Sequence[float] = tuple(0.3 + 0.05 * step for step in range(15))
FINER: Sequence[float] = (-0.03, -0.015, 0.0, 0.015, 0.03)
ROUNDS = 2


@contextmanager
def kept() -> Generator[None]:
    """Every constant as before, afterwards."""
    tables = [(table, key, table[key]) for table, key in TABLES]
    names = {name: getattr(c, name) for name in (*NAMES, *FITTED)}
    try:
        yield
    finally:
        for table, key, value in tables:
            table[key] = value
        for name, value in names.items():
            setattr(c, name, value)
        module._candidates.cache_clear()  # pyright: ignore[reportPrivateUsage]


def _get(place: tuple[Any, Any]) -> Constant:
    table, key = place
    return getattr(c, key) if table is c else table[key]


def _set(place: tuple[Any, Any], value: float) -> None:
    table, key = place
    old = _get(place)
    low, high = old.low / old.value, old.high / old.value
    value = max(value, 1e-3)
    new = replace(old, value=value, low=value * low, high=value * high)
    if table is c:
        setattr(c, key, new)
    else:
        table[key] = new


@cache
def _touched() -> Mapping[str, tuple[int, ...]]:
    """Places that the candidates of a case depend on, by its id: those that change a term or a bound of any."""
    with kept():
        before = [_candidates(case) for case in CASES]
        found: dict[str, list[int]] = {case["id"]: [] for case in CASES}
        for number, place in enumerate(PLACES):
            value = _get(place).value
            _set(place, 0.9 * value)
            for case, old in zip(CASES, before, strict=True):
                if _candidates(case) != old:
                    found[case["id"]].append(number)
            _set(place, value)
    return {name: tuple(numbers) for name, numbers in found.items()}


def _candidates(case: dict[str, Any]) -> Sequence[AlgorithmTime]:
    module._candidates.cache_clear()  # pyright: ignore[reportPrivateUsage]
    return module._candidates(situation(case))  # pyright: ignore[reportPrivateUsage]


#: by case and values of the places it depends on: folds try much the same
_MEMO: dict[tuple[str, tuple[float, ...]], Scored] = {}


def _point(case: dict[str, Any]) -> Scored:
    key = case["id"], tuple(_get(PLACES[number]).value for number in _touched()[case["id"]])
    if key not in _MEMO:
        module._candidates.cache_clear()  # pyright: ignore[reportPrivateUsage]
        _MEMO[key] = scored(case)
    return _MEMO[key]


def _error(cases: Sequence[dict[str, Any]]) -> float:
    points = [_point(case) for case in cases]
    # the mean over groups decides; single points separate what groups do not
    return macro_mean(points) + 0.1 * mean(abs(p.predicted / p.measured - 1) for p in points)


def without(group: str, of: Callable[[dict[str, Any]], str] = itemgetter("group")) -> list[Scored]:
    """The cases of a publication, or of a family of machines, predicted by constants chosen on all others."""
    others = [case for case in CASES if of(case) != group]
    mine = [case for case in CASES if of(case) == group]
    with kept():
        for place in PLACES:
            _set(place, PLANNED.get(place[1], NEUTRAL))
        for _round in range(ROUNDS):
            for place in PLACES:
                for grid in (GRID, FINER):
                    before = _get(place).value
                    tried = [before, *(grid if grid is GRID else (before + step for step in grid))]
                    errors: list[tuple[float, float, float]] = []
                    for value in tried:
                        _set(place, value)
                        errors.append((_error(others), abs(value - before), value))
                    _set(place, min(errors)[-1])
        module._candidates.cache_clear()  # pyright: ignore[reportPrivateUsage]
        for place, name in enumerate(FITTED):
            alone = {kinds_of(case)[place] for case in mine} - {kinds_of(case)[place] for case in others}
            setattr(c, name, getattr(c, name) - alone)
        return [scored(case) for case in mine]


def kinds_of(case: dict[str, Any]) -> tuple[str, str, str]:
    """Generation, fabric and size of a case, as the table of worst groups is cut."""
    s = case["situation"]
    size = "up to 1 MiB" if s["message"] <= 2**20 else "to 256 MiB" if s["message"] <= 2**28 else "larger"
    return s["architecture"], fabric(situation(case)), size


def maker(case: dict[str, Any]) -> str:
    """Who built or runs the machine, by the publication; boards of NVIDIA where it does not say."""
    group = case["group"]
    return next((name for name in ("aws", "azure", "vidur", "stas", "llmcompass") if group.startswith(name)), "others")


#: families of machines that are left out together
FAMILIES: dict[str, Callable[[dict[str, Any]], str]] = {
    "publication": itemgetter("group"),
    "generation": lambda case: kinds_of(case)[0],
    "fabric": lambda case: kinds_of(case)[1],
    "maker": maker,
}


def main(family: str) -> None:
    """Print errors by publication or family left out, and by kind."""
    of = FAMILIES[family]
    points: list[tuple[dict[str, Any], Scored]] = []
    for group in sorted({of(case) for case in CASES}):
        found = without(group, of)
        points += zip([case for case in CASES if of(case) == group], found, strict=True)
        sys.stdout.write(f"{group}: {macro_mean(found):.1%}, inside {band_score(found).coverage:.0%}\n")
        sys.stdout.flush()
    every = [point for _, point in points]
    score = band_score(every)
    sys.stdout.write(f"mean: {macro_mean(every):.1%}, bands hold {score.coverage:.0%} at {score.width:.0%}\n")
    by: dict[str, list[float]] = {}
    for case, point in points:
        for kind in kinds_of(case):
            by.setdefault(kind, []).append(abs(point.predicted / point.measured - 1))
    for kind, errors in sorted(by.items()):
        sys.stdout.write(f"  {kind}: {median(errors):.1%} of {len(errors)}\n")


if __name__ == "__main__":
    for asked in sys.argv[1:] or ["publication"]:
        main(asked)
