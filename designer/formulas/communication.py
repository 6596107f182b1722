"""What a training step asks of the network: times of collectives over the groups of a layout."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from designer.formulas.layout import Layout
from designer.units import Bytes, Seconds


class RankGroup(StrEnum):
    """Which ranks take part."""

    TENSOR = "tensor"
    CONTEXT = "context"
    EXPERT = "expert"
    DATA = "data"  #: ranks holding the same weights: data and context together
    PIPELINE = "pipeline"


class Kind(StrEnum):
    """What they do. Sizes: the whole vector for the first three, all that one rank sends for the others."""

    ALL_REDUCE = "all-reduce"
    ALL_GATHER = "all-gather"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_TO_ALL = "all-to-all"
    SEND = "send"


class CommunicationCosts(Protocol):
    """Times of collectives for one layout, from a routed design or from nominal rates."""

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        """Time of one collective of `size` bytes over `group` when nothing hides it [s]."""
        ...

    def servers(self, group: RankGroup) -> int:
        """Servers that the ranks of one group are in."""
        ...


#: makes the costs of a layout; a search asks for one per layout
CommunicationModel = Callable[[Layout], CommunicationCosts]


class NoCommunication:
    """Costs of a perfect network: every collective takes no time. An upper bound, and one accelerator."""

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        """Zero [s]."""
        return Seconds(0.0)

    def servers(self, group: RankGroup) -> int:
        """One: nothing leaves a server."""
        return 1
