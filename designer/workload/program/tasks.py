"""Primitive tasks: what is done and where, never how long it takes; that is worked out on a drawing.

Each task names the module that prices it. Another task is a frozen dataclass and a module with its ``COST``.

Parts are named by *selectors*: a path, a path with wild cards, or one of the words ``gpus``, ``memory``, ``storage``,
``drives``, ``nics``, ``cpus``, ``servers``, ``sensors``, ``clients``, which mean all parts with that capability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from designer.errors import AnalysisError
from designer.sources import Constant

Pairing = Literal["auto", "nearest", "striped", "pairs", "shift", "permutation", "all"]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Base of all tasks; what is equal costs the same."""

    #: the module that prices it, which holds one ``COST``; empty for what is priced already
    priced_by: ClassVar[str] = ""
    #: whether it only moves data
    moves_data: ClassVar[bool] = False
    #: whether many of its parts run next to each other over links of their own: what binds is a sort of links
    side_by_side: ClassVar[bool] = False

    @property
    def goes_on(self) -> bool:
        """True if it answers requests without end."""
        return False


AnyTask = TypeVar("AnyTask", bound=Task)


@dataclass(frozen=True, slots=True)
class Compute(Task):
    """Computing on parts that do one thing at a time; what waits for a part queues by priority, then by time.

    Parameters
    ----------
    where
        Selector of the parts.
    seconds
        Time alone [s]; or `flop` and `size` give it.
    flop, size
        Work of each part [FLOP], and bytes of its own memory that it reads and writes meanwhile [B].
    one
        Whichever part of them is free does it, instead of each of them.
    share
        Of the speed of the roofline that implementations reach [1]; without it, all of it at best.
    """

    priced_by: ClassVar[str] = "designer.engine.costs.compute"
    where: str
    seconds: float = 0.0
    flop: float = 0.0
    size: float = 0.0
    precision: str = "bf16"
    one: bool = False
    share: Constant | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "flop", "size"):
            _amount(getattr(self, name), name)


@dataclass(frozen=True, slots=True)
class Product(Task):
    """A (rows x inner) by (inner x columns) matrix product on each of some parts, as one kernel.

    Parameters
    ----------
    where
        Selector of the parts.
    precision
        Number format of what is multiplied.
    """

    priced_by: ClassVar[str] = "designer.families.serving.costs.product"
    where: str
    rows: int
    columns: int
    inner: int
    precision: str = "bf16"


@dataclass(frozen=True, slots=True)
class Move(Task):
    """Bytes from a set of parts to a set of parts.

    Parameters
    ----------
    size
        Bytes each flow moves [B]; inf for a stream, of which only the rate matters.
    pairing
        Who sends to whom. ``nearest``: every target from the source nearest to it; ``striped``: every target from all
        sources in equal shares; ``pairs``: first to first; ``shift``: i to i + n/2 of one set; ``permutation``: a
        random one; ``all``: every pair is a flow. ``auto`` takes what fits the kinds of parts.
    demand
        Most a flow asks for [B/s]; 0 means all it can get.
    both_ways
        Every flow has a twin in the other direction.
    machines
        Ids of the virtual machines whose accelerators they are; empty for those the accelerators are given to.
    request
        Size of a request to storage; 0 for streams that storage is never idle for [B].
    depth, threads
        Requests each thread keeps in flight, and threads of each flow, where requests have a size.
    one_by_one
        Flows wait for each other, as copies in a loop of a program do.
    """

    priced_by: ClassVar[str] = "designer.engine.costs.move"
    moves_data: ClassVar[bool] = True
    source: str
    target: str
    size: float = math.inf
    pairing: Pairing = "auto"
    demand: float = 0.0
    both_ways: bool = False
    seed: int = 0
    through_memory: bool | None = None
    machines: str = ""
    request: float = 0.0
    depth: int = 1
    threads: int = 1
    one_by_one: bool = False

    def __post_init__(self) -> None:
        if self.size != math.inf:
            _amount(self.size, "size")
        _amount(self.demand, "demand")
        _amount(self.request, "request")


@dataclass(frozen=True, slots=True)
class Collective(Task):
    """A collective over a group of accelerators; ``size`` is the message of nccl-tests [B].

    Parameters
    ----------
    machines
        Ids of the virtual machines whose accelerators they are; empty for those they are given to.
    protocol, channels
        What the library is set to; ``auto`` and 0 leave it alone.
    launch
        ``eager`` by the host, ``graph`` as part of a CUDA graph, ``one-process`` by one thread for all of a server.
    """

    priced_by: ClassVar[str] = "designer.families.collective.costs"
    moves_data: ClassVar[bool] = True
    collective: str
    group: str
    size: float
    algorithm: str = "auto"
    machines: str = ""
    protocol: str = "auto"
    channels: int = 0
    launch: str = "eager"

    def __post_init__(self) -> None:
        _amount(self.size, "size")


@dataclass(frozen=True, slots=True)
class Delay(Task):
    """Time that goes by and uses nothing [s]."""

    priced_by: ClassVar[str] = "designer.engine.costs.compute"
    seconds: float

    def __post_init__(self) -> None:
        _amount(self.seconds, "seconds")


@dataclass(frozen=True, slots=True)
class Mark(Task):
    """An instant with a name."""

    priced_by: ClassVar[str] = "designer.engine.costs.compute"
    name: str


def _amount(value: float, name: str) -> None:
    if not 0 <= value < math.inf:
        raise AnalysisError(f"{name} is {value:g}", place=name, remedy="give 0 or more, and a finite number")


# A task on what a failure left of a drawing.


@dataclass(frozen=True, slots=True)
class Rerouted(Task):
    """A task as it is done without some parts and links, by their numbers; a link named twice lost two."""

    priced_by: ClassVar[str] = "designer.engine.costs.rerouted"
    task: Task
    parts: tuple[int, ...]
    links: tuple[int, ...] = ()
