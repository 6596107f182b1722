"""Storage that says what it reads and not what it writes."""

from __future__ import annotations

import pytest

from designer.engine.network import build_network
from designer.engine.transfers import evaluate_transfer
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.workload.program import Move


def moved(source: str, target: str, **given: str) -> tuple[float, float, float]:
    """All flows between a storage system and host memory [GB/s]."""
    rates = {name: f"{value} GB/s" for name, value in given.items()}
    changes = {"parts": {"storage": {"type": "storage/generic/storage", **rates}}}
    design = apply_changes(open_design("serving-h100-8"), changes, "assumed")
    found = evaluate_transfer(build_network(design), Move(source, target), "w")
    return found.rate.sum() / 1e9, found.low.sum() / 1e9, found.high.sum() / 1e9


def test_writes_that_are_not_given_are_a_share_of_reads() -> None:
    """Of 2 GB/s read, 1.08 GB/s are written, from 0.74 to 1.62 GB/s; read is what is given."""
    assert moved("memory", "storage", read_bandwidth="2") == pytest.approx((1.08, 0.74, 1.62))
    assert moved("storage", "memory", read_bandwidth="2")[0] == pytest.approx(2.0)


def test_writes_that_are_given_are_what_is_given() -> None:
    assert moved("memory", "storage", read_bandwidth="2", write_bandwidth="1.8")[0] == pytest.approx(1.8)


def test_a_client_writes_a_share_of_what_it_reads() -> None:
    """A mount that reads 3 GB/s writes 2.49 GB/s, whatever the system could do."""
    one = moved("memory", "storage", read_bandwidth="8", client_read_bandwidth="3")
    assert one[0] == pytest.approx(2.49)
    given = moved("memory", "storage", read_bandwidth="8", client_read_bandwidth="3", client_write_bandwidth="2.5")
    assert given[0] == pytest.approx(2.5)
