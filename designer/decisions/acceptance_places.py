"""Places of a machine that are equivalent, so that faults and trials at them are weighed once.

Two faults of one kind show in the same way in two trials where a mirror image of the drawing takes the parts of the
first
question to those of the second. Whether there is one is stated by colours of pairs of parts: at first what each part
is and what joins the two, then again and again what ways of two steps there are between them, until no colour splits
any more (Weisfeiler and Leman, 1968). Equal colours of all pairs of the parts asked about count as such an image.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.decisions.acceptance import Machine, Trial
from designer.decisions.failures import link_text, numbers, part_text
from designer.decisions.fault import Fault
from designer.engine.network import Network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.hashing import mix

Int = npt.NDArray[np.int64]
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
        about = trial.parts if trial.sort in _OF_PARTS else () if trial.sort == "h2d_all" else self._fixed
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
    def _fixed(self) -> tuple[str, ...]:
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
        colour = _numbered(self._first())
        while True:
            ways = np.zeros(colour.shape, dtype=np.uint64)
            for middle in range(len(colour)):
                ways += mix(colour[:, middle, None], colour[None, middle, :]).astype(np.uint64)
            finer = _numbered(mix(colour, ways.view(np.int64)))
            if finer.max(initial=0) == colour.max(initial=0):
                return finer
            colour = finer

    def _first(self) -> npt.NDArray[np.uint64]:
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


def _numbered(values: npt.NDArray[np.uint64]) -> Int:
    _, which = np.unique(values, return_inverse=True)
    return np.asarray(which.reshape(values.shape), dtype=np.int64)
