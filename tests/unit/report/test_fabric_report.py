"""The report of a fabric as a dump states it: no accelerators, no workloads, hundreds of cables nobody reads."""

from __future__ import annotations

import pytest

from designer.design.document import Design, Link, Part
from designer.report.assembly import compose_report
from designer.report.document import Report, Table
from designer.report.inventory import bundles, gathered, inventory

HOSTS, LEAVES = 60, 4


@pytest.fixture(scope="module")
def fabric() -> Design:
    """Sixty named hosts on two of four leaves each, and each leaf on one spine."""
    parts = [Part(id=f"node-{k:03d}-rack", kind="server", name=f"row{k % 7}-host{k}-x") for k in range(HOSTS)]
    parts += [Part(id=f"leaf{k}", kind="switch") for k in range(LEAVES)]
    parts.append(Part(id="spine", kind="switch"))
    parts += [Part(id=f"nic{k}", kind="nic", parent=f"node-{k:03d}-rack") for k in range(HOSTS)]
    links = [
        Link.model_validate(
            {"id": f"c{k}-{n}", "kind": "infiniband", "bandwidth_per_direction": "400 Gb/s", "a": f"nic{k}", "b": leaf}
        )
        for k in range(HOSTS)
        for n, leaf in enumerate((f"leaf{k % 4}", f"leaf{(k + 1) % 4}"))
    ]
    links += [
        Link.model_validate(
            {"id": f"up{k}", "kind": "infiniband", "bandwidth_per_direction": "400 Gb/s", "a": f"leaf{k}", "b": "spine"}
        )
        for k in range(LEAVES)
    ]
    return Design.model_validate(
        {"name": "fabric", "parts": {p.id: p for p in parts}, "links": {x.id: x for x in links}}
    )


@pytest.fixture(scope="module")
def report(fabric: Design) -> Report:
    return compose_report([fabric])


def test_cables_between_equal_kinds_stand_together_and_all_are_counted(fabric: Design) -> None:
    """120 cables of hosts and 4 of leaves: two lines, whose ends and counts are those of the single bundles."""
    stock = inventory(fabric)
    together, found = gathered(stock)
    assert together
    assert [(b.name, b.cables) for b in found] == [("network switches → servers", 120), ("between network switches", 4)]
    assert sum(b.cables for b in found) == sum(b.cables for b in bundles(stock))


def test_it_speaks_of_what_is_there(report: Report) -> None:
    titles = [report.summary.title, *(c.title for c in report.chapters)]
    assert report.summary.title.endswith("without a workload to judge them by")
    assert not [t for t in titles if "0\u00a0GPUs" in t or "0\u00a0accelerators" in t]


def test_no_table_of_it_runs_over_pages(report: Report) -> None:
    long = [(c.title, b.title, len(b.rows)) for c in report.chapters for b in c.blocks if isinstance(b, Table)]
    assert max(n for *_, n in long) <= 50, long
