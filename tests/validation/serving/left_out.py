"""Bands on runs that were left out: ``python -m tests.validation.serving.left_out``.

A group is a model, system, engine, release and precision; the fit is repeated without each fold of a scheme
(`fit.SCHEMES`). What the error of a group has is a random effect each of the release, the model and the GPU where these
were left out, and one of the group itself; its rows scatter about that. The variance of each effect is estimated over
groups, and the share of rows inside is that of bands whose variances were estimated without the fold they judge.
Besides, each row is asked for as somebody would who knows neither its release nor how its server sent.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from statistics import mean
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.families.serving.drafting import draft
from designer.families.serving.engines import of_its_time, release, releases
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._release import Release
from designer.families.serving.formulas.speculation import accepted
from designer.families.serving.spreads import JITTER, first_spread, held_back, release_spread
from designer.units import Seconds
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.validation.serving.fit import SCHEMES, answering, subset
from tests.validation.serving.runs import DEVICES, DRAFT, Row, impossible, predicted, rows

Vector = npt.NDArray[np.float64]

#: rows of a group, spread over its loads
SAMPLE: Final = 16


@dataclass(frozen=True)
class Held:
    """One row: logarithm of measured over predicted, and the band down and up, of time per token and first token."""

    row: Row
    step: float
    first: float
    step_down: float
    step_up: float
    first_down: float
    first_up: float

    @property
    def inside(self) -> tuple[bool, bool]:
        """Whether the time per token and to the first token are."""
        return -self.step_down <= self.step <= self.step_up, -self.first_down <= self.first <= self.first_up


def without(row: Row) -> Release:
    """What answers for a row whose release was left out of the fit, with the bands of one that is not known.

    The time of a request is that of known releases that schedule as this one does, as where one is asked for.
    """
    own, unknown = release(row.engine, row.version), release(row.engine).release
    spreads = {"step_spread": unknown.step_spread, "first_spread": unknown.first_spread}
    taken = replace(answering(row, "release"), known=False, models=unknown.models, release=row.version, **spreads)  # pyright: ignore[reportArgumentType]
    near = [one for one in releases().values() if one.engine == row.engine and one.id != own.release.id]
    return of_its_time(replace(taken, overlapped_since=unknown.overlapped_since), near)


#: what a row was left out with: its release, its model, its GPU; those of which other rows were fitted are not unseen
EFFECTS: Final = ("release", "model", "GPU")
#: what is judged: throughput is that of the clients by Little's law
MEASURES: Final = ("time per token", "first token", "throughput")
#: errors beyond count as this: a sweep whose clients may or may not stay in step has first tokens of 2.7 times
CLIP: Final = 0.5
#: standard deviations either way of four of five, of as many groups as there are (Student, 17)
EIGHTY: Final = 1.333


@dataclass(frozen=True)
class Judged:
    """A group of rows with a fold left out: which effects were unseen, and errors of `MEASURES`."""

    scheme: str
    fold: str
    group: tuple[str, ...]
    unseen: tuple[bool, ...]
    errors: Vector


@cache
def judged() -> Sequence[Judged]:
    """Every group under every scheme, and in sample."""
    found: list[Judged] = []
    for scheme in ("none", *SCHEMES):
        for name in dict.fromkeys(row.group for row in subset()):
            mine = [row for row in subset() if row.group == name]
            fold = SCHEMES[scheme](mine[0]) if scheme in SCHEMES else ""
            rest = [row for row in subset() if scheme not in SCHEMES or SCHEMES[scheme](row) != fold]
            unseen = tuple(SCHEMES[k](mine[0]) not in {SCHEMES[k](row) for row in rest} for k in EFFECTS)
            answers = [predicted(row, answering(row, scheme)) for row in mine]
            errors = [
                (
                    math.log(step / row.tpot),
                    math.log(first / row.ttft),
                    math.log(_rate(row, first, step) / _rate(row, row.ttft, row.tpot)),
                )
                for row, (first, step) in zip(mine, answers, strict=True)
            ]
            found.append(Judged(scheme, fold, name, unseen, np.array(errors)))
    return found


@dataclass(frozen=True)
class Effects:
    """Standard deviations in the logarithm: of rows about their group, of a group, and of what is unseen [1]."""

    rows: float
    group: float
    unseen: tuple[float, ...]

    def width(self, unseen: Sequence[bool]) -> float:
        """80 % band where these effects were not seen: logarithm either way [1]."""
        return EIGHTY * math.hypot(self.rows, self.group, *(s for s, on in zip(self.unseen, unseen, strict=True) if on))


def effects(chosen: Sequence[Judged], which: int) -> Effects:
    """Variances by moments: squared means of groups over the effects unseen, none below nothing."""
    errors = [np.clip(one.errors[:, which], -CLIP, CLIP) for one in chosen]
    lines = np.array([(1.0, *map(float, one.unseen)) for one in chosen])
    squares = np.array([error.mean() ** 2 for error in errors])
    group, *unseen = _least(lines, squares)
    rows_of = math.sqrt(float(np.mean([error.var() for error in errors])))
    return Effects(rows_of, math.sqrt(group), tuple(map(math.sqrt, unseen)))


def _least(a: Vector, b: Vector) -> Sequence[float]:
    """Least squares with no number below 0: the best of all choices of numbers that are not 0."""
    best, found = math.inf, [0.0] * a.shape[1]
    for many in range(1, a.shape[1] + 1):
        for used in combinations(range(a.shape[1]), many):
            x = np.linalg.lstsq(a[:, used], b, rcond=None)[0]
            left = float(((a[:, used] @ x - b) ** 2).sum())
            if (x >= 0).all() and left < best - 1e-12:
                best = left
                found = [float(x[used.index(k)]) if k in used else 0.0 for k in range(a.shape[1])]
    return found


def judged_well(which: int) -> Sequence[Judged]:
    """All but the first tokens of the sweep whose clients do not stay in step."""
    return [one for one in judged() if not (which == 1 and one.group[1:3] == ("llama-3-8b", "sglang"))]


def scores(scheme: str, which: int) -> tuple[float, float, float]:
    """Mean over groups of the median error, share inside, mean width: bands from variances without the fold."""
    every = judged_well(which)
    found: list[tuple[float, float, float]] = []
    for one in every:
        if one.scheme == scheme:
            rest = [o for o in every if scheme not in SCHEMES or not _same_fold(o, scheme, one.fold)]
            width = effects(rest, which).width(one.unseen)
            error = abs(one.errors[:, which])
            found.append((float(np.median(error)), float((error <= width).mean()), width))
    return tuple(map(mean, zip(*found, strict=True)))  # pyright: ignore[reportReturnType]


def _same_fold(one: Judged, scheme: str, fold: str) -> bool:
    return SCHEMES[scheme](next(row for row in subset() if row.group == one.group)) == fold


def asked(row: Row) -> Row:
    """A row as somebody asks for it who does not know how its server sends."""
    return replace(row, client=replace(row.client, held=0) if row.client.held else row.client)


def otherwise(row: Row) -> Row:
    """The same with answers that end a few tokens apart where they ended alike, or the other way round."""
    return replace(row, client=replace(row.client, jitter=0.0 if row.client.jitter else JITTER.value))


@cache
def held() -> Sequence[Held]:
    """Up to so many rows of each group."""
    found: list[Held] = []
    for name in dict.fromkeys(row.group for row in rows()):
        mine = [row for row in rows() if row.group == name]
        mine.sort(key=lambda r: (r.clients, r.prompt, r.output, r.tensor))
        for row in mine[:: max(1, len(mine) // SAMPLE)]:
            taken, shape = without(row), model(row.model)
            assert isinstance(shape, TransformerShape)
            ttft, tpot = predicted(asked(row), asked=taken)
            device: Device = replace(DEVICES[row.system], architecture="Hopper GH100")
            step = release_spread(taken, shape, row.weights, device)
            first = math.hypot(first_spread(taken, shape, row.weights, device), step)
            gained = accepted(draft(DRAFT), row.drafts) if row.drafts else 1.0
            late = held_back(taken, Seconds(ttft), Seconds(tpot * gained))
            errors = math.log(row.tpot / tpot), math.log(row.ttft / ttft)
            # equal requests keep clients in step where their answers end alike, which nobody knows
            apart = predicted(otherwise(asked(row)), asked=taken) if row.client.spread == 1 else (ttft, tpot)
            shift = math.log(apart[1] / tpot), math.log(apart[0] / ttft)
            bands = [
                step - min(0.0, shift[0]),
                step + max(0.0, shift[0]),
                first - min(0.0, shift[1]),
                math.hypot(first, late) + max(0.0, shift[1]),
            ]
            found.append(Held(row, *errors, *bands))
    return tuple(found)


def size_of(row: Row) -> str:
    """How large a model is."""
    shape = model(row.model)
    assert isinstance(shape, TransformerShape)
    return next(name for name, most in SIZES.items() if shape.parameters <= most)


#: parameters of models that are judged together, at most
SIZES: Final = {"small": 20e9, "medium": 100e9, "large": math.inf}
#: in what rows are judged together
KINDS: Final[Mapping[str, Callable[[Row], str]]] = {
    "release": lambda row: " ".join(row.group),
    "engine": lambda row: row.engine,
    "GPU": lambda row: row.system,
    "model size": size_of,
}


def kept(kind: str) -> Mapping[str, tuple[int, float, float]]:
    """Rows, and shares of them inside, by what they are judged together in; without those that cannot be run."""
    groups: dict[str, list[Held]] = {}
    for one in held():
        if not impossible(one.row):
            groups.setdefault(KINDS[kind](one.row), []).append(one)
    return {k: (len(v), mean(x.inside[0] for x in v), mean(x.inside[1] for x in v)) for k, v in sorted(groups.items())}


def by_group() -> Mapping[tuple[str, ...], tuple[int, float, float]]:
    """Rows, and shares of them inside, by group."""
    groups: dict[tuple[str, ...], list[Held]] = {}
    for one in held():
        groups.setdefault(one.row.group, []).append(one)
    return {k: (len(v), mean(x.inside[0] for x in v), mean(x.inside[1] for x in v)) for k, v in sorted(groups.items())}


@dataclass(frozen=True)
class Pair:
    """Two widths of one engine build at equal accelerators and clients: logarithm of tokens a second over the other's.

    A replica of twice the devices with twice the clients is compared with two replicas that share them.
    """

    group: tuple[str, ...]
    measured: float
    predicted: float

    @property
    def right(self) -> bool:
        """True if the better one is named."""
        return self.measured * self.predicted > 0


def disturbed(row: Row, others: Sequence[Row]) -> bool:
    """True if the same deployment took less time per token with more clients: something else took time in that run."""
    place = (row.group, row.prompt, row.output, row.tensor, row.expert)
    return any(
        (one.group, one.prompt, one.output, one.tensor, one.expert) == place
        and one.clients > row.clients
        and one.tpot < row.tpot / MORE
        for one in others
    )


#: runs repeat within this factor
MORE: Final = 1.03


@cache
def pairs() -> Sequence[Pair]:
    """All pairs of rows that differ in the devices of a replica alone, each asked for with its release taken out."""
    found: list[Pair] = []
    loads: dict[tuple[object, ...], list[tuple[Row, float, float]]] = {}
    for row in rows():
        if not impossible(row) and not row.drafts and not disturbed(row, rows()):
            rate = math.log(_rate(row, row.ttft, row.tpot) / _rate(row, *predicted(asked(row), asked=without(row))))
            measured = math.log(_rate(row, row.ttft, row.tpot))
            loads.setdefault((row.group, row.prompt, row.output), []).append((row, measured, measured - rate))
    for same in loads.values():
        for (one, a, b), (other, c, d) in combinations(same, 2):
            if one.tensor != other.tensor and one.clients * other.tensor == other.clients * one.tensor:
                found.append(Pair(one.group, a - c, b - d))
    return found


def _rate(row: Row, ttft: float, tpot: float) -> float:
    """Output tokens a second of a device, by Little's law [1/s]."""
    return row.clients * row.output / (ttft + tpot * (row.output - 1)) / row.tensor


def main() -> None:
    """Print the table."""
    for which, what in enumerate(MEASURES):
        sys.stdout.write(f"{what}: {effects(judged_well(which), which)}\n")
        for scheme in ("none", *SCHEMES):
            sys.stdout.write("{}: error {:.3f}, inside {:.2f}, band {:.2f}\n".format(scheme, *scores(scheme, which)))
    table = by_group()
    for name, (n, step, first) in table.items():
        mine = [x for x in held() if x.row.group == name]
        e = sorted(abs(x.step) for x in mine)[int(0.8 * len(mine))]
        f = sorted(x.first for x in mine)
        sys.stdout.write(
            f"{' '.join(name)} {n}: {step:.2f} {first:.2f}; 80 % of steps {e:.2f}, first "
            f"{f[int(0.1 * n)]:+.2f} {f[int(0.9 * n)]:+.2f}, band -{mine[0].first_down:.2f} +{mine[0].first_up:.2f}\n"
        )
    for kind in KINDS:
        for name, (n, step, first) in kept(kind).items():
            sys.stdout.write(f"{kind} {name} {n}: {step:.2f} {first:.2f}\n")
    for name in dict.fromkeys(pair.group for pair in pairs()):
        mine = [pair.right for pair in pairs() if pair.group == name]
        sys.stdout.write(f"better layout named {' '.join(name)} {len(mine)}: {mean(mine):.2f}\n")
    for what, place in (("per token", 1), ("first token", 2)):
        sys.stdout.write(f"{what}: {mean(v[place] for v in table.values()):.2f} by group\n")


if __name__ == "__main__":
    main()
