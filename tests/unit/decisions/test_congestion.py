"""Congestion: collisions of hashed flows by hand and against published permutations; many senders of one receiver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import designer
from designer.design.document import Design
from designer.engine.results import WorkloadResult
from designer.errors import DesignerError
from designer.interchange.generating import generate


def fabric(nodes: int, ports: int) -> Design:
    design = generate("leaf-spine", {"nodes": str(nodes), "ports": str(ports)})
    everyone = {"from": "nics", "to": "nics"}
    design = designer.with_workload(design, "halves", "transfer", **everyone, pairing="shift")
    design = designer.with_workload(design, "mixed", "transfer", **everyone, pairing="permutation")
    return designer.with_workload(design, "one", "transfer", **{"from": "nics", "to": "servers[0]/nic0"}, pairing="all")


def congested(design: Design, workload: str, **settings: Any) -> WorkloadResult:
    asked = designer.with_workload(design, "asked", "congestion", workload=workload, **settings)
    return designer.analyze(asked, "asked").workloads[0]


def test_two_flows_on_two_cables_up_and_two_down() -> None:
    """Two servers at each leaf, each to one at the other leaf; both leaves have two cables to the spine.

    Two flows share the way up or the way down in three of four draws, then each has half. In the mean 1/4 + 3/4 x 1/2.
    """
    found = congested(fabric(4, 4), "halves", draws=300)
    speeds = [float(row[1] or 0) for row in found.tables["draws"].rows]
    assert np.mean(speeds) == pytest.approx(0.625, abs=0.02)
    # both directions are drawn by themselves: all well 1/16, one of both 6/16, neither 9/16
    values, count = np.unique(np.round(speeds, 6), return_counts=True)
    assert values.tolist() == [0.5, 0.75, 1.0]
    assert (count / len(speeds)).tolist() == pytest.approx([9 / 16, 6 / 16, 1 / 16], abs=0.05)
    assert found.metrics["hashed_share"].value == 0.5
    assert found.metrics["worst_draw"].value == 0.5


def test_the_value_is_that_of_an_even_split_and_the_band_reaches_down() -> None:
    design = fabric(4, 4)
    even = designer.analyze(design, "halves").workloads[0].metrics["rate"]
    found = congested(design, "halves", draws=50).metrics["rate"]
    assert (found.value, found.high) == (even.value, even.high)
    assert found.low == pytest.approx(min(even.low, even.value / 2))


def test_a_random_permutation_is_as_published() -> None:
    """One hashed path each: permutations on fat trees reach 0.45 to 0.65 (SIGCOMM 2011, NSDI 2010)."""
    share = congested(fabric(64, 16), "mixed", draws=24).metrics["hashed_share"]
    assert 0.45 < share.low < share.value < share.high < 0.68


def test_more_queue_pairs_come_closer_to_an_even_split() -> None:
    shares = [congested(fabric(64, 16), "mixed", draws=12, flows=n).metrics["hashed_share"].value for n in (1, 8, 64)]
    assert shares[0] < shares[1] < shares[2]


def test_what_meets_at_one_receiver_meets_on_any_path() -> None:
    found = congested(fabric(16, 8), "one", draws=6).metrics
    assert found["hashed_share"].low == pytest.approx(1)
    assert found["incast_degree"].value == 15
    even = designer.analyze(fabric(16, 8), "one").workloads[0].metrics["rate"]
    assert found["rate"].low == pytest.approx(min(even.low, 0.9 * even.value))
    tcp = congested(fabric(16, 8), "one", draws=6, transport="tcp").metrics
    assert tcp["rate"].value == even.value
    assert tcp["rate"].low == pytest.approx(0.3 * even.value)


def test_adaptive_routing_is_an_even_split() -> None:
    design = fabric(16, 8)
    rates = [
        designer.analyze(designer.edit(design, set=[f"policy.ecmp={how}"]), "mixed").workloads[0].metrics["rate"].value
        for how in ("split", "adaptive", "hash")
    ]
    assert rates[0] == rates[1] > rates[2]


def test_one_queue_pair_draws_as_before() -> None:
    design = designer.edit(fabric(16, 8), set=["policy.ecmp=hash", "policy.hash_seed=3"])
    one = designer.analyze(design, "mixed").workloads[0].metrics["rate"].value
    two = designer.edit(design, set=["policy.hash_flows=2"])
    assert designer.edit(two, set=["policy.hash_flows=1"]) == design
    assert designer.analyze(two, "mixed").workloads[0].metrics["rate"].value != one


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"workload": "nothing"}, "there is no workload 'nothing'"),
        ({"workload": "mixed", "draws": 0}, "0 draws"),
        ({"workload": "mixed", "flows": 65}, "65 queue pairs"),
        ({"workload": "asked"}, "is itself a search"),
    ],
)
def test_what_cannot_be_asked_is_refused(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(DesignerError, match=text):
        congested(fabric(4, 4), **settings)


def test_the_page_says_how_far_hashing_falls_behind() -> None:
    asked = designer.with_workload(fabric(64, 16), "asked", "congestion", workload="mixed", draws=8)
    page = designer.page(asked, "asked")
    assert page.headline.startswith("With each flow on one path it reaches 6")
    assert page.limits[0].title == "The hash of flows"
    assert page.changes[0].command[-1] == "policy.ecmp=adaptive"
