"""Designs with machines on them, for tests."""

from __future__ import annotations

from functools import cache
from typing import Any

from designer.analysis.study import analyze
from designer.design.document import (
    Block,
    Design,
    Group,
    Link,
    Part,
    VirtualMachine,
    Wiring,
    WorkloadSpec,
    replaced,
    with_changes,
)
from designer.engine.results import WorkloadResult
from designer.interchange.templates import open_design


@cache
def cluster() -> Design:
    """The shipped cluster of four hosts with two A100 each, 10 Gb/s for vMotion."""
    return open_design("vsphere-cluster-4")


def with_vms(design: Design, *vms: VirtualMachine, only: bool = False) -> Design:
    """The design with these machines, in place of its own or next to them."""
    return with_changes(design, vms=replaced({} if only else design.vms, vms))


def with_speed(design: Design, rate: str) -> Design:
    """The design with another speed of its vMotion network."""
    wiring = with_changes(design.wirings["vmotion_network"], bandwidth_per_direction=rate)
    return with_changes(design, wirings=replaced(design.wirings, [wiring]))


def ask(design: Design, kind: str, curves: bool = False, **settings: Any) -> WorkloadResult:
    """One question to a design."""
    spec = WorkloadSpec(id="asked", kind=kind, settings=settings)
    changed = with_changes(design, workloads=replaced(design.workloads, [spec]))
    return analyze(changed, ["asked"], curves=curves).workloads[0]


def rows(result: WorkloadResult, table: str = "machines") -> dict[str, dict[str, Any]]:
    """Rows of a table by their first cell."""
    stated = result.tables[table]
    names = [column.name for column in stated.columns]
    return {str(row[0]): dict(zip(names, row, strict=True)) for row in stated.rows}


def value(result: WorkloadResult, metric: str) -> float:
    """A metric [SI]."""
    return result.metrics[metric].value


def plain_cluster(hosts: int, vms: int, rate: str = "25 Gb/s") -> Design:
    """Hosts without GPUs, each with some machines, on one vMotion switch."""
    part = {"cores": {"value": 64}}
    block = Block.model_validate(
        {
            "parts": [
                Part(id="server", kind="server"),
                Part.model_validate({"id": "cpu0", "kind": "cpu", "parent": "server", "overrides": part}),
                Part.model_validate(
                    {
                        "id": "memory0",
                        "kind": "memory",
                        "parent": "server",
                        "overrides": {"memory_capacity": {"value": "4 TB"}},
                    }
                ),
                Part(id="nic0", kind="nic", parent="server", attributes={"role": "vmotion"}),
            ],
            "links": [
                Link(id="bus", a="cpu0", b="memory0", kind="memory_bus", bandwidth_per_direction="300 GB/s"),
                Link(id="pcie", a="cpu0", b="nic0", kind="pcie", generation=5, lanes=16),
            ],
        }
    )
    machines = [
        VirtualMachine(
            id=f"vm{h}-{v}", host=f"hosts[{h}]/server", vcpus=8, memory=f"{96 + 4 * v} GiB", dirty_rate="100 MB/s"
        )
        for h in range(hosts)
        for v in range(vms)
    ]
    return Design.model_validate(
        {
            "name": "plain",
            "parts": [Part(id="switch", kind="switch")],
            "groups": [Group(id="hosts", replicas=hosts, content=block)],
            "wirings": [
                Wiring(
                    id="vmotion_network",
                    pattern="spread",
                    a="hosts[*]/nic0",
                    b="switch",
                    kind="ethernet",
                    bandwidth_per_direction=rate,
                )
            ],
            "vms": machines,
        }
    )
