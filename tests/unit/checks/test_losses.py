"""What promises ask about failures: as deleting the part from the drawing, and as ``designer survive`` answers."""

from __future__ import annotations

import pytest

from designer.analysis.study import run_workload
from designer.analysis.study.survival import without
from designer.checks.runner import Promise, State, judge
from designer.checks.world import World
from designer.decisions.failures_survey import survive
from designer.design.document import WorkloadSpec, with_changes
from designer.engine.network import build_network
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
        way, right = world.lost(path, workload), metrics(world, path, workload)
        found = way.after.result
        assert (found is None) == (right is None), path
        if found is not None and right is not None and not way.leaves_out:
            stated = {name: m.value for name, m in found.metrics.items()}
            assert stated == pytest.approx(right, rel=1e-9), path
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


@pytest.mark.parametrize(
    ("template", "workload", "pattern", "kind"),
    [
        ("su-h100-32", "all-reduce", "leaf", "switch"),
        ("su-h100-32", "all-reduce", "servers[0]/nic0", "nic"),
        ("hgx-h100-8", "all-reduce", "nvswitch", "nvswitch"),
        ("hgx-h100-8", "h2d", "gpu", "gpu"),
    ],
)
def test_promises_and_survive_have_one_account(template: str, workload: str, pattern: str, kind: str) -> None:
    """Eight leaves of su-h100-32 cost 8.8 %, one NIC 3.1 % by leaving its server out."""
    design = open_design(template)
    world = World(design)
    survey = survive(design, workload)
    net = world.network.net
    left = {m: loss.share for loss in survey.losses if loss.kind == kind for m in loss.members.tolist()}
    slower = world.slowdown(pattern, workload).items
    assert slower
    for one in slower:
        assert 1 / one.value == pytest.approx(left[net.index_of(one.name)], rel=1e-9), one.name


def test_a_promise_knows_that_a_job_leaves_a_server_out() -> None:
    """One NIC of 256 halves what its server sends; the job runs 31/32 as fast without that server."""
    world = World(open_design("su-h100-32"))
    outcome = judge(world, Promise("p", 'survives(any "servers[0]/nic0").collective.slowdown <= 1.04'))
    assert outcome.state is State.HELD, outcome.got
