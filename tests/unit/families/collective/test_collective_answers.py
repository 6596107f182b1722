"""What a collective's answer promises: finite loads, bands as wide as its links are unsure, words that fit."""

from __future__ import annotations

import numpy as np
import pytest

from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec
from designer.engine.network.capacities import SPREAD
from designer.interchange.templates import open_design
from designer.sources import Status
from tests.unit.engine.small_designs import draw, study, transfer

PEERS = [f"gpu{a} gpu{b}: nvlink 2* 25 GB/s" for a in range(4) for b in range(a)]


def of_status(design: Design, status: Status, rate: str | None = None) -> Design:
    """The design with all links of one status, and of one rate if given."""
    update = {"status": status, **({"bandwidth_per_direction": rate} if rate else {})}
    links = {i: link.model_copy(update=update) for i, link in design.links.items()}
    return design.model_copy(update={"links": links})


def test_an_empty_message_loads_nothing():
    analysis, answer = study(draw(*PEERS), "collective", size="0 B")
    assert answer.metrics["bus_bandwidth"].value == 0
    assert answer.metrics["communication_time"].value > 0
    loads = analysis.loads["w"]
    assert not np.any(loads.load)
    assert not np.any(loads.utilization)


@pytest.mark.parametrize("status", [Status.UNVERIFIED, Status.ASSUMED])
def test_links_nobody_published_make_the_band_wider(status: Status):
    """As wide as the answers for links that much slower and faster, but never above the links as drawn.

    Three peers, two NVLinks of 25 GB/s to each: a rank sends 150 GB/s raw.
    """
    drawn = draw(*PEERS)
    sure = study(of_status(drawn, Status.PRIMARY), "collective")[1].metrics["bus_bandwidth"]
    unsure = study(of_status(drawn, status), "collective")[1].metrics["bus_bandwidth"]
    assert unsure.value == sure.value
    spread = SPREAD[status].value
    for sign, found in ((-1, unsure.low), (1, unsure.high)):
        rate = f"{25 * (1 + sign * spread)} GB/s"
        end = study(of_status(drawn, Status.PRIMARY, rate), "collective")[1].metrics["bus_bandwidth"]
        assert found == pytest.approx(end.low if sign < 0 else min(end.high, 150e9), rel=1e-9)
    assert "assumed-spread" in unsure.sources
    assert "assumed-spread" not in sure.sources


def test_only_the_side_that_is_unsure_makes_it_wider():
    """An unsure PCIe link next to NVLinks takes no part in the collective."""
    drawn = draw(*PEERS, *(f"cpu0 gpu{g}: pcie 4x16" for g in range(4)))
    links = {
        i: link.model_copy(update={"status": Status.ASSUMED if link.kind == "pcie" else Status.PRIMARY})
        for i, link in drawn.links.items()
    }
    metric = study(drawn.model_copy(update={"links": links}), "collective")[1].metrics["bus_bandwidth"]
    assert "assumed-spread" not in metric.sources


def test_reduction_in_the_switch_is_not_reported_as_a_ring():
    result = analyze(open_design("hgx-h100-8"), ["all-reduce"]).workloads[0]
    assert "nvls" in result.metrics["bus_bandwidth"].note
    assert all("ring" not in b.why for b in (*result.binding, *result.next))


def test_a_bus_that_binds_is_reported_without_a_direction():
    """Both directions share it, so an arrow would be wrong half of the time."""
    design = draw("cpu0 mem0: memory_bus 20 GB/s", "cpu0 gpu0: pcie 5x16")
    for source, target in (("mem0", "gpu0"), ("gpu0", "mem0")):
        assert [b.label for b in transfer(design, source, target).binding] == ["cpu0 ↔ mem0 (memory_bus)"]
    wide = draw("cpu0 mem0: memory_bus 900 GB/s", "cpu0 gpu0: pcie 5x16")
    assert [b.label for b in transfer(wide, "gpu0", "mem0").binding] == ["gpu0 → cpu0 (pcie)"]


def test_one_workload_may_be_named_without_a_list():
    spec = WorkloadSpec(id="sum", kind="collective", settings={})
    design = draw(*PEERS).model_copy(update={"workloads": {"sum": spec}})
    assert [w.id for w in analyze(design, "sum").workloads] == ["sum"]
