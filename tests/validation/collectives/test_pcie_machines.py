"""Machines without NVLink, published in public notes: with peer access and through host memory, by size of message."""

from __future__ import annotations

from math import log
from pathlib import Path

import pytest

from designer.design.document import Design, with_changes
from designer.engine.network import build_network
from designer.engine.routes.selection import resolve
from designer.families.collective.communicator import Communicator, make_communicator
from designer.formulas.collectives import PathClass
from designer.formulas.collectives import _constants as c
from designer.interchange.changes import apply_changes
from designer.interchange.importing import read_any
from designer.interchange.templates import open_design

MIB = 2.0**20
GEN3, GEN4 = (rate * 16 * 128 / 130 / 8 for rate in (8e9, 16e9))
#: bus bandwidth by MiB [GB/s]: 8 RTX 4090 on two EPYC 7542 with four NUMA domains each, without and with peer access
STAGED = {1: 8.24, 8: 14.09, 16: 14.88, 128: 14.45}
PEERS = {1: 8.49, 8: 18.38, 16: 19.94, 128: 20.64}
#: 2 RTX 2080 Ti below one PCIe 3 switch, without peer access
PAIR = {1: 3.75, 8: 3.97, 128: 4.00}
#: 4 V100 below one PCIe 3 switch (Dell C4140), two releases of the library
SWITCH = {1: (9.50, 10.05), 8: (9.58, 11.02), 128: (9.40, 11.18)}
HEAD = "\t{}\tCPU Affinity\tNUMA Affinity\n"


def _matrix(tmp_path: Path, rows: list[tuple[str, str, int]]) -> Design:
    names = [f"GPU{k}" for k in range(len(rows))]
    lines = [f"{name}\t{row}\t{cpus}\t{numa}\n" for name, (row, cpus, numa) in zip(names, rows, strict=True)]
    (tmp_path / "topo.txt").write_text(HEAD.format("\t".join(names)) + "".join(lines))
    return read_any(str(tmp_path / "topo.txt")).design


def _group(design: Design) -> Communicator:
    network = build_network(design)
    return make_communicator(network, resolve(network, "gpus", "g"), "g")


@pytest.fixture
def eight(tmp_path: Path) -> Design:
    """8 GPUs of PCIe 4, each in a NUMA domain of its own, as nvidia-smi shows them."""
    rows: list[tuple[str, str, int]] = []
    for k, numa in enumerate((3, 2, 1, 0, 7, 6, 5, 4)):
        cells = "\t".join("X" if k == other else "SYS" for other in range(8))
        rows.append((cells, f"{8 * numa}-{8 * numa + 7},{64 + 8 * numa}-{71 + 8 * numa}", numa))
    return _matrix(tmp_path, rows)


def _of(design: Design, gpu: str) -> Design:
    return apply_changes(design, {"parts": {"gpu*": {"type": gpu}}}, "test")


def test_chunks_through_host_memory_go_at_the_rate_of_the_platform(eight: Design) -> None:
    """Every GPU of the ring writes to memory and reads from it.

    A NUMA domain with 51.2 GB/s takes each byte twice: 51.2 x .78 / 2 = 20.0 GB/s. The PCIe link of a GPU carries a
    copy each way, 31.5 x .82 x .72 = 18.6 GB/s, which is less. Chunks one after the other keep .80 of that, 14.9.
    """
    group = _group(_of(eight, "gpu/nvidia/rtx4090"))
    assert group.situation.intra_path is PathClass.HOST_MEMORY
    edge = group.situation.intra_edge
    assert edge is not None
    assert edge.value == pytest.approx(min(51.2e9 * 0.78 / 2, GEN4 * 0.82 * 0.72), rel=1e-3)
    large = group.time("all-reduce", 1024 * MIB)
    # but for half a slice of 1 MiB in each of four channels that passes by itself
    passing = (1.75 * 1024 + c.RING_SLICES.value * 4) * MIB
    assert passing / large.bandwidth_term == pytest.approx(edge.value * c.STAGED_RING.value)


def test_two_below_a_switch_share_its_uplink(tmp_path: Path) -> None:
    """Two bytes of two rings cross the uplink each way: 15.75 x .77 x .88 / 2 = 5.34 GB/s, .80 of it 4.27."""
    rows = [("X\tPIX", "24-47,72-95", 1), ("PIX\tX", "24-47,72-95", 1)]
    design = _of(_matrix(tmp_path, rows), "gpu/nvidia/rtx3090")
    links = [with_changes(one, generation=3) if one.kind == "pcie" else one for one in design.links.values()]
    group = _group(with_changes(design, links=links))
    assert group.situation.intra_bandwidth == pytest.approx(GEN3 / 2)
    edge = group.situation.intra_edge
    assert edge is not None
    for size, measured in PAIR.items():
        found = group.time("all-reduce", size * MIB)
        assert abs(log(found.bus_bandwidth / measured / 1e9)) < 0.08
        assert found.bus_low < measured * 1e9 < found.bus_high
        assert found.bus_high <= GEN3 / 2


@pytest.mark.parametrize(("gpu", "measured", "most"), [("rtx4090", STAGED, 0.08), ("l40s", PEERS, 0.15)])
def test_eight_on_two_sockets(eight: Design, gpu: str, measured: dict[int, float], most: float) -> None:
    """With the peers that the driver was changed for, they take the same ways as a card that has them."""
    group = _group(_of(eight, f"gpu/nvidia/{gpu}"))
    for size, rate in measured.items():
        found = group.time("all-reduce", size * MIB)
        assert abs(log(found.bus_bandwidth / rate / 1e9)) < most
        assert found.bus_low < rate * 1e9 < found.bus_high


def test_four_below_a_switch_lie_near_two_releases() -> None:
    """At most 25 % below the slower one (1 MiB; 37 % if it filled as over NVLink) and 5 % above the other."""
    group = _group(open_design("dell-c4140-b"))
    for size, (least, most) in SWITCH.items():
        found = group.time("all-reduce", size * MIB).bus_bandwidth / 1e9
        assert 0.75 * least < found < 1.05 * most
