"""Bands on releases that were left out: ``python -m tests.validation.serving.left_out``.

A group is a model, system, engine, release and precision. Each row is asked for as somebody would who knows neither
its release nor how its server sent: the releases that were fitted on the group are taken out of those of its engine,
and the middle of the rest answers for it; where none is left, the middle of the other engines.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import combinations
from statistics import mean
from typing import Final

from designer.families.serving.drafting import draft
from designer.families.serving.engines import of_its_time, release, releases
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._release import Overheads, Release
from designer.families.serving.formulas.speculation import accepted
from designer.families.serving.spreads import JITTER, first_spread, held_back, release_spread
from designer.units import Seconds
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.validation.serving.runs import DEVICES, DRAFT, Row, predicted, rows

#: rows of a group, spread over its loads
SAMPLE: Final = 16
#: the runs whose stated clients need more of the FP8 peak than products reach: no model of the engine can hold them
IMPOSSIBLE: Final = ("h200_sxm", "llama-3-8b", "vllm")


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
    """What answers for a row whose release was taken out."""
    shipped = release(row.engine, "").release
    own = release(row.engine, row.version)
    known = [one for one in releases().values() if one.known and not (own.exact and one.id == own.release.id)]
    near = [one for one in known if one.engine == row.engine] or known
    if not own.exact:
        return shipped
    values = [asdict(one.overheads) for one in near]
    middle = {k: math.exp(mean(math.log(max(1e-9, v[k])) for v in values)) for k in values[0]}
    return of_its_time(replace(shipped, overheads=Overheads(**middle), release=row.version), near)


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
            first = math.hypot(first_spread(taken, shape, row.weights), step)
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


def impossible(row: Row) -> bool:
    """True if the stated clients need more of the peak than products reach."""
    return row.group[:3] == IMPOSSIBLE


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
