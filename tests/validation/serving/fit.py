"""The fit of engine overheads with groups left out: ``python -m tests.validation.serving.fit --write``.

Kernel times are the measured tables. The overheads of a release are those common to all engines, times what its engine
and then the release deviate, each pulled to no deviation; so a release that nothing was measured of has those of its
engine. Runs on both GPUs are fitted. The fit is repeated without each model, GPU, release, script and group, from one
linearization, and what answers for the rows left out is written to ``folds.json``.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.families.serving.engines import release
from designer.families.serving.formulas._release import Release
from tests.validation.serving.runs import ENGINES, Row, impossible, predicted, rows

Vector = npt.NDArray[np.float64]
FILE: Final = Path(__file__).parent / "folds.json"

#: what a release has: where it starts, and how far in the logarithm the common set, an engine and a release may go
OVERHEADS: Final[Mapping[str, tuple[float, float, float, float]]] = {
    "layer": (4e-6, 0.5, 0.3, 0.3),
    "step": (0.9e-3, 0.5, 0.3, 0.3),
    "request": (18e-6, 0.7, 0.4, 0.4),
    "prefill_step": (2e-3, 0.7, 0.4, 0.4),
    "prefill_factor": (0.95, 0.15, 0.12, 0.12),
    "path": (16e-3, 0.5, 0.3, 0.3),
    # of an engine, not of a release: mixtures of TensorRT-LLM alone show them
    "expert_layer": (40e-6, 1.2, 1.2, 1e-4),
    "expert_prompts": (5e-3, 1.2, 1.2, 1e-4),
}
MIXTURES: Final = ("expert_layer", "expert_prompts")
#: releases fitted on other runs, whose overheads are known about so well in the logarithm
KNOWN: Final = (("vllm", "0.15.1"), ("tensorrt-llm", "1.0.0"))
KNOWN_PULL: Final = 0.3
TURNS: Final = 4
FOLD_TURNS: Final = 6
#: rows of a group that are fitted, and rows that each group is worth
PER_GROUP: Final = 12
WORTH: Final = 8
FIRST_WEIGHT: Final = 0.8
SCALE: Final = 0.06
NUDGE: Final = 0.05
#: rows of a group whose share inside a band says anything
FEWEST: Final = 5


def name_of(row: Row) -> str:
    """The release a row belongs to."""
    return f"{row.engine} {row.version or 'of 2025'}"


def script_of(row: Row) -> str:
    """The script that sent its requests: the sweeps of a tool, or the public dumps."""
    return "sweep" if row.client.spread == 1 and not row.client.held else "dump"


#: what is left out together
SCHEMES: Final[Mapping[str, Callable[[Row], str]]] = {
    "release": name_of,
    "model": lambda row: row.model,
    "GPU": lambda row: row.system,
    "script": script_of,
    "group": lambda row: " ".join(row.group),
}


def _load(row: Row) -> tuple[int, ...]:
    return row.clients, row.prompt, row.output, row.tensor


@cache
def subset() -> Sequence[Row]:
    """Rows that are fitted and judged: so many of each group, from the smallest load to the largest."""
    kept: list[Row] = []
    for name in dict.fromkeys(row.group for row in rows() if not impossible(row)):
        mine = sorted((row for row in rows() if row.group == name), key=_load)
        places = np.unique(np.linspace(0, len(mine) - 1, min(PER_GROUP, len(mine))).round().astype(int))
        kept += [mine[k] for k in places]
    return tuple(kept)


def answering(row: Row, scheme: str = "none") -> Release:
    """What answers for a row whose fold of a scheme was left out of the fit; ``none``: nothing was."""
    fold = SCHEMES[scheme](row) if scheme in SCHEMES else ""
    return _with(row, _folds()[scheme][fold][name_of(row)])


@cache
def _folds() -> Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]:
    return json.loads(FILE.read_text("utf-8"))


def _with(row: Row, found: Mapping[str, float]) -> Release:
    base = release(row.engine, row.version).release
    mine = {k: v for k, v in found.items() if row.engine == ENGINES["trtllm"] or k not in MIXTURES}
    return replace(base, overheads=replace(base.overheads, **mine))


@dataclass(frozen=True)
class Problem:
    """Rows to fit, and where the deviations of engines and releases are in the vector of logarithms."""

    used: Sequence[Row]
    engines: Sequence[str]
    releases: Sequence[str]

    @property
    def size(self) -> int:
        """Numbers that are fitted."""
        return len(OVERHEADS) * (1 + len(self.engines) + len(self.releases))

    @property
    def pulls(self) -> Vector:
        """Standard deviation of each."""
        levels = [1] + [2] * len(self.engines) + [3] * len(self.releases)
        return np.array([one[level] for level in levels for one in OVERHEADS.values()])

    def places(self, engine: str, name: str, k: int) -> list[int]:
        """Where the parts of the overhead `k` of a release are."""
        n = len(OVERHEADS)
        ours = 1 + self.engines.index(engine), 1 + len(self.engines) + self.releases.index(name)
        return [k, *(n * place + k for place in ours)]

    def overheads(self, x: Vector, row: Row) -> dict[str, float]:
        """Overheads of the release of a row."""
        return {
            name: one[0] * math.exp(float(sum(x[self.places(row.engine, name_of(row), k)])))
            for k, (name, one) in enumerate(OVERHEADS.items())
        }

    def residuals(self, x: Vector, moved: str = "") -> Vector:
        """Logarithms of predicted over measured, those of first tokens by their weight; with one overhead nudged."""
        found = np.zeros((len(self.used), 2))
        for at, row in enumerate(self.used):
            values = self.overheads(x, row)
            if moved:
                values[moved] *= math.exp(NUDGE)
            first, step = predicted(row, _with(row, values))
            found[at] = math.log(step / row.tpot), FIRST_WEIGHT * math.log(first / row.ttft)
        return found

    def jacobian(self, x: Vector, r: Vector) -> Vector:
        """What each number moves the residuals by."""
        found = np.zeros((len(self.used), 2, self.size))
        for k, name in enumerate(OVERHEADS):
            change = (self.residuals(x, name) - r) / NUDGE
            for at, row in enumerate(self.used):
                for place in self.places(row.engine, name_of(row), k):
                    found[at, :, place] = change[at]
        return found

    def solved(self, x: Vector, r: Vector, jacobian: Vector, kept: Vector) -> Vector:
        """The step that is best for the rows kept, robustly, towards the pulls."""
        sizes = Counter(row.group for row in self.used)
        worth = np.array([math.sqrt(min(1.0, sizes[o.group] / 10) / sizes[o.group] * WORTH) for o in self.used])
        weight = worth[:, None] / np.sqrt(1 + (r / (2 * SCALE)) ** 2) / SCALE * kept[:, None]
        # drafts are our reading of a dump, and whether clients stay in step decides the first token of one sweep
        weight[[bool(row.drafts) for row in self.used]] = 0
        weight[[row.model == "llama-3-8b" and row.engine == "sglang" for row in self.used], 1] = 0
        a = np.vstack([jacobian.reshape(-1, self.size) * weight.ravel()[:, None], np.diag(1 / self.pulls)])
        b = np.concatenate([-(r * weight).ravel(), -x / self.pulls])
        for engine, version in KNOWN:
            known = release(engine, version).release.overheads
            for k, (name, one) in enumerate(OVERHEADS.items()):
                if name in MIXTURES:
                    continue
                line, places = np.zeros(self.size), self.places(engine, f"{engine} {version}", k)
                line[places] = 1 / KNOWN_PULL
                a = np.vstack([a, line])
                b = np.append(b, (math.log(getattr(known, name) / one[0]) - sum(x[places])) / KNOWN_PULL)
        return np.asarray(np.linalg.solve(a.T @ a, a.T @ b), dtype=np.float64)


def fitted() -> Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]:
    """Overheads by scheme, fold and release, of the rows of the fold; under ``none`` those of all."""
    used = subset()
    names = sorted({name_of(row) for row in used} | {f"{e} {v}" for e, v in KNOWN})
    one = Problem(used, sorted({row.engine for row in used}), names)
    x = np.zeros(one.size)
    everything = np.ones(len(used))
    for turn in range(TURNS):
        r = one.residuals(x)
        x = x + np.clip(one.solved(x, r, one.jacobian(x, r), everything), -0.6, 0.6)
        sys.stdout.write(f"{turn}: {np.median(abs(r), 0)}\n")
    r = one.residuals(x)
    jacobian = one.jacobian(x, r)

    def rounded(y: Vector, row: Row) -> dict[str, float]:
        return {k: float(f"{v:.4g}") for k, v in one.overheads(y, row).items()}

    found = {"none": {"": {name_of(row): rounded(x, row) for row in used}}}
    for scheme, of in SCHEMES.items():
        found[scheme] = {}
        for fold in sorted({of(row) for row in used}):
            y, kept = x, np.array([float(of(row) != fold) for row in used])
            for _ in range(FOLD_TURNS):
                y = y + one.solved(y, r + jacobian @ (y - x), jacobian, kept)
            found[scheme][fold] = {name_of(row): rounded(y, row) for row in used if of(row) == fold}
    return found


def main() -> None:
    """Fit, and write the folds if asked to."""
    found = fitted()
    text = json.dumps(found, indent=1)
    if "--write" in sys.argv:
        FILE.write_text(text + "\n", encoding="utf-8")
    else:
        sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()
