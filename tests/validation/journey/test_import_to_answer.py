"""From the dump of a real machine to its bottleneck, without touching anything in between."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest

from designer.analysis.study import analyze
from designer.catalog.parttype import Capability, part_kinds
from designer.design.document import Design, WorkloadSpec, replaced, with_changes
from designer.engine.results import WorkloadResult
from designer.findings import Severity
from designer.interchange.importing import read_any
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from tests.real import real_files

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("dumps")]

REFUSED = {"azure_ncv4_graphs_NOT_A_TOPOLOGY.xml", "p2p_matrix_NOT_topo_m.txt"}
FILES = [p for p in real_files("nccl_xml/*", "hwloc_xml/*", "nvidia_smi_topo/*") if p.name not in REFUSED]


def gpus(design: Design) -> int:
    kinds = part_kinds()
    return sum(Capability.ACCELERATE in kinds[p.kind].capabilities for p in design.parts.values())


def explained(result: WorkloadResult, design: Design) -> None:
    """Numbers with unit, band and source; a bottleneck that is in the design."""
    assert result.metrics
    for metric in result.metrics.values():
        assert metric.unit in {"B/s", "s", "1"}
        assert 0 < metric.low <= metric.value <= metric.high < math.inf
        assert metric.sources
    assert result.binding
    for bottleneck in result.binding:
        assert bottleneck.label
        assert any(unit in bottleneck.why for unit in ("B/s", "µs")), bottleneck.why
        if bottleneck.what == "channel":
            link = design.links[bottleneck.id.rsplit(":", 1)[0]]
            assert {link.a, link.b} <= set(design.parts)
    assert not [f for f in result.findings if f.severity is Severity.ERROR]


@cache
def machine(path: Path) -> Design | None:
    """The design of a dump, if it has GPUs that can talk to each other."""
    found = read_any(path).design
    return found if gpus(found) >= 2 else None


def test_most_dumps_are_machines_with_gpus():
    if FILES:
        assert sum(machine(path) is not None for path in FILES) >= 40


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_import_save_open_analyze(path: Path):
    imported = machine(path)
    if imported is None:
        return
    design = loads(dumps(imported)).design
    assert design.workloads, "an imported machine brings questions with it"
    for result in analyze(design, curves=False).workloads:
        explained(result, design)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_all_reduce_and_peers(path: Path):
    """Whatever questions came along: an all-reduce over all GPUs, and each GPU to another one."""
    imported = machine(path)
    if imported is None:
        return
    asked = [
        WorkloadSpec(id="all-reduce-of-test", kind="collective"),
        WorkloadSpec(id="peers-of-test", kind="transfer", settings={"from": "gpus", "to": "gpus", "pairing": "shift"}),
    ]
    design = with_changes(imported, workloads=replaced(imported.workloads, asked))
    ring, peers = analyze(design, [w.id for w in asked], curves=False).workloads
    explained(ring, design)
    explained(peers, design)
    assert peers.n_flows == gpus(design)
