"""The fit of engine overheads: ``python -m tests.validation.serving.fit`` (a minute).

Kernel times are the measured tables. Every release of an engine deviates from a common set of overheads, pulled towards
it, so that a release nothing was measured of is the common set. Only H100 runs are fitted. With ``--leave MODEL`` all
runs of a model are left out, and what comes out is scored on them.
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.families.serving.engines import release
from designer.families.serving.formulas._release import Release
from designer.families.serving.spreads import held_back
from designer.units import Seconds
from tests.validation.serving.runs import ENGINES, Row, predicted, rows

Vector = npt.NDArray[np.float64]

#: what a release has, and where it starts
OWN: Final[Mapping[str, float]] = {
    "layer": 5e-6,
    "step": 0.9e-3,
    "request": 12e-6,
    "prefill_step": 2e-3,
    "prefill_factor": 1.1,
    "path": 16e-3,
}
#: how far in the logarithm each may go: the common set, a release from it
SET_PULL: Final = 0.7
OWN_PULL: Final = 0.7
#: the sum over products is counted, so what prompts take beyond it stays near 1
FACTOR_PULL: Final = 0.25
STEPS: Final = 9
PER_GROUP: Final = 22
TTFT_WEIGHT: Final = 0.8
SCALE: Final = 0.06
NUDGE: Final = 0.03
#: rows of a group whose share inside a band says anything
FEWEST: Final = 5


@dataclass(frozen=True)
class Fit:
    """What came out."""

    shared: Mapping[str, float]
    own: Mapping[str, Mapping[str, float]]

    def release(self, row: Row) -> Release:
        """The release of a row: its own overheads, or the common set."""
        base = release(row.engine, row.version).release
        found = self.own.get(name_of(row)) or self.own[f"{row.engine} "]
        return replace(base, overheads=replace(base.overheads, **found))


def name_of(row: Row) -> str:
    """The release a row belongs to."""
    return f"{row.engine} {row.version}"


def _subset(chosen: Sequence[Row]) -> list[Row]:
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in chosen:
        groups[row.group].append(row)
    kept: list[Row] = []
    for mine in groups.values():
        mine.sort(key=lambda r: (r.clients, r.prompt, r.output, r.tensor))
        places = np.unique(np.linspace(0, len(mine) - 1, min(PER_GROUP, len(mine))).round().astype(int))
        kept += [mine[k] for k in places]
    return kept


def fit(chosen: Sequence[Row]) -> Fit:
    """Robust Gauss-Newton in logarithms."""
    used = _subset([row for row in chosen if row.version])
    names = sorted({name_of(row) for row in used if row.version})
    sizes = defaultdict(int)
    for row in used:
        sizes[row.group] += 1
    weight = np.array([math.sqrt(min(1.0, sizes[r.group] / 10) / sizes[r.group] * 20) for r in used])
    own = list(OWN)
    o = len(own)
    x = np.zeros(o + o * len(names))
    sigma = np.concatenate([np.full(o, SET_PULL), np.full(o * len(names), OWN_PULL)])
    sigma[own.index("prefill_factor") :: o] = FACTOR_PULL

    def unpack(x: Vector) -> Fit:
        shared = {k: OWN[k] * math.exp(x[i]) for i, k in enumerate(own)}
        each = {
            name: {k: OWN[k] * math.exp(x[i] + x[o + o * j + i]) for i, k in enumerate(own)}
            for j, name in enumerate(names)
        }
        # a release nothing was measured of: the middle of those of its engine, or of all
        for engine in ENGINES.values():
            near = [v for k, v in each.items() if k.startswith(engine)] or list(each.values())
            each[f"{engine} "] = {k: math.exp(mean(math.log(v[k]) for v in near)) for k in own}
        return Fit(shared, each)

    def residuals(x: Vector, only: Sequence[int] | None = None) -> Vector:
        now = unpack(x)
        found = np.zeros((len(used), 2))
        for k in range(len(used)) if only is None else only:
            row = used[k]
            first, step = predicted(row, now.release(row))
            found[k] = math.log(step / row.tpot), TTFT_WEIGHT * math.log(first / row.ttft)
        return found

    for turn in range(STEPS):
        r0 = residuals(x)
        jacobian = np.zeros((len(used), 2, len(x)))
        for i in range(o):
            moved = x.copy()
            moved[i] += NUDGE
            change = (residuals(moved) - r0) / NUDGE
            jacobian[:, :, i] = change
            for j, name in enumerate(names):
                mine = np.array([name_of(row) == name for row in used])
                jacobian[mine, :, o + o * j + i] = change[mine]
        robust = 1 / np.sqrt(1 + (r0 / (2 * SCALE)) ** 2)
        w = (weight[:, None] * robust / SCALE).ravel()
        a = np.vstack([jacobian.reshape(-1, len(x)) * w[:, None], np.diag(1 / sigma)])
        b = np.concatenate([-r0.ravel() * w, -x / sigma])
        step = np.linalg.lstsq(a, b, rcond=None)[0]
        x = x + np.clip(step, -0.6, 0.6)
        print(turn, f"median {np.median(abs(r0[:, 0])):.4f} {np.median(abs(r0[:, 1])) / TTFT_WEIGHT:.4f}", flush=True)  # noqa: T201
    return unpack(x)


def scored(found: Fit, chosen: Sequence[Row]) -> dict[tuple[str, ...], tuple[int, float, float, float, float]]:
    """Median errors and biases by group."""
    groups: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
    for row in chosen:
        first, step = predicted(row, found.release(row))
        groups[row.group].append((math.log(step / row.tpot), math.log(first / row.ttft)))
    return {
        k: (
            len(v),
            median(abs(a) for a, _ in v),
            median(a for a, _ in v),
            median(abs(b) for _, b in v),
            median(b for _, b in v),
        )
        for k, v in groups.items()
    }


def inside(found: Fit, chosen: Sequence[Row]) -> tuple[float, float]:
    """Shares of rows within the bands of a release nobody knows, of TPOT and TTFT: mean over groups."""
    groups: dict[tuple[str, ...], list[tuple[bool, bool]]] = defaultdict(list)
    for row in chosen:
        unknown = release(row.engine).release
        first, step = predicted(row, found.release(row))
        late = held_back(unknown, Seconds(first), Seconds(step))
        error = math.log(row.ttft / first)
        held = -unknown.first_spread <= error <= math.hypot(unknown.first_spread, late)
        groups[row.group].append((abs(math.log(row.tpot / step)) <= unknown.step_spread, held))
    many = [v for v in groups.values() if len(v) >= FEWEST]
    return mean(mean(a for a, _ in v) for v in many), mean(mean(b for _, b in v) for v in many)


def main() -> None:
    """Fit and tell."""
    mine = [row for row in rows() if row.system == "h100_sxm"]
    leave = sys.argv[sys.argv.index("--leave") + 1] if "--leave" in sys.argv else ""
    found = fit([row for row in mine if row.model != leave])
    judged = [row for row in rows() if row.model == leave and row.system == "h100_sxm"] if leave else rows()
    table = scored(found, judged)
    for k, v in sorted(table.items()):
        print(*k, v[0], f"TPOT {v[1]:.3f}/{v[2]:+.3f} TTFT {v[3]:.3f}/{v[4]:+.3f}")  # noqa: T201
    print(f"mean TPOT {mean(v[1] for v in table.values()):.3f} TTFT {mean(v[3] for v in table.values()):.3f}")  # noqa: T201
    if leave:
        print("inside the bands of a release not known: TPOT {:.2f} TTFT {:.2f}".format(*inside(found, judged)))  # noqa: T201
    text = json.dumps({"shared": found.shared, "own": found.own}, indent=1)
    if "--to" in sys.argv:
        Path(sys.argv[sys.argv.index("--to") + 1]).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)  # noqa: T201


if __name__ == "__main__":
    main()
