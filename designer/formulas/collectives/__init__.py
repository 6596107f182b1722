"""Time of collectives by algorithm and protocol, and the cheapest of them."""

from designer.formulas.collectives._constants import SWITCH_HOP
from designer.formulas.collectives._situation import (
    AlgorithmTime,
    Bound,
    CollectiveKind,
    CollectiveSituation,
    CollectiveTime,
    EdgeRate,
    Launch,
    NetworkKind,
    PathClass,
    Protocol,
)

__all__ = [
    "SWITCH_HOP",
    "AlgorithmTime",
    "Bound",
    "CollectiveKind",
    "CollectiveSituation",
    "CollectiveTime",
    "EdgeRate",
    "Launch",
    "NetworkKind",
    "PathClass",
    "Protocol",
]
