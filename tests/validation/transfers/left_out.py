"""Transfers without what one publication measured: ``python -m tests.validation.transfers.left_out``.

The share of the raw bandwidth is read again as the median over the other publications that measured the same: link,
protocol, generation, placement and direction. What nobody else measured takes what it can be known by, the nearest
generation first, then the mechanism most like it (a coherent link is NVLink, peers do what copy engines do). Mechanisms
that a single publication knows cannot be left out and are not among these.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any

from designer.formulas.scoring import Scored, group_medians
from tests.validation.transfers.test_transfer_cases import CASES, scored

Case = Mapping[str, Any]
#: mechanism → the one most like it
ALIKE: Mapping[tuple[str, str], tuple[str, str]] = {
    ("c2c", "copy"): ("nvlink", "copy"),
    ("pcie", "p2p"): ("pcie", "copy"),
    ("infiniband", "rdma"): ("nvlink", "copy"),
}


def measured_once(case: Case) -> bool:
    """True if only one publication knows the mechanism: host memory shared by both ways of a coherent link."""
    now = case["situation"]
    return now["link"] == "c2c" and now.get("both_directions", False)


def share(case: Case) -> float:
    """Measured ÷ raw bandwidth [1]."""
    return case["value"] / case["situation"]["raw_bandwidth"]


def _rank(asked: Mapping[str, Any], other: Case) -> tuple[bool, bool, int]:
    """How unlike another case is: direction, then placement, then generations apart."""
    now = other["situation"]
    apart = abs(now.get("generation", 0) - asked.get("generation", 0))
    directions = bool(now.get("both_directions")) != bool(asked.get("both_directions"))
    return directions, now.get("placement") != asked.get("placement"), apart


def left_out_share(case: Case, others: Sequence[Case]) -> float:
    """What the others say about a case: the median over those least unlike it [1]."""
    asked = case["situation"]
    kind = asked["link"], asked["protocol"]
    while not (found := [c for c in others if (c["situation"]["link"], c["situation"]["protocol"]) == kind]):
        kind = ALIKE[kind]
    least = min(_rank(asked, c) for c in found)
    return median(share(c) for c in found if _rank(asked, c) == least)


def points(cases: Iterable[Case] = CASES) -> list[Scored]:
    """Every case predicted from the other publications, with its band as shipped, relative to the value."""
    every = [case for case in cases if not measured_once(case)]
    found: list[Scored] = []
    for case in every:
        usual = scored(dict(case))
        others = [c for c in every if c["group"] != case["group"]]
        predicted = left_out_share(case, others) * case["situation"]["raw_bandwidth"]
        low, high = (predicted * edge / usual.predicted for edge in (usual.low, usual.high))
        found.append(Scored(case["group"], predicted, case["value"], low, high))
    return found


def errors() -> Mapping[str, float]:
    """Median error of every publication, left out."""
    return group_medians(points())


if __name__ == "__main__":
    medians = errors()
    for name, error in medians.items():
        sys.stdout.write(f"{name}: {error:.1%}\n")
    sys.stdout.write(f"mean: {mean(medians.values()):.1%}\n")
