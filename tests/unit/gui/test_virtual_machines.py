"""Where machines are placed and where they may go, without a window."""

from __future__ import annotations

from typing import Any

import pytest

from designer.design.document import Block, Design, Group, Part, VirtualMachine, VmDevice, with_changes
from designer.design.edits.vms import ChangeVms, MoveVm
from designer.drawing.machines import machines_of
from designer.engine.machines.placement import place_vms
from designer.errors import DocumentError
from designer.gui.viewmodels.virtual_machines import brief, can_move, decide
from tests.unit.families.machines.machines import cluster, plain_cluster, with_vms

HOSTS = [f"hosts[{k}]/server" for k in range(4)]


def changed(vm: str, **changes: Any) -> Design:
    """The cluster with a machine changed."""
    return ChangeVms((vm,), changes).apply(cluster())


def test_rows_tell_what_the_placement_says() -> None:
    machines = machines_of(cluster())
    placed = place_vms(machines.network).placed
    assert [row.path for row in machines.hosts] == HOSTS
    assert {(c.id, row.path) for row in machines.hosts for c in row.chips} == {
        (vm, p.host.path) for vm, p in placed.items()
    }
    assert not machines.nowhere
    assert machines.hosts[1].title == "ESXi host 2"


@pytest.mark.parametrize("vm", sorted(cluster().vms))
@pytest.mark.parametrize("host", HOSTS)
def test_a_drop_does_what_the_verdict_says(vm: str, host: str) -> None:
    design = cluster()
    machines = machines_of(design)
    verdict, decision = can_move(machines, vm, host), decide(design, machines, vm, host)
    assert verdict.ok == (decision.edit is not None)
    if decision.edit is None:
        assert decision.reason
        assert verdict.reason
        return
    after = decision.edit.apply(design)
    found = place_vms(machines_of(after).network)
    assert not found.refused
    assert found.placed[vm].host.path == host
    others = {k: v for k, v in after.vms.items() if k != vm}
    assert others == {k: v for k, v in design.vms.items() if k != vm}
    assert decision.migration is not None
    assert decision.migration.holds(after)
    assert not decision.migration.holds(design)
    assert decision.migration.result.metrics["migration_time"].value > 0


def test_moving_there_and_back_gives_the_machine_its_devices_again() -> None:
    design = cluster()
    there = decide(design, machines_of(design), "infer0", HOSTS[2]).edit
    assert there is not None
    away = there.apply(design)
    back = decide(away, machines_of(away), "infer0", HOSTS[0]).edit
    assert back is not None
    assert back.apply(away).vms["infer0"] == design.vms["infer0"]


def test_machines_of_an_earlier_design_are_looked_up_again() -> None:
    stale, design = machines_of(cluster()), changed("etl0", memory="690 GiB")
    assert can_move(stale, "etl0", HOSTS[0]).ok
    assert "memory" in decide(design, stale, "etl0", HOSTS[0]).reason


def test_a_machine_that_is_passed_a_device_cannot_move() -> None:
    design = changed("web0", devices=(VmDevice(kind="passthrough", part="hosts[0]/nvme0"),))
    verdict = can_move(machines_of(design), "web0", HOSTS[1])
    assert not verdict.ok
    assert "passed through" in verdict.text


def test_a_machine_that_would_stand_still_too_long_is_refused() -> None:
    design = changed("lab0", stun_limit="2 s")
    machines = machines_of(design)
    assert can_move(machines, "lab0", HOSTS[3]).ok
    decision = decide(design, machines, "lab0", HOSTS[3])
    assert decision.edit is None
    assert decision.reason.startswith("it cannot move: ")


def test_hosts_without_a_network_are_refused() -> None:
    parts = [Part(id="server", kind="server"), Part(id="cpu", kind="cpu", parent="server")]
    block = Block(parts={p.id: p for p in parts})
    vm = VirtualMachine(id="a", host="hosts[0]/server", memory="4 GiB")
    design = Design(name="two", groups={"hosts": Group(id="hosts", replicas=2, content=block)}, vms={"a": vm})
    decision = decide(design, machines_of(design), "a", "hosts[1]/server")
    assert decision.edit is None
    assert decision.reason


def test_a_machine_that_stands_nowhere_is_put_down_without_a_migration() -> None:
    design = with_vms(cluster(), VirtualMachine(id="new", memory="9000 GiB"))
    machines = machines_of(design)
    assert [c.id for c in machines.nowhere] == ["new"]
    assert machines.nowhere[0].trouble
    assert not can_move(machines, "new", HOSTS[0]).ok
    pinned = with_changes(VirtualMachine(id="new", memory="4 GiB"), host="hosts[0]/gpu0")
    lost = with_vms(cluster(), pinned)
    decision = decide(lost, machines_of(lost), "new", HOSTS[2])
    assert decision.edit is not None
    assert decision.migration is None


def test_many_hosts_have_titles_of_their_own() -> None:
    rows = machines_of(plain_cluster(12, 3)).hosts
    assert len({row.title for row in rows}) == len(rows) == 12


def test_a_move_to_no_part_is_refused() -> None:
    with pytest.raises(DocumentError):
        MoveVm("web0", "hosts[9]/server", ()).apply(cluster())
    with pytest.raises(DocumentError):
        MoveVm("nobody", HOSTS[0], ()).apply(cluster())


def test_reasons_of_equal_gpus_are_reported_once() -> None:
    assert brief("g0: taken; g1: taken; g2: other size") == "g0 and 1 more: taken; g2: other size"
    assert brief("hosts[1] has 4 GiB of memory left") == "hosts[1] has 4 GiB of memory left"
