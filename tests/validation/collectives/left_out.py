"""Collectives without what one publication measured: ``python -m tests.validation.collectives.left_out``.

The fitted shares of bandwidth and the strength of the pipeline start at a neutral value and are chosen, one after the
other, on all other publications; the library's tables stay. It takes some minutes, so the score table states its mean.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from statistics import mean, median
from typing import Any

from designer.formulas.collectives import NetworkKind
from designer.formulas.collectives import _constants as c
from designer.formulas.collectives import collective_time as module
from designer.formulas.scoring import Scored, band_score, group_medians, macro_mean
from designer.sources import Constant
from tests.validation.collectives.test_collective_cases import CASES, scored

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
    *("RING_PIPELINE", "TREE_PIPELINE"),
)
NEUTRAL = 0.8
GRID: Sequence[float] = tuple(0.3 + 0.05 * step for step in range(15))
FINER: Sequence[float] = (-0.03, -0.015, 0.0, 0.015, 0.03)
ROUNDS = 2


@contextmanager
def kept() -> Generator[None]:
    """Every constant as before, afterwards."""
    tables = [(table, key, table[key]) for table, key in TABLES]
    names = {name: getattr(c, name) for name in NAMES}
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
    new = replace(old, value=value, low=value * old.low / old.value, high=value * old.high / old.value)
    if table is c:
        setattr(c, key, new)
    else:
        table[key] = new


def _error(cases: Sequence[dict[str, Any]]) -> float:
    module._candidates.cache_clear()  # pyright: ignore[reportPrivateUsage]
    points = [scored(case) for case in cases]
    # the mean over groups decides; single points separate what groups do not
    return macro_mean(points) + 0.1 * mean(abs(p.predicted / p.measured - 1) for p in points)


def without(group: str) -> list[Scored]:
    """The cases of a publication, predicted by constants chosen on all others."""
    places = [*TABLES, *((c, name) for name in NAMES)]
    others = [case for case in CASES if case["group"] != group]
    with kept():
        for place in places:
            _set(place, NEUTRAL)
        for _round in range(ROUNDS):
            for place in places:
                for grid in (GRID, FINER):
                    before = _get(place).value
                    tried = [before, *(grid if grid is GRID else (before + step for step in grid))]
                    errors: list[tuple[float, float, float]] = []
                    for value in tried:
                        _set(place, value)
                        errors.append((_error(others), abs(value - before), value))
                    _set(place, min(errors)[-1])
        module._candidates.cache_clear()  # pyright: ignore[reportPrivateUsage]
        return [scored(case) for case in CASES if case["group"] == group]


def kinds_of(case: dict[str, Any]) -> tuple[str, str, str]:
    """Generation, fabric and size of a case, as the table of worst groups is cut."""
    s = case["situation"]
    size = "up to 1 MiB" if s["message"] <= 2**20 else "to 256 MiB" if s["message"] <= 2**28 else "larger"
    return s["architecture"], s.get("network", "infiniband") if s["servers"] > 1 else s["intra_path"], size


def main() -> None:
    """Print errors by publication and by kind."""
    points: list[tuple[dict[str, Any], Scored]] = []
    for group in sorted({case["group"] for case in CASES}):
        found = without(group)
        points += zip([case for case in CASES if case["group"] == group], found, strict=True)
        sys.stdout.write(f"{group}: {group_medians(found)[group]:.1%}\n")
        sys.stdout.flush()
    every = [point for _, point in points]
    sys.stdout.write(f"mean: {macro_mean(every):.1%}, bands hold {band_score(every).coverage:.0%}\n")
    by: dict[str, list[float]] = {}
    for case, point in points:
        for kind in kinds_of(case):
            by.setdefault(kind, []).append(abs(point.predicted / point.measured - 1))
    for kind, errors in sorted(by.items()):
        sys.stdout.write(f"  {kind}: {median(errors):.1%} of {len(errors)}\n")


if __name__ == "__main__":
    main()
