"""Taking a part away by its links is the same as deleting it, where a drawing can do without it."""

from __future__ import annotations

import pytest

from designer.analysis.network import build_network
from designer.analysis.study import run_workload
from designer.checks.runner import Promise, State, judge
from designer.checks.world import World, without
from designer.design.document import WorkloadSpec, with_changes
from designer.errors import DesignerError
from designer.interchange.templates import open_design

TEMPLATE = "hpe-apollo-6500-parallel-storage"


def metrics(world: World, path: str, workload: str) -> dict[str, float] | None:
    """What the workload does after the part has been deleted from the drawing; None where it cannot run."""
    design = without(world.design, path)
    try:
        result = run_workload(build_network(design), design.workloads[workload], False)[0]
    except DesignerError:
        return None
    return {name: m.value for name, m in result.metrics.items()}


@pytest.mark.parametrize("kind", ["nic", "pcie_switch", "nvswitch", "switch"])
def test_a_loss_is_a_deletion(kind: str) -> None:
    world = World(open_design(TEMPLATE))
    workload = "storage-to-gpus" if "storage-to-gpus" in world.design.workloads else next(iter(world.design.workloads))
    compared = 0
    for number in world.network.parts_of_kind(kind).tolist():
        path = world.network.net.path(number)
        found, right = world.lost(path, workload), metrics(world, path, workload)
        told = None if found is None else {name: m.value for name, m in found.metrics.items()}
        assert (told is None) == (right is None), path
        if told is not None and right is not None:
            assert told == pytest.approx(right, rel=1e-9), path
        compared += 1
    assert compared or kind not in ("pcie_switch",)


def test_what_a_job_cannot_do_without_is_told() -> None:
    """One storage system: without it nothing can be read, so the slowdown has no end."""
    world = World(open_design("vsphere-cluster-4"))
    outcome = judge(world, Promise("p", "survives(any nfs).storage_read.slowdown <= 1.1"))
    assert outcome.state is State.ERROR
    outcome = judge(world, Promise("p", 'survives(any "nfs").transfer.slowdown <= 1.1'))
    assert outcome.state is State.ERROR
    assert "name one of" in outcome.mend
    job = WorkloadSpec(id="reading", kind="transfer", settings={"from": "nfs", "to": "gpus"})
    world = World(with_changes(world.design, workloads=[job], default_workload="reading"))
    outcome = judge(world, Promise("p", "survives(any nfs).reading.slowdown <= 1.1"))
    assert outcome.state is State.BROKEN
    assert "∞" in outcome.got
    assert "cannot run without" in outcome.binds
