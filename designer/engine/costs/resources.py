"""Numbers of all that can be short: resources of the network, limits next to them, and engines that do one thing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from designer.engine.account.bottlenecks import Limit, ResourceClass, Resources, sort_of
from designer.engine.network import Network
from designer.engine.results import Bottleneck

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: an engine is stated as this kind of bottleneck
ENGINE: Final = "compute"


class Capacities(Sequence[float]):
    """A figure for each resource: those of the network as one array, and those made since."""

    def __init__(self, network: Network) -> None:
        self._of, self._made = network, list[float]()

    @property
    def _network(self) -> Float:
        return self._of.capacity

    def __len__(self) -> int:
        return self._of.n_resources + len(self._made)

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> list[float]: ...
    def __getitem__(self, index: int | slice) -> float | list[float]:
        if isinstance(index, slice):
            return self.all[index].tolist()
        n = self._of.n_resources
        return float(self._network[index]) if 0 <= index < n else self._made[index - n]

    def append(self, value: float) -> None:
        """One more resource."""
        self._made.append(value)

    def extend(self, values: Sequence[float]) -> None:
        """Some more."""
        self._made.extend(values)

    @property
    def all(self) -> Float:
        """All of them, in an array of their own. : (n,)"""
        return np.concatenate([self._network, self._made])

    def of(self, resource: Int) -> Float:
        """Those of some resources. : (n,)"""
        n = self._of.n_resources
        found = np.empty(len(resource))
        first = resource < n
        found[first] = self._network[resource[first]]
        if not first.all():
            found[~first] = np.array(self._made)[resource[~first] - n]
        return found


class ResourceTable:
    """Resources by number: those of the network first, then limits and engines as tasks name them.

    Attributes
    ----------
    capacity
        Of each: [B/s] for links and memories, 1 for an engine.
    slots
        Of each engine, by its number.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.capacity = Capacities(network)
        self.slots: dict[int, int] = {}
        self._limits: dict[tuple[str, str, float, object], int] = {}
        self._engines: dict[tuple[tuple[int, ...], str], int] = {}
        self._made: dict[int, Limit] = {}
        self._parts: dict[int, tuple[int, ...]] = {}
        #: resources that no run folds with equal ones, since each is named by itself
        self.apart: set[int] = set()
        #: by machine, the speed of each piece of work that runs in it: 1, and 0 while it is stunned
        self.machines: dict[str, list[int]] = {}

    def machine(self, name: str, of: object) -> int:
        """The speed of a machine for one piece of work in it: 1 as a rule, 0 while it is stunned."""
        number = self.limit(Limit(f"machine:{name}", f"{name} running", 1.0), of)
        mine = self.machines.setdefault(name, [])
        if number not in mine:
            mine.append(number)
        return number

    def limit(self, limit: Limit, of: object = None) -> int:
        """The number of a limit; `of` distinguishes those that look the same."""
        # what a mount reads and what it writes are of one name
        key = (limit.id, limit.label, limit.capacity, of)
        number = self._limits.get(key)
        if number is None:
            number = self._limits[key] = len(self.capacity)
            self._made[number] = limit
            self.capacity.append(limit.capacity)
        return number

    def engine(self, parts: Sequence[int], slice_of: str = "") -> int:
        """The engine of a part, or of a machine's slice of it; of several, one queue for whichever is free."""
        key = (tuple(parts), slice_of)
        number = self._engines.get(key)
        if number is None:
            number = self._engines[key] = len(self.capacity)
            self._parts[number] = key[0]
            self.capacity.append(1.0)
            self.slots[number] = len(parts)
        return number

    def engines(self, parts: Sequence[int]) -> Int:
        """The engine of each of many parts."""
        found: list[int] = []
        known, first = self._engines, len(self.capacity)
        for part in parts:
            key = ((part,), "")
            number = known.get(key)
            if number is None:
                number = known[key] = first
                self._parts[number], self.slots[number] = key[0], 1
                first += 1
            found.append(number)
        self.capacity.extend([1.0] * (first - len(self.capacity)))
        return np.array(found, dtype=np.int64)

    def turns(self, part: int) -> int:
        """The time of a part that machines take turns on: a second per second, shared by all that compute on it."""
        path = self.network.net.path(part)
        return self.limit(Limit(f"turns:{path}", f"turns on {path}", 1.0))

    def known_turns(self, part: int) -> int:
        """The number of the turns of a part; −1 where no machines take turns on it."""
        path = self.network.net.path(part)
        return self._limits.get((f"turns:{path}", f"turns on {path}", 1.0, None), -1)

    def working(self, engine: int) -> int:
        """Whether the parts of an engine work: all of them 1, none 0."""
        parts = self._parts[engine]
        path = self.network.net.path(parts[0])
        return self.limit(Limit(path, f"{path} at work", float(len(parts))), engine)

    def renumbered(self, resource: npt.NDArray[np.integer[Any]], limits: Sequence[Limit], of: object = None) -> Int:
        """Resources of an incidence whose limits come after those of the network, by their numbers here."""
        n = self.network.n_resources
        if not len(limits) or not len(resource):
            return resource.astype(np.int64)
        # "both ways", mounts and ports mean the same for everyone; workers and cores belong to one task
        moved = np.array(
            [self.limit(one, None if ":" in one.id else (of, k)) for k, one in enumerate(limits)], dtype=np.int64
        )
        return np.where(resource >= n, moved[np.maximum(resource - n, 0)], resource).astype(np.int64)

    def shared(self, resource: int) -> Limit | None:
        """A limit that means the same for all tasks, such as a mount; None for what one task or machine has alone."""
        limit = self._made.get(resource)
        if limit is None or ":" not in limit.id or limit.id.startswith("turns:"):
            return None
        return limit if self._limits.get((limit.id, limit.label, limit.capacity, None)) == resource else None

    def bottleneck(self, resource: int) -> Bottleneck:
        """A resource in words."""
        if resource in self._parts:
            net, parts = self.network.net, list(self._parts[resource])
            more = f" and {len(parts) - 1} like it" if len(parts) > 1 else ""
            path = net.path(parts[0])
            return Bottleneck(ENGINE, path, f"{path}{more}", "does one thing at a time")
        if resource in self._made:
            words = Resources(self.network, (self._made[resource],))
            return words.bottleneck(self.network.n_resources, 1)
        return Resources(self.network).bottleneck(resource, 1)

    def words(self, resource: Hashable) -> Bottleneck:
        """A resource of an expression in words."""
        if not isinstance(resource, ResourceClass):
            assert isinstance(resource, Bottleneck)
            return resource
        plain = self.bottleneck(int(resource))
        return replace(plain, why=plain.why.rsplit(", ", 1)[0], equal=resource.count)

    def sort(self, resource: Hashable) -> Hashable:
        """What resources have in common that do the same for different tasks."""
        limit = self._made.get(int(resource)) if isinstance(resource, ResourceClass) else None
        return limit.kind or limit.id if limit is not None else sort_of(self.network, resource)

    def parts_of(self, resource: int) -> tuple[int, ...]:
        """The parts of an engine; none for another resource."""
        return self._parts.get(resource, ())

    def id(self, resource: int) -> str:
        """A stable name."""
        return self.bottleneck(resource).id
