"""What a memory part can do is what copies get: numbers worked out by hand on an HGX A100 with its four uplinks.

A copy gets 78 % of channels × transfer rate (STREAM on such hosts), and 82 % of a Gen4 link.
"""

from __future__ import annotations

import pytest

from designer.design.document import Design, Policy, with_changes
from designer.engine.network import build_network
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.workload.program import Move
from tests.unit.engine.small_designs import draw

STREAM = 0.78


def with_memory(**changes: object) -> Design:
    return apply_changes(open_design("hgx-a100-8"), {"parts": {"memory*": changes}}, "test")


def moved(design: Design, source: str, target: str) -> TransferAnswer:
    return evaluate_transfer(build_network(design), Move(source, target), "t")


def total(design: Design, source: str = "memory", target: str = "gpus") -> float:
    return float(moved(design, source, target).rate.sum())


def test_uplinks_hold_up_eight_channels() -> None:
    """Two sockets × 204.8 × 0.78 = 319 GB/s of memory against 4 × 31.5 × 0.82 = 103 GB/s of uplinks."""
    assert total(open_design("hgx-a100-8")) == pytest.approx(4 * 16e9 * 16 * 128 / 130 / 8 * 0.82, rel=1e-3)


def test_one_channel_holds_up_the_copies() -> None:
    """One channel DDR4-3200 moves 8 B × 3.2 GT/s = 25.6 GB/s: two sockets give 2 × 25.6 × 0.78 = 39.9 GB/s."""
    found = moved(with_memory(type="memory/generic/ddr4-3200-1ch"), "memory", "gpus")
    assert float(found.rate.sum()) == pytest.approx(2 * 25.6e9 * STREAM)
    assert {b.id for b in found.binding} == {"cpu0--memory0:ab", "cpu1--memory1:ab"}


def test_fewer_channels_of_the_same_part() -> None:
    """Two of the eight channels left: 2 × 25.6 × 0.78 = 39.9 GB/s a socket, 79.9 in all."""
    assert total(with_memory(memory_channels=2)) == pytest.approx(2 * 2 * 25.6e9 * STREAM)


def test_persistent_memory_writes_slower_than_it_reads() -> None:
    """Measured figures of a socket, reads 59.5 and writes 18 GB/s: the uplinks hold up reading, the media writing."""
    pmem = with_memory(type="memory/intel/pmem-200")
    assert total(pmem) == pytest.approx(total(open_design("hgx-a100-8")))
    assert total(pmem, "gpus", "memory") == pytest.approx(2 * 18e9)


def test_cxl_has_a_direction_each() -> None:
    """31.5 GB/s per direction behind Gen5 x8: 2 × 31.5 × 0.78 = 49.1 GB/s down, and the same up at the same time."""
    cxl = with_memory(type="memory/generic/cxl-gen5-x8")
    assert total(cxl) == pytest.approx(2 * 31.5e9 * STREAM)
    both = evaluate_transfer(build_network(cxl), Move("memory", "gpus", both_ways=True), "t")
    assert float(both.rate.sum()) == pytest.approx(2 * 2 * 31.5e9 * STREAM)


def test_a_dump_that_knows_of_less_narrows_the_part() -> None:
    """Eight channels in the catalog, of which a dump of the machine found 51.2 GB/s in use."""
    design = open_design("hgx-a100-8")
    links = {
        name: with_changes(link, bandwidth_per_direction="51.2 GB/s", status="primary")
        if link.kind == "memory_bus"
        else link
        for name, link in design.links.items()
    }
    assert total(with_changes(design, links=links)) == pytest.approx(2 * 51.2e9 * STREAM)


class TestTiers:
    """A socket with 204.8 GB/s of DRAM and 63 GB/s of CXL memory: which of them a buffer lies in is a setting."""

    lines = ("cpu0 mem0: memory_bus 204.8 GB/s", "cpu0 mem1: memory_bus 63 GB/s", "cpu0 gpu0: pcie 5x16")
    values = {"mem0": {"tier": "DRAM"}, "mem1": {"tier": "CXL"}}

    def drawn(self, tier: str) -> Design:
        return draw(*self.lines, values=self.values, policy=Policy.model_validate({"memory_tier": tier}))

    def test_buffers_lie_in_dram_unless_reported(self) -> None:
        """63 × 0.88 = 55.5 GB/s of the link from DRAM, 63 × 0.78 = 49.1 GB/s of the expander."""
        assert total(self.drawn("auto")) == pytest.approx(32e9 * 16 * 128 / 130 / 8 * 0.88, rel=1e-3)
        assert total(self.drawn("cxl")) == pytest.approx(63e9 * STREAM)

    def test_a_tier_can_be_named(self) -> None:
        assert total(self.drawn("auto"), "cxl") == pytest.approx(63e9 * STREAM)
        assert moved(self.drawn("cxl"), "dram", "gpu0").flows[0].source == "mem0"

    def test_a_tier_that_is_not_there_leaves_the_usual_one(self) -> None:
        assert moved(self.drawn("pmem"), "memory", "gpu0").flows[0].source == "mem0"

    def test_stops_lie_in_it_too(self) -> None:
        design = draw(
            *self.lines,
            "cpu0 gpu1: pcie 5x16",
            values=self.values,
            policy=Policy(gpudirect=False, memory_tier="cxl"),
        )
        via = moved(design, "gpu0", "gpu1").flows[0].via
        assert "cpu0--mem1:ab" in via
        assert not any("mem0" in c for c in via)
