"""Links wider or narrower than their neighbours, worked out by hand: what they add, and what they leave of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from designer.analysis.study import analyze
from designer.catalog.parttype import Capability
from designer.design.document import Design
from designer.engine.network import build_network
from designer.families.collective.communicator import make_communicator
from designer.interchange.overrides import overridden
from designer.interchange.templates import open_design

GB = 1e9


def raw_ring(design: Design) -> float:
    """What every rank of one server sends to the next, raw [B/s]."""
    network = build_network(design)
    ranks = np.flatnonzero(network.has(Capability.ACCELERATE))
    inside = make_communicator(network, ranks, "test").inside
    assert inside is not None
    return inside.rate


def bus_bandwidth(design: Design) -> float:
    return analyze(design, ["all-reduce"], curves=False).workloads[0].metrics["bus_bandwidth"].value


def test_a_full_mesh_uses_all_links_of_every_rank() -> None:
    """Four A100, each pair on 4 NVLinks of 25 GB/s: 3 x 100 GB/s leave every rank."""
    assert raw_ring(open_design("hgx-a100-4")) == pytest.approx(300 * GB)


@pytest.mark.parametrize("link", ["gpu2--gpu3", "gpu0--gpu1", "gpu1--gpu3"])
@pytest.mark.parametrize("count", [5, 8, 32])
def test_one_wider_bundle_of_a_mesh_takes_nothing_from_the_others(link: str, count: int) -> None:
    """The two ranks that the bundle does not touch still have 300 GB/s, and a ring is as fast as its slowest rank."""
    drawn = open_design("hgx-a100-4")
    wider = overridden(drawn, [f"links.{link}.count={count}"])
    assert raw_ring(wider) == pytest.approx(300 * GB, rel=1e-12)
    assert bus_bandwidth(wider) == pytest.approx(bus_bandwidth(drawn), rel=1e-9)


@pytest.mark.parametrize(("count", "raw"), [(3, 275), (2, 250), (1, 225)])
def test_one_narrower_bundle_of_a_mesh_costs_its_own_links_alone(count: int, raw: float) -> None:
    """Rings through 0-1-2-3, 0-1-3-2 and 0-2-1-3, each both ways round, at most as much as each pair has.

    With 50 GB/s between 0 and 1 the first two share those, 25 each, and the third has the other 75 of its four pairs:
    2 x (25 + 25 + 75) = 250 GB/s, all that leaves rank 0. Whole rings of equal width would be 2 x (50 + 50).
    """
    assert raw_ring(overridden(open_design("hgx-a100-4"), [f"links.gpu0--gpu1.count={count}"])) == pytest.approx(
        raw * GB
    )


@pytest.mark.parametrize(
    "change", ["links.gpu4--nvsw2.count=6", "links.gpu4--nvsw2.count=20", "links.gpu0--nvsw0.count=8"]
)
def test_more_links_of_one_gpu_to_a_switch_change_no_ring(change: str) -> None:
    """18 NVLinks of 25 GB/s leave every other H100, and its neighbours send and receive no more than that."""
    drawn = open_design("hgx-h100-8")
    assert raw_ring(overridden(drawn, [change])) == pytest.approx(450 * GB, rel=1e-12)
    assert bus_bandwidth(overridden(drawn, [change])) == pytest.approx(bus_bandwidth(drawn), rel=1e-9)


def test_fewer_links_of_one_gpu_to_a_switch_cost_those_alone() -> None:
    """GPU 4 keeps 4 + 5 + 1 + 4 of its 18 NVLinks: 14 x 25 GB/s, split as 4:5:1:4."""
    narrower = overridden(open_design("hgx-h100-8"), ["links.gpu4--nvsw2.count=1"])
    assert raw_ring(narrower) == pytest.approx(14 * 25 * GB, rel=1e-12)


def test_a_wider_plane_of_sixteen_gpus_changes_no_ring() -> None:
    drawn = open_design("dgx2")
    wider = overridden(drawn, ["links.gpu0--nvsw0_0.count=2"])
    assert raw_ring(wider) == pytest.approx(raw_ring(drawn), rel=1e-12)
    assert bus_bandwidth(wider) == pytest.approx(bus_bandwidth(drawn), rel=1e-9)


def test_two_halves_on_switches_of_their_own_talk_over_pcie() -> None:
    """No NVSwitch joins GPUs 0 to 3 and 4 to 7: the ring crosses over PCIe, Gen5 x16 at 63.0 GB/s raw."""
    drawn = open_design("hgx-h100-8")
    apart = [f"gpu{g}--nvsw{k}" for g in range(8) for k in range(4) if (g < 4) != (k < 2)]
    links = {name: link for name, link in drawn.links.items() if name not in apart}
    halves = drawn.model_copy(update={"links": links})
    assert len(links) == len(drawn.links) - 16
    found = analyze(halves, ["all-reduce"], curves=False).workloads[0]
    assert found.metrics["bus_bandwidth"].value < 63.0 * GB
    assert not any("nvlink" in b.label for b in found.binding)
