"""Why a machine measures what it does: faults put into the drawing, ranked by how well they explain the results.

Each kind of fault is in ``designer/decisions/faults``: an edit of the drawing, whose promises are worked out as
for the sound one, or what is left of the rates it slows down, where no drawing shows it. How likely results are
under a promise follows from its band: what is measured in the same way shares one error of the estimate, as wide as the
band
says, and each result scatters a little by itself. So eight GPUs that all read low are a poor estimate or something they
share, one that reads low next to seven is a fault of its own.

Places of a machine that are equivalent, so that faults and trials at them are weighed once.

Two faults of one kind show in the same way in two trials where a mirror image of the drawing takes the parts of the
first
question to those of the second. Whether there is one is stated by colours of pairs of parts: at first what each part
is and what joins the two, then again and again what ways of two steps there are between them, until no colour splits
any more (Weisfeiler and Leman, 1968). Equal colours of all pairs of the parts asked about count as such an image.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.decisions.acceptance import Expected, Judged, Machine, Promises, Trial, same_sort, scaled, spread_of
from designer.decisions.failures_survey import link_text, numbers, part_text
from designer.decisions.fault import Fault, fault_kinds
from designer.design.document import Design
from designer.engine.network import Network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.hashing import mix
from designer.errors import DesignerError
from designer.sources import Constant, Status

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
#: results of equal parts differ by so much
SCATTER: Final = Constant(
    0.03, 0.01, 0.05, "assumed-acceptance", Status.ASSUMED, "1", "between equal parts of one machine"
)
#: a machine is sound before its results are seen; each kind of fault is as likely as any other
SOUND: Final = Constant(0.5, 0.3, 0.9, "assumed-acceptance", Status.ASSUMED, "1", "share of machines that are sound")
#: how much of the miss is the same for tests of one sort whose promises differ
WITHIN_SORT: Final = Constant(0.5, 0.2, 0.9, "assumed-acceptance", Status.ASSUMED, "1", "of the variance of a band")
#: shares that are tried where it is not known how much a fault leaves
LEVELS: Final = 9
#: residuals beyond this count no more
_FAR: Final = 1.5
#: explanations stated
MOST: Final = 8
#: likelihoods this close are equal: nothing that was measured distinguishes the faults
_TIED: Final = 0.02


@dataclass(frozen=True, slots=True)
class Cause:
    """An explanation of results.

    Parameters
    ----------
    faults
        The fault, with those that would show in just the same way.
    probability
        Of all explanations that were weighed.
    """

    faults: tuple[Fault, ...]
    probability: float

    @property
    def sound(self) -> bool:
        """True if nothing has to be wrong."""
        return not self.faults


@dataclass(frozen=True, eq=False)
class Weighed:
    """A fault with what it promises for each trial, and what it would promise were it worse or milder."""

    fault: Fault
    promised: list[Expected]
    others: tuple[list[Expected], ...] = ()

    @cached_property
    def logs(self) -> Float:
        """Logarithms of all sets of promises that are as likely. : (n_sets, n_trials)"""
        return np.array([_logs(one) for one in self.others or (self.promised,)])


def faults(machine: Machine) -> Iterator[Fault]:
    """All single faults of a machine that are weighed."""
    for kind in fault_kinds().values():
        yield from kind.find(machine)


def explain(machine: Machine, rows: Sequence[Judged], most: int = MOST) -> list[Cause]:
    """Explanations of results, the likeliest first; that all is sound is one of them.

    Notes
    -----
    A fault concerns a trial where the trial's way on the sound drawing, or on the faulty one, uses what it changes.
    """
    return ranked(rows, weighed(machine, [row.expected for row in rows]))[:most]


def weighed(machine: Machine, base: Sequence[Expected]) -> list[Weighed]:
    """Faults that can be drawn and that would show in the trials of `base`, with what they promise for each.

    A fault shows where it makes something slower. One that by its estimate alone would make something quicker, as when
    a way through host memory is thought wider than one between sockets, explains no poor result.
    """
    found: list[Weighed] = []
    equal = MemberAnswers(machine)
    for fault in faults(machine):
        drawn = promises_under(machine, fault, base, equal)
        if drawn is None:
            continue
        promised = [_remaining_share(fault, one, None) for one in drawn]
        if _is_slower(_values(promised), _values(base)):
            uncertain = any(e.left.low < e.left.high for e in fault.effects)
            levels = [k / (LEVELS - 1) for k in range(LEVELS)] if uncertain else []
            others = tuple([_remaining_share(fault, one, level) for one in drawn] for level in levels)
            found.append(Weighed(fault, promised, others))
    return found


def _remaining_share(fault: Fault, one: Expected, level: float | None) -> Expected:
    """What the effects of a fault leave of a promise: the usual share, or one between the ends of its band (0 to 1)."""
    for effect in fault.effects:
        if effect.concerns(one.trial):
            share = effect.left.value if level is None else between_ends(effect.left, level)
            one = scaled(one, share)
    return one


def between_ends(left: Constant, level: float) -> float:
    """The share at a level from the low end (0) to the high end (1) of its band, evenly by its logarithm."""
    return left.low * (left.high / left.low) ** level


def _is_slower(under: Sequence[float], sound: Sequence[float]) -> bool:
    return any(a < b * (1 - _TIED) for a, b in zip(under, sound, strict=True))


def ranked(rows: Sequence[Judged], promised: Sequence[Weighed]) -> list[Cause]:
    """Explanations of results, the likeliest first; faults that promise the same of all results are one.

    Where it is not known how much a fault leaves, all shares in its band are as likely: it is weighed by their mean.
    """
    base = [row.expected for row in rows]
    likely = Likelihood(rows)
    count: dict[str, int] = {}
    for one in promised:
        count[one.fault.kind] = count.get(one.fault.kind, 0) + 1
    found: list[tuple[float, float, Fault | None, tuple[float, ...]]] = []
    found.append((math.log(SOUND.value), likely.mean(_logs(base)[None, :]), None, _values(base)))
    for one in promised:
        prior = math.log((1 - SOUND.value) / len(count) / count[one.fault.kind])
        found.append((prior, likely.mean(one.logs), one.fault, _values(one.promised)))
    return _rank_explanations(found)


def _logs(promised: Sequence[Expected]) -> Float:
    return np.log(np.array([one.estimate.value for one in promised], dtype=np.float64))


def _values(promised: Sequence[Expected]) -> tuple[float, ...]:
    return tuple(one.estimate.value for one in promised)


def _are_equal(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(abs(a - b) <= _TIED * max(a, b) for a, b in zip(one, other, strict=True))


def _rank_explanations(found: list[tuple[float, float, Fault | None, tuple[float, ...]]]) -> list[Cause]:
    """Explanations with their probabilities; those that promise the same of all results are one."""
    top = max(prior + like for prior, like, _, _ in found)
    groups: list[tuple[list[Fault], list[float], tuple[float, ...]]] = []
    for prior, like, fault, values in sorted(found, key=lambda row: -(row[0] + row[1])):
        weight = math.exp(prior + like - top)
        for members, weights, known in groups:
            if _are_equal(known, values):
                # what would not show at all is no explanation next to that all is sound
                members += [fault] if fault is not None and members else []
                weights.append(weight)
                break
        else:
            groups.append(([fault] if fault is not None else [], [weight], values))
    whole = sum(sum(weights) for _, weights, _ in groups)
    rows = [Cause(tuple(members), sum(weights) / whole) for members, weights, _ in groups]
    return sorted(rows, key=lambda cause: -cause.probability)


class Likelihood:
    """How likely results are under promises, as logarithms without what is the same for all promises.

    What is measured in the same way misses its promise together: half of the variance of a band is shared by all
    results of a
    sort, half by those that the drawing promises the same of. Beyond that each result scatters by itself.
    """

    def __init__(self, rows: Sequence[Judged]) -> None:
        sorts: dict[str, list[int]] = {}
        for k, row in enumerate(rows):
            sorts.setdefault(row.expected.trial.sort, []).append(k)
        level = np.zeros(len(rows), dtype=np.int64)
        place = {id(row): k for k, row in enumerate(rows)}
        for number, group in enumerate(same_sort(rows)):
            level[[place[id(row)] for row in group]] = number
        spread = np.array([spread_of(row.expected.estimate) for row in rows], dtype=np.float64)
        self._measured = np.log([row.measured for row in rows])
        self._parts: list[tuple[Int, Float]] = []
        for members in sorts.values():
            chosen = np.array(members, dtype=np.int64)
            s = spread[chosen]
            equal = level[chosen][:, None] == level[chosen][None, :]
            shared = np.outer(s, s) * np.where(equal, 1.0, WITHIN_SORT.value)
            inverse = np.linalg.inv(shared + SCATTER.value**2 * np.eye(len(members)))
            self._parts.append((chosen, np.asarray(inverse, dtype=np.float64)))

    def mean(self, promised: Float) -> float:
        """Under one of several sets of promises, each as likely as the others.

        Parameters
        ----------
        promised : (n_sets, n_trials)
            Logarithms of what is promised.
        """
        miss = np.clip(self._measured[None, :] - promised, -_FAR, _FAR)
        found = np.zeros(len(promised))
        for chosen, inverse in self._parts:
            part = miss[:, chosen]
            found -= 0.5 * np.einsum("si,ij,sj->s", part, inverse, part)
        top = float(found.max())
        return top + math.log(float(np.exp(found - top).mean()))


class MemberAnswers:
    """What faults promise for trials, worked out once for all places that are equivalent."""

    def __init__(self, machine: Machine) -> None:
        self._places = Places(machine)
        self._known: dict[Hashable, Expected | None] = {}

    def of(self, promises: Promises, fault: Fault, trial: Trial) -> Expected | None:
        """What a drawing with a fault promises for a trial."""
        key = self._places.key(fault, trial)
        if key is None:
            return promises.of(trial)
        if key not in self._known:
            self._known[key] = promises.of(trial)
        found = self._known[key]
        return found if found is None else replace(found, trial=trial)


def promises_under(
    machine: Machine, fault: Fault, base: Sequence[Expected], equal: MemberAnswers | None = None
) -> list[Expected] | None:
    """What the drawing of a machine with a fault promises for the trials of `base`; None where it cannot be drawn.

    What the fault leaves of rates that no drawing states is not counted yet. With `equal`, places that are equivalent
    are
    weighed once.
    """
    if fault.edit is None and fault.algorithm == "auto":
        return list(base)
    design: Design | None = None
    if fault.edit is not None:
        try:
            design = fault.edit.apply(_bare(machine.design))
        except DesignerError:
            return None
    promises = Promises(machine, design, fault.algorithm)
    found: list[Expected] = []
    for one in base:
        concerned = fault.links is None or not one.links or bool(one.links & fault.links)
        if fault.edit is None and one.trial.sort not in ("all_reduce", "all_reduce_net"):
            concerned = False
        again: Expected | None = one
        if concerned and one.trial.sort not in ("gemm", "hbm"):
            again = promises.of(one.trial) if equal is None else equal.of(promises, fault, one.trial)
        # where the way is gone altogether a hundredth represents a test that does not run
        found.append(scaled(one, 0.01) if again is None else again)
    return found


def _bare(design: Design) -> Design:
    return design.model_copy(update={"assertions": {}})


#: machines of more parts are weighed place by place: colours of pairs take the cube of their number
PARTS_LIMIT: Final = 400
#: sorts of trials that the parts they name alone distinguish
_OF_PARTS: Final = frozenset({"h2d", "d2h", "d2d", "fio"})


class Places:
    """Which questions about a machine are equivalent."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        network = machine.network
        self._parts = np.flatnonzero(network.island == machine.islands[0])
        self._row = {network.net.path(n): k for k, n in enumerate(self._parts.tolist())}

    def key(self, fault: Fault, trial: Trial) -> Hashable:
        """Questions with equal keys have equal answers; None for one that is like no other."""
        if fault.marks is None or len(self._parts) > PARTS_LIMIT:
            return None
        # what leaves the machine, or takes its accelerators in order, is equivalent only where those stay where they
        # are
        about = trial.parts if trial.sort in _OF_PARTS else () if trial.sort == "h2d_all" else self._fixed_parts
        rows = [self._row.get(path, -1) for path in (*fault.marks, *about)]
        if min(rows, default=0) < 0:
            return None
        chosen = np.array(rows, dtype=np.int64)
        own = () if trial.sort in _OF_PARTS else trial.parts
        links = tuple(sorted(self._links.get(path, -1) for path in fault.links or ()))
        return (
            fault.kind,
            trial.sort,
            trial.size,
            own,
            len(fault.marks),
            links,
            self._colours[chosen][:, chosen].tobytes(),
        )

    @cached_property
    def _fixed_parts(self) -> tuple[str, ...]:
        """Accelerators and parts with a network cable."""
        net, cables = self._machine.network.net, self._machine.network.domain == NETWORK
        doors = np.intersect1d(self._parts, np.concatenate([net.link_a[cables], net.link_b[cables]]))
        return (*self._machine.gpus, *(net.path(n) for n in doors.tolist()))

    @cached_property
    def _links(self) -> dict[str, int]:
        """What each link of the machine is, by its path."""
        net = self._machine.network.net
        return {net.link_path(k): int(self._sorts[net.link_def[k]]) for k in self._inner.tolist()}

    @cached_property
    def _sorts(self) -> Int:
        return numbers([link_text(d) for d in self._machine.network.net.link_defs])

    @cached_property
    def _inner(self) -> Int:
        net = self._machine.network.net
        return np.flatnonzero(np.isin(net.link_a, self._parts) & np.isin(net.link_b, self._parts))

    @cached_property
    def _colours(self) -> Int:
        """Colour of each ordered pair of parts. : (n, n)"""
        colour = _group_numbers(self._pair_relation())
        while True:
            ways = np.zeros(colour.shape, dtype=np.uint64)
            for middle in range(len(colour)):
                ways += mix(colour[:, middle, None], colour[None, middle, :]).astype(np.uint64)
            finer = _group_numbers(mix(colour, ways.view(np.int64)))
            if finer.max(initial=0) == colour.max(initial=0):
                return finer
            colour = finer

    def _pair_relation(self) -> npt.NDArray[np.uint64]:
        """Both parts, whether they are one, whether the first contains the second, and the links that join them."""
        network: Network = self._machine.network
        net, n = network.net, len(self._parts)
        of = numbers([part_text(p) for p in net.part_defs])[net.part_def[self._parts]]
        local = np.full(net.n_parts, -1, dtype=np.int64)
        local[self._parts] = np.arange(n)
        joined = np.zeros((n, n), dtype=np.uint64)
        joined[np.arange(n), np.arange(n)] = 1
        inside = np.flatnonzero(np.isin(net.parent[self._parts], self._parts))
        joined[local[net.parent[self._parts[inside]]], inside] += np.uint64(2)
        sorts = self._sorts[net.link_def[self._inner]]
        a, b = local[net.link_a[self._inner]], local[net.link_b[self._inner]]
        np.add.at(joined, (a, b), mix(sorts, np.full(len(sorts), 3)))
        np.add.at(joined, (b, a), mix(sorts, np.full(len(sorts), 4)))
        pair = mix(np.broadcast_to(of[:, None], (n, n)), np.broadcast_to(of[None, :], (n, n)))
        return mix(pair.astype(np.int64), joined.view(np.int64)).astype(np.uint64)


def _group_numbers(values: npt.NDArray[np.uint64]) -> Int:
    _, which = np.unique(values, return_inverse=True)
    return np.asarray(which.reshape(values.shape), dtype=np.int64)
