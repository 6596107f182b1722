"""Storage without what one submitter published: ``python -m tests.validation.storage.left_out``.

Shares of clients are read again as the median over the binding runs of the other submitters. A kind of client that
nobody else used takes what it can be known by: clients that work in the kernel (NFS, block over TCP, Lustre) the median
rate per processor socket of the others like it, since processors bind them and their NICs would carry what those of
clients that bypass the kernel do; clients that bypass it the median share of the NICs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from statistics import median
from typing import Any
from unittest.mock import patch

from designer.formulas.scoring import group_medians
from designer.formulas.storage import storage_capacity as model
from designer.formulas.storage.storage_capacity import Client, Pattern
from designer.sources import Constant, Status
from tests.validation.storage.test_storage_runs import CASES, scored, workload

KERNEL = (Client.BLOCK, Client.NFS, Client.LUSTRE)
BYPASS = (Client.PARALLEL, Client.OFFLOADED)
#: where nobody like it is left: drives in the host give what their data sheets say
NEUTRAL = 1.0
Case = Mapping[str, Any]


def delivered(case: Case) -> float:
    """What each host got at its limit [B/s]."""
    return case["value"] * case["threshold"] * workload(case).demand / case["hosts"]


def constant(value: float, unit: str = "1") -> Constant:
    return Constant(value, value / 1.5, value * 1.5, "fit-storage", Status.DERIVED, unit)


def refitted(others: Iterable[Case]) -> tuple[dict[Any, Constant], dict[Any, Constant]]:
    """Shares and caps without some runs."""
    binding = [c for c in others if c["metric"] == "accelerators" and not c["lower_bound"]]

    def middle(of: Callable[[Case], float], clients: Iterable[Client], pattern: Pattern) -> float | None:
        found = [of(c) for c in binding if Client(c["client"]) in clients and c["pattern"] == pattern]
        return median(found) if found else None

    shares, caps = dict(model.SHARES), dict(model.HOST_CAPS)
    for client, pattern in model.SHARES:
        key = client, pattern
        own = middle(lambda c: delivered(c) / c["host_rate"], (client,), pattern)
        if own is not None:
            # the shipped value stands where it says the same: it also knows bounds and utilisation
            near = model.SHARES[key].low <= own <= model.SHARES[key].high
            shares[key] = model.SHARES[key] if near else constant(own)
            continue
        caps.pop(key, None)
        equal = KERNEL if client in KERNEL else BYPASS if client in BYPASS else ()
        connections = BYPASS if client in KERNEL else equal
        share = middle(lambda c: delivered(c) / c["host_rate"], connections, pattern)
        shares[key] = constant(share if share is not None else NEUTRAL)
        rate = middle(lambda c: delivered(c) / c["sockets"], equal, pattern)
        if client in KERNEL and rate is not None:
            # caps of block clients count per host: state it for the two sockets these hosts have
            caps[key] = constant(rate if client in model.PER_SOCKET else 2 * rate, "B/s")
    return shares, caps


def left_out(group: str) -> float:
    """Median error of a submitter whose runs were not used."""
    shares, caps = refitted(c for c in CASES if c["group"] != group)
    with patch.object(model, "SHARES", shares), patch.object(model, "HOST_CAPS", caps):
        points = [scored(c) for c in CASES if c["group"] == group]
    return group_medians(points)[group]


def coverages() -> Mapping[str, float]:
    """Share of a submitter's binding runs inside their bands, its own runs not used [1]."""
    found: dict[str, float] = {}
    for group in sorted({c["group"] for c in CASES}):
        shares, caps = refitted(c for c in CASES if c["group"] != group)
        asked = [c for c in CASES if c["group"] == group and c["metric"] == "accelerators" and not c["lower_bound"]]
        with patch.object(model, "SHARES", shares), patch.object(model, "HOST_CAPS", caps):
            points = [scored(c) for c in asked]
        if points:
            found[group] = sum(p.low <= p.measured <= p.high for p in points) / len(points)
    return found


def errors() -> Mapping[str, float]:
    """Median error of every submitter, left out."""
    return {group: left_out(group) for group in sorted({c["group"] for c in CASES})}


if __name__ == "__main__":
    found = errors()
    for name, error in found.items():
        sys.stdout.write(f"{name}: {error:.1%}\n")
    sys.stdout.write(f"mean: {sum(found.values()) / len(found):.1%}\n")
    held = coverages()
    sys.stdout.write(f"bands hold {sum(held.values()) / len(held):.0%} by submitter: {held}\n")
